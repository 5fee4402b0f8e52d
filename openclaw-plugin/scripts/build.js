// Builds component/: the component of this repository, transpiled for JavaScript.
//
//   node scripts/build.js [COMPONENT.wasm]
//
// Without a file, the command line tool of the repository is built and asked for the component that it embeds.

import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.join(here, "component");

/** @returns {Uint8Array} */
function componentBytes() {
  const given = process.argv[2];
  if (given !== undefined) return readFileSync(given);
  const folder = mkdtempSync(path.join(tmpdir(), "compact-review-build-"));
  try {
    const file = path.join(folder, "component.wasm");
    const args = ["run", "--quiet", "--package", "host-harness", "--", "component", "--output", file];
    const done = spawnSync("cargo", args, { cwd: path.dirname(here), stdio: "inherit" });
    if (done.status !== 0) throw new Error(`cargo could not build the component (${done.error ?? `exit code ${done.status}`})`);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Takes out of the generated code what costs time in each call and serves nothing here.
 *
 * An instance lives for one call, so all of its code starts cold each time: what is slow before it is optimized stays
 * slow.
 * @param {string} code
 */
function quicker(code) {
  // For asynchronous exports, of which the contract has none. Where the engine knows no such function, each of these
  // throws and is caught: 50 ms a call in Node 20, which looks for the place in the source to word its message.
  const synchronous = replaced(code, /WebAssembly\.promising\(([^;\n]+)\);/g, "$1;");
  // The length of a string is counted in JavaScript, unit by unit.
  const counted = /let len = 0;\s+let codepoints = 0;\s+for \(let i = 0; i < s\.length; i\+\+\) \{.+?\}\s+(?=const ptr = realloc)/s;
  const native = replaced(synchronous, counted, "const len = Buffer.byteLength(s);\n    ");
  return replaced(native, "const res = { ptr, len, codepoints };", "const res = { ptr, len };");
}

/**
 * @param {string} code
 * @param {string | RegExp} from
 * @param {string} to
 */
function replaced(code, from, to) {
  const done = code.replace(from, to);
  if (done === code) throw new Error(`the generated code has no ${from}: look at what this version of jco makes of it`);
  return done;
}

const { files } = await transpileBytes(componentBytes(), {
  name: "component",
  instantiation: "sync",
  wasiShim: false,
  nodejsCompat: false,
  base64Cutoff: 0,
});
files["component.js"] = Buffer.from(quicker(Buffer.from(files["component.js"] ?? []).toString("utf8")));
rmSync(out, { recursive: true, force: true });
for (const [name, bytes] of Object.entries(files)) {
  const file = path.join(out, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
const size = Object.values(files).reduce((sum, bytes) => sum + bytes.length, 0);
console.log(`component/: ${Object.keys(files).length} files, ${(size / 1024).toFixed(0)} KiB`);
