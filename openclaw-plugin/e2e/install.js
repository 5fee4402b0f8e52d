// Installs the pinned Node and OpenClaw into a cache folder outside the source tree, once.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { NODE_VERSION, OPENCLAW_VERSION } from "./versions.js";

/** Written last: a folder without it is an installation that was cut off. */
const COMPLETE = ".complete";

/** Of the person who runs the test. Looked up once: the gateways of the test have a home of their own. */
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"), "compact-review-e2e");

/**
 * @typedef {object} Installed
 * @property {string} node the pinned Node binary
 * @property {string} openclaw the package's folder
 */

/** @returns {Installed} */
export function installed() {
  const node = path.join(CACHE, `node-${NODE_VERSION}`, "node_modules", "node", "bin", "node");
  const openclaw = path.join(CACHE, `openclaw-${OPENCLAW_VERSION}`, "node_modules", "openclaw");
  return { node, openclaw };
}

/** Installs what is missing. */
export function install() {
  const found = installed();
  // Node's package fetches the binary in its install script; OpenClaw's scripts are not needed.
  installPackage(`node-${NODE_VERSION}`, `node@${NODE_VERSION}`, process.env.PATH ?? "", []);
  const PATH = `${path.dirname(found.node)}${path.delimiter}${process.env.PATH ?? ""}`;
  installPackage(`openclaw-${OPENCLAW_VERSION}`, `openclaw@${OPENCLAW_VERSION}`, PATH, ["--ignore-scripts"]);
  const version = spawnSync(found.node, ["--version"], { encoding: "utf8" });
  if (version.stdout?.trim() !== `v${NODE_VERSION}`) {
    throw new Error(`${found.node} is not Node ${NODE_VERSION}: ${version.stdout}${version.stderr}${version.error ?? ""}`);
  }
  return found;
}

/**
 * @param {string} name
 * @param {string} spec
 * @param {string} PATH
 * @param {string[]} flags
 */
function installPackage(name, spec, PATH, flags) {
  const folder = path.join(CACHE, name);
  if (existsSync(path.join(folder, COMPLETE))) return;
  const fresh = `${folder}.new-${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  writeFileSync(path.join(fresh, "package.json"), '{"private":true}\n');
  console.log(`installing ${spec} into ${folder}`);
  const done = spawnSync("npm", ["install", spec, "--no-audit", "--no-fund", "--loglevel=error", ...flags], {
    cwd: fresh,
    env: { ...process.env, PATH },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (done.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`npm could not install ${spec} (exit code ${done.status}); is the npm registry reachable?`);
  }
  writeFileSync(path.join(fresh, COMPLETE), `${spec}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}
