//! Recorded sessions of several tools, read in bounded memory.
//!
//! A transcript is read twice. The first look at each line (`peek`) tells what it is and where it hangs in the tree
//! (`tree`); then only the lines that matter are read whole (`entry`), along the branch that was really active.
//! A line that cannot be read is counted and named, never fatal. Images, hidden reasoning and encrypted parts are
//! counted and never printed.

mod classify;
mod content;
mod entry;
mod error;
mod follow;
mod format;
mod lines;
mod peek;
mod recording;
mod store;
mod tree;

pub use content::MAX_MESSAGE_BYTES;
pub(crate) use content::cut;
pub use entry::{Entry, Kept, RecordedCompaction, Said, Usage};
pub use error::{ErrorKind, TranscriptError};
pub use follow::{Follower, News};
pub use format::Format;
pub use lines::MAX_LINE_BYTES;
pub use peek::Parts;
pub use recording::{Embedded, Recording, Stats, Transcripts};
pub use store::KNOWN_SCHEMA;
pub use tree::Oddities;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Says how far reading is, and makes it stop.
#[derive(Clone, Debug, Default)]
pub struct Control {
    state: Arc<ControlState>,
}

#[derive(Debug, Default)]
struct ControlState {
    stop: AtomicBool,
    bytes: AtomicU64,
}

impl Control {
    /// Reading ends soon, with an error that says so.
    pub fn stop(&self) {
        self.state.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn stopped(&self) -> bool {
        self.state.stop.load(Ordering::Relaxed)
    }

    /// How many bytes were read, those read twice counted twice.
    pub fn bytes(&self) -> u64 {
        self.state.bytes.load(Ordering::Relaxed)
    }

    fn read(&self, bytes: u64) {
        self.state.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), TranscriptError> {
        if self.stopped() {
            return Err(TranscriptError::new(Path::new(""), ErrorKind::Stopped, "interrupted".to_string()));
        }
        Ok(())
    }
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BrokenLine {
    /// From 1; the row in a store.
    pub line: u64,
    /// What is wrong with it, with the field where there is one.
    pub why: String,
}
