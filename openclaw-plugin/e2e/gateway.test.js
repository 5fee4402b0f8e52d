// What must hold in the real gateway, shown by what the model received and by the files on disk.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { emptySummary, faithfulSummary, lossySummary, prompts, ticket } from "./conversations.js";
import { FakeModel } from "./fake-model.js";
import { Gateway, eventually } from "./gateway.js";
import { trappingCopy } from "./trap.js";

const root = process.env.E2E_ROOT;
const tarball = process.env.E2E_TARBALL;
if (root === undefined || tarball === undefined) throw new Error("run e2e/run.js");
const plugin = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const ID = "compact-review";
/** How the component begins what it hands back, and what `/compact-review recover` hands back. */
const INTRO = /Recovered from checkpoint \(compact-review\)|Facts from before the compaction/g;
const ACCESS = { allowConversationAccess: true };

const model = new FakeModel();
const modelPort = await model.start();
/** @type {Gateway[]} */
const gateways = [];

after(async () => {
  for (const gateway of gateways) await gateway.stop();
  model.stop();
  fs.writeFileSync(path.join(root, "requests.json"), JSON.stringify(model.requests, null, 1));
  report();
});

/**
 * @param {string} name
 * @param {Omit<import("./gateway.js").GatewayOptions, "root" | "modelPort">} options
 */
async function gatewayIn(name, options) {
  const gateway = new Gateway({ root: path.join(root ?? "", name), modelPort, ...options });
  gateways.push(gateway);
  await gateway.prepare();
  return gateway;
}

/** @param {string} folder @param {object} entry */
function loadedFrom(folder, entry) {
  return { allow: [ID], load: { paths: [folder] }, entries: { [ID]: { enabled: true, ...entry } } };
}

/** @param {Gateway} gateway @param {string} session @param {string} project */
async function talk(gateway, session, project) {
  for (const prompt of prompts(project)) await gateway.say(session, prompt);
}

/** The entries of the daily notes about a session. @param {Gateway} gateway @param {string} session */
function entries(gateway, session) {
  const folder = path.join(gateway.workspace, "memory");
  const notes = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => /^\d{4}-\d\d-\d\d\.md$/.test(name)) : [];
  const all = notes.sort().flatMap((name) => gateway.memory(name).split(/^(?=## )/m));
  return all.filter((entry) => entry.includes(`- Session: ${session}\n`));
}

/** The requests of a conversation's turns since a moment. @param {string} project @param {number} since */
function turns(project, since) {
  return model.with(project, "turn").filter((request) => request.at >= since);
}

/** How often something was handed back. @param {import("./fake-model.js").ModelRequest | undefined} request */
function injections(request) {
  assert.ok(request, "the model was asked");
  return [...request.text.matchAll(INTRO)].length;
}

/** The quoted block of a request. @param {import("./fake-model.js").ModelRequest} request */
function quoted(request) {
  const from = request.text.search(new RegExp(INTRO.source));
  const found = from === -1 ? null : /(~{3,})[a-z]*\n([\s\S]*?)\n\1/.exec(request.text.slice(from));
  return found?.[2] ?? "";
}

/** @param {Gateway} gateway @param {string} text */
function logged(gateway, text) {
  return gateway.log().split("\n").filter((line) => line.includes(text));
}

describe("the installed plugin", () => {
  /** @type {Gateway} */
  let gateway;

  before(async () => {
    gateway = await gatewayIn("installed", { plugins: {} });
    await gateway.cli("plugins", "install", tarball, "--force", "--accept-capabilities");
    gateway.configure((config) => {
      config.plugins.entries[ID] = { ...config.plugins.entries[ID], enabled: true, hooks: ACCESS };
    });
    await gateway.start();
  });
  after(() => gateway.stop());

  test("names what a manual compaction lost, and hands it back once", async () => {
    const session = "agent:main:lossy";
    const project = "Heron";
    let checkpointAtSummary = "";
    model.summarize(project, () => {
      checkpointAtSummary = gateway.memory("checkpoint.md");
      return { text: lossySummary(project) };
    });
    await talk(gateway, session, project);
    await gateway.say(session, "/compact");

    assert.match(checkpointAtSummary, /Never deploy on Fridays/, "the checkpoint stands before the summarizer is asked");
    assert.match(checkpointAtSummary, new RegExp(session));
    const [entry = "", ...more] = entries(gateway, session);
    assert.equal(more.length, 0, "one entry");
    for (const fact of ["Never deploy on Fridays", ticket(project), "350 requests per minute"]) {
      assert.match(entry, new RegExp(`lost: .*${fact}`), `the daily note names ${fact}`);
    }
    assert.match(entry, /- Reason: manual/);

    const since = Date.now();
    await gateway.say(session, `What is next for ${project}?`);
    await gateway.say(session, `And then for ${project}?`);
    const [next, second] = turns(project, since);
    assert.ok(next && second);
    for (const fact of ["Never deploy on Fridays", ticket(project), "350 requests per minute"]) {
      assert.ok(quoted(next).includes(fact), `the next request has ${fact} in its quoted block:\n${quoted(next)}`);
    }
    assert.equal(injections(next), 1, "once");
    assert.equal(injections(second), 0, "and not twice");
  });

  test("is quiet about a faithful summary", async () => {
    const session = "agent:main:faithful";
    const project = "Kestrel";
    model.summarize(project, faithfulSummary(project));
    await talk(gateway, session, project);
    await gateway.say(session, "/compact");
    const [entry = ""] = entries(gateway, session);
    assert.match(entry, /\(faithful/);
    const since = Date.now();
    await gateway.say(session, `What is next for ${project}?`);
    const [next] = turns(project, since);
    assert.ok(next && !quoted(next).includes("Friday") && !quoted(next).includes(ticket(project)), "nothing is handed back");
    assert.deepEqual(logged(gateway, `${session}: warning alert`), []);
    assert.deepEqual(logged(gateway, `${session}: critical alert`), []);
  });

  test("keeps two sessions apart that are compacted at once", async () => {
    const sessions = [
      { session: "agent:main:left", project: "Osprey" },
      { session: "agent:main:right", project: "Plover" },
    ];
    /** @type {(value?: unknown) => void} */
    let open = () => {};
    const both = new Promise((resolve) => (open = resolve));
    let waiting = 0;
    for (const { session, project } of sessions) {
      model.summarize(project, () => {
        waiting += 1;
        if (waiting === sessions.length) open();
        return { text: lossySummary(project), after: both };
      });
      await talk(gateway, session, project);
    }
    await Promise.all(sessions.map(({ session }) => gateway.say(session, "/compact")));
    assert.ok(waiting >= 2, "both summaries were asked for before either was given");
    const since = Date.now();
    await Promise.all(sessions.map(({ session, project }) => gateway.say(session, `What is next for ${project}?`)));
    for (const [at, { session, project }] of sessions.entries()) {
      const other = sessions[1 - at]?.project ?? "";
      const [entry = ""] = entries(gateway, session);
      assert.ok(entry.includes(ticket(project)) && !entry.includes(ticket(other)), entry);
      const [next] = turns(project, since);
      assert.ok(next && quoted(next).includes(ticket(project)) && !next.text.includes(ticket(other)));
    }
  });

  test("does not take a compaction that failed for one that happened", async () => {
    const session = "agent:main:guarded";
    const project = "Bittern";
    model.summarize(project, "I cannot help with that.");
    await talk(gateway, session, project);
    assert.match(await gateway.ask(session, "/compact"), /Compaction failed/);
    assert.deepEqual(entries(gateway, session), [], "nothing was compacted, nothing is noted");
    assert.ok(gateway.memory("checkpoint.md").includes(session), "the checkpoint was written all the same");
    // The same conversation, now with a summary that passes: judged by its own pre-image.
    model.summarize(project, lossySummary(project));
    await gateway.say(session, "/compact");
    assert.match(entries(gateway, session)[0] ?? "", new RegExp(ticket(project)));
  });

  test("hands lost facts back in the same turn after an overflow", async () => {
    const session = "agent:main:overflow";
    const project = "Dunlin";
    model.summarize(project, lossySummary(project));
    await talk(gateway, session, project);
    let refusals = 1;
    model.rule((request) => {
      if (request.kind !== "turn" || !request.text.includes(`Go on with ${project}`) || refusals === 0) return undefined;
      refusals -= 1;
      return { refuse: "overflow" };
    });
    const since = Date.now();
    await gateway.say(session, `Go on with ${project}.`);
    const [refused, retried] = turns(project, since);
    assert.ok(refused && retried, "the gateway tried again");
    assert.equal(injections(refused), 0);
    assert.ok(quoted(retried).includes(ticket(project)), quoted(retried));
    assert.match(entries(gateway, session)[0] ?? "", /- Reason: overflow/);
  });

  test("warns once when a threshold is crossed, and answers the agent and the person", async () => {
    const session = "agent:main:budget";
    const project = "Avocet";
    let asked = false;
    model.rule((request) => {
      if (request.kind !== "turn" || !request.text.includes(project)) return undefined;
      if (request.text.includes("Look at your budget") && !asked) {
        asked = true;
        return { toolCall: { name: "tool_call", arguments: { id: "compact_review", args: { action: "status" } } }, promptTokens: 46_000 };
      }
      return { text: "Noted.", promptTokens: 46_000 };
    });
    for (const prompt of prompts(project)) await gateway.say(session, prompt);
    const alerts = await eventually("the alert in the log", () => {
      const found = logged(gateway, `${session}: info alert budget-warn`);
      return found.length > 0 && found;
    });
    assert.equal(alerts.length, 1, alerts.join("\n"));
    assert.match(alerts[0] ?? "", /7\d\s?%/);

    await gateway.say(session, `Look at your budget for ${project}.`);
    const answered = turns(project, 0).at(-1);
    assert.match(answered?.text ?? "", /📚 Context: 46,\d{3}\/64,000/, "the tool answered the agent");

    assert.match(await gateway.ask(session, "/compact-review status"), /📚 Context: 46,\d{3}\/64,000 \(7\d%\)/);
    assert.match(await gateway.ask(session, "/compact-review checkpoint"), /Written: memory\/checkpoint\.md/);
    assert.ok(gateway.memory("checkpoint.md").includes(session));
    const doctor = await gateway.ask(session, "/compact-review doctor");
    assert.match(doctor, /✅ Component: loaded/);
    assert.match(doctor, /✅ Conversation access: granted/);
    assert.match(doctor, /✅ Hook before_compaction: fired \d+ times/);
    assert.doesNotMatch(doctor, /❌/);
  });

  test("goes on after a restart of the gateway", async () => {
    const session = "agent:main:restart";
    const project = "Gannet";
    model.summarize(project, lossySummary(project));
    await talk(gateway, session, project);
    await gateway.say(session, "/compact");
    await gateway.stop();
    await gateway.start();
    const since = Date.now();
    await gateway.say(session, `What is next for ${project}?`);
    await gateway.say(session, `And then for ${project}?`);
    const [next, second] = turns(project, since);
    assert.ok(next && quoted(next).includes(ticket(project)), "the recovery text survived");
    assert.equal(injections(second), 0, "and came once");
    assert.match(await gateway.ask(session, "/compact-review last"), new RegExp(ticket(project)));
    await gateway.say(session, "/compact-review recover");
    await gateway.say(session, `Once more for ${project}.`);
    assert.ok(quoted(/** @type {any} */ (turns(project, since).at(-1))).includes(ticket(project)), "recover hands it back again");
  });
});

describe("the plugin with compaction.mode default", () => {
  /** @type {Gateway} */
  let gateway;

  before(async () => {
    gateway = await gatewayIn("default-mode", {
      plugins: loadedFrom(plugin, { hooks: ACCESS, config: { alerts: { chat: true } } }),
      compaction: { mode: "default" },
    });
    await gateway.start();
  });
  after(() => gateway.stop());

  test("audits a compaction within a run, which the gateway does not wait for", async () => {
    const session = "agent:main:inrun";
    const project = "Curlew";
    let checkpointAtSummary = "";
    model.summarize(project, () => {
      checkpointAtSummary = gateway.memory("checkpoint.md");
      return { text: lossySummary(project) };
    });
    await talk(gateway, session, project);
    model.rule((request) => {
      const full = request.kind === "turn" && request.text.includes(project) && request.text.includes("That fills it");
      return full ? { text: "Noted.", promptTokens: 63_000 } : undefined;
    });
    await gateway.say(session, `That fills it: ${project}.`);
    const entry = await eventually("the entry in the daily note", () => entries(gateway, session)[0]);
    assert.match(checkpointAtSummary, /Never deploy on Fridays/, "the checkpoint stands before the summarizer is asked");
    assert.ok(entry.includes(ticket(project)), entry);
    assert.match(entry, /- Reason: threshold/);
    model.rule((request) => (request.kind === "turn" && request.text.includes(project) ? { text: "Noted." } : undefined));
    const since = Date.now();
    await gateway.say(session, `What is next for ${project}?`);
    assert.ok(quoted(/** @type {any} */ (turns(project, since)[0])).includes(ticket(project)));
  });

  test("calls an empty summary failed and keeps the checkpoint", async () => {
    const session = "agent:main:empty";
    const project = "Sandpiper";
    model.summarize(project, emptySummary());
    await talk(gateway, session, project);
    await gateway.say(session, "/compact-review checkpoint");
    const reply = await gateway.ask(session, "/compact");
    const [entry = ""] = entries(gateway, session);
    assert.match(entry, /\(failed/, reply);
    const checkpoint = gateway.memory("checkpoint.md");
    assert.ok(checkpoint.includes(session) && checkpoint.includes("Never deploy on Fridays"), "the pre-image stands");
    const earlier = fs.readdirSync(path.join(gateway.workspace, "memory", "checkpoints"));
    const texts = earlier.map((name) => gateway.memory(path.join("checkpoints", name)));
    assert.ok(texts.some((text) => text.includes(session)), "and the one before it is kept");
    assert.match(reply, /⚠️/, "told in the chat, as the settings ask for");
  });
});

describe("the plugin without conversation access, with a component that traps once", () => {
  /** @type {Gateway} */
  let gateway;

  before(async () => {
    const copy = trappingCopy(plugin, path.join(root, "trapping"));
    gateway = await gatewayIn("no-access", { plugins: loadedFrom(copy, {}), compaction: { mode: "default" } });
    await gateway.start();
  });
  after(() => gateway.stop());

  test("reports the trap, lets the compaction succeed and audits the next one", async () => {
    const session = "agent:main:trap";
    const project = "Whimbrel";
    model.summarize(project, lossySummary(project));
    await talk(gateway, session, project);
    assert.match(await gateway.ask(session, "/compact"), /Compacted/, "the compaction succeeded");
    assert.equal(logged(gateway, "the component trapped in beforeCompaction").length, 1, gateway.tail());
    assert.match(entries(gateway, session)[0] ?? "unverifiable", /unverifiable/, "nothing is claimed about it");

    const again = "Turnstone";
    model.summarize(again, lossySummary(again));
    await talk(gateway, session, again);
    await gateway.say(session, "/compact");
    const entry = entries(gateway, session).at(-1) ?? "";
    assert.ok(entry.includes(ticket(again)), `the next compaction is audited:\n${entry}`);
  });

  test("injects nothing and says in doctor what the missing permission costs", async () => {
    const session = "agent:main:trap";
    const since = Date.now();
    await gateway.say(session, "What is next for Turnstone?");
    const [next] = turns("Turnstone", since);
    assert.ok(next);
    assert.equal(injections(next), 0);
    assert.match(await gateway.ask(session, "/compact-review doctor"), /Conversation access: not granted.*not handed back/);
    assert.match(await gateway.ask(session, "/compact-review status"), /📚 Context: [\d,]+\/64,000/, "usage is known all the same");
  });
});

/** What the hooks took, from the gateways' logs. */
function report() {
  for (const hook of ["before_compaction", "after_compaction"]) {
    const times = gateways
      .flatMap((gateway) => logged(gateway, `${hook} took `))
      .map((line) => Number(/took ([\d.]+) ms/.exec(line)?.[1]))
      .sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)];
    console.log(`${hook}: ${times.length} times, median ${median} ms, worst ${times.at(-1)} ms`);
  }
}
