// The end-to-end test in the real gateway, in one command:
//
//   node e2e/run.js
//
// Installs the pinned Node and OpenClaw into a cache folder, packs the plugin, and runs the tests in a network namespace
// in which there is nothing but loopback. Needs Linux with unshare(1) and `npm run build` before. E2E_KEEP=FOLDER keeps the
// gateways' workspaces and logs there, to look at.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const plugin = path.dirname(here);

/** Brings loopback up with what the machine has. */
const LOOPBACK_UP = `
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || python3 -c '
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))
' || { echo "loopback cannot be brought up: install iproute2" >&2; exit 1; }
exec "$@"`;

if (!fs.existsSync(path.join(plugin, "component", "component.js"))) {
  throw new Error("the component is missing: npm run build");
}
const { node } = install();
const root = fs.mkdtempSync(path.join(tmpdir(), "compact-review-e2e-"));
let status = 1;
try {
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", root], { cwd: plugin, encoding: "utf8" });
  if (packed.status !== 0) throw new Error(`npm pack failed: ${packed.stderr}`);
  const tarball = path.join(root, packed.stdout.trim().split("\n").at(-1) ?? "");
  console.log(`packed: ${path.basename(tarball)}, ${(fs.statSync(tarball).size / 1024).toFixed(0)} KiB`);
  // Without root, a user namespace gives the right to make the other one.
  const namespaces = process.getuid?.() === 0 ? ["--net"] : ["--user", "--map-root-user", "--net"];
  const test = [node, "--test", "--test-reporter=spec", path.join(here, "gateway.test.js")];
  const ran = spawnSync("unshare", [...namespaces, "--", "sh", "-c", LOOPBACK_UP, "sh", ...test], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, E2E_ROOT: root, E2E_TARBALL: tarball },
  });
  if (ran.error) throw new Error(`unshare cannot be run: ${ran.error.message}`);
  status = ran.status ?? 1;
} finally {
  const keep = process.env.E2E_KEEP;
  if (keep) fs.cpSync(root, keep, { recursive: true });
  fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(status);
