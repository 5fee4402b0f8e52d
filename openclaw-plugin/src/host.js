// What the component can reach during one call: the log, the settings, the notes of one workspace.

/**
 * @typedef {import("./component.js").Host} Host
 * @typedef {import("./openclaw.d.ts").Logger} Logger
 * @typedef {import("./notes/store.js").Notes} Notes
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").Alert} Alert
 */

/** Bounds of one call, as in host-harness/src/runtime/limits.rs. */
const LOG_LINE = 4 * 1024;
const LOG_LINES = 200;
const ALERTS = 50;

/**
 * @param {object} services
 * @param {Notes} services.notes
 * @param {Logger} services.logger
 * @param {string} services.label the session, in front of each line
 * @param {string | undefined} services.settings one JSON object
 * @param {Alert[]} services.alerts gets what is raised
 * @returns {Host}
 */
export function hostFor({ notes, logger, label, settings, alerts }) {
  let lines = 0;
  return /** @type {Host} */ ({
    log(level, message) {
      lines += 1;
      if (lines === LOG_LINES + 1) logger.warn(`${label}: more lines of this call were dropped`);
      if (lines > LOG_LINES) return;
      const line = `${label}: ${bounded(message)}`;
      if (level === "debug") logger.debug?.(line);
      else logger[level](line);
    },
    raiseAlert(alert) {
      if (alerts.length >= ALERTS) return;
      const raised = { level: alert.level, code: alert.code, text: bounded(alert.text) };
      alerts.push(raised);
      const line = `${label}: ${raised.level} alert ${raised.code}: ${raised.text}`;
      if (raised.level === "info") logger.info(line);
      else logger.warn(line);
    },
    settings: () => settings,
    // OpenClaw offers plugins no tokenizer: the component estimates.
    countTokens: () => undefined,
    loadState: (key, slot) => notes.loadState(key, slot),
    saveState: (key, slot, bytes) => notes.saveState(key, slot, bytes),
    clearState: (key, slot) => notes.clearState(key, slot),
    readCheckpoint: (key) => notes.readCheckpoint(key),
    writeCheckpoint: (_key, text, keep) => notes.writeCheckpoint(text, keep),
    readNote: (/** @type {string} */ _key, /** @type {string} */ date) => notes.readNote(date),
    appendNote: (entry) => notes.appendNote(entry),
  });
}

/** @param {string} text */
function bounded(text) {
  return text.length <= LOG_LINE ? text : `${text.slice(0, LOG_LINE)}…`;
}

/**
 * A host that keeps things in memory, says nothing and writes nowhere: to check settings, and to warm up.
 * @returns {Host}
 */
export function memoryHost() {
  /** @type {Map<string, Uint8Array>} */
  const states = new Map();
  return /** @type {Host} */ ({
    log() {},
    raiseAlert() {},
    settings: () => undefined,
    countTokens: () => undefined,
    loadState: (key, slot) => states.get(`${slot} ${key}`),
    saveState: (key, slot, bytes) => void states.set(`${slot} ${key}`, bytes.slice()),
    clearState: (key, slot) => void states.delete(`${slot} ${key}`),
    readCheckpoint: () => undefined,
    writeCheckpoint: () => "nowhere",
    readNote: () => undefined,
    appendNote: () => ({ place: "nowhere", alreadyThere: false }),
  });
}
