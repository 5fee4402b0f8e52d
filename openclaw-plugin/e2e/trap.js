// A copy of the plugin whose component traps when a compaction begins for the first time: a real `unreachable` of a real
// WebAssembly module, in the place where the component's own would be.

import fs from "node:fs";
import path from "node:path";

/** (module (func (export "trap") unreachable)) */
const TRAP = "0061736d01000000010401600000030201000708010474726170000" + "00a05010300000b";

/**
 * @param {string} plugin
 * @param {string} copy
 * @returns {string} the copy
 */
export function trappingCopy(plugin, copy) {
  for (const name of ["index.js", "src", "component", "openclaw.plugin.json", "package.json"]) {
    fs.cpSync(path.join(plugin, name), path.join(copy, name), { recursive: true });
  }
  const component = path.join(copy, "component");
  fs.renameSync(path.join(component, "component.js"), path.join(component, "component.real.js"));
  fs.writeFileSync(
    path.join(component, "component.js"),
    `import { instantiate as real } from "./component.real.js";
const bytes = Uint8Array.from("${TRAP}".match(/../g), (byte) => Number.parseInt(byte, 16));
const { trap } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
const done = (globalThis[Symbol.for("e2e.trapped")] ??= { once: false });
export function instantiate(getCoreModule, imports) {
  const root = real(getCoreModule, imports);
  const beforeCompaction = (event) => {
    if (event.session.sessionKey !== "warm-up" && !done.once) {
      done.once = true;
      trap();
    }
    return root.hooks.beforeCompaction(event);
  };
  return { ...root, hooks: { ...root.hooks, beforeCompaction } };
}
`,
  );
  return copy;
}
