// The plugin's configuration: what is the component's is handed on untouched, what is the plugin's own is read here.

import { HookError } from "./component.js";

/** Keys of `plugins.entries.compact-review.config` that are the plugin's own. */
const OWN = new Set(["alerts", "sessions"]);

/**
 * @typedef {object} Settings
 * @property {string | undefined} component the component's, as one JSON object; nothing where none are set
 * @property {boolean} chatAlerts whether alerts go to the chat too
 * @property {(sessionKey: string) => boolean} ignored
 */

/**
 * @param {Record<string, unknown> | undefined} config
 * @returns {Settings}
 */
export function readSettings(config) {
  const rest = Object.fromEntries(Object.entries(config ?? {}).filter(([key]) => !OWN.has(key)));
  const alerts = /** @type {{chat?: unknown} | undefined} */ (config?.alerts);
  const sessions = /** @type {{ignore?: unknown} | undefined} */ (config?.sessions);
  const ignore = Array.isArray(sessions?.ignore) ? sessions.ignore.filter((item) => typeof item === "string") : [];
  const patterns = ignore.map(pattern);
  return {
    component: Object.keys(rest).length === 0 ? undefined : JSON.stringify(rest),
    chatAlerts: alerts?.chat === true,
    ignored: (sessionKey) => patterns.some((known) => known.test(sessionKey)),
  };
}

/**
 * Settings that the component does not take are not used: the defaults are, and the reason is given.
 * @param {Settings} settings
 * @param {(settings: string) => unknown} configure the component's `configure`
 * @returns {{settings: Settings, problem: string | undefined}}
 */
export function checkedSettings(settings, configure) {
  if (settings.component === undefined) return { settings, problem: undefined };
  try {
    configure(settings.component);
    return { settings, problem: undefined };
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return { settings: { ...settings, component: undefined }, problem: error.message };
  }
}

/** `*` stands for any characters. @param {string} text */
function pattern(text) {
  const parts = text.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
