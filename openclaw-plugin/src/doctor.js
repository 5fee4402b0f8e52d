// /compact-review doctor: proves that the plugin is working, or says what is missing and what that costs.

import { PLUGIN_ID } from "./reviewer.js";
import { currentConfig } from "./session.js";
import { shared } from "./shared.js";

/**
 * @typedef {import("./openclaw.d.ts").Api} Api
 * @typedef {import("./openclaw.d.ts").CommandContext} CommandContext
 * @typedef {import("./reviewer.js").Reviewer} Reviewer
 */

/** @param {Api} api */
export function hasConversationAccess(api) {
  return currentConfig(api).plugins?.entries?.[PLUGIN_ID]?.hooks?.allowConversationAccess === true;
}

/**
 * @param {Reviewer} reviewer
 * @param {CommandContext} context
 * @returns {string}
 */
export function doctor(reviewer, context) {
  return [
    component(reviewer),
    settings(reviewer),
    access(reviewer),
    ...workspace(reviewer, context),
    ...fired(),
    ...troubles(),
  ].join("\n");
}

/** @param {Reviewer} reviewer */
function component(reviewer) {
  return check("Component", () => {
    reviewer.component();
    return "loaded";
  });
}

/** @param {Reviewer} reviewer */
function settings(reviewer) {
  const { settingsProblem } = reviewer;
  if (settingsProblem !== undefined) return `❌ Settings: ${settingsProblem}. The defaults are used.`;
  return `✅ Settings: ${reviewer.settings.component === undefined ? "defaults" : "taken over"}`;
}

/** @param {Reviewer} reviewer */
function access(reviewer) {
  if (hasConversationAccess(reviewer.api)) return "✅ Conversation access: granted";
  const key = `plugins.entries.${PLUGIN_ID}.hooks.allowConversationAccess`;
  return (
    `⚠️ Conversation access: not granted. Audits, checkpoints and notes work. Lost facts are not handed back to the ` +
    `agent, and messages that vanish without a compaction are not noticed. To grant it: openclaw config set ${key} true`
  );
}

/**
 * @param {Reviewer} reviewer
 * @param {CommandContext} context
 */
function workspace(reviewer, context) {
  const identity = reviewer.identify(context);
  if (identity === undefined) return ["⚠️ Session: this chat has none yet, so its transcript and notes cannot be tried"];
  const ignored = reviewer.settings.ignored(identity.sessionKey);
  return [
    ignored
      ? `⚠️ Session: ${identity.sessionKey} is ignored (sessions.ignore)`
      : `✅ Session: ${identity.sessionKey}`,
    check("Transcript", () => `${reviewer.transcriptLength(identity)} messages in the context`),
    check("Notes", () =>
      reviewer.notes(identity, (notes) => {
        const slot = "openclaw-doctor";
        notes.saveState(identity.sessionKey, slot, Buffer.from("ok"));
        const back = Buffer.from(notes.loadState(identity.sessionKey, slot) ?? []).toString();
        notes.clearState(identity.sessionKey, slot);
        if (back !== "ok") throw new Error("what was written does not read back");
        const active = notes.readCheckpoint(identity.sessionKey) === undefined ? "no checkpoint yet" : "checkpoint.md stands";
        return `memory/ is writable, ${active}, ${notes.earlierCheckpoints()} earlier`;
      }),
    ),
  ];
}

function fired() {
  const { fired: counts, timings } = shared();
  const names = Object.keys(counts).sort();
  if (names.length === 0) return ["⚠️ Hooks: none has fired since the gateway started"];
  return names.map((name) => {
    const times = [...(timings.get(name) ?? [])].sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)];
    const worst = times.at(-1);
    const took = median === undefined || worst === undefined ? "" : `, median ${median.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`;
    return `✅ Hook ${name}: fired ${counts[name]} times${took}`;
  });
}

function troubles() {
  const { troubles: list } = shared();
  if (list.length === 0) return ["✅ Troubles: none since the gateway started"];
  return ["⚠️ Troubles, newest last:", ...list.slice(-5).map((line) => `  ${line}`)];
}

/**
 * @param {string} what
 * @param {() => string} test
 */
function check(what, test) {
  try {
    return `✅ ${what}: ${test()}`;
  } catch (error) {
    return `❌ ${what}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
