// Which conversation an event is about. Payloads differ from path to path: what one leaves out is looked up.

/**
 * @typedef {import("./openclaw.d.ts").Api} Api
 * @typedef {import("./openclaw.d.ts").Config} Config
 *
 * @typedef {object} Identity
 * @property {string} sessionKey
 * @property {string | undefined} sessionId
 * @property {string | undefined} agentId
 * @property {string | undefined} workspaceDir
 */

/**
 * @param {Api} api
 * @param {{sessionKey?: string, sessionId?: string, agentId?: string, workspaceDir?: string}} given
 * @returns {Identity | undefined} nothing where the event does not name its session
 */
export function identify(api, given) {
  const sessionKey = given.sessionKey?.trim();
  if (!sessionKey) return undefined;
  const agentId = given.agentId ?? agentOf(sessionKey);
  return {
    sessionKey,
    agentId,
    sessionId: given.sessionId ?? sessionIdOf(api, sessionKey, agentId),
    workspaceDir: given.workspaceDir ?? workspaceOf(api, agentId),
  };
}

/** @param {Api} api @returns {Config} */
export function currentConfig(api) {
  return api.runtime?.config?.current?.() ?? api.config ?? {};
}

/** `agent:<id>:…` @param {string} sessionKey */
function agentOf(sessionKey) {
  return /^agent:([^:]+):/.exec(sessionKey)?.[1];
}

/** @param {Api} api @param {string} sessionKey @param {string | undefined} agentId */
function sessionIdOf(api, sessionKey, agentId) {
  return api.runtime?.agent?.session?.getSessionEntry?.({ agentId, sessionKey })?.sessionId;
}

/** @param {Api} api @param {string | undefined} agentId */
function workspaceOf(api, agentId) {
  if (agentId === undefined) return undefined;
  return api.runtime?.agent?.resolveAgentWorkspaceDir?.(currentConfig(api), agentId);
}
