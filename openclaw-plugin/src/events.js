// From the gateway's payloads to the events of the contract. Mapping only.

/**
 * @typedef {import("./openclaw.d.ts").CompactionEvent} CompactionEvent
 * @typedef {import("./openclaw.d.ts").HookContext} HookContext
 * @typedef {import("./openclaw.d.ts").Usage} Usage
 * @typedef {import("./session.js").Identity} Identity
 * @typedef {import("./shared.js").SessionMemory} SessionMemory
 * @typedef {import("./transcript.js").Conversation} Conversation
 */

/** A compaction that begins later than this after `/compact` was not asked for by it. */
const ASKED_MS = 120_000;

/**
 * What the transcript tells of a compaction, and where it is silent, the payload.
 * @param {CompactionEvent} event
 * @param {HookContext} context
 * @param {Conversation | undefined} read
 * @param {SessionMemory} memory
 */
export function compacted(event, context, read, memory) {
  // On the in-run path there is nothing but the key, and `compactedCount` counts compactions, not messages.
  const inRun = context.sessionId === undefined;
  const entry = read?.compaction;
  const fresh = entry !== undefined && (!memory.compacting || entry.id !== memory.lastCompaction);
  // The transcript before minus what stands verbatim now; the gateway's own counts take the summary for a message.
  const retained = fresh ? read?.verbatim : known(event.messageCount);
  const before = memory.compacting ? memory.messagesBefore : undefined;
  const told = inRun ? undefined : known(event.compactedCount);
  let dropped = fresh && before !== undefined && retained !== undefined ? Math.max(0, before - retained) : told;
  // Both transcripts were read and no compaction came in between.
  if (!fresh && read !== undefined && memory.compacting && !dropped) dropped = 0;
  return {
    compactionId: fresh ? entry.id : undefined,
    messagesRetained: retained,
    // A compaction that stands in the transcript did replace something.
    messagesDropped: fresh && dropped === 0 ? undefined : dropped,
    summaryText: fresh ? entry.summary : undefined,
    summaryTokens: undefined,
    tokensBefore: big(fresh ? entry.tokensBefore : undefined),
    // The gateway counts it otherwise than the one before: unknown until the next answer.
    tokensAfter: undefined,
    firstKeptEntryId: fresh ? entry.firstKeptId : undefined,
    keptMessageIds: undefined,
  };
}

/**
 * Why the gateway compacts. The payload does not tell: it shows in what came before.
 * @param {SessionMemory} memory
 * @param {HookContext} context
 * @returns {"manual" | "overflow" | "threshold" | "unknown"}
 */
export function reasonOf(memory, context) {
  const asked = memory.askedAt !== undefined && Date.now() - memory.askedAt < ASKED_MS;
  memory.askedAt = undefined;
  if (asked) return "manual";
  if (memory.refused) return "overflow";
  // Only within a run the gateway tells nothing but the key. Outside it may also be its command line.
  return context.sessionId === undefined ? "threshold" : "unknown";
}

/** @param {Identity} identity @param {string} [sessionFile] */
export function sessionOf(identity, sessionFile) {
  return {
    sessionKey: identity.sessionKey,
    sessionId: identity.sessionId,
    agentId: identity.agentId,
    sessionFile,
    workspaceDir: identity.workspaceDir,
  };
}

export function warmUpMessages() {
  const said = [
    "Please fix the failing test in /srv/app/tests/login.rs by 2026-12-01. Never push to main without review.",
    "We decided to use port 5433 because 5432 is taken. The limit is 350 requests per minute, ticket APP-77.",
    '{"error":"connection refused","host":"db-1.example.internal:8443","retries":3}',
    "Done: the migration ran. Open: is https://example.org/docs?page=2 still valid?",
  ];
  const roles = /** @type {const} */ (["user", "assistant", "tool", "assistant"]);
  return Array.from({ length: 400 }, (_, at) => ({
    id: `w${at}`,
    role: roles[at % 4] ?? "user",
    text: `${said[at % 4]} ${at}`,
    failed: false,
  }));
}

/** @param {Usage | undefined} usage */
export function providerUsage(usage) {
  const input = known(usage?.input);
  const output = known(usage?.output);
  if (input === undefined || output === undefined) return undefined;
  return {
    input: BigInt(input),
    output: BigInt(output),
    cacheRead: BigInt(known(usage?.cacheRead) ?? 0),
    cacheWrite: BigInt(known(usage?.cacheWrite) ?? 0),
    inputIncludesCache: false,
  };
}

/** A count; nothing where the gateway does not know it (-1). @param {number | undefined} count */
export function known(count) {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** @param {number | undefined} count */
export function big(count) {
  return count === undefined ? undefined : BigInt(count);
}
