// A gateway that is not one: records what a plugin registers, and gives it a workspace and transcripts.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** @typedef {import("../src/openclaw.d.ts").Api} Api */

/** @param {import("node:test").TestContext} context */
export function workspace(context) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "compact-review-test-"));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * @param {string} folder
 * @param {Partial<Api>} [differing]
 */
export function fakeApi(folder, differing = {}) {
  /** @type {{level: string, line: string}[]} */
  const log = [];
  const write = (/** @type {string} */ level) => (/** @type {string} */ line) => void log.push({ level, line });
  /** @type {Map<string, (event: any, context: any) => any>} */
  const hooks = new Map();
  /** @type {Api} */
  const api = {
    registrationMode: "discovery",
    config: { plugins: { entries: { "compact-review": { hooks: { allowConversationAccess: true } } } } },
    logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
    runtime: {
      agent: {
        resolveAgentWorkspaceDir: () => folder,
        session: { getSessionEntry: () => ({ sessionId: "s1" }) },
      },
    },
    on: (hook, handler) => void hooks.set(hook, handler),
    ...differing,
  };
  return { api, log, hooks };
}

/** A store with one transcript that can grow. */
export class FakeStore {
  /** @type {any[]} */
  events = [{ type: "session", version: 4, id: "s1" }];

  /** @param {"user" | "assistant"} role @param {string} text */
  say(role, text) {
    this.#push({ type: "message", message: { role, content: text, timestamp: 1_794_980_000_000 + this.events.length } });
  }

  /** @param {string} summary @param {number} keep how many entries stay verbatim */
  compact(summary, keep) {
    const firstKeptEntryId = this.events.at(-keep)?.id;
    this.#push({ type: "compaction", summary, firstKeptEntryId, tokensBefore: 9000, tokensAfter: 400 });
  }

  /** @param {object} entry */
  #push(entry) {
    const parentId = this.events.length === 1 ? null : this.events.at(-1).id;
    this.events.push({ id: `e${this.events.length}`, parentId, ...entry });
  }

  loadTranscriptEventsSync = () => structuredClone(this.events);
}

/** The day's note, whatever day it is. @param {string} folder */
export function dailyNote(folder) {
  const memory = path.join(folder, "memory");
  const names = fs.existsSync(memory) ? fs.readdirSync(memory).filter((name) => /^\d{4}-\d\d-\d\d\.md$/.test(name)) : [];
  return names.map((name) => fs.readFileSync(path.join(memory, name), "utf8")).join("\n");
}
