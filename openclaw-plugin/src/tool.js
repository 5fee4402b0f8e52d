// compact_review: what the agent itself can ask for.

import { written } from "./command.js";

/**
 * @typedef {import("./openclaw.d.ts").Tool} Tool
 * @typedef {import("./openclaw.d.ts").ToolContext} ToolContext
 * @typedef {import("./reviewer.js").Reviewer} Reviewer
 */

/** Declared in openclaw.plugin.json too (`contracts.tools`). */
export const TOOL = "compact_review";

/**
 * @param {Reviewer} reviewer
 * @param {ToolContext} context
 * @returns {Tool | null}
 */
export function tool(reviewer, context) {
  if (context.sessionKey === undefined) return null;
  return {
    name: TOOL,
    label: "Context budget and checkpoint",
    description:
      "How full the context is, and a checkpoint of the conversation in memory/checkpoint.md before details are lost to a " +
      "compaction. `status` changes nothing; `checkpoint` writes, with your own note on the state of the work if you give one.",
    parameters: {
      type: "object",
      additionalProperties: false,
      required: ["action"],
      properties: {
        action: { type: "string", enum: ["status", "checkpoint"], description: "What to do." },
        note: { type: "string", description: "For `checkpoint`: the state of the work in your words." },
      },
    },
    execute: async (_id, params) => {
      await reviewer.ready();
      const { action, note } = /** @type {{action?: unknown, note?: unknown}} */ (params ?? {});
      const identity = reviewer.identify(context);
      if (identity === undefined) throw new Error("this conversation has no session");
      if (action === "checkpoint") {
        const outcome = reviewer.checkpoint(identity, "manual", typeof note === "string" ? note : undefined);
        return answer(written(outcome));
      }
      const status = reviewer.status(identity);
      return answer([status.line, status.tokenState].filter((line) => line !== undefined).join("\n"));
    },
  };
}

/** @param {string} text */
function answer(text) {
  return { content: [{ type: /** @type {const} */ ("text"), text }] };
}
