// What the component costs in Node, beside what could be done in JavaScript instead. Prints JSON.
//
//   node scripts/measure.js EVENTS.json…
//
// Each file holds one compaction, as `compact-review audit` reads it. All contestants run in turn in this process, so
// whatever slows the machine down hits all of them. The notes stay in memory: nothing waits for a disk.

import { readFileSync } from "node:fs";
import path from "node:path";
import { Component } from "../src/component.js";
import { warmUpMessages } from "../src/events.js";
import { memoryHost } from "../src/host.js";

/** Odd, so that there is a middle one. Fewer where one takes a second. */
const RUNS = 15;
const LONG_RUNS = 5;
const LONG_BYTES = 4_000_000;
/** As many as the plugin does when the gateway starts, and as many with the conversation itself. */
const WARM_UPS = 4;
/** What OpenClaw's guard takes for an identifier, in how many messages, and how many of them it takes. */
const GUARD = /[A-Fa-f0-9]{8,}|https?:\/\/\S+|\/[\w.-]{2,}(?:\/[\w.-]+)+|[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:\d{1,5}|\b\d{6,}\b/g;
const GUARDED_MESSAGES = 10;
const GUARDED_IDENTIFIERS = 12;
/** As in benches/alternatives.rs. */
const IDENTIFIERS = /[\w.@~-]*\/[\w.@/-]+|\b[A-Za-z_][A-Za-z0-9_]{7,}\b|\b[\w-]+\.[a-z]{1,5}\b|--[a-z][a-z-]{3,}|\b[0-9a-f]{7,40}\b|#\d{2,}/g;

/**
 * @typedef {import("../component/interfaces/compact-review-plugin-types.js").Message} Message
 * @typedef {{name: string, part: string, median: number, best: number, runs: number}} Measured in seconds
 */

const component = Component.packaged();

/** @param {any} event @returns {{session: any, now: any}} */
function common(event) {
  const { sessionKey, sessionId, agentId, now } = event;
  return { session: { sessionKey, sessionId, agentId }, now: { ...now, unixMs: BigInt(now.unixMs) } };
}

/** @param {string} file */
function compaction(file) {
  const { before, after } = JSON.parse(readFileSync(file, "utf8"));
  /** @type {Message[]} */
  const messages = before.messages.map((/** @type {any} */ message) => ({
    ...message,
    failed: message.failed === true,
    at: BigInt(message.at),
  }));
  const { messageCount, reason } = before;
  const { compactionId, messagesRetained, messagesDropped, summaryText } = after;
  return {
    before: { ...common(before), messageCount, reason, messages },
    after: { ...common(after), compactionId, messagesRetained, messagesDropped, summaryText },
  };
}

/**
 * Both hooks; how long each took, in milliseconds.
 * @param {ReturnType<typeof compaction>} events
 * @returns {[string, number][]}
 */
function hooks(events) {
  const host = memoryHost();
  const started = performance.now();
  const outcome = component.call(host, "beforeCompaction", events.before);
  const between = performance.now();
  const report = component.call(host, "afterCompaction", events.after);
  const ended = performance.now();
  if (outcome.signals === 0 || report.verdict !== "lossy") throw new Error(`no real work was done: ${report.verdictReason}`);
  return [["before", between - started], ["after", ended - between], ["both", ended - started]];
}

/** @param {Message[]} messages @param {RegExp} pattern @param {string} summary @param {number} most */
function missing(messages, pattern, summary, most) {
  const found = new Set(messages.flatMap(({ text }) => text.match(pattern) ?? []));
  return [...found].slice(0, most).filter((value) => !summary.includes(value)).length;
}

/** @param {() => unknown} work @returns {() => [string, number][]} */
function timed(work) {
  return () => {
    work();
    const started = performance.now();
    work();
    return [["", performance.now() - started]];
  };
}

/** @param {string} file */
function measure(file) {
  const events = compaction(file);
  const { messages } = events.before;
  const summary = events.after.summaryText;
  const { session } = events.before;
  /** @type {Record<string, () => [string, number][]>} */
  const contestants = {
    "both hooks, component": () => hooks(events),
    "the least that a call costs": timed(() => component.call(memoryHost(), "status", session)),
    "regex pass": timed(() => missing(messages, IDENTIFIERS, summary, Infinity)),
    "guard, whole text": timed(() => missing(messages, GUARD, summary, GUARDED_IDENTIFIERS)),
    "guard, last 10 messages": timed(() => missing(messages.slice(-GUARDED_MESSAGES), GUARD, summary, GUARDED_IDENTIFIERS)),
  };
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const runs = bytes < LONG_BYTES ? RUNS : LONG_RUNS;
  for (let at = 0; at < WARM_UPS; at += 1) for (const run of Object.values(contestants)) run();
  /** @type {Map<string, number[]>} */
  const times = new Map();
  for (let at = 0; at < runs; at += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      for (const [part, ms] of run()) times.set(`${name}\n${part}`, [...(times.get(`${name}\n${part}`) ?? []), ms / 1_000]);
    }
  }
  return { size: path.basename(file, ".json").replace("-", " "), bytes, times: [...times].map(measured) };
}

/** @param {[string, number[]]} entry @returns {Measured} */
function measured([key, list]) {
  const [name = "", part = ""] = key.split("\n");
  const sorted = list.toSorted((a, b) => a - b);
  return { name, part, median: sorted[sorted.length >> 1] ?? NaN, best: sorted[0] ?? NaN, runs: sorted.length };
}

/** As when the gateway starts: the engine compiles what is called, and better what is called often. */
function warmUp() {
  const session = { sessionKey: "warm-up" };
  const now = { unixMs: 0n, utcOffsetMinutes: 0 };
  const host = memoryHost();
  component.call(host, "beforeCompaction", { session, now, reason: "unknown", messages: warmUpMessages() });
  component.call(host, "afterCompaction", { session, now, summaryText: "## Decisions\nUse port 5433.", messagesDropped: 40 });
}

for (let at = 0; at < WARM_UPS; at += 1) warmUp();
const files = process.argv.slice(2).map(measure);
console.log(JSON.stringify({ node: process.version, files }));
