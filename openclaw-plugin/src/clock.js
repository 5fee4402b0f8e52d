// The user's clock. The component has none: the date of the daily note is computed from what is given here.

/**
 * The moment with the user's offset from UTC, as `local-time` of the contract.
 * @param {number} unixMs
 * @param {string | undefined} timeZone the user's, as the gateway's settings have it; else the one of this machine
 */
export function localTime(unixMs, timeZone) {
  return { unixMs: BigInt(unixMs), utcOffsetMinutes: offset(unixMs, timeZone) };
}

/** @param {number} unixMs @param {string | undefined} timeZone */
function offset(unixMs, timeZone) {
  const here = -new Date(unixMs).getTimezoneOffset();
  if (timeZone === undefined || timeZone.trim() === "") return here;
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: timeZone.trim(), timeZoneName: "longOffset" });
    const name = format.formatToParts(unixMs).find((part) => part.type === "timeZoneName")?.value ?? "";
    const found = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name);
    if (found === null) return here;
    const minutes = Number(found[2] ?? 0) * 60 + Number(found[3] ?? 0);
    return found[1] === "-" ? -minutes : minutes;
  } catch {
    // A zone that this Node does not know: the gateway goes by the machine's too.
    return here;
  }
}
