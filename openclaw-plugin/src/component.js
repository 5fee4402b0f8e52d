// The WebAssembly component: compiled once in a process, instantiated anew for each call.
//
// A call that traps takes its instance with it and nothing else: the next call gets a new one, and no call sees what
// another one left in memory.

import { readFileSync, readdirSync } from "node:fs";
import { instantiate } from "../component/component.js";

/** @typedef {typeof import("../component/interfaces/compact-review-plugin-hooks.js")} Hooks */
/** @typedef {typeof import("../component/interfaces/compact-review-plugin-host.js")} Host */

/** The hook gave back an error, which is a value of the contract (`hook-error`). */
export class HookError extends Error {
  /** @param {{tag: string, val: string}} payload */
  constructor(payload) {
    super(`${payload.tag.replaceAll("-", " ")}: ${payload.val}`);
    this.name = "HookError";
  }
}

/** The component broke off in the middle of a hook. */
export class Trap extends Error {
  /** @param {string} hook @param {unknown} cause */
  constructor(hook, cause) {
    super(`the component trapped in ${hook}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "Trap";
  }
}

export class Component {
  /** @type {Map<string, WebAssembly.Module>} */
  #modules = new Map();

  /** @param {URL} folder where the core modules are */
  constructor(folder) {
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".wasm"))) {
      this.#modules.set(name, new WebAssembly.Module(readFileSync(new URL(name, folder))));
    }
  }

  /** The component that came with the package. */
  static packaged() {
    return new Component(new URL("../component/", import.meta.url));
  }

  /**
   * Calls one hook on a fresh instance.
   * @template {keyof Hooks} Name
   * @param {Host} host
   * @param {Name} name
   * @param {Parameters<Hooks[Name]>} parameters
   * @returns {ReturnType<Hooks[Name]>}
   */
  call(host, name, ...parameters) {
    try {
      const imports = /** @type {any} */ ({ "compact-review:plugin/host": host });
      const { hooks } = instantiate((path) => this.#module(path), imports);
      const hook = /** @type {(...parameters: any[]) => any} */ (hooks[name]);
      return hook(...parameters);
    } catch (error) {
      const payload = hookPayload(error);
      throw payload === undefined ? new Trap(name, error) : new HookError(payload);
    }
  }

  /** @param {string} path */
  #module(path) {
    const found = this.#modules.get(path);
    if (found === undefined) throw new Error(`the component has a core module that was not packed: ${path}`);
    return found;
  }
}

/**
 * A `hook-error` is thrown as it is, or in an error around it; anything else is a trap.
 * @param {unknown} error
 * @returns {{tag: string, val: string} | undefined}
 */
function hookPayload(error) {
  const payload = error instanceof Error && "payload" in error ? error.payload : error;
  if (typeof payload !== "object" || payload === null || !("tag" in payload) || !("val" in payload)) return undefined;
  return { tag: String(payload.tag), val: String(payload.val) };
}
