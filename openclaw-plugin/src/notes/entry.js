// What the daily note and the names of files look like: as host-harness/src/notes.rs and notes/folder.rs write them.

import { HostError } from "./errors.js";

/** Sizes in bytes, as in host-harness/src/notes.rs. */
export const MAX_ENTRY_BYTES = 128 * 1024;
export const MAX_NOTE_BYTES = 64 * 1024 * 1024;
export const MAX_CHECKPOINT_BYTES = 256 * 1024;
export const MAX_STATE_BYTES = 16 * 1024 * 1024;
export const MAX_SESSION_KEY_BYTES = 1024;
export const READ_NOTE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

/** The last line of an entry: it stands in a note only if the whole entry does. @param {string} entryId */
export function entryMark(entryId) {
  return `<!-- compact-review:entry ${entryId} -->`;
}

/**
 * The entry as it is written: its mark is its last line, and it ends with a newline.
 * @param {{entryId: string, text: string}} entry
 */
export function entryText(entry) {
  const mark = entryMark(entry.entryId);
  const text = entry.text.trimEnd();
  return text.slice(text.lastIndexOf("\n") + 1) === mark ? `${text}\n` : `${text}\n${mark}\n`;
}

/**
 * What must be appended so that the entry stands in the note once, whatever the note ends with.
 * @param {Buffer} note
 * @param {string} text
 * @param {string} mark
 * @returns {{text: string, alreadyThere: boolean}}
 */
export function addition(note, text, mark) {
  if (hasLine(note, mark)) return { text: "", alreadyThere: true };
  const last = note.subarray(note.lastIndexOf(NEWLINE) + 1).toString("latin1");
  let added = "";
  if (last !== "") {
    // A comment that was cut off would hide the next entry from a reader.
    if (last.lastIndexOf("<!--") > last.lastIndexOf("-->")) added += " -->";
    added += "\n";
    if (`${last.trimEnd()} -->` === mark) return { text: added, alreadyThere: true };
  }
  const end = note.subarray(-3).toString("latin1");
  const blank = last === "" && (note.length === 0 || end.endsWith("\n\n") || end === "\n\r\n");
  return { text: `${added}${blank ? "" : "\n"}${text}`, alreadyThere: false };
}

/** @param {Buffer} note @param {string} line */
function hasLine(note, line) {
  for (let at = note.indexOf(line); at !== -1; at = note.indexOf(line, at + 1)) {
    const end = note.indexOf(NEWLINE, at);
    const rest = note.subarray(at + line.length, end === -1 ? note.length : end).toString("latin1");
    if ((at === 0 || note[at - 1] === NEWLINE) && rest.trim() === "") return true;
  }
  return false;
}

/**
 * At most the last bytes of a note, from the begin of a line.
 * @param {Buffer} note
 */
export function endOfNote(note) {
  const from = Math.max(0, note.length - READ_NOTE_BYTES);
  if (from === 0) return note.toString("utf8");
  const line = note.indexOf(NEWLINE, from);
  return line === -1 ? "" : note.subarray(line + 1).toString("utf8");
}

/**
 * A readable part of the key and a hash of all of it: any key gives a name that every file system takes.
 * @param {string} sessionKey
 * @param {string} slot
 */
export function stateName(sessionKey, slot) {
  const readable = [...sessionKey].slice(0, 40).map((c) => (/^[A-Za-z0-9]$/.test(c) ? c.toLowerCase() : "-")).join("");
  return `${readable}-${hash(Buffer.from(sessionKey))}.${slot}`;
}

/**
 * A state as it stands in its file: whose it is, and what it must be. Two keys may share a file name, but not their state.
 * @param {string} sessionKey
 * @param {Uint8Array} body
 */
export function stateFile(sessionKey, body) {
  const key = sessionKey.replaceAll("\n", "\\n");
  return Buffer.concat([Buffer.from(`compact-review state 2\n${key}\n${body.length} ${hash(body)}\n`), body]);
}

/**
 * The state in a file; nothing where it is another session's, or where a power cut left a part of it.
 * @param {string} sessionKey
 * @param {Buffer} file
 */
export function stateBody(sessionKey, file) {
  let from = 0;
  for (let line = 0; line < 3; line += 1) from = file.indexOf(NEWLINE, from) + 1 || file.length;
  const body = file.subarray(from);
  return stateFile(sessionKey, body).equals(file) ? new Uint8Array(body) : undefined;
}

/**
 * When a checkpoint was taken, in UTC, and what it says: the same checkpoint has the same name.
 * @param {Buffer} text
 */
export function earlierName(text) {
  const at = new Date(takenAt(text.toString("utf8")));
  const iso = at.toISOString();
  const milliseconds = String(at.getTime() % 60_000).padStart(5, "0");
  const digest = hash(text).slice(-8);
  return `${iso.slice(0, 10)}T${iso.slice(11, 13)}${iso.slice(14, 16)}${milliseconds}Z-${digest}.md`;
}

/** @param {string} checkpoint @returns {number} unix milliseconds, 0 where it does not tell */
function takenAt(checkpoint) {
  const taken = header(checkpoint)?.taken?.unixMs;
  return Number.isSafeInteger(taken) && taken > 0 && taken < 8.64e15 ? taken : 0;
}

/** @param {string} checkpoint @param {string} sessionKey */
export function isOf(checkpoint, sessionKey) {
  return header(checkpoint)?.sessionKey === sessionKey;
}

/** What a checkpoint says about itself. @param {string} checkpoint @returns {any} nothing where it does not tell */
function header(checkpoint) {
  const open = "<!-- compact-review:checkpoint ";
  const line = checkpoint.split("\n", 50).find((candidate) => candidate.startsWith(open));
  try {
    return line === undefined ? undefined : JSON.parse(line.trimEnd().slice(open.length, -" -->".length));
  } catch {
    return undefined;
  }
}

/** FNV-1a, 64 bits, in hexadecimal: to name files, not to protect them. @param {Uint8Array} bytes */
function hash(bytes) {
  let high = 0xcbf2_9ce4;
  let low = 0x8422_2325;
  for (const byte of bytes) {
    low ^= byte;
    // Times 2^40 + 0x1b3, in two halves of 32 bits. All of it stays in whole numbers of the processor: a state has
    // hundreds of kilobytes, and with BigInt or divisions its hash took longer than writing it.
    const carry = ((low >>> 16) * 0x1b3 + (((low & 0xffff) * 0x1b3) >>> 16)) >>> 16;
    high = (Math.imul(high, 0x1b3) + carry + (low << 8)) | 0;
    low = Math.imul(low, 0x1b3);
  }
  return hexadecimal(high) + hexadecimal(low);
}

/** @param {number} half 32 bits */
function hexadecimal(half) {
  return (half >>> 0).toString(16).padStart(8, "0");
}

/** A date names a file, so it is a date and nothing else. @param {string} date */
export function checkDate(date) {
  if (/^\d{4}-\d{2}-\d{2}$/.test(date)) return;
  throw new HostError("denied", `${JSON.stringify(date)} names no daily note: it must be YYYY-MM-DD`);
}

/** @param {string} entryId */
export function checkEntryId(entryId) {
  if (/^[A-Za-z0-9._:-]{1,128}$/.test(entryId)) return;
  const id = JSON.stringify(entryId);
  throw new HostError("failed", `${id} does not name an entry: 1 to 128 letters, digits and . _ : -`);
}

/** @param {string} sessionKey @param {string} slot */
export function checkStateName(sessionKey, slot) {
  if (sessionKey === "") throw new HostError("failed", "the session key is empty; state is kept by it");
  checkSize("a session key", Buffer.byteLength(sessionKey), MAX_SESSION_KEY_BYTES);
  if (/^[a-z-]{1,32}$/.test(slot)) return;
  throw new HostError("denied", `${JSON.stringify(slot)} names no slot: 1 to 32 lower-case letters and dashes`);
}

/** @param {string} what @param {number} bytes @param {number} most */
export function checkSize(what, bytes, most) {
  if (bytes > most) throw new HostError("too-large", `${what} may have ${most} bytes: found ${bytes}`);
}
