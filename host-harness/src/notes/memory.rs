//! Notes in memory, for events without a workspace: the same checks, gone with the process.

use super::{MAX_NOTE_BYTES, MAX_STATE_BYTES, files::add_to_note};
use super::{
    NoteStore, check_checkpoint, check_date, check_entry, check_size, check_state_name, end_of_note, entry_mark,
    entry_text,
};
use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
use std::collections::BTreeMap;

/// Notes that live as long as the process.
#[derive(Debug, Default)]
pub struct MemoryNotes {
    states: BTreeMap<(String, String), Vec<u8>>,
    checkpoint: Option<String>,
    earlier: Vec<String>,
    notes: BTreeMap<String, Vec<u8>>,
}

impl MemoryNotes {
    /// The note of a day.
    pub fn note(&self, date: &str) -> Option<String> {
        self.notes.get(date).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The checkpoints that were replaced, oldest first.
    pub fn earlier_checkpoints(&self) -> &[String] {
        &self.earlier
    }
}

impl NoteStore for MemoryNotes {
    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        check_state_name(session_key, slot)?;
        Ok(self.states.get(&(session_key.to_string(), slot.to_string())).cloned())
    }

    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        check_state_name(session_key, slot)?;
        check_size("a saved state", bytes.len(), MAX_STATE_BYTES)?;
        self.states.insert((session_key.to_string(), slot.to_string()), bytes.to_vec());
        Ok(())
    }

    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError> {
        check_state_name(session_key, slot)?;
        self.states.remove(&(session_key.to_string(), slot.to_string()));
        Ok(())
    }

    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError> {
        let all = self.checkpoint.iter().chain(self.earlier.iter().rev());
        let own = all.clone().find(|text| {
            compact_review::checkpoint::parse(text).is_some_and(|header| header.session_key == session_key)
        });
        Ok(own.or(self.checkpoint.as_ref()).cloned())
    }

    fn read_note(&mut self, _session_key: &str, date: &str) -> Result<Option<String>, HostError> {
        check_date(date)?;
        Ok(self.notes.get(date).map(|note| end_of_note(note)))
    }

    fn write_checkpoint(&mut self, _session_key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        check_checkpoint(text)?;
        if let Some(before) = self.checkpoint.replace(text.to_string()).filter(|before| before != text) {
            self.earlier.push(before);
            let mut bytes: u64 = self.earlier.iter().map(|text| text.len() as u64).sum();
            while self.earlier.len() > 1 && (self.earlier.len() > keep.count as usize || bytes > keep.bytes) {
                bytes -= self.earlier.remove(0).len() as u64;
            }
        }
        Ok("checkpoint.md (in memory)".to_string())
    }

    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        check_entry(entry)?;
        let note = self.notes.entry(entry.date.clone()).or_default();
        let addition = add_to_note(note, &entry_text(entry), &entry_mark(&entry.entry_id));
        check_size("a daily note", note.len() + addition.bytes.len(), MAX_NOTE_BYTES as usize)?;
        note.extend_from_slice(&addition.bytes);
        let place = format!("{}.md (in memory)", entry.date);
        Ok(NotePlace { place, already_there: addition.already_there })
    }
}
