//! Notes on disk, below one workspace:
//!
//! ```text
//! memory/YYYY-MM-DD.md                      daily notes, shared with whoever else writes them
//! memory/checkpoint.md                      the active checkpoint
//! memory/checkpoints/                       earlier ones, oldest removed first
//! memory/.compact-review/lock               held while something is written
//! memory/.compact-review/<session>.<slot>   state between two hooks
//! ```

use super::files::{Folder, Lock, add_to_note, host_error};
use super::{
    MAX_CHECKPOINT_BYTES, MAX_NOTE_BYTES, MAX_STATE_BYTES, NoteStore, check_checkpoint, check_entry, check_size,
    check_state_name, end_of_note, entry_mark, entry_text,
};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use compact_review::checkpoint;
use compact_review::event::LocalTime;
use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
use std::path::Path;

const MEMORY: &str = "memory";
const EARLIER: &str = "checkpoints";
const PRIVATE: &str = ".compact-review";
const CHECKPOINT: &str = "checkpoint.md";
const LOCK: &str = "lock";
/// Before the session key in a state file.
const STATE_MARK: &str = "compact-review state 2";

/// The notes of one workspace.
pub struct FolderNotes {
    workspace: Folder,
}

/// A checkpoint that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierCheckpoint {
    /// Its file name below `memory/checkpoints/`; names sort by when they were kept.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

impl FolderNotes {
    /// Opens a workspace, which must exist. Nothing is made before something is written.
    pub fn open(workspace: &Path) -> Result<FolderNotes, HostError> {
        let dir = Dir::open_ambient_dir(workspace, ambient_authority())
            .map_err(|error| host_error("open the workspace", &workspace.display().to_string(), &error))?;
        Ok(FolderNotes { workspace: Folder::new(dir, String::new()) })
    }

    /// The note of a day.
    pub fn note(&self, date: &str) -> Result<Option<String>, HostError> {
        Ok(self.note_bytes(date)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn note_bytes(&self, date: &str) -> Result<Option<Vec<u8>>, HostError> {
        super::check_date(date)?;
        let Some(memory) = self.workspace.existing(MEMORY)? else { return Ok(None) };
        memory.read(&format!("{date}.md"), MAX_NOTE_BYTES)
    }

    /// The active checkpoint, whosever it is.
    pub fn active_checkpoint(&self) -> Result<Option<String>, HostError> {
        let Some(memory) = self.workspace.existing(MEMORY)? else { return Ok(None) };
        let bytes = memory.read(CHECKPOINT, MAX_CHECKPOINT_BYTES as u64)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The checkpoints that were replaced, oldest first.
    pub fn earlier_checkpoints(&self) -> Result<Vec<EarlierCheckpoint>, HostError> {
        let Some(earlier) = self.existing_below_memory(EARLIER)? else { return Ok(Vec::new()) };
        let files = earlier.files()?;
        Ok(files.into_iter().map(|(name, bytes)| EarlierCheckpoint { name, bytes }).collect())
    }

    /// The text of one of them.
    pub fn earlier_checkpoint(&self, name: &str) -> Result<Option<String>, HostError> {
        check_file_name(name)?;
        let Some(earlier) = self.existing_below_memory(EARLIER)? else { return Ok(None) };
        let bytes = earlier.read(name, MAX_CHECKPOINT_BYTES as u64)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Removes all but the newest `keep` earlier checkpoints; gives those that were, or in a dry run would be, removed.
    pub fn purge_checkpoints(&self, keep: usize, dry_run: bool) -> Result<Vec<EarlierCheckpoint>, HostError> {
        let mut surplus = self.earlier_checkpoints()?;
        surplus.truncate(surplus.len().saturating_sub(keep));
        if dry_run || surplus.is_empty() {
            return Ok(surplus);
        }
        let (memory, _lock) = self.locked()?;
        let earlier = memory.made(EARLIER)?;
        for checkpoint in &surplus {
            earlier.remove(&checkpoint.name)?;
        }
        Ok(surplus)
    }

    /// Removes the active checkpoint; tells whether there was, or in a dry run is, one.
    pub fn purge_active(&self, dry_run: bool) -> Result<bool, HostError> {
        let there = self.active_checkpoint()?.is_some();
        if there && !dry_run {
            let (memory, _lock) = self.locked()?;
            memory.remove(CHECKPOINT)?;
        }
        Ok(there)
    }

    /// Removes what is kept between two hooks, of all sessions; gives the names.
    pub fn purge_state(&self, dry_run: bool) -> Result<Vec<String>, HostError> {
        let Some(private) = self.existing_below_memory(PRIVATE)? else { return Ok(Vec::new()) };
        let names: Vec<String> =
            private.files()?.into_iter().map(|(name, _)| name).filter(|name| name != LOCK).collect();
        if !dry_run && !names.is_empty() {
            let (memory, _lock) = self.locked()?;
            let private = memory.made(PRIVATE)?;
            names.iter().try_for_each(|name| private.remove(name))?;
        }
        Ok(names)
    }

    /// Writes, reads back and removes something, under the lock: whether notes can be kept here. What it made is gone
    /// afterwards.
    pub fn check(&self) -> Result<(), HostError> {
        const PROBE: &str = "doctor";
        let memory_was_there = self.workspace.existing(MEMORY)?.is_some();
        let private_was_there = self.existing_below_memory(PRIVATE)?.is_some();
        let (memory, lock) = self.locked()?;
        let private = memory.made(PRIVATE)?;
        let done = private.replace(PROBE, &[b"probe"]).and_then(|()| {
            let back = private.read(PROBE, 64)?;
            private.remove(PROBE)?;
            if back.as_deref() == Some(b"probe") { Ok(()) } else { Err(lost(&private.place(PROBE))) }
        });
        drop(lock);
        if !private_was_there {
            private.remove(LOCK)?;
            memory.remove_folder(PRIVATE)?;
        }
        if !memory_was_there {
            self.workspace.remove_folder(MEMORY)?;
        }
        done
    }

    fn existing_below_memory(&self, name: &str) -> Result<Option<Folder>, HostError> {
        match self.workspace.existing(MEMORY)? {
            Some(memory) => memory.existing(name),
            None => Ok(None),
        }
    }

    /// The memory folder, with no other writer in it.
    fn locked(&self) -> Result<(Folder, Lock), HostError> {
        let memory = self.workspace.made(MEMORY)?;
        let lock = memory.made(PRIVATE)?.lock(LOCK)?;
        Ok((memory, lock))
    }
}

impl NoteStore for FolderNotes {
    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        check_state_name(session_key, slot)?;
        let Some(private) = self.existing_below_memory(PRIVATE)? else { return Ok(None) };
        let name = state_name(session_key, slot);
        let most = (MAX_STATE_BYTES + STATE_MARK.len() + session_key.len() + 64) as u64;
        let Some(bytes) = private.read(&name, most)? else { return Ok(None) };
        // Two keys may share a file name, but not their state; and a power cut may have left a part of it.
        let body = bytes.splitn(4, |byte| *byte == b'\n').nth(3).unwrap_or_default();
        let whole = bytes.len() - body.len() == state_head(session_key, body).len()
            && bytes.starts_with(state_head(session_key, body).as_bytes());
        Ok(whole.then(|| body.to_vec()))
    }

    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        check_state_name(session_key, slot)?;
        check_size("a saved state", bytes.len(), MAX_STATE_BYTES)?;
        let (memory, _lock) = self.locked()?;
        let private = memory.made(PRIVATE)?;
        private.sweep()?;
        // A state proves itself when it is read, so it need not wait for the disk: a compaction waits for us.
        private.replace_in_cache(&state_name(session_key, slot), &[state_head(session_key, bytes).as_bytes(), bytes])
    }

    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError> {
        check_state_name(session_key, slot)?;
        match self.existing_below_memory(PRIVATE)? {
            Some(private) => private.remove_in_cache(&state_name(session_key, slot)).map(|_| ()),
            None => Ok(()),
        }
    }

    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError> {
        let active = self.active_checkpoint()?;
        if active.as_deref().is_some_and(|text| is_of(text, session_key)) {
            return Ok(active);
        }
        // Several sessions share a workspace: another one may have written since.
        for earlier in self.earlier_checkpoints()?.iter().rev() {
            let own = self.earlier_checkpoint(&earlier.name)?.filter(|text| is_of(text, session_key));
            if own.is_some() {
                return Ok(own);
            }
        }
        Ok(active)
    }

    fn read_note(&mut self, _session_key: &str, date: &str) -> Result<Option<String>, HostError> {
        Ok(self.note_bytes(date)?.map(|note| end_of_note(&note)))
    }

    fn write_checkpoint(&mut self, _session_key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        check_checkpoint(text)?;
        let (memory, _lock) = self.locked()?;
        memory.sweep()?;
        if let Some(before) = memory.read(CHECKPOINT, MAX_NOTE_BYTES)?
            && before != text.as_bytes()
            && !before.trim_ascii().is_empty()
        {
            keep_earlier(&memory, &before, keep)?;
        }
        memory.replace(CHECKPOINT, &[text.as_bytes()])?;
        Ok(memory.place(CHECKPOINT))
    }

    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        check_entry(entry)?;
        let (memory, _lock) = self.locked()?;
        let name = format!("{}.md", entry.date);
        let place = memory.place(&name);
        let note = memory.read(&name, MAX_NOTE_BYTES)?.unwrap_or_default();
        let addition = add_to_note(&note, &entry_text(entry), &entry_mark(&entry.entry_id));
        if !addition.bytes.is_empty() {
            check_size(&place, note.len() + addition.bytes.len(), MAX_NOTE_BYTES as usize)?;
            memory.append(&name, &addition.bytes)?;
        }
        Ok(NotePlace { place, already_there: addition.already_there })
    }
}

fn lost(place: &str) -> HostError {
    HostError::Failed(format!("{place} was written and does not read back"))
}

fn is_of(checkpoint: &str, session_key: &str) -> bool {
    checkpoint::parse(checkpoint).is_some_and(|header| header.session_key == session_key)
}

/// Keeps a checkpoint that is about to be replaced, and as many before it as there is room for.
fn keep_earlier(memory: &Folder, text: &[u8], keep: Retention) -> Result<(), HostError> {
    let earlier = memory.made(EARLIER)?;
    earlier.sweep()?;
    memory.keep_as(CHECKPOINT, &earlier, &earlier_name(text, &earlier.files()?), text)?;
    let files = earlier.files()?;
    let mut count = files.len();
    let mut bytes: u64 = files.iter().map(|(_, len)| len).sum();
    for (name, len) in files {
        // The newest stays, however large it is.
        if count <= 1 || (count <= keep.count as usize && bytes <= keep.bytes) {
            break;
        }
        earlier.remove(&name)?;
        count -= 1;
        bytes -= len;
    }
    Ok(())
}

/// When it was taken, in UTC, and what it says. Names sort by when checkpoints were kept: where a clock went back, the name
/// says the next millisecond after the last one, or the newest would be taken for the oldest and removed first.
fn earlier_name(text: &[u8], kept: &[(String, u64)]) -> String {
    let says = format!("-{:08x}.md", hash(text) as u32);
    if let Some((last, _)) = kept.last().filter(|(last, _)| last.ends_with(&says)) {
        // It is kept already: its writer was killed before it replaced the active one.
        return last.clone();
    }
    let taken = checkpoint::parse(&String::from_utf8_lossy(text)).map_or(0, |header| header.taken.unix_ms);
    let last = kept.iter().rev().find_map(|(name, _)| taken_of(name));
    let behind = last.map_or(taken, |last| taken.max(last.saturating_add(1)));
    let utc = LocalTime { unix_ms: behind, utc_offset_minutes: 0 };
    let clock = utc.clock().replace(':', "");
    format!("{}T{clock}{:05}Z{says}", utc.date(), behind.rem_euclid(60_000))
}

/// The moment in the name of an earlier checkpoint; `None` where it is not one of ours.
fn taken_of(name: &str) -> Option<i64> {
    let minute = jiff::civil::DateTime::strptime("%Y-%m-%dT%H%M", name.get(..15)?).ok()?;
    let milliseconds: i64 = name.get(15..20)?.parse().ok()?;
    let utc = minute.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    name.get(20..)?.starts_with("Z-").then(|| utc.timestamp().as_millisecond() + milliseconds)
}

/// A readable part of the key and a hash of all of it: any key gives a name that every file system takes.
fn state_name(session_key: &str, slot: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let readable: String = session_key.chars().take(40).map(plain).collect();
    format!("{readable}-{:016x}.{slot}", hash(session_key.as_bytes()))
}

/// Whose state it is, and what it must be: length and hash.
fn state_head(session_key: &str, body: &[u8]) -> String {
    let key = session_key.replace('\n', "\\n");
    format!("{STATE_MARK}\n{key}\n{} {:016x}\n", body.len(), hash(body))
}

fn check_file_name(name: &str) -> Result<(), HostError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.is_empty() || name.starts_with('.') || name.len() > 128 || !name.bytes().all(plain) {
        return Err(HostError::Denied(format!("{name:?} names no checkpoint: it must be a name as `list` shows it")));
    }
    Ok(())
}

/// FNV-1a, 64 bits: to name files, not to protect them.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
