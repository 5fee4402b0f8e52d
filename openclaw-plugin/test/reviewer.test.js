// The adapter around the real component, with a gateway that is not one.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, test } from "node:test";
import { command } from "../src/command.js";
import { Component } from "../src/component.js";
import { Reviewer } from "../src/reviewer.js";
import { shared } from "../src/shared.js";
import { tool } from "../src/tool.js";
import { FakeStore, dailyNote, fakeApi, workspace } from "./support.js";

const KEY = "agent:main:main";
const FULL = { sessionKey: KEY, sessionId: "s1", agentId: "main" };
/** What the gateway tells within a run. */
const KEY_ONLY = { sessionKey: KEY };
const LOSSY = "## Decisions\nUse Postgres 16 for the orders service.";

beforeEach(() => {
  const all = shared();
  all.sessions.clear();
  all.troubles.length = 0;
  all.component = undefined;
});

/**
 * @param {import("node:test").TestContext} t
 * @param {Partial<import("../src/openclaw.d.ts").Api>} [differing]
 */
async function reviewing(t, differing) {
  const folder = workspace(t);
  const { api, log } = fakeApi(folder, differing);
  const store = new FakeStore();
  const reviewer = new Reviewer(api, async () => store);
  await reviewer.ready();
  return { folder, api, log, store, reviewer };
}

/** @param {FakeStore} store */
function talk(store) {
  store.say("user", "Use Postgres 16 for the orders service. Never deploy on Fridays.");
  store.say("assistant", "Noted.");
  store.say("user", "The ticket is HER-2885 and the API rate limit is 350 requests per minute.");
  store.say("assistant", "Noted.");
  store.say("user", "What about clouds?");
  store.say("assistant", "Clouds are white.");
}

/** @param {{line: string}[]} log @param {string} text */
function lines(log, text) {
  return log.filter(({ line }) => line.includes(text));
}

test("a compaction on the awaited path is audited, and its losses are handed back once", async (t) => {
  const { folder, store, reviewer, log } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6, tokenCount: 2698 }, FULL);
  assert.match(fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8"), /Never deploy on Fridays/);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: 3, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /lost: Never deploy on Fridays/);
  assert.match(dailyNote(folder), /HER-2885/);
  assert.match(reviewer.beforePrompt(FULL) ?? "", /Never deploy on Fridays/);
  assert.equal(reviewer.beforePrompt(FULL), undefined);
  assert.deepEqual(lines(log, "went wrong"), []);
  assert.equal(lines(log, "before_compaction took").length, 1);
});

test("letters of one to four bytes, and halves of such, reach the component", async (t) => {
  const { folder, store, reviewer } = await reviewing(t);
  store.say("user", "Never restart naïve-höst before 明天上午十点, says 🧹 Zoë.");
  store.say("user", "Never send half a sign \ud83e to Zoë-7781.");
  reviewer.beforeCompaction({ messageCount: 2 }, FULL);
  const checkpoint = fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8");
  assert.match(checkpoint, /Never restart naïve-höst before 明天上午十点, says 🧹 Zoë\./);
  assert.match(checkpoint, /Never send half a sign \ufffd to Zoë-7781\./);
});

test("within a run the key is all there is, and `compactedCount` counts compactions", async (t) => {
  const { folder, store, reviewer } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6, sessionFile: KEY, messages: [{ role: "user", content: "not used" }] }, KEY_ONLY);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: 3, sessionFile: KEY, compactedCount: 1 }, KEY_ONLY);
  assert.match(dailyNote(folder), /- Messages: 2 retained, 4 dropped/);
  assert.match(dailyNote(folder), /- Reason: threshold/);
});

test("counts of -1 are not numbers: the transcript is counted", async (t) => {
  const { folder, store, reviewer } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: -1, sessionFile: "x" }, FULL);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: -1, compactedCount: -1 }, FULL);
  assert.match(dailyNote(folder), /- Messages: 2 retained, 4 dropped/);
  assert.match(dailyNote(folder), /lost: Never deploy on Fridays/);
});

test("an engine that leaves no summary in the transcript is unverifiable, and the note says why", async (t) => {
  const { folder, store, reviewer } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: -1 }, FULL);
  reviewer.afterCompaction({ messageCount: -1, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /\(unverifiable\)/);
});

test("an after hook that compacted nothing writes nothing and leaves the next audit alone", async (t) => {
  const { folder, store, reviewer, log } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  reviewer.afterCompaction({ messageCount: 6, compactedCount: 0 }, FULL);
  assert.equal(dailyNote(folder), "");
  assert.equal(lines(log, "nothing was compacted").length, 1);
  reviewer.beforeCompaction({ messageCount: 6 }, KEY_ONLY);
  reviewer.afterCompaction({ messageCount: 6, compactedCount: 0 }, KEY_ONLY);
  assert.equal(dailyNote(folder), "");
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: 3, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /lost: Never deploy on Fridays/);
});

test("a before hook without its after hook is forgotten by the next one", async (t) => {
  const { folder, store, reviewer } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  store.say("user", "Ask Dana Okafor before you drop the table orders_2026.");
  store.say("assistant", "Noted.");
  reviewer.beforeCompaction({ messageCount: 8 }, FULL);
  store.compact(LOSSY, 1);
  reviewer.afterCompaction({ messageCount: 2, compactedCount: 7 }, FULL);
  assert.match(dailyNote(folder), /orders_2026/);
  assert.equal(dailyNote(folder).split("## ").length - 1, 1);
});

test("an empty summary has failed, and the checkpoint stands", async (t) => {
  const { folder, store, reviewer } = await reviewing(t);
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  store.compact("", 2);
  reviewer.afterCompaction({ messageCount: 2, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /\(failed/);
  assert.match(fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8"), /Never deploy on Fridays/);
});

test("without a transcript store the audit is unverifiable and the log says so", async (t) => {
  const folder = workspace(t);
  const { api, log } = fakeApi(folder);
  const reviewer = new Reviewer(api, () => Promise.reject(new Error("no such module")));
  await reviewer.ready();
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  reviewer.afterCompaction({ messageCount: 2, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /\(unverifiable\)/);
  assert.equal(lines(log, "audits will be unverifiable: no such module").length, 1);
});

test("a trap is reported, and the next call gets a new instance", async (t) => {
  const { folder, store, reviewer, log } = await reviewing(t);
  talk(store);
  const real = Component.packaged();
  shared().component = /** @type {Component} */ (/** @type {unknown} */ ({
    call(/** @type {any} */ host, /** @type {any} */ name) {
      // Too little memory to copy the event into: the real component breaks off in the middle.
      return real.call(host, name, .../** @type {any} */ ([{ session: { sessionKey: 7n } }]));
    },
  }));
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  assert.equal(lines(log, "the component trapped in beforeCompaction").length, 1);
  assert.equal(shared().troubles.length, 1);
  shared().component = real;
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: 2, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /lost: Never deploy on Fridays/);
});

test("a workspace that cannot be used is reported and harms nothing", async (t) => {
  const { reviewer, log, store, folder } = await reviewing(t);
  talk(store);
  fs.writeFileSync(path.join(folder, "memory"), "a file");
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  reviewer.beforeCompaction({ messageCount: 6 }, { ...FULL, workspaceDir: path.join(folder, "gone") });
  assert.ok(lines(log, "memory is a file and not a folder").length > 0);
  assert.ok(lines(log, "cannot open the workspace").length > 0);
});

test("an event without a session does nothing and says so", async (t) => {
  const { reviewer, log, folder } = await reviewing(t);
  reviewer.beforeCompaction({ messageCount: 6 }, {});
  assert.equal(lines(log, "does not name its session").length, 1);
  assert.deepEqual(fs.readdirSync(folder), []);
});

test("sessions that are ignored are left alone", async (t) => {
  const { reviewer, store, folder } = await reviewing(t, { pluginConfig: { sessions: { ignore: ["agent:*:cron:*"] } } });
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6 }, { ...FULL, sessionKey: "agent:main:cron:daily" });
  assert.deepEqual(fs.readdirSync(folder), []);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  assert.deepEqual(fs.readdirSync(folder), ["memory"]);
});

test("settings that the component does not take are replaced by the defaults, with the reason", async (t) => {
  const pluginConfig = { budget: { thresholds: [{ pct: 80, action: "warn" }, { pct: 70, action: "force" }] } };
  const { reviewer, log, store, folder } = await reviewing(t, { pluginConfig });
  assert.equal(lines(log, "budget.thresholds must rise").length, 1);
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  assert.deepEqual(fs.readdirSync(folder), ["memory"]);
});

test("recovery is off by one setting", async (t) => {
  const { reviewer, store, folder } = await reviewing(t, { pluginConfig: { recovery: { enabled: false } } });
  talk(store);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: 2, compactedCount: 4 }, FULL);
  assert.match(dailyNote(folder), /lost: Never deploy on Fridays/);
  assert.equal(reviewer.beforePrompt(FULL), undefined);
});

test("usage is the last request's, crossings are told once, and to the chat where it is asked for", async (t) => {
  const { reviewer, log, store } = await reviewing(t, { pluginConfig: { alerts: { chat: true } } });
  talk(store);
  const step = { usage: { input: 1000, output: 20, cacheRead: 45_000, cacheWrite: 0 }, model: "fake/fake-1", window: 64_000, runId: "r1" };
  reviewer.usage(FULL, step);
  reviewer.usage(FULL, { ...step, runId: "r2" });
  assert.equal(lines(log, "alert budget-warn").length, 1);
  assert.match(reviewer.status({ ...FULL, workspaceDir: reviewer.identify(FULL)?.workspaceDir }).line, /46,020\/64,000/);
  const notices = reviewer.takeNotices(KEY);
  assert.equal(notices.length, 1);
  assert.match(notices[0] ?? "", /^⚠️ Context at 70%/);
  assert.deepEqual(reviewer.takeNotices(KEY), []);
  reviewer.usage(FULL, { ...step, usage: { input: 0, output: 0 } });
  assert.deepEqual(lines(log, "0 tokens"), [], "a request that failed has no usage");
});

test("a reason is taken from what came before, and only from that", async (t) => {
  const { reviewer, store, folder } = await reviewing(t);
  talk(store);
  const compact = () => {
    reviewer.beforeCompaction({ messageCount: 6 }, FULL);
    store.compact(LOSSY, 2);
    reviewer.afterCompaction({ messageCount: 2, compactedCount: 4 }, FULL);
    return /- Reason: (\w+)/.exec(dailyNote(folder).split("## ").at(-1) ?? "")?.[1];
  };
  assert.equal(compact(), "unknown");
  reviewer.asked(KEY);
  assert.equal(compact(), "manual");
  reviewer.called(KEY, true);
  assert.equal(compact(), "overflow");
  reviewer.called(KEY, false);
  assert.equal(compact(), "unknown");
});

test("before a reset a checkpoint is written, from the payload where the transcript is gone", async (t) => {
  const { reviewer, folder, store } = await reviewing(t);
  store.events.length = 0;
  reviewer.beforeReset([{ role: "user", content: "Never deploy on Fridays." }], FULL);
  assert.match(fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8"), /Never deploy on Fridays/);
});

test("the command answers, and doctor tells what the missing permission costs", async (t) => {
  const { reviewer, store } = await reviewing(t, { config: {} });
  talk(store);
  const ask = (/** @type {string} */ args) => command(reviewer, { ...FULL, args });
  assert.match(await ask("last"), /No compaction/);
  assert.match(await ask("checkpoint"), /Written: memory\/checkpoint\.md/);
  assert.match(await ask("recover"), /Nothing to hand back/);
  assert.match(await ask("status"), /📚 Context/);
  assert.match(await ask("nonsense"), /\/compact-review doctor/);
  const doctor = await ask("doctor");
  assert.match(doctor, /✅ Notes: memory\/ is writable/);
  assert.match(doctor, /⚠️ Conversation access: not granted/);
  reviewer.beforeCompaction({ messageCount: 6 }, FULL);
  store.compact(LOSSY, 2);
  reviewer.afterCompaction({ messageCount: 2, compactedCount: 4 }, FULL);
  assert.match(await ask("last"), /Never deploy on Fridays/);
  assert.match(await ask("recover"), /with your next message/);
  assert.match(reviewer.beforePrompt(FULL) ?? "", /Never deploy on Fridays/);
  await ask("recover");
  assert.match(reviewer.beforePrompt(FULL) ?? "", /Never deploy on Fridays/, "again, because it was asked for");
  assert.equal(reviewer.beforePrompt(FULL), undefined);
});

test("the tool tells the budget and writes the agent's own note into the checkpoint", async (t) => {
  const { reviewer, store, folder } = await reviewing(t);
  talk(store);
  const offered = tool(reviewer, FULL);
  const status = await offered?.execute("1", { action: "status" });
  assert.match(status?.content[0]?.text ?? "", /📚 Context/);
  await offered?.execute("2", { action: "checkpoint", note: "Half of the migration is done." });
  assert.match(fs.readFileSync(path.join(folder, "memory", "checkpoint.md"), "utf8"), /Half of the migration is done/);
  assert.equal(tool(reviewer, {}), null);
});

test("the warm-up writes nothing, and ends", async (t) => {
  const { reviewer, folder, log } = await reviewing(t);
  shared().warmUps = 0;
  const rounds = Array.from({ length: 10 }, () => reviewer.warmUp());
  assert.ok(!rounds[0] && rounds[9]);
  assert.deepEqual(fs.readdirSync(folder), []);
  assert.deepEqual(lines(log, "does not work"), []);
});
