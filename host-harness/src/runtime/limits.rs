//! What one call into a plugin may use, and what it may hand back. A limit that is hit has a name.

use std::time::Duration;
use wasmtime::ResourceLimiter;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The length of a component at most, in bytes: compiling takes time and memory by its length, and nothing else bounds
/// it. Ours has a tenth.
pub const MAX_COMPONENT_BYTES: usize = 8 * MIB;

/// The limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a call may run. OpenClaw waits 30 s for a handler; a compaction should not wait for us that long.
    pub deadline: Duration,
    /// Linear memory, in bytes. 8 MB of conversation need about 60 MB.
    pub memory: usize,
    /// Entries of a table. The plugin's own table has some hundred.
    pub table_elements: usize,
    /// Core instances in the component: the module and the shims of its adapter.
    pub instances: usize,
    /// Memories in the component.
    pub memories: usize,
    /// Tables in the component.
    pub tables: usize,
    /// Bytes that one call between plugin and host may carry to the host.
    pub transfer: usize,
    /// Bytes of one line for the log; longer ones are cut.
    pub log_line: usize,
    /// Lines for the log in one call; the rest is counted.
    pub log_lines: usize,
    /// Alerts in one call; the rest is counted.
    pub alerts: usize,
    /// Notes, checkpoints and states that one call may write.
    pub writes: usize,
    /// Bytes that it may write in all. A ledger of the greatest length, a checkpoint and an entry fit twice.
    pub written: usize,
    /// Bytes of one text that a hook hands back.
    pub text: usize,
    /// Entries of one list that a hook hands back.
    pub list: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            deadline: Duration::from_secs(5),
            memory: 256 * MIB,
            table_elements: 10_000,
            instances: 8,
            memories: 2,
            tables: 4,
            transfer: 32 * MIB,
            log_line: 4 * KIB,
            log_lines: 200,
            alerts: 50,
            writes: 32,
            written: 34 * MIB,
            text: 256 * KIB,
            list: 2_000,
        }
    }
}

/// Enforces the limits on memory and tables, and remembers which one was hit.
#[derive(Debug)]
pub(super) struct Meter {
    memory: usize,
    table_elements: usize,
    instances: usize,
    memories: usize,
    tables: usize,
    hit: Option<String>,
}

impl Meter {
    pub(super) fn new(limits: &Limits) -> Self {
        Meter {
            memory: limits.memory,
            table_elements: limits.table_elements,
            instances: limits.instances,
            memories: limits.memories,
            tables: limits.tables,
            hit: None,
        }
    }

    /// The limit that was hit, in words.
    pub(super) fn hit(&self) -> Option<&str> {
        self.hit.as_deref()
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired <= self.memory {
            return Ok(true);
        }
        let limit = format!("memory: wanted {} MiB, the limit is {} MiB", desired.div_ceil(MIB), self.memory / MIB);
        self.hit = Some(limit.clone());
        // An error traps at once. Answering `false` would leave it to the plugin to abort or to go on half-dead.
        Err(wasmtime::Error::msg(limit))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired <= self.table_elements {
            return Ok(true);
        }
        let limit = format!("table: wanted {desired} entries, the limit is {}", self.table_elements);
        self.hit = Some(limit.clone());
        Err(wasmtime::Error::msg(limit))
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn memories(&self) -> usize {
        self.memories
    }

    fn tables(&self) -> usize {
        self.tables
    }
}
