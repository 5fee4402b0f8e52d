import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_TEXT, conversation, plainMessages } from "../src/transcript.js";
import { FakeStore } from "./support.js";

test("a conversation without a compaction is its messages", () => {
  const store = new FakeStore();
  store.say("user", "Use Postgres 16.");
  store.say("assistant", "Noted.");
  const { messages, compaction, prompts } = conversation(store.events);
  assert.deepEqual(messages.map(({ id, role, text }) => ({ id, role, text })), [
    { id: "e1", role: "user", text: "Use Postgres 16." },
    { id: "e2", role: "assistant", text: "Noted." },
  ]);
  assert.equal(messages[0]?.at, 1_794_980_000_001n);
  assert.equal(compaction, undefined);
  assert.equal(prompts, 1);
});

test("after a compaction the context is the summary, what was kept, and what came since", () => {
  const store = new FakeStore();
  for (const text of ["one", "two", "three"]) store.say("user", text);
  store.compact("## Decisions\nNone.", 1);
  store.say("user", "four");
  const { messages, compaction, count, verbatim } = conversation(store.events);
  assert.deepEqual([count, verbatim], [3, 2]);
  assert.deepEqual(messages.map(({ role, text }) => `${role}: ${text}`), ["system: ## Decisions\nNone.", "user: three", "user: four"]);
  assert.deepEqual(compaction, { id: "e4", summary: "## Decisions\nNone.", firstKeptId: "e3", tokensBefore: 9000 });
});

test("the first kept message is named where the entry that was kept first is none", () => {
  const store = new FakeStore();
  store.say("user", "one");
  store.events.push({ type: "model_change", id: "mc", parentId: "e1" });
  store.events.push({ type: "message", id: "e9", parentId: "mc", message: { role: "user", content: "two" } });
  store.events.push({ type: "compaction", id: "c", parentId: "e9", summary: "s", firstKeptEntryId: "mc" });
  assert.equal(conversation(store.events).compaction?.firstKeptId, "e9");
});

test("an empty summary is empty and not unknown", () => {
  const store = new FakeStore();
  store.say("user", "one");
  store.compact("", 1);
  assert.equal(conversation(store.events).compaction?.summary, "");
  store.events.at(-1).summary = undefined;
  assert.equal(conversation(store.events).compaction?.summary, undefined);
});

test("only the branch that is active counts, and only what came after a reset", () => {
  const events = [
    { type: "message", id: "a", parentId: null, message: { role: "user", content: "old" } },
    { type: "reset", id: "r", parentId: "a" },
    { type: "message", id: "b", parentId: "r", message: { role: "user", content: "one" } },
    { type: "message", id: "c", parentId: "b", message: { role: "assistant", content: "left behind" } },
    { type: "message", id: "d", parentId: "b", message: { role: "assistant", content: "two" } },
  ];
  assert.deepEqual(conversation(events).messages.map(({ text }) => text), ["one", "two"]);
});

test("a transcript whose parents go in a circle ends", () => {
  const events = [
    { type: "message", id: "a", parentId: "b", message: { role: "user", content: "one" } },
    { type: "message", id: "b", parentId: "a", message: { role: "user", content: "two" } },
  ];
  assert.equal(conversation(events).messages.length, 2);
});

test("parts become text: words and tool calls, no images and no hidden reasoning", () => {
  const [message, result] = plainMessages([
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "secret" },
        { type: "text", text: "Look:" },
        { type: "toolCall", name: "exec", arguments: { command: "ls" } },
        { type: "image", data: "…" },
      ],
    },
    { role: "toolResult", toolName: "exec", isError: true, content: [{ type: "text", text: "no such file" }] },
  ]);
  assert.equal(message?.text, 'Look:\nexec {"command":"ls"}');
  assert.deepEqual([result?.role, result?.tool, result?.failed, result?.text], ["tool", "exec", true, "no such file"]);
});

test("lines that the gateway itself put into the chat are left out", () => {
  const messages = plainMessages([
    { role: "user", content: "/compact" },
    { role: "assistant", model: "gateway-injected", content: [{ type: "text", text: "⚙️ Compacted" }] },
  ]);
  assert.deepEqual(messages.map(({ text }) => text), ["/compact"]);
});

test("hostile shapes do no harm", () => {
  const odd = [null, 7, "x", {}, { type: "message" }, { type: "message", message: null }, { type: "message", message: { content: [null, 3, {}] } }];
  assert.doesNotThrow(() => conversation(odd));
  assert.doesNotThrow(() => plainMessages(odd));
});

test("more text than fits loses its oldest messages", () => {
  const half = "x".repeat(MAX_TEXT / 2);
  const messages = plainMessages([1, 2, 3].map((at) => ({ role: "user", content: `${at}${half.slice(1)}` })));
  assert.deepEqual(messages.map(({ text }) => text[0]), ["2", "3"]);
});
