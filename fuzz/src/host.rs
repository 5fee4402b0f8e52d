//! The host of a hook under test: notes in memory, and everything that the plugin said.

use crate::notes::{MemoryNotes, NoteStore};
use compact_review::host::{Host, HostError, LogLevel, NoteEntry, NotePlace, Retention};
use compact_review::report::Alert;
use std::collections::BTreeMap;

/// Keeps what it is given; `planted` stands in for what another program left in the slots, notes and checkpoint.
#[derive(Default)]
pub struct TestHost {
    pub notes: MemoryNotes,
    pub settings: Option<String>,
    pub planted: BTreeMap<String, Vec<u8>>,
    pub checkpoint: Option<String>,
    pub note: Option<String>,
    pub said: Vec<String>,
}

impl Host for TestHost {
    fn log(&mut self, _level: LogLevel, message: &str) {
        self.said.push(message.to_string());
    }

    fn alert(&mut self, alert: &Alert) {
        self.said.push(alert.text.clone());
    }

    fn settings(&mut self) -> Option<String> {
        self.settings.clone()
    }

    fn count_tokens(&mut self, _texts: &[&str]) -> Option<Vec<u32>> {
        None
    }

    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        match self.planted.remove(slot) {
            Some(bytes) => Ok(Some(bytes)),
            None => self.notes.load_state(session_key, slot),
        }
    }

    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.notes.save_state(session_key, slot, bytes)
    }

    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError> {
        self.notes.clear_state(session_key, slot)
    }

    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError> {
        match self.checkpoint.take() {
            Some(text) => Ok(Some(text)),
            None => self.notes.read_checkpoint(session_key),
        }
    }

    fn write_checkpoint(&mut self, session_key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        self.notes.write_checkpoint(session_key, text, keep)
    }

    fn read_note(&mut self, session_key: &str, date: &str) -> Result<Option<String>, HostError> {
        match self.note.take() {
            Some(text) => Ok(Some(text)),
            None => self.notes.read_note(session_key, date),
        }
    }

    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        self.notes.append_note(entry)
    }
}
