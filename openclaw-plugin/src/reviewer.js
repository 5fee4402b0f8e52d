// From a payload of the gateway to a call of the component and back. One reviewer for each copy of the plugin; what
// must outlive a call is in shared.js or in the workspace.

import { localTime } from "./clock.js";
import { Component, HookError, Trap } from "./component.js";
import { big, compacted, known, providerUsage, reasonOf, sessionOf, warmUpMessages } from "./events.js";
import { hostFor, memoryHost } from "./host.js";
import { Notes } from "./notes/store.js";
import { checkedSettings, readSettings } from "./settings.js";
import { currentConfig, identify } from "./session.js";
import { memoryOf, remember, shared, timed } from "./shared.js";
import { conversation, plainMessages } from "./transcript.js";

/**
 * @typedef {import("./openclaw.d.ts").Api} Api
 * @typedef {import("./openclaw.d.ts").CompactionEvent} CompactionEvent
 * @typedef {import("./openclaw.d.ts").HookContext} HookContext
 * @typedef {import("./openclaw.d.ts").SessionStore} SessionStore
 * @typedef {import("./openclaw.d.ts").Usage} Usage
 * @typedef {import("./session.js").Identity} Identity
 * @typedef {import("./transcript.js").Conversation} Conversation
 * @typedef {import("./component.js").Hooks} Hooks
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").Alert} Alert
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").AuditReport} AuditReport
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").CheckpointTrigger} CheckpointTrigger
 */

export const PLUGIN_ID = "compact-review";
/** What the last audit said, for `/compact-review last` and `recover`. The component's own slots are left alone. */
const LAST_AUDIT = "openclaw-last-audit";

/** After these the first audit of 800 KB took as long as a later one (measured with Node 26). */
const WARM_UPS = 4;

/** @typedef {{entry: string, recovery: string | undefined}} LastAudit */

export class Reviewer {
  /** @type {Api} */
  api;
  /** @type {import("./settings.js").Settings} */
  settings;
  /** @type {string | undefined} why the settings are not used */
  settingsProblem;
  /** @type {SessionStore | undefined} */
  #store;
  #storeReady;

  /**
   * @param {Api} api
   * @param {() => Promise<SessionStore>} openStore
   */
  constructor(api, openStore) {
    this.api = api;
    const checked = this.#checkedSettings();
    this.settings = checked.settings;
    this.settingsProblem = checked.problem;
    // Loaded ahead, so that no hook has to wait for it: on one path the gateway does not wait for the hook either.
    this.#storeReady = openStore().then(
      (store) => {
        this.#store = store;
      },
      (error) => this.trouble(`the transcript store cannot be reached, audits will be unverifiable: ${message(error)}`),
    );
  }

  /** Settles when the transcript store is there, or is known not to be. */
  ready() {
    return this.#store === undefined ? this.#storeReady : undefined;
  }

  /**
   * Runs both hooks on a made-up conversation that goes nowhere: the engine compiles a function when it is first called,
   * and better when it was called often, and the first compaction should not wait for that.
   * @returns {boolean} whether it was enough
   */
  warmUp() {
    const all = shared();
    if (all.warmUps >= WARM_UPS) return true;
    all.warmUps += 1;
    try {
      const session = { sessionKey: "warm-up" };
      const now = localTime(Date.now(), undefined);
      const host = memoryHost();
      const component = this.component();
      component.call(host, "beforeCompaction", { session, now, reason: "unknown", messages: warmUpMessages() });
      component.call(host, "afterCompaction", { session, now, summaryText: "## Decisions\nUse port 5433.", messagesDropped: 40 });
    } catch (error) {
      this.trouble(`the component does not work: ${message(error)}`);
      return true;
    }
    return all.warmUps >= WARM_UPS;
  }

  /** @returns {Component} */
  component() {
    const all = shared();
    if (all.component === undefined) {
      try {
        all.component = Component.packaged();
        all.broken = undefined;
      } catch (error) {
        all.broken = message(error);
        throw error;
      }
    }
    return all.component;
  }

  /**
   * Before anything is pruned.
   * @param {CompactionEvent} event
   * @param {HookContext} context
   */
  beforeCompaction(event, context) {
    this.#hook("before_compaction", context, (identity) => {
      const read = this.#read(identity);
      const memory = memoryOf(identity.sessionKey);
      const reason = reasonOf(memory, context);
      memory.compacting = true;
      memory.lastCompaction = read?.compaction?.id;
      const messages = read?.messages ?? plainMessages(event.messages ?? []);
      memory.messagesBefore = read?.count;
      const outcome = this.#call(identity, "beforeCompaction", (now) => ({
        session: sessionOf(identity, event.sessionFile),
        reason,
        now,
        messageCount: read?.count ?? known(event.messageCount),
        messageCountLimited: undefined,
        // What the gateway puts here differs from path to path: with or without the system prompt, or a limit plus one.
        tokenCount: undefined,
        contextWindow: undefined,
        messages,
      }));
      this.#tell(identity, outcome.notices);
      return `${outcome.signals} signals in ${messages.length} messages`;
    });
  }

  /**
   * When the summary stands.
   * @param {CompactionEvent} event
   * @param {HookContext} context
   */
  afterCompaction(event, context) {
    this.#hook("after_compaction", context, (identity) => {
      const memory = memoryOf(identity.sessionKey);
      const read = this.#read(identity);
      const found = compacted(event, context, read, memory);
      memory.compacting = false;
      /** @type {Alert[]} */
      const alerts = [];
      const report = this.#call(
        identity,
        "afterCompaction",
        (now) => ({ session: sessionOf(identity, event.sessionFile), now, ...found }),
        alerts,
      );
      if (found.messagesDropped === 0) return "nothing was compacted";
      this.#keepLast(identity, report);
      if (this.settings.chatAlerts) memory.notices.push(...alerts.map(notice));
      this.#tell(identity, report.notices);
      const score = report.score === undefined ? "" : `, ${report.score.toFixed(1)} of 100`;
      return `${report.verdict}${score}: ${report.verdictReason}`;
    });
  }

  /**
   * What the next prompt gets: lost facts of the last compaction, once, and what the budget has to say.
   * @param {HookContext} context
   * @returns {string | undefined}
   */
  beforePrompt(context) {
    return this.#hook("before_prompt_build", context, (identity) => {
      const memory = memoryOf(identity.sessionKey);
      const parts = [];
      if (identity.sessionId !== undefined && memory.sessionId !== identity.sessionId) {
        memory.sessionId = identity.sessionId;
        const read = this.#read(identity);
        const outcome = this.#call(identity, "sessionStart", (now) => ({
          session: sessionOf(identity),
          now,
          messageCount: read?.count,
          messageIds: read?.messages.map(({ id }) => id) ?? [],
        }));
        memory.prompts = read?.prompts;
        this.#tell(identity, outcome.notices);
        parts.push(outcome.recovery?.text);
      } else {
        parts.push(this.#prompt(identity)?.text);
      }
      parts.push(memory.again, memory.hint);
      memory.again = undefined;
      memory.hint = undefined;
      const text = parts.filter((part) => part !== undefined && part !== "").join("\n");
      return text === "" ? undefined : text;
    });
  }

  /** @param {Identity} identity */
  #prompt(identity) {
    return this.#with(identity, [], (host, now) => this.component().call(host, "beforePrompt", sessionOf(identity), now));
  }

  /**
   * An answer arrived: how full the context is.
   * @param {HookContext} context
   * @param {{usage: Usage | undefined, model: string | undefined, window: number | undefined, runId: string | undefined}} step
   */
  usage(context, step) {
    // A request that failed has no usage.
    if (step.usage === undefined || !(step.usage.input || step.usage.cacheRead || step.usage.cacheWrite)) return;
    this.#hook("usage", context, (identity) => {
      const memory = memoryOf(identity.sessionKey);
      if (step.runId !== undefined && step.runId !== memory.lastRun && memory.prompts !== undefined) memory.prompts += 1;
      memory.lastRun = step.runId;
      const reserve = currentConfig(this.api).agents?.defaults?.compaction?.reserveTokens;
      /** @type {Alert[]} */
      const alerts = [];
      const outcome = this.#call(
        identity,
        "usage",
        (now) => ({
          session: sessionOf(identity),
          now,
          model: step.model,
          contextWindow: big(known(step.window)),
          reserveTokens: big(known(reserve)),
          usage: providerUsage(step.usage),
          exchangeCount: memory.prompts,
          messages: [],
          added: [],
        }),
        alerts,
      );
      memory.hint = outcome.injection;
      this.#tell(identity, outcome.notices);
      if (this.settings.chatAlerts) memory.notices.push(...alerts.map(notice));
      if (outcome.checkpointDue !== undefined) this.checkpoint(identity, outcome.checkpointDue);
      return undefined;
    });
  }

  /** A person asked for a compaction. @param {string} sessionKey */
  asked(sessionKey) {
    memoryOf(sessionKey).askedAt = Date.now();
  }

  /** A request to the model has ended. @param {string} sessionKey @param {boolean} refused whether it failed */
  called(sessionKey, refused) {
    memoryOf(sessionKey).refused = refused;
  }

  /**
   * The conversation is about to be reset.
   * @param {unknown[] | undefined} messages
   * @param {HookContext} context
   */
  beforeReset(messages, context) {
    this.#hook("before_reset", context, (identity) => {
      memoryOf(identity.sessionKey).sessionId = undefined;
      const outcome = this.checkpoint(identity, "reset", undefined, messages);
      return `${outcome.signals} signals`;
    });
  }

  /**
   * Writes a checkpoint outside a compaction.
   * @param {Identity} identity
   * @param {CheckpointTrigger} trigger
   * @param {string} [prose]
   * @param {unknown[]} [given] messages, where the transcript cannot be had
   */
  checkpoint(identity, trigger, prose, given) {
    const messages = this.#read(identity)?.messages ?? plainMessages(given ?? []);
    const outcome = this.#call(identity, "checkpoint", (now) => ({
      session: sessionOf(identity),
      now,
      trigger,
      messageCount: undefined,
      tokenCount: undefined,
      contextWindow: undefined,
      messages,
      prose,
    }));
    this.#tell(identity, outcome.notices);
    return outcome;
  }

  /** @param {Identity} identity */
  status(identity) {
    return this.#with(identity, [], (host) => this.component().call(host, "status", sessionOf(identity)));
  }

  /** @param {Identity} identity @returns {LastAudit | undefined} */
  lastAudit(identity) {
    return this.notes(identity, (notes) => {
      const bytes = notes.loadState(identity.sessionKey, LAST_AUDIT);
      return bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes).toString("utf8"));
    });
  }

  /**
   * The next prompt gets the recovery text of the last compaction again.
   * @param {Identity} identity
   * @returns {string | undefined}
   */
  recoverAgain(identity) {
    const text = this.lastAudit(identity)?.recovery;
    memoryOf(identity.sessionKey).again = text;
    return text;
  }

  /** How many messages the transcript has in the context. @param {Identity} identity */
  transcriptLength(identity) {
    const read = this.#read(identity);
    if (read === undefined) throw new Error("it cannot be read; audits will be unverifiable");
    return read.count;
  }

  /** @param {{sessionKey?: string, sessionId?: string, agentId?: string, workspaceDir?: string}} given */
  identify(given) {
    return identify(this.api, given);
  }

  /**
   * Notices for the chat that wait for the next reply, once.
   * @param {string} sessionKey
   * @returns {string[]}
   */
  takeNotices(sessionKey) {
    const found = shared().sessions.get(sessionKey);
    return found === undefined ? [] : found.notices.splice(0);
  }

  /**
   * Work in the notes of the session's workspace.
   * @template T
   * @param {Identity} identity
   * @param {(notes: Notes) => T} work
   * @returns {T}
   */
  notes(identity, work) {
    if (identity.workspaceDir === undefined) throw new Error("the gateway does not tell the agent's workspace");
    const notes = new Notes(identity.workspaceDir);
    try {
      return work(notes);
    } finally {
      notes.close();
    }
  }

  /** @param {Identity} identity @returns {Conversation | undefined} nothing where the transcript cannot be had */
  #read(identity) {
    if (this.#store === undefined || identity.sessionId === undefined) return undefined;
    try {
      const { agentId, sessionKey, sessionId } = identity;
      const events = this.#store.loadTranscriptEventsSync({ agentId, sessionKey, sessionId });
      return events.length === 0 ? undefined : conversation(events);
    } catch (error) {
      this.trouble(`${identity.sessionKey}: the transcript cannot be read: ${message(error)}`);
      return undefined;
    }
  }

  /** @param {Identity} identity @param {AuditReport} report */
  #keepLast(identity, report) {
    const entry = report.writes.find((write) => write.target === "daily-note")?.text;
    /** @type {LastAudit} */
    const last = { entry: entry ?? `${report.verdict}: ${report.verdictReason}`, recovery: report.recovery?.text };
    this.notes(identity, (notes) => notes.saveState(identity.sessionKey, LAST_AUDIT, Buffer.from(JSON.stringify(last))));
  }

  /**
   * One call of the component with one event.
   * @template {Exclude<keyof Hooks, "beforePrompt">} Name
   * @param {Identity} identity
   * @param {Name} name
   * @param {(now: ReturnType<typeof localTime>) => Parameters<Hooks[Name]>[0]} event
   * @param {Alert[]} [alerts]
   * @returns {ReturnType<Hooks[Name]>}
   */
  #call(identity, name, event, alerts = []) {
    return this.#with(identity, alerts, (host, now) => {
      const parameters = /** @type {Parameters<Hooks[Name]>} */ (/** @type {unknown} */ ([event(now)]));
      return this.component().call(host, name, ...parameters);
    });
  }

  /**
   * @template T
   * @param {Identity} identity
   * @param {Alert[]} alerts
   * @param {(host: import("./component.js").Host, now: ReturnType<typeof localTime>) => T} work
   * @returns {T}
   */
  #with(identity, alerts, work) {
    return this.notes(identity, (notes) => {
      const { logger } = this.api;
      const host = hostFor({ notes, logger, label: identity.sessionKey, settings: this.settings.component, alerts });
      return work(host, localTime(Date.now(), currentConfig(this.api).agents?.defaults?.userTimezone));
    });
  }

  /**
   * A hook of the gateway: nothing that goes wrong in it reaches the gateway, and nothing goes wrong silently.
   * @template T
   * @param {string} name
   * @param {HookContext} context
   * @param {(identity: Identity) => T} work
   * @returns {T | undefined}
   */
  #hook(name, context, work) {
    const all = shared();
    all.fired[name] = (all.fired[name] ?? 0) + 1;
    const started = performance.now();
    try {
      const identity = this.identify(context);
      if (identity === undefined) {
        this.trouble(`${name} does not name its session: nothing was done`);
        return undefined;
      }
      if (this.settings.ignored(identity.sessionKey)) return undefined;
      const result = work(identity);
      const took = performance.now() - started;
      timed(name, took);
      if (name.endsWith("_compaction")) {
        this.api.logger.info(`${identity.sessionKey}: ${name} took ${took.toFixed(1)} ms: ${String(result)}`);
      }
      return result;
    } catch (error) {
      const what = error instanceof Trap || error instanceof HookError ? error.message : `${name} failed: ${message(error)}`;
      this.trouble(`${context.sessionKey ?? "unknown session"}: ${what}; the gateway goes on`);
      return undefined;
    }
  }

  /** @param {string} what */
  trouble(what) {
    remember(`${new Date().toISOString()} ${what}`);
    this.api.logger.error(what);
  }

  /** @param {Identity} identity @param {string[]} notices */
  #tell(identity, notices) {
    for (const line of notices) this.api.logger.info(`${identity.sessionKey}: ${line}`);
  }

  #checkedSettings() {
    const settings = readSettings(this.api.pluginConfig);
    try {
      const checked = checkedSettings(settings, (json) => this.component().call(memoryHost(), "configure", json));
      if (checked.problem !== undefined) this.trouble(`${checked.problem}; the defaults are used instead`);
      return checked;
    } catch (error) {
      this.trouble(`the component cannot be loaded, nothing will be audited: ${message(error)}`);
      return { settings, problem: undefined };
    }
  }
}

/** @param {Alert} alert */
function notice(alert) {
  return alert.text.startsWith("⚠️") ? alert.text : `⚠️ ${alert.text}`;
}

/** @param {unknown} error */
function message(error) {
  return error instanceof Error ? error.message : String(error);
}
