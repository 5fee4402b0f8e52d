import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { Component } from "../src/component.js";
import { memoryHost } from "../src/host.js";
import { PLUGIN_ID } from "../src/reviewer.js";
import { readSettings } from "../src/settings.js";
import { TOOL } from "../src/tool.js";

const read = (/** @type {string} */ name) => JSON.parse(fs.readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
const manifest = read("openclaw.plugin.json");

/** What the plugin itself reads; the rest is the component's. */
const OWN = { alerts: { chat: false }, sessions: { ignore: [] } };

/** The defaults that a schema names. @param {any} schema @returns {any} */
function defaults(schema) {
  if (schema.type !== "object" || schema.properties === undefined) return schema.default ?? null;
  return Object.fromEntries(Object.entries(schema.properties).map(([key, value]) => [key, defaults(value)]));
}

/** @param {any} schema @param {string} at @returns {string[]} */
function undocumented(schema, at) {
  const own = at !== "" && schema.description === undefined ? [at] : [];
  return [...own, ...Object.entries(schema.properties ?? {}).flatMap(([key, value]) => undocumented(value, `${at}.${key}`))];
}

test("the schema has every setting of the component with its default", () => {
  const effective = JSON.parse(Component.packaged().call(memoryHost(), "configure", "{}"));
  // OpenClaw decides itself what a compaction keeps: no hook of it asks for a plan.
  delete effective.budget.plan;
  assert.deepEqual(defaults(manifest.configSchema), { ...effective, ...OWN });
});

test("the component takes the defaults that the schema names", () => {
  const settings = readSettings(defaults(manifest.configSchema)).component ?? "";
  assert.doesNotThrow(() => Component.packaged().call(memoryHost(), "configure", settings));
});

test("every key is described and none is required", () => {
  assert.deepEqual(undocumented(manifest.configSchema, ""), []);
  assert.equal(manifest.configSchema.required, undefined);
});

test("manifest, package and code agree", () => {
  const packed = read("package.json");
  assert.equal(manifest.id, PLUGIN_ID);
  assert.equal(manifest.version, packed.version);
  assert.deepEqual(manifest.contracts.tools, [TOOL]);
  assert.deepEqual(packed.openclaw.extensions, ["./index.js"]);
  assert.equal(packed.dependencies, undefined);
});
