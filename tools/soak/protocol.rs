//! What the soak and its gateways tell each other: one JSON object a line, over the pipes of the process. What was written
//! before a kill is still read after it.

use crate::plan::Fault;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// To a gateway.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Its sessions go on with these events.
    Start { next: BTreeMap<usize, usize>, real_disk: bool },
    /// So long, in milliseconds, has the run been going by its own schedule.
    Time(u64),
}

/// From a gateway.
#[derive(Debug, Serialize, Deserialize)]
pub enum Told {
    /// Everything is loaded, no session has begun.
    Ready(Held),
    /// An event begins.
    Began { session: usize, event: usize, compacts: bool },
    /// An event has ended: from here on, what it wrote must never be missing.
    Done(Done),
    /// All events have ended.
    Ended { held: Held, stores: (u64, u64), notes: (u64, u64) },
}

/// What a process holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub descriptors: u64,
    pub threads: u64,
}

/// What came of an event.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Done {
    pub session: usize,
    pub event: usize,
    /// How many compactions were to take place, and did.
    pub compactions: (u64, u64),
    /// What the conversation is afterwards.
    pub conversation: String,
    /// The planned fault, and whether it was told.
    pub fault: Option<(Fault, bool)>,
    /// A hook met the deadline that every user has: the machine is slow.
    pub overdue: bool,
    /// What should not have happened, in words.
    pub wrong: Vec<String>,
    /// The entries that were reported as written.
    pub entries: Vec<Entry>,
    /// How many checkpoints were reported as written.
    pub checkpoints: u64,
    /// How many hooks were fired.
    pub hooks: u64,
    /// The longest compaction, in milliseconds.
    pub longest_ms: u64,
}

/// An entry of a daily note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    pub date: String,
    /// The hash of its text.
    pub text: String,
}

/// The id in the last line of an entry.
pub fn entry_id(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- compact-review:entry ")?.strip_suffix(" -->")
}
