// A real gateway in a folder of its own, on loopback, with the fake model.

import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { installed } from "./install.js";

const TOKEN = "only-for-this-test";
/** Generous: the machine may be busy. Nothing waits longer than what it waits for. */
const START_MS = 240_000;
const TURN_MS = 120_000;
export const CONTEXT_WINDOW = 64_000;

/**
 * @typedef {object} GatewayOptions
 * @property {string} root a folder of its own
 * @property {number} modelPort
 * @property {Record<string, unknown>} plugins the `plugins` part of its configuration
 * @property {Record<string, unknown>} [compaction] what differs in `agents.defaults.compaction`
 */

export class Gateway {
  root;
  workspace;
  logFile;
  #port = 0;
  #options;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  #messages = 0;
  /** @type {((method: string, options: object, params: object, extra: object) => Promise<any>) | undefined} */
  #call;

  /** @param {GatewayOptions} options */
  constructor(options) {
    this.#options = options;
    this.root = options.root;
    this.workspace = path.join(options.root, "workspace");
    this.logFile = path.join(options.root, "gateway.log");
  }

  get pid() {
    return this.#process?.pid;
  }

  /** @returns {Record<string, string>} */
  environment() {
    const home = path.join(this.root, "home");
    return {
      PATH: `${path.dirname(installed().node)}${path.delimiter}${process.env.PATH ?? ""}`,
      HOME: home,
      OPENCLAW_HOME: home,
      OPENCLAW_STATE_DIR: path.join(this.root, "state"),
      OPENCLAW_CONFIG_PATH: path.join(this.root, "openclaw.json"),
      TMPDIR: path.join(this.root, "tmp"),
      TZ: "UTC",
      OPENCLAW_DISABLE_BONJOUR: "1",
      OPENCLAW_SKIP_CHANNELS: "1",
      OPENCLAW_NO_AUTO_UPDATE: "1",
      DO_NOT_TRACK: "1",
    };
  }

  /** Makes its folders and its configuration. */
  async prepare() {
    for (const name of ["home", "state", "tmp", "workspace"]) fs.mkdirSync(path.join(this.root, name), { recursive: true });
    this.#port = await freePort();
    this.#writeConfig(this.#options.plugins);
  }

  /** @param {Record<string, unknown>} plugins */
  #writeConfig(plugins) {
    const model = {
      id: "fake-1",
      name: "fake-1",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: CONTEXT_WINDOW,
      maxTokens: 4096,
    };
    const fake = {
      baseUrl: `http://127.0.0.1:${this.#options.modelPort}/v1`,
      apiKey: "none",
      api: "openai-completions",
      models: [model],
    };
    const config = {
      gateway: { mode: "local", bind: "loopback", port: this.#port, auth: { mode: "token", token: TOKEN } },
      models: { mode: "replace", providers: { fake }, catalogRefresh: { enabled: false } },
      update: { checkOnStart: false },
      telemetry: { enabled: false },
      agents: {
        defaults: {
          workspace: this.workspace,
          model: { primary: "fake/fake-1" },
          heartbeat: { every: "0m" },
          compaction: {
            keepRecentTokens: 300,
            recentTurnsPreserve: 0,
            memoryFlush: { enabled: false },
            ...this.#options.compaction,
          },
        },
      },
      logging: { file: this.logFile },
      plugins,
    };
    fs.writeFileSync(path.join(this.root, "openclaw.json"), JSON.stringify(config, null, 2));
  }

  /** Changes the file that the gateway reads when it starts. @param {(config: any) => void} change */
  configure(change) {
    const file = path.join(this.root, "openclaw.json");
    const config = JSON.parse(fs.readFileSync(file, "utf8"));
    change(config);
    fs.writeFileSync(file, JSON.stringify(config, null, 2));
  }

  /**
   * Runs the command line tool of OpenClaw.
   * @param {string[]} args
   * @returns {Promise<string>}
   */
  async cli(...args) {
    const { node, openclaw } = installed();
    const child = spawn(node, [path.join(openclaw, "openclaw.mjs"), ...args], { env: this.environment(), stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`openclaw ${args.join(" ")} ended with ${code}:\n${output}`);
    return output;
  }

  async start() {
    const { node, openclaw } = installed();
    const output = fs.openSync(path.join(this.root, "output.log"), "a");
    const args = [path.join(openclaw, "openclaw.mjs"), "gateway", "run"];
    const child = spawn(node, args, { env: this.environment(), stdio: ["ignore", output, output] });
    fs.closeSync(output);
    this.#process = child;
    let lost = "";
    child.once("error", (error) => (lost = String(error)));
    child.once("exit", (code, signal) => (lost ||= `it ended with ${code ?? signal}`));
    // What the client reads: it is the gateway's own, and must not look at the user's configuration.
    Object.assign(process.env, this.environment());
    const sdk = path.join(openclaw, "dist", "plugin-sdk", "gateway-runtime.js");
    this.#call ??= (await import(sdk)).callGatewayFromCli;
    const deadline = Date.now() + START_MS;
    for (;;) {
      if (lost !== "") throw new Error(`the gateway did not start: ${lost}\n${this.tail()}`);
      const healthy = await this.call("health", {}, 5_000).catch(() => undefined);
      if (healthy?.ok === true) return;
      if (Date.now() > deadline) throw new Error(`the gateway did not start in ${START_MS / 1000} s:\n${this.tail()}`);
      await sleep(250);
    }
  }

  async stop() {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await gone;
    clearTimeout(killer);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {number} [timeoutMs]
   */
  async call(method, params, timeoutMs = TURN_MS) {
    if (this.#call === undefined) throw new Error("the gateway was not started");
    const options = { url: `ws://127.0.0.1:${this.#port}`, token: TOKEN, timeout: String(timeoutMs), json: true };
    return this.#call(method, options, params, { progress: false });
  }

  /**
   * Says something and waits until the run has ended.
   * @param {string} sessionKey
   * @param {string} message
   */
  async say(sessionKey, message) {
    this.#messages += 1;
    const idempotencyKey = `e2e-${process.pid}-${Date.now()}-${this.#messages}`;
    const sent = await this.call("chat.send", { sessionKey, message, idempotencyKey });
    const runId = sent.runId ?? idempotencyKey;
    const ended = await this.call("agent.wait", { runId, timeoutMs: TURN_MS - 5_000 });
    if (ended.status !== "ok") throw new Error(`${JSON.stringify(message)} in ${sessionKey}: ${JSON.stringify(ended)}\n${this.tail()}`);
  }

  /**
   * Says something and gives the reply that the chat shows.
   * @param {string} sessionKey
   * @param {string} message
   * @returns {Promise<string>}
   */
  async ask(sessionKey, message) {
    const since = Date.now();
    await this.say(sessionKey, message);
    const deadline = Date.now() + 60_000;
    for (;;) {
      const history = await this.call("chat.history", { sessionKey, limit: 5 });
      const last = history.messages.findLast((/** @type {any} */ said) => said.role === "assistant");
      if (last?.timestamp >= since) return last.content.map((/** @type {any} */ part) => part.text ?? "").join("\n");
      if (Date.now() > deadline) throw new Error(`no reply to ${JSON.stringify(message)} in ${sessionKey}\n${this.tail()}`);
      await sleep(100);
    }
  }

  /** The end of its output and of its log. */
  tail() {
    const files = [path.join(this.root, "output.log"), this.logFile];
    return files.map((file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").slice(-4000) : "")).join("\n");
  }

  /** All lines of its log that this plugin wrote. */
  log() {
    return fs.existsSync(this.logFile) ? fs.readFileSync(this.logFile, "utf8") : "";
  }

  /** @param {string} name @returns {string} a file of the workspace's memory folder, empty where there is none */
  memory(name) {
    const file = path.join(this.workspace, "memory", name);
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  }

  /** Resident memory in MiB. */
  residentMiB() {
    const status = fs.readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

/**
 * Waits until something holds; for what the gateway does after it has answered.
 * @template T
 * @param {string} what
 * @param {() => T | undefined | false} check
 * @returns {Promise<T>}
 */
export async function eventually(what, check) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = check();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`not seen in 60 s: ${what}`);
    await sleep(100);
  }
}
