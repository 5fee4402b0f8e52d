// Why something was not read or written, in the words of the contract (`host-error` in wit/types.wit).

/** @typedef {"denied" | "full" | "too-large" | "failed"} Kind */

/** What an import throws: the component gets the payload as a value. */
export class HostError extends Error {
  /**
   * @param {Kind} tag
   * @param {string} why
   */
  constructor(tag, why) {
    super(why);
    this.name = "HostError";
    this.payload = { tag, val: why };
  }
}

/**
 * An error of the system, with the place and what to do.
 * @param {string} doing
 * @param {string} place
 * @param {unknown} error
 * @returns {HostError}
 */
export function hostError(doing, place, error) {
  if (error instanceof HostError) return error;
  const code = errorCode(error);
  const why = error instanceof Error ? error.message : String(error);
  const what = `cannot ${doing} ${place}: ${why}`;
  switch (code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new HostError("denied", `${what}; make it writable for the gateway's user`);
    case "ENOTDIR":
      return new HostError("denied", `${what}; a file or link stands where a folder should`);
    case "ELOOP":
    case "EMLINK":
      return new HostError("denied", `${what}; links are not followed, move it away`);
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new HostError("full", `${what}; make room and try again`);
    default:
      return new HostError("failed", what);
  }
}

/**
 * @param {unknown} error
 * @returns {string | undefined}
 */
export function errorCode(error) {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
