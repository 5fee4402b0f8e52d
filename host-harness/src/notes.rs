//! The workspace's `memory/` folder: daily notes, the active checkpoint, and the state between two hooks.
//!
//! [`FolderNotes`] keeps them on disk, [`MemoryNotes`] in memory for events without a workspace; a gateway uses either
//! through [`NoteStore`]. What the plugin asks for is a name, never a path: names are checked, links are not followed,
//! and nothing outside the folder can be reached (`cap-std`).
//!
//! What holds after a crash at any moment: a file that is replaced is the old or the new one; a note has every entry
//! that was reported as written; an entry that was cut off does not swallow the next one, and is written again whole
//! when it is offered again, because its id is its last line.

mod files;
mod folder;
mod memory;
#[cfg(test)]
mod tests;

use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
pub use folder::{EarlierCheckpoint, FolderNotes};
pub use memory::MemoryNotes;

/// The length of one entry of a daily note at most, in bytes.
pub const MAX_ENTRY_BYTES: usize = 128 * 1024;
/// A daily note is not appended to beyond this length, in bytes.
pub const MAX_NOTE_BYTES: u64 = 64 * 1024 * 1024;
/// The length of a checkpoint at most, in bytes.
pub const MAX_CHECKPOINT_BYTES: usize = 256 * 1024;
/// The length of what a slot keeps at most, in bytes.
pub const MAX_STATE_BYTES: usize = 16 * 1024 * 1024;
/// The length of a session key at most, in bytes.
pub const MAX_SESSION_KEY_BYTES: usize = 1024;
/// How much of the end of a daily note is read, in bytes.
pub const READ_NOTE_BYTES: usize = 64 * 1024;

/// The part of the host's imports that keeps things. The names and promises are those of `wit/host.wit`.
pub trait NoteStore {
    /// What was last saved for the session under this name.
    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError>;
    /// Replaces what stands there.
    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError>;
    /// Forgets what stands there.
    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError>;
    /// The newest checkpoint of the session, else the active one of the workspace.
    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError>;
    /// Replaces the active checkpoint durably and keeps the one before it; gives its place.
    fn write_checkpoint(&mut self, session_key: &str, text: &str, keep: Retention) -> Result<String, HostError>;
    /// The end of the note of a date, beginning on a line.
    fn read_note(&mut self, session_key: &str, date: &str) -> Result<Option<String>, HostError>;
    /// Appends an entry to the note of its day durably, unless it stands there already.
    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError>;
}

/// At most the last [`READ_NOTE_BYTES`] of a note, from the begin of a line.
fn end_of_note(note: &[u8]) -> String {
    let from = note.len().saturating_sub(READ_NOTE_BYTES);
    let tail = note.get(from..).unwrap_or_default();
    let line = if from == 0 { 0 } else { tail.iter().position(|byte| *byte == b'\n').map_or(tail.len(), |at| at + 1) };
    String::from_utf8_lossy(tail.get(line..).unwrap_or_default()).into_owned()
}

/// The last line of an entry: it stands in a note only if the whole entry does.
fn entry_mark(entry_id: &str) -> String {
    format!("<!-- compact-review:entry {entry_id} -->")
}

/// The entry as it is written: its mark is its last line, and it ends with a newline.
fn entry_text(entry: &NoteEntry) -> String {
    let mark = entry_mark(&entry.entry_id);
    let text = entry.text.trim_end();
    if text.lines().next_back() == Some(mark.as_str()) { format!("{text}\n") } else { format!("{text}\n{mark}\n") }
}

fn check_entry(entry: &NoteEntry) -> Result<(), HostError> {
    check_date(&entry.date)?;
    let id = &entry.entry_id;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-');
    if id.is_empty() || id.len() > 128 || !id.bytes().all(plain) {
        return Err(HostError::Failed(format!("{id:?} does not name an entry: 1 to 128 letters, digits and . _ : -")));
    }
    check_size("an entry of a daily note", entry.text.len(), MAX_ENTRY_BYTES)
}

/// A date names a file, so it is a date and nothing else.
fn check_date(date: &str) -> Result<(), HostError> {
    let shape = date.len() == 10
        && date
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    if shape { Ok(()) } else { Err(HostError::Denied(format!("{date:?} names no daily note: it must be YYYY-MM-DD"))) }
}

fn check_state_name(session_key: &str, slot: &str) -> Result<(), HostError> {
    if session_key.is_empty() {
        return Err(HostError::Failed("the session key is empty; state is kept by it".to_string()));
    }
    check_size("a session key", session_key.len(), MAX_SESSION_KEY_BYTES)?;
    let plain = slot.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if slot.is_empty() || slot.len() > 32 || !plain {
        return Err(HostError::Denied(format!("{slot:?} names no slot: 1 to 32 lower-case letters and dashes")));
    }
    Ok(())
}

fn check_checkpoint(text: &str) -> Result<(), HostError> {
    if text.trim().is_empty() {
        return Err(HostError::Denied("an empty checkpoint does not replace the one that stands".to_string()));
    }
    check_size("a checkpoint", text.len(), MAX_CHECKPOINT_BYTES)
}

fn check_size(what: &str, bytes: usize, most: usize) -> Result<(), HostError> {
    if bytes <= most {
        return Ok(());
    }
    Err(HostError::TooLarge(format!("{what} may have {most} bytes: found {bytes}")))
}
