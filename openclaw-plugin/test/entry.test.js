// The plugin's entry, as the gateway loads it.

import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../index.js";
import { memoryOf } from "../src/shared.js";
import { fakeApi, workspace } from "./support.js";

test("registering is synchronous and asks for what the permission allows", (t) => {
  const granted = fakeApi(workspace(t));
  assert.equal(plugin.register(granted.api), undefined);
  assert.ok(granted.hooks.has("before_compaction") && granted.hooks.has("before_prompt_build") && granted.hooks.has("llm_output"));
  const without = fakeApi(workspace(t), { config: {} });
  plugin.register(without.api);
  assert.ok(without.hooks.has("after_compaction") && without.hooks.has("reply_payload_sending"));
  assert.ok(!without.hooks.has("before_prompt_build") && !without.hooks.has("llm_output"));
});

test("notices go below the next final reply, once", (t) => {
  const { api, hooks } = fakeApi(workspace(t));
  plugin.register(api);
  memoryOf("agent:main:entry").notices.push("⚠️ the summary lost a rule");
  const send = (/** @type {string} */ kind) =>
    hooks.get("reply_payload_sending")?.({ kind, sessionKey: "agent:main:entry", payload: { text: "Hello.", extra: 1 } }, {});
  assert.equal(send("block"), undefined);
  assert.deepEqual(send("final"), { payload: { text: "Hello.\n⚠️ the summary lost a rule", extra: 1 } });
  assert.equal(send("final"), undefined);
});

test("a person who asks for a compaction is remembered, other words are not", (t) => {
  const { api, hooks } = fakeApi(workspace(t));
  plugin.register(api);
  const say = (/** @type {string} */ content) => hooks.get("message_received")?.({ content, sessionKey: "agent:main:asks" }, {});
  say("/compact-review last");
  say("please /compact");
  assert.equal(memoryOf("agent:main:asks").askedAt, undefined);
  say("/compact focus on numbers");
  assert.notEqual(memoryOf("agent:main:asks").askedAt, undefined);
});
