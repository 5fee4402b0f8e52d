// What the end-to-end test runs against. Both come from the npm registry.

/** The Node that OpenClaw needs; the package brings the binary. */
export const NODE_VERSION = "26.10.0";
/** The gateway. */
export const OPENCLAW_VERSION = "2026.9.6";
