//! The real store of a workspace, with a fault in front of it.

use crate::plan::{Fault, Op};
use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
use host_harness::notes::{FolderNotes, NoteStore};
use std::time::Duration;

/// Stands in every message of a fault that this store plays.
pub const MARK: &str = "a fault of the soak";
/// Longer than the shortest deadline, by far.
const STALL: Duration = Duration::from_millis(900);

/// A workspace's notes. One is made for each event, and must be gone after it.
pub struct FaultyNotes {
    notes: FolderNotes,
    fault: Option<Fault>,
}

impl FaultyNotes {
    pub fn new(notes: FolderNotes, fault: Option<Fault>) -> FaultyNotes {
        FaultyNotes { notes, fault }
    }

    /// What stands in the way of this doing.
    fn before(&self, op: Op) -> Result<(), HostError> {
        match self.fault {
            Some(Fault::StorePanics(at)) if at == op => panic!("{MARK}: {op:?}"),
            Some(Fault::StoreFull(at)) if at == op => Err(HostError::Full(format!("{MARK}: {op:?}"))),
            Some(Fault::StoreDenied(at)) if at == op => Err(HostError::Denied(format!("{MARK}: {op:?}"))),
            Some(Fault::StoreFails(at)) if at == op => Err(HostError::Failed(format!("{MARK}: {op:?}"))),
            _ => Ok(()),
        }
    }

    /// What happens after it: the plugin comes back to a deadline that has passed.
    fn after(&self, op: Op) {
        if self.fault == Some(Fault::Deadline) && op == Op::WriteCheckpoint {
            std::thread::sleep(STALL);
        }
    }
}

impl NoteStore for FaultyNotes {
    fn load_state(&mut self, key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        self.before(Op::LoadState)?;
        self.notes.load_state(key, slot)
    }

    fn save_state(&mut self, key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.before(Op::SaveState)?;
        self.notes.save_state(key, slot, bytes)
    }

    fn clear_state(&mut self, key: &str, slot: &str) -> Result<(), HostError> {
        self.notes.clear_state(key, slot)
    }

    fn read_checkpoint(&mut self, key: &str) -> Result<Option<String>, HostError> {
        self.notes.read_checkpoint(key)
    }

    fn write_checkpoint(&mut self, key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        self.before(Op::WriteCheckpoint)?;
        let written = self.notes.write_checkpoint(key, text, keep);
        self.after(Op::WriteCheckpoint);
        written
    }

    fn read_note(&mut self, key: &str, date: &str) -> Result<Option<String>, HostError> {
        self.notes.read_note(key, date)
    }

    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        self.before(Op::AppendNote)?;
        self.notes.append_note(entry)
    }
}
