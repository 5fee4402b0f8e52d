// A transcript of OpenClaw as messages of the contract. Mapping only: what a message means is the component's to judge.

/**
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").Message} Message
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").Role} Role
 *
 * @typedef {object} Compaction
 * @property {string | undefined} id
 * @property {string | undefined} summary left out where the transcript does not hold it in words
 * @property {string | undefined} firstKeptId the first message that stands verbatim
 * @property {number | undefined} tokensBefore
 *
 * @typedef {object} Conversation
 * @property {Message[]} messages what stands in the context, oldest first; the oldest are left out where it is too much
 * @property {number} count how many there are, with those that were left out
 * @property {number} verbatim how many of them are not a summary
 * @property {Compaction | undefined} compaction the last one
 * @property {number} prompts how many prompts the user gave in all
 */

/** More text than this is not handed over: the call is synchronous. The oldest messages are left out. */
export const MAX_TEXT = 8 * 1024 * 1024;

/** The role of a message in the contract. Anything else in the context was put there by the gateway. */
const ROLES = /** @type {Record<string, Role>} */ ({
  user: "user",
  assistant: "assistant",
  toolResult: "tool",
  tool: "tool",
  bashExecution: "tool",
});

/**
 * What stands in the context of a session, from its transcript.
 * @param {unknown[]} events as the gateway's store gives them, oldest first
 * @returns {Conversation}
 */
export function conversation(events) {
  const entries = activeBranch(events.filter(isRecord));
  const reset = entries.findLastIndex((entry) => entry.type === "reset");
  const current = entries.slice(reset + 1);
  const at = current.findLastIndex((entry) => entry.type === "compaction");
  const prompts = current.filter((entry) => entry.type === "message" && record(entry.message).role === "user").length;
  const entry = current[at];
  if (entry === undefined) {
    const all = messagesOf(current);
    return { messages: bounded(all), count: all.length, verbatim: all.length, compaction: undefined, prompts };
  }

  const kept = keptEntries(current.slice(0, at), entry);
  const keptMessages = messagesOf(kept);
  const compaction = {
    id: text(entry.id),
    summary: text(entry.summary),
    firstKeptId: keptMessages[0]?.id,
    tokensBefore: number(entry.tokensBefore),
  };
  /** @type {Message[]} */
  const summary = compaction.summary
    ? [{ id: compaction.id ?? "summary", role: "system", text: compaction.summary, tool: undefined, failed: false, at: time(entry) }]
    : [];
  const messages = [...summary, ...keptMessages, ...messagesOf(current.slice(at + 1))];
  const count = messages.length;
  return { messages: bounded(messages), count, verbatim: count - summary.length, compaction, prompts };
}

/**
 * Messages as a hook hands them over, without ids.
 * @param {unknown[]} messages
 * @returns {Message[]}
 */
export function plainMessages(messages) {
  return bounded(messagesOf(messages.filter(isRecord).map((message, at) => ({ type: "message", id: `m${at + 1}`, message }))));
}

/**
 * Sessions are trees: an edited prompt starts a new branch. Only the one that ends with the last entry counts.
 * @param {Record<string, any>[]} entries
 */
function activeBranch(entries) {
  const parents = new Map();
  for (const entry of entries) if (typeof entry.id === "string") parents.set(entry.id, entry.parentId);
  if (![...parents.values()].some((parent) => typeof parent === "string")) return entries;
  const branch = new Set();
  let next = entries.findLast((entry) => typeof entry.id === "string" && entry.type !== "session")?.id;
  // An id that is there already closes a cycle: what was found so far stands.
  while (typeof next === "string" && !branch.has(next)) {
    branch.add(next);
    next = parents.get(next);
  }
  return entries.filter((entry) => branch.has(entry.id));
}

/**
 * @param {Record<string, any>[]} before the entries before the compaction
 * @param {Record<string, any>} compaction
 */
function keptEntries(before, compaction) {
  const from = before.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  return from === -1 ? [] : before.slice(from);
}

/** @param {Record<string, any>[]} entries @returns {Message[]} */
function messagesOf(entries) {
  const messages = [];
  for (const [at, entry] of entries.entries()) {
    const message = entry.type === "message" ? record(entry.message) : entry.type === "custom_message" ? entry : undefined;
    if (message === undefined || isNotice(message)) continue;
    messages.push({
      id: text(entry.id) ?? `m${at + 1}`,
      role: ROLES[String(message.role)] ?? "system",
      text: spoken(message),
      tool: text(message.toolName),
      failed: message.isError === true,
      at: time(message) ?? time(entry),
    });
  }
  return messages;
}

/** Lines that the gateway shows to a person and no model said. @param {Record<string, any>} message */
function isNotice(message) {
  return message.role === "assistant" && message.model === "gateway-injected";
}

/** @param {Record<string, any>} message */
function spoken(message) {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) {
    return ["command", "output", "summary"].map((field) => text(message[field])).filter((part) => part !== undefined).join("\n");
  }
  const parts = [];
  for (const part of content.filter(isRecord)) {
    if (part.type === "text") parts.push(text(part.text) ?? "");
    // Images, hidden reasoning and encrypted parts are not text.
    else if (part.type === "toolCall") parts.push(`${text(part.name) ?? "tool"} ${JSON.stringify(part.arguments ?? {})}`);
  }
  return parts.join("\n");
}

/** @param {Message[]} messages */
function bounded(messages) {
  let room = MAX_TEXT;
  let from = messages.length;
  for (; from > 0; from -= 1) {
    room -= messages[from - 1]?.text.length ?? 0;
    if (room < 0) break;
  }
  return from === 0 ? messages : messages.slice(from);
}

/** @param {Record<string, any>} value @returns {bigint | undefined} */
function time(value) {
  const { timestamp } = value;
  const ms = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp;
  return Number.isSafeInteger(ms) ? BigInt(ms) : undefined;
}

/** @param {unknown} value @returns {number | undefined} */
function number(value) {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** @param {unknown} value @returns {string | undefined} */
function text(value) {
  return typeof value === "string" ? value : undefined;
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isRecord(value) {
  return typeof value === "object" && value !== null;
}

/** @param {unknown} value @returns {Record<string, any>} */
function record(value) {
  return isRecord(value) ? value : {};
}
