// The plugin's entry: connects the gateway's hooks with the reviewer. Nothing is judged here.

import { command } from "./src/command.js";
import { hasConversationAccess } from "./src/doctor.js";
import { PLUGIN_ID, Reviewer } from "./src/reviewer.js";
import { TOOL, tool } from "./src/tool.js";

/**
 * @typedef {import("./src/openclaw.d.ts").Api} Api
 * @typedef {import("./src/openclaw.d.ts").HookContext} HookContext
 * @typedef {import("./src/openclaw.d.ts").SessionStore} SessionStore
 */

/** Between two rounds, so that the gateway never stands still for long. */
const WARM_UP_MS = 1_000;

/** @returns {Promise<SessionStore>} */
const openStore = () => import(/** @type {string} */ ("openclaw/plugin-sdk/session-store-runtime"));

/** @param {Api} api */
function register(api) {
  const reviewer = new Reviewer(api, openStore);
  compactions(api, reviewer);
  reasons(api, reviewer);
  prompts(api, reviewer);
  budget(api, reviewer);
  api.registerCommand?.({
    name: PLUGIN_ID,
    description: "What the last compaction lost, how full the context is, a checkpoint now, recover, doctor.",
    acceptsArgs: true,
    handler: async (context) => ({ text: await command(reviewer, context).catch(apology(reviewer)) }),
  });
  api.registerTool?.((context) => tool(reviewer, context), { name: TOOL });
  if (api.registrationMode === "full") warmUp(reviewer);
}

/** @param {Reviewer} reviewer */
function warmUp(reviewer) {
  const round = () => {
    if (!reviewer.warmUp()) warmUp(reviewer);
  };
  setTimeout(round, WARM_UP_MS).unref();
}

/** @param {Api} api @param {Reviewer} reviewer */
function compactions(api, reviewer) {
  api.on("before_compaction", (event, context) => settled(reviewer, () => reviewer.beforeCompaction(event, context)));
  api.on("after_compaction", (event, context) => settled(reviewer, () => reviewer.afterCompaction(event, context)));
  api.on("before_reset", (event, context) => settled(reviewer, () => reviewer.beforeReset(event?.messages, context)));
}

/** What shows why the gateway compacts. @param {Api} api @param {Reviewer} reviewer */
function reasons(api, reviewer) {
  api.on("message_received", (event, context) => {
    const sessionKey = event?.sessionKey ?? context?.sessionKey;
    const asked = typeof event?.content === "string" && /^\s*\/compact(\s|$)/.test(event.content);
    if (asked && typeof sessionKey === "string") reviewer.asked(sessionKey);
  });
  api.on("model_call_ended", (event, context) => {
    const sessionKey = event?.sessionKey ?? context?.sessionKey;
    // The summarizer's own requests are named after the run that they belong to.
    if (typeof sessionKey !== "string" || String(event?.runId).includes(":compaction:")) return;
    reviewer.called(sessionKey, event?.outcome === "error" && event?.failureKind === undefined);
  });
}

/** @param {Api} api @param {Reviewer} reviewer */
function prompts(api, reviewer) {
  if (!hasConversationAccess(api)) return;
  api.on("before_prompt_build", async (_event, context) => {
    await reviewer.ready();
    const text = reviewer.beforePrompt(context);
    return text === undefined ? undefined : { prependContext: text };
  });
}

/** @param {Api} api @param {Reviewer} reviewer */
function budget(api, reviewer) {
  const access = hasConversationAccess(api);
  if (access) {
    api.on("llm_output", (event, context) =>
      reviewer.usage(context, {
        // The last request of the run; `event.usage` is a sum over all of them.
        usage: event?.lastAssistant?.usage ?? event?.usage,
        model: event?.resolvedRef ?? event?.model,
        window: event?.contextTokenBudget ?? context?.contextTokenBudget,
        runId: event?.runId,
      }),
    );
  }
  api.on("reply_payload_sending", (event, context) => {
    const sessionKey = event?.sessionKey ?? context?.sessionKey;
    const state = event?.usageState;
    if (!access && state !== undefined && event?.kind === "final") {
      const { agentId, sessionId } = state;
      const step = { usage: state.lastUsage, model: state.resolvedRef, window: state.contextTokenBudget, runId: event.runId };
      reviewer.usage({ sessionKey, agentId, sessionId }, step);
    }
    return withNotices(reviewer, event, sessionKey);
  });
}

/**
 * Alerts for the chat, where the user asked for them, below the next reply.
 * @param {Reviewer} reviewer
 * @param {import("./src/openclaw.d.ts").ReplyEvent} event
 * @param {string | undefined} sessionKey
 */
function withNotices(reviewer, event, sessionKey) {
  if (sessionKey === undefined || event?.kind !== "final" || typeof event.payload?.text !== "string") return undefined;
  const notices = reviewer.takeNotices(sessionKey);
  if (notices.length === 0) return undefined;
  return { payload: { ...event.payload, text: [event.payload.text, ...notices].join("\n") } };
}

/**
 * Runs at once where the transcript store is there, and else when it is: on one path the gateway does not wait.
 * @param {Reviewer} reviewer
 * @param {() => void} work
 */
function settled(reviewer, work) {
  const waiting = reviewer.ready();
  return waiting === undefined ? work() : waiting.then(work);
}

/** @param {Reviewer} reviewer @returns {(error: unknown) => string} */
function apology(reviewer) {
  return (error) => {
    const why = error instanceof Error ? error.message : String(error);
    reviewer.trouble(`the command failed: ${why}`);
    return `❌ ${why}`;
  };
}

export default {
  id: PLUGIN_ID,
  name: "Compaction review",
  description: "Audits what an agent's memory loses when its context is compacted.",
  register,
};
