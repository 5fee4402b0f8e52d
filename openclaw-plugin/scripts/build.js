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

const { files } = await transpileBytes(componentBytes(), {
  name: "component",
  instantiation: "sync",
  wasiShim: false,
  nodejsCompat: false,
  base64Cutoff: 0,
});
rmSync(out, { recursive: true, force: true });
for (const [name, bytes] of Object.entries(files)) {
  const file = path.join(out, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
const size = Object.values(files).reduce((sum, bytes) => sum + bytes.length, 0);
console.log(`component/: ${Object.keys(files).length} files, ${(size / 1024).toFixed(0)} KiB`);
