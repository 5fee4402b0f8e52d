// /compact-review: what a person can ask for in the chat.

import { doctor } from "./doctor.js";

/**
 * @typedef {import("./openclaw.d.ts").CommandContext} CommandContext
 * @typedef {import("./reviewer.js").Reviewer} Reviewer
 */

const HELP = `/compact-review last — what the last compaction of this conversation lost
/compact-review status — how full the context is
/compact-review checkpoint — write a checkpoint now
/compact-review recover — hand the lost facts to the agent once more, with your next message
/compact-review doctor — is it really working?`;

/**
 * @param {Reviewer} reviewer
 * @param {CommandContext} context
 * @returns {Promise<string>}
 */
export async function command(reviewer, context) {
  await reviewer.ready();
  const action = context.args?.trim().toLowerCase() || "help";
  if (action === "doctor") return doctor(reviewer, context);
  const identity = reviewer.identify(context);
  if (identity === undefined) return "This chat has no session yet. Say something first.";
  switch (action) {
    case "last":
      return reviewer.lastAudit(identity)?.entry ?? "No compaction of this conversation was audited yet.";
    case "status": {
      const status = reviewer.status(identity);
      const earlier = reviewer.notes(identity, (notes) => notes.earlierCheckpoints());
      return `${status.line}\n🗂 Earlier checkpoints: ${earlier}`;
    }
    case "checkpoint": {
      const outcome = reviewer.checkpoint(identity, "manual");
      return written(outcome);
    }
    case "recover":
      return recovered(reviewer.recoverAgain(identity));
    default:
      return HELP;
  }
}

/**
 * @param {ReturnType<Reviewer["checkpoint"]>} outcome
 * @returns {string}
 */
export function written(outcome) {
  const lines = outcome.writes.map((write) => write.place === undefined ? `Not written: ${write.error}` : `Written: ${write.place}`);
  if (lines.length === 0) lines.push("Nothing was written: the conversation is empty.");
  return [`${outcome.signals} signals. ${lines.join(" ")}`, ...outcome.problems].join("\n");
}

/** @param {string | undefined} text */
function recovered(text) {
  if (text === undefined) return "Nothing to hand back: the last compaction lost nothing of weight, or there was none.";
  return `The agent gets this with your next message:\n${text}`;
}
