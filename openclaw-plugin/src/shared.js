// What lives as long as the gateway. OpenClaw evaluates this module several times in one process, and the hooks fire in
// another copy than the commands: so it hangs on the process and not on the module.

/**
 * @typedef {import("./openclaw.d.ts").Api} Api
 * @typedef {import("./component.js").Component} Component
 *
 * @typedef {object} SessionMemory
 * @property {string} [sessionId] the transcript that was seen last
 * @property {boolean} [compacting] between the two hooks of a compaction
 * @property {string} [lastCompaction] the last one in the transcript when the before hook ran
 * @property {number} [messagesBefore] how many messages the transcript had then
 * @property {number} [prompts] how many prompts the user gave
 * @property {string} [lastRun]
 * @property {string} [hint] for the next prompt, from the budget
 * @property {string} [again] for the next prompt, as a person asked for it
 * @property {number} [askedAt] when a person last asked for a compaction, in unix milliseconds
 * @property {boolean} [refused] whether the last request to the model failed
 * @property {string[]} notices for the chat, with the next reply
 *
 * @typedef {object} Shared
 * @property {Component | undefined} component
 * @property {string | undefined} broken why there is none
 * @property {Map<string, SessionMemory>} sessions
 * @property {Map<string, number[]>} timings by hook, in milliseconds
 * @property {string[]} troubles what went wrong last, for the doctor
 * @property {Record<string, number>} fired how often each hook fired
 * @property {number} warmUps how often the component was warmed up
 */

const KEY = Symbol.for("openclaw-compact-review.1");
const MAX_SESSIONS = 1000;
const MAX_TIMINGS = 200;
const MAX_TROUBLES = 20;

/** @returns {Shared} */
export function shared() {
  const process = /** @type {Record<symbol, Shared | undefined>} */ (/** @type {unknown} */ (globalThis));
  process[KEY] ??= {
    component: undefined,
    broken: undefined,
    sessions: new Map(),
    timings: new Map(),
    troubles: [],
    fired: {},
    warmUps: 0,
  };
  return process[KEY];
}

/** @param {string} sessionKey @returns {SessionMemory} */
export function memoryOf(sessionKey) {
  const { sessions } = shared();
  const known = sessions.get(sessionKey) ?? { notices: [] };
  // The one that was used last stands last; the first is the one to forget.
  sessions.delete(sessionKey);
  sessions.set(sessionKey, known);
  const oldest = sessions.keys().next().value;
  if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  return known;
}

/** @param {string} hook @param {number} milliseconds */
export function timed(hook, milliseconds) {
  const { timings } = shared();
  const list = timings.get(hook) ?? [];
  list.push(milliseconds);
  if (list.length > MAX_TIMINGS) list.shift();
  timings.set(hook, list);
}

/** @param {string} trouble */
export function remember(trouble) {
  const { troubles } = shared();
  troubles.push(trouble);
  if (troubles.length > MAX_TROUBLES) troubles.shift();
}
