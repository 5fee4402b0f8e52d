// The workspace's memory/ folder, as host-harness/src/notes/folder.rs lays it out:
//
//   memory/YYYY-MM-DD.md                      daily notes, shared with whoever else writes them
//   memory/checkpoint.md                      the active checkpoint
//   memory/checkpoints/                       earlier ones, oldest removed first
//   memory/.compact-review/lock               held while something is written
//   memory/.compact-review/<session>.<slot>   state between two hooks

import { HostError } from "./errors.js";
import {
  MAX_CHECKPOINT_BYTES,
  MAX_ENTRY_BYTES,
  MAX_NOTE_BYTES,
  MAX_SESSION_KEY_BYTES,
  MAX_STATE_BYTES,
  addition,
  checkDate,
  checkEntryId,
  checkSize,
  checkStateName,
  earlierName,
  endOfNote,
  entryMark,
  entryText,
  isOf,
  stateBody,
  stateFile,
  stateName,
} from "./entry.js";
import { Folder } from "./folder.js";

const MEMORY = "memory";
const EARLIER = "checkpoints";
const PRIVATE = ".compact-review";
const CHECKPOINT = "checkpoint.md";
const LOCK = "lock";

/**
 * @typedef {{count: number, bytes: bigint}} Retention
 * @typedef {{sessionKey: string, date: string, entryId: string, text: string}} NoteEntry
 */

/** The notes of one workspace during one call. What it opens and locks is let go by `close`. */
export class Notes {
  #workspace;
  /** @type {Map<string, Folder>} */
  #open = new Map();
  /** @type {{release: () => void, held: boolean} | undefined} */
  #lock;

  /** @param {string} workspace a folder that exists; nothing is made before something is written */
  constructor(workspace) {
    this.#workspace = Folder.open(workspace);
  }

  close() {
    this.#lock?.release();
    for (const folder of this.#open.values()) folder.close();
    this.#workspace.close();
  }

  /** Whether writes were locked against other programs; nothing where nothing was written yet. */
  get locked() {
    return this.#lock?.held;
  }

  /** @param {string} sessionKey @param {string} slot @returns {Uint8Array | undefined} */
  loadState(sessionKey, slot) {
    checkStateName(sessionKey, slot);
    const most = MAX_STATE_BYTES + MAX_SESSION_KEY_BYTES + 64;
    const bytes = this.#existing(PRIVATE)?.read(stateName(sessionKey, slot), most);
    return bytes === undefined ? undefined : stateBody(sessionKey, bytes);
  }

  /** @param {string} sessionKey @param {string} slot @param {Uint8Array} bytes */
  saveState(sessionKey, slot, bytes) {
    checkStateName(sessionKey, slot);
    checkSize("a saved state", bytes.length, MAX_STATE_BYTES);
    // No lock: a state belongs to one session of this gateway, and is replaced as a whole. It need only outlive the
    // gateway, not the machine: what is read back proves itself.
    this.#made(PRIVATE).replace(stateName(sessionKey, slot), stateFile(sessionKey, bytes), { lasting: false });
  }

  /** @param {string} sessionKey @param {string} slot */
  clearState(sessionKey, slot) {
    checkStateName(sessionKey, slot);
    this.#existing(PRIVATE)?.remove(stateName(sessionKey, slot));
  }

  /**
   * The newest checkpoint of the session, else the active one of the workspace.
   * @param {string} sessionKey
   * @returns {string | undefined}
   */
  readCheckpoint(sessionKey) {
    const active = this.#existing()?.read(CHECKPOINT, MAX_CHECKPOINT_BYTES)?.toString("utf8");
    if (active === undefined || isOf(active, sessionKey)) return active;
    // Several sessions share a workspace: another one may have written since.
    const earlier = this.#existing(EARLIER);
    for (const { name } of earlier?.files().reverse() ?? []) {
      const text = earlier?.read(name, MAX_CHECKPOINT_BYTES)?.toString("utf8");
      if (text !== undefined && isOf(text, sessionKey)) return text;
    }
    return active;
  }

  /** @param {string} text @param {Retention} keep @returns {string} its place */
  writeCheckpoint(text, keep) {
    const bytes = checkpointBytes(text);
    this.#locked();
    const memory = this.#made();
    memory.sweep();
    const before = memory.read(CHECKPOINT, MAX_NOTE_BYTES);
    if (before !== undefined && !before.equals(bytes) && before.toString("latin1").trim() !== "") {
      this.#keep(earlierName(before), before, keep);
    }
    memory.replace(CHECKPOINT, bytes, { lasting: true });
    return memory.place(CHECKPOINT);
  }

  /** @param {string} date @returns {string | undefined} */
  readNote(date) {
    checkDate(date);
    const note = this.#existing()?.read(`${date}.md`, MAX_NOTE_BYTES);
    return note === undefined ? undefined : endOfNote(note);
  }

  /** @param {NoteEntry} entry @returns {{place: string, alreadyThere: boolean}} */
  appendNote(entry) {
    checkDate(entry.date);
    checkEntryId(entry.entryId);
    checkSize("an entry of a daily note", Buffer.byteLength(entry.text), MAX_ENTRY_BYTES);
    this.#locked();
    const memory = this.#made();
    const name = `${entry.date}.md`;
    const place = memory.place(name);
    const note = memory.read(name, MAX_NOTE_BYTES) ?? Buffer.alloc(0);
    const added = addition(note, entryText(entry), entryMark(entry.entryId));
    if (added.text !== "") {
      const bytes = Buffer.from(added.text);
      checkSize(place, note.length + bytes.length, MAX_NOTE_BYTES);
      memory.append(name, bytes);
    }
    return { place, alreadyThere: added.alreadyThere };
  }

  /** How many earlier checkpoints there are. */
  earlierCheckpoints() {
    return this.#existing(EARLIER)?.files().length ?? 0;
  }

  /**
   * Keeps a checkpoint, and as many before it as there is room for.
   * @param {string} name
   * @param {Uint8Array} bytes
   * @param {Retention} keep
   */
  #keep(name, bytes, keep) {
    const earlier = this.#made(EARLIER);
    earlier.sweep();
    earlier.replace(name, bytes, { lasting: true });
    const files = earlier.files();
    let count = files.length;
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files) {
      // The newest stays, however large it is.
      if (count <= 1 || (count <= keep.count && total <= Number(keep.bytes))) break;
      earlier.remove(file.name);
      count -= 1;
      total -= file.bytes;
    }
  }

  /** No other writer from now on until `close`. */
  #locked() {
    this.#lock ??= this.#made(PRIVATE).lock(LOCK);
  }

  /** @param {string} [below] @returns {Folder | undefined} memory/, or a folder in it */
  #existing(below) {
    const memory = this.#remember(MEMORY, () => this.#workspace.existing(MEMORY));
    return below === undefined ? memory : this.#remember(below, () => memory?.existing(below));
  }

  /** @param {string} [below] @returns {Folder} */
  #made(below) {
    const memory = this.#remember(MEMORY, () => this.#workspace.made(MEMORY));
    const folder = below === undefined ? memory : this.#remember(below, () => memory?.made(below));
    if (folder === undefined) throw new HostError("failed", `${MEMORY} cannot be opened`);
    return folder;
  }

  /** @param {string} name @param {() => Folder | undefined} open */
  #remember(name, open) {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const opened = open();
    if (opened !== undefined) this.#open.set(name, opened);
    return opened;
  }
}

/** @param {string} text */
function checkpointBytes(text) {
  if (text.trim() === "") throw new HostError("denied", "an empty checkpoint does not replace the one that stands");
  const bytes = Buffer.from(text);
  checkSize("a checkpoint", bytes.length, MAX_CHECKPOINT_BYTES);
  return bytes;
}
