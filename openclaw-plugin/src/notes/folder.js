// One folder and the files in it: open without following links, replace as a whole, append in one write, lock.
//
// The same rules as host-harness/src/notes/files.rs, so that the gateway and the command line tool can work in one
// workspace. On Linux a folder is held open and its files are reached through /proc/self/fd, so a folder that is
// swapped for a link in between is not followed either; elsewhere each folder is looked at before it is used.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { HostError, errorCode, hostError } from "./errors.js";

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

/** Names of files that are not yet what they will be. */
export const UNFINISHED = ".unfinished-";
/** How long to wait for another process that writes to the same folder. The gateway stands still meanwhile. */
const LOCK_WAIT_SECONDS = 2;
/** Lock while opening, of the BSDs and macOS: the same kind of lock as flock(2). Node has no name for it. */
const O_EXLOCK = 0x20;

/** Notes quote conversations: what is made here is the user's alone. */
const CLOSED_FOLDER = 0o700;
const CLOSED_FILE = 0o600;

let counter = 0;

export class Folder {
  #fd;
  #label;
  #real;

  /**
   * @param {number} fd
   * @param {string} real where it is
   * @param {string} label its name for people
   */
  constructor(fd, real, label) {
    this.#fd = fd;
    this.#real = real;
    this.#label = label;
  }

  /**
   * A workspace. It may be reached through a link: that is the user's choice.
   * @param {string} workspace
   */
  static open(workspace) {
    try {
      return new Folder(fs.openSync(workspace, O_RDONLY | O_DIRECTORY), fs.realpathSync(workspace), "");
    } catch (error) {
      throw hostError("open the workspace", workspace, error);
    }
  }

  close() {
    fs.closeSync(this.#fd);
  }

  /** @param {string} name */
  #path(name) {
    return process.platform === "linux" ? `/proc/self/fd/${this.#fd}/${name}` : path.join(this.#real, name);
  }

  /**
   * The place of a file, for people.
   * @param {string} name
   */
  place(name) {
    return this.#label === "" ? name : `${this.#label}/${name}`;
  }

  /**
   * A folder in this one; nothing where there is none. A link is refused.
   * @param {string} name
   * @returns {Folder | undefined}
   */
  existing(name) {
    const found = this.#look(name);
    if (found === undefined) return undefined;
    if (!found.isDirectory()) {
      throw new HostError("denied", `${this.place(name)} is ${kindOf(found)} and not a folder: move it away`);
    }
    try {
      const fd = fs.openSync(this.#path(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      return new Folder(fd, path.join(this.#real, name), this.place(name));
    } catch (error) {
      throw hostError("open", this.place(name), error);
    }
  }

  /**
   * The same, made where there is none.
   * @param {string} name
   * @returns {Folder}
   */
  made(name) {
    const there = this.existing(name);
    if (there !== undefined) return there;
    try {
      fs.mkdirSync(this.#path(name), { mode: CLOSED_FOLDER });
      this.#sync();
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw hostError("make", this.place(name), error);
    }
    const made = this.existing(name);
    if (made === undefined) throw new HostError("failed", `${this.place(name)} was made and is gone`);
    return made;
  }

  /**
   * The bytes of a file; nothing where there is none.
   * @param {string} name
   * @param {number} most
   * @returns {Buffer | undefined}
   */
  read(name, most) {
    const length = this.fileLength(name);
    if (length === undefined) return undefined;
    const place = this.place(name);
    if (length > most) throw new HostError("too-large", `${place} has more than ${most} bytes`);
    return this.#with(name, O_RDONLY, "read", (fd) => fs.readFileSync(fd));
  }

  /**
   * The length of a file; nothing where there is none. Anything but a plain file is refused.
   * @param {string} name
   * @returns {number | undefined}
   */
  fileLength(name) {
    const found = this.#look(name);
    if (found === undefined) return undefined;
    if (found.isFile()) return found.size;
    throw new HostError("denied", `${this.place(name)} is ${kindOf(found)} and not a plain file: move it away`);
  }

  /**
   * Replaces a file as a whole: the old one or the new one stands there, whoever dies.
   * @param {string} name
   * @param {Uint8Array} bytes
   * @param {{lasting: boolean}} how whether that holds after a power cut too
   */
  replace(name, bytes, { lasting }) {
    this.fileLength(name);
    // Another program that sweeps the folder may take our unfinished file for one that was left: once more, then.
    if (!this.#renamed(name, bytes, lasting, true)) this.#renamed(name, bytes, lasting, false);
    if (lasting) this.#sync();
  }

  /**
   * @param {string} name
   * @param {Uint8Array} bytes
   * @param {boolean} lasting
   * @param {boolean} again whether it is tried again where the unfinished file has gone
   */
  #renamed(name, bytes, lasting, again) {
    counter += 1;
    const unfinished = `${UNFINISHED}${process.pid}-js${counter}`;
    const before = this.#look(name);
    try {
      this.#with(unfinished, O_WRONLY | O_CREAT | O_EXCL, "write", (fd) => {
        // Who may read it stays the user's choice.
        if (before !== undefined) fs.fchmodSync(fd, before.mode & 0o777);
        writeAll(fd, bytes);
        if (lasting) fs.fsyncSync(fd);
      });
      fs.renameSync(this.#path(unfinished), this.#path(name));
      return true;
    } catch (error) {
      // What is left of it is swept by the next writer.
      fs.rmSync(this.#path(unfinished), { force: true });
      if (again && errorCode(error) === "ENOENT") return false;
      throw hostError("replace", this.place(name), error);
    }
  }

  /**
   * Appends to a file in one write. What a full disk cut off is taken back, so that no half entry stays.
   * @param {string} name
   * @param {Uint8Array} bytes
   */
  append(name, bytes) {
    const before = this.fileLength(name);
    this.#with(name, O_WRONLY | O_APPEND | O_CREAT, "append to", (fd) => {
      const start = fs.fstatSync(fd).size;
      const written = fs.writeSync(fd, bytes);
      if (written < bytes.length) {
        if (fs.fstatSync(fd).size === start + written) fs.ftruncateSync(fd, start);
        throw new HostError("full", `cannot append to ${this.place(name)}: only ${written} of ${bytes.length} bytes fit`);
      }
      fs.fsyncSync(fd);
    });
    if (before === undefined) this.#sync();
  }

  /**
   * Removes a file, if it stands there.
   * @param {string} name
   */
  remove(name) {
    if (this.fileLength(name) === undefined) return;
    try {
      fs.unlinkSync(this.#path(name));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      throw hostError("remove", this.place(name), error);
    }
  }

  /**
   * The plain files in it with their lengths, by name. What a killed writer left is not listed.
   * @returns {{name: string, bytes: number}[]}
   */
  files() {
    const found = [];
    for (const name of this.#names()) {
      const stat = this.#look(name);
      if (stat?.isFile() && !name.startsWith(UNFINISHED)) found.push({ name, bytes: stat.size });
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Removes what killed writers left. Only under the lock: a living writer's file looks the same. */
  sweep() {
    for (const name of this.#names()) {
      if (name.startsWith(UNFINISHED)) fs.rmSync(this.#path(name), { force: true });
    }
  }

  /**
   * Waits until no other writer holds this folder; gives what releases it. The lock is the one that the command line
   * tool takes (flock). Node cannot take it itself: on Linux flock(1) does, for the open file that it inherits.
   * @param {string} name
   * @returns {{release: () => void, held: boolean}}
   */
  lock(name) {
    this.fileLength(name);
    const bsd = process.platform === "darwin" || process.platform === "freebsd";
    const fd = this.#open(name, O_RDWR | O_CREAT | (bsd ? O_EXLOCK | O_NONBLOCK : 0), "lock");
    const release = () => fs.closeSync(fd);
    if (bsd) return { release, held: true };
    const done = spawnSync("flock", ["-w", String(LOCK_WAIT_SECONDS), "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
    if (done.status === 0) return { release, held: true };
    // Without flock(1) every write is still whole; only the order of two programs at once is not assured.
    if (errorCode(done.error) === "ENOENT") return { release, held: false };
    release();
    throw new HostError("failed", `${this.place(name)}: another process held it for ${LOCK_WAIT_SECONDS} s`);
  }

  /** @param {string} name */
  #look(name) {
    try {
      return fs.lstatSync(this.#path(name));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw hostError("look at", this.place(name), error);
    }
  }

  #names() {
    try {
      return fs.readdirSync(this.#path("."));
    } catch (error) {
      throw hostError("list", this.#label, error);
    }
  }

  /**
   * Opens a plain file; a link, a pipe or a device is refused even if it was put there a moment ago.
   * @param {string} name
   * @param {number} flags
   * @param {string} doing
   */
  #open(name, flags, doing) {
    let fd;
    try {
      // A pipe without a reader must not make the gateway wait.
      fd = fs.openSync(this.#path(name), flags | O_NOFOLLOW | O_NONBLOCK, CLOSED_FILE);
    } catch (error) {
      throw hostError(doing, this.place(name), error);
    }
    const found = fs.fstatSync(fd);
    if (found.isFile()) return fd;
    fs.closeSync(fd);
    throw new HostError("denied", `${this.place(name)} is ${kindOf(found)} and not a plain file: move it away`);
  }

  /**
   * @template T
   * @param {string} name
   * @param {number} flags
   * @param {string} doing
   * @param {(fd: number) => T} work
   * @returns {T}
   */
  #with(name, flags, doing, work) {
    const fd = this.#open(name, flags, doing);
    try {
      return work(fd);
    } catch (error) {
      throw hostError(doing, this.place(name), error);
    } finally {
      fs.closeSync(fd);
    }
  }

  #sync() {
    fs.fsyncSync(this.#fd);
  }
}

/**
 * @param {number} fd
 * @param {Uint8Array} bytes
 */
function writeAll(fd, bytes) {
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
}

/** @param {fs.Stats} found */
function kindOf(found) {
  if (found.isSymbolicLink()) return "a symbolic link";
  if (found.isDirectory()) return "a folder";
  return found.isFile() ? "a file" : "a pipe, socket or device";
}
