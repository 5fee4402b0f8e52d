import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { addition, earlierName, endOfNote, entryMark, stateFile, stateName } from "../src/notes/entry.js";
import { HostError } from "../src/notes/errors.js";
import { Notes } from "../src/notes/store.js";
import { workspace } from "./support.js";

const KEEP = { count: 3, bytes: 1_000_000n };
const flock = spawnSync("flock", ["--version"]).status === 0;

/**
 * @template T
 * @param {string} folder
 * @param {(notes: Notes) => T} work
 */
function withNotes(folder, work) {
  const notes = new Notes(folder);
  try {
    return work(notes);
  } finally {
    notes.close();
  }
}

/** @param {string} tag */
function refused(tag) {
  return (/** @type {unknown} */ error) => error instanceof HostError && error.payload.tag === tag;
}

test("nothing is made before something is written", (t) => {
  const folder = workspace(t);
  withNotes(folder, (notes) => {
    assert.equal(notes.readCheckpoint("agent:main:main"), undefined);
    assert.equal(notes.loadState("agent:main:main", "signals"), undefined);
    assert.equal(notes.readNote("2026-11-18"), undefined);
    notes.clearState("agent:main:main", "signals");
  });
  assert.deepEqual(fs.readdirSync(folder), []);
});

test("a state reads back, replaces the one before and can be cleared", (t) => {
  const folder = workspace(t);
  for (const value of ["one", "two"]) {
    withNotes(folder, (notes) => notes.saveState("agent:main:main", "signals", Buffer.from(value)));
    const back = withNotes(folder, (notes) => notes.loadState("agent:main:main", "signals"));
    assert.equal(Buffer.from(back ?? []).toString(), value);
  }
  withNotes(folder, (notes) => notes.clearState("agent:main:main", "signals"));
  assert.equal(withNotes(folder, (notes) => notes.loadState("agent:main:main", "signals")), undefined);
});

test("files have the names that the command line tool gives them", () => {
  // From host-harness/src/notes/folder.rs: a readable part, FNV-1a of the whole key, the slot.
  assert.equal(stateName("agent:main:main", "budget"), "agent-main-main-235d49bb3f531194.budget");
  const header = '<!-- compact-review:checkpoint {"version":1,"sessionKey":"a","taken":{"unixMs":1795015400221,"utcOffsetMinutes":0}} -->\n';
  assert.match(earlierName(Buffer.from(header)), /^2026-11-18T152320221Z-[0-9a-f]{8}\.md$/);
  assert.match(earlierName(Buffer.from("by hand")), /^1970-01-01T000000000Z-[0-9a-f]{8}\.md$/);
});

test("a state of any bytes carries the hash that its definition gives", () => {
  const body = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919) >>> 3));
  for (const length of [0, 1, 6, 255, 5_000]) {
    let hash = 0xcbf2_9ce4_8422_2325n;
    for (const byte of body.subarray(0, length)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x0100_0000_01b3n);
    const file = stateFile("k", body.subarray(0, length)).toString("latin1");
    assert.equal(file.split("\n")[2], `${length} ${hash.toString(16).padStart(16, "0")}`);
  }
});

test("a state that a power cut left in part, or that is another session's, is none", (t) => {
  const folder = workspace(t);
  const key = "agent:main:main";
  withNotes(folder, (notes) => notes.saveState(key, "signals", Buffer.from("line one\nline two")));
  const file = path.join(folder, "memory", ".compact-review", stateName(key, "signals"));
  const whole = fs.readFileSync(file);
  // As host-harness/src/notes/folder.rs writes it.
  assert.equal(whole.toString(), `compact-review state 2\n${key}\n17 5e267175b16e944f\nline one\nline two`);
  for (const broken of [whole.subarray(0, -1), whole.subarray(0, 30), Buffer.alloc(0), Buffer.from(whole.toString().replace("main:main", "main:mine"))]) {
    fs.writeFileSync(file, broken);
    assert.equal(withNotes(folder, (notes) => notes.loadState(key, "signals")), undefined);
  }
});

test("a session reads its own newest checkpoint, and where it has none the active one", (t) => {
  const folder = workspace(t);
  const write = (/** @type {string} */ sessionKey, /** @type {number} */ at) => {
    const taken = { unixMs: 1_795_015_400_000 + at * 1000, utcOffsetMinutes: 0 };
    const text = `<!-- compact-review:checkpoint ${JSON.stringify({ sessionKey, taken })} -->\n${sessionKey} ${at}\n`;
    withNotes(folder, (notes) => notes.writeCheckpoint(text, { count: 50, bytes: 1_000_000n }));
  };
  write("left", 1);
  write("left", 2);
  write("right", 3);
  const read = (/** @type {string} */ key) => withNotes(folder, (notes) => notes.readCheckpoint(key))?.split("\n")[1];
  assert.deepEqual([read("left"), read("right"), read("other")], ["left 2", "right 3", "right 3"]);
});

test("a checkpoint that is replaced is kept, and the oldest go", (t) => {
  const folder = workspace(t);
  for (let at = 1; at <= 6; at += 1) {
    const taken = { unixMs: 1_795_015_400_000 + at * 1000, utcOffsetMinutes: 0 };
    const text = `<!-- compact-review:checkpoint ${JSON.stringify({ sessionKey: "a", taken })} -->\n${at}\n`;
    assert.equal(withNotes(folder, (notes) => notes.writeCheckpoint(text, KEEP)), "memory/checkpoint.md");
  }
  const earlier = fs.readdirSync(path.join(folder, "memory", "checkpoints")).sort();
  const texts = earlier.map((name) => fs.readFileSync(path.join(folder, "memory", "checkpoints", name), "utf8").trim().slice(-1));
  assert.deepEqual(texts, ["3", "4", "5"]);
  assert.match(fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8"), /\n6\n$/);
  assert.throws(() => withNotes(folder, (notes) => notes.writeCheckpoint(" \n", KEEP)), refused("denied"));
});

test("an entry is appended once and leaves what others wrote alone", (t) => {
  const folder = workspace(t);
  fs.mkdirSync(path.join(folder, "memory"));
  const file = path.join(folder, "memory", "2026-11-18.md");
  fs.writeFileSync(file, "# Mine\nno newline at the end");
  const entry = { sessionKey: "a", date: "2026-11-18", entryId: "x.1", text: "## Compaction" };
  const first = withNotes(folder, (notes) => notes.appendNote(entry));
  const again = withNotes(folder, (notes) => notes.appendNote(entry));
  assert.deepEqual([first.alreadyThere, again.alreadyThere], [false, true]);
  assert.equal(fs.readFileSync(file, "utf8"), `# Mine\nno newline at the end\n\n## Compaction\n${entryMark("x.1")}\n`);
});

test("an entry that was cut off does not swallow the next one", () => {
  const mark = entryMark("x.1");
  const text = `entry\n${mark}\n`;
  assert.deepEqual(addition(Buffer.from("half\n<!-- compact-review:en"), text, mark), { text: ` -->\n\n${text}`, alreadyThere: false });
  assert.deepEqual(addition(Buffer.from(`entry\n${mark.slice(0, -4)}`), text, mark), { text: " -->\n", alreadyThere: true });
  assert.deepEqual(addition(Buffer.from(`quoted: ${mark}\n`), text, mark), { text: `\n${text}`, alreadyThere: false });
  assert.deepEqual(addition(Buffer.alloc(0), text, mark), { text, alreadyThere: false });
});

test("the end of a long note begins on a line", () => {
  const note = Buffer.from(`${"x".repeat(70_000)}\n${"y".repeat(10)}\n`);
  assert.equal(endOfNote(note), `${"y".repeat(10)}\n`);
});

test("links are not followed, as files and as folders", (t) => {
  const folder = workspace(t);
  const elsewhere = workspace(t);
  fs.writeFileSync(path.join(elsewhere, "target.md"), "theirs\n");
  fs.mkdirSync(path.join(folder, "memory"));
  fs.symlinkSync(path.join(elsewhere, "target.md"), path.join(folder, "memory", "2026-11-18.md"));
  fs.symlinkSync(path.join(elsewhere, "target.md"), path.join(folder, "memory", "checkpoint.md"));
  fs.symlinkSync(elsewhere, path.join(folder, "memory", "checkpoints"));
  const entry = { sessionKey: "a", date: "2026-11-18", entryId: "x.1", text: "text" };
  assert.throws(() => withNotes(folder, (notes) => notes.appendNote(entry)), refused("denied"));
  assert.throws(() => withNotes(folder, (notes) => notes.writeCheckpoint("new\n", KEEP)), refused("denied"));
  fs.rmSync(path.join(folder, "memory", "checkpoint.md"));
  fs.writeFileSync(path.join(folder, "memory", "checkpoint.md"), "old\n");
  assert.throws(() => withNotes(folder, (notes) => notes.writeCheckpoint("new\n", KEEP)), refused("denied"));
  assert.deepEqual(fs.readdirSync(elsewhere), ["target.md"]);
  assert.equal(fs.readFileSync(path.join(elsewhere, "target.md"), "utf8"), "theirs\n");

  const other = workspace(t);
  fs.symlinkSync(elsewhere, path.join(other, "memory"));
  assert.throws(() => withNotes(other, (notes) => notes.saveState("a", "signals", Buffer.from("x"))), refused("denied"));
});

test("names that reach out of the folder are refused", (t) => {
  const folder = workspace(t);
  for (const date of ["../../etc", "2026-11-18/x", ""]) {
    const entry = { sessionKey: "a", date, entryId: "x", text: "t" };
    assert.throws(() => withNotes(folder, (notes) => notes.appendNote(entry)), refused("denied"));
  }
  assert.throws(() => withNotes(folder, (notes) => notes.saveState("a", "../x", Buffer.from(""))), refused("denied"));
  withNotes(folder, (notes) => notes.saveState("../../../etc/passwd", "signals", Buffer.from("x")));
  assert.deepEqual(fs.readdirSync(folder), ["memory"]);
});

test("what is larger than its limit is refused by name", (t) => {
  const folder = workspace(t);
  const text = "x".repeat(200_000);
  const entry = { sessionKey: "a", date: "2026-11-18", entryId: "x", text };
  assert.throws(() => withNotes(folder, (notes) => notes.appendNote(entry)), refused("too-large"));
  assert.throws(() => withNotes(folder, (notes) => notes.writeCheckpoint(text.repeat(2), KEEP)), refused("too-large"));
});

test("a folder that is read-only is an error with advice", { skip: process.getuid?.() === 0 && "root may write everywhere" }, (t) => {
  const folder = workspace(t);
  fs.chmodSync(folder, 0o500);
  assert.throws(() => withNotes(folder, (notes) => notes.writeCheckpoint("x\n", KEEP)), /make it writable/);
});

test("a lock that another program holds is waited for, and then told", { skip: !flock && "no flock(1)" }, async (t) => {
  const folder = workspace(t);
  withNotes(folder, (notes) => notes.writeCheckpoint("one\n", KEEP));
  const lock = path.join(folder, "memory", ".compact-review", "lock");
  const holder = spawn("flock", [lock, "sh", "-c", "echo held; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  t.after(() => process.kill(-(/** @type {number} */ (holder.pid))));
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  assert.throws(() => withNotes(folder, (notes) => notes.writeCheckpoint("two\n", KEEP)), /another process held it/);
  assert.equal(fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8"), "one\n");
});

test("what a killed writer left is swept by the next one", (t) => {
  const folder = workspace(t);
  fs.mkdirSync(path.join(folder, "memory"));
  fs.writeFileSync(path.join(folder, "memory", ".unfinished-1-1"), "half");
  withNotes(folder, (notes) => notes.writeCheckpoint("one\n", KEEP));
  assert.deepEqual(fs.readdirSync(path.join(folder, "memory")).sort(), [".compact-review", "checkpoint.md"]);
});

test("what is made is the user's alone, and what stood there keeps its readers", { skip: process.platform === "win32" }, (t) => {
  const folder = workspace(t);
  const mode = (/** @type {string} */ name) => fs.statSync(path.join(folder, "memory", name)).mode & 0o777;
  withNotes(folder, (notes) => {
    notes.writeCheckpoint("one", KEEP);
    notes.saveState("agent:main:main", "signals", new Uint8Array([1]));
    assert.equal(mode(""), 0o700);
    assert.equal(mode(".compact-review"), 0o700);
    assert.equal(mode("checkpoint.md"), 0o600);
    fs.chmodSync(path.join(folder, "memory", "checkpoint.md"), 0o640);
    notes.writeCheckpoint("two", KEEP);
    assert.equal(mode("checkpoint.md"), 0o640);
  });
});
