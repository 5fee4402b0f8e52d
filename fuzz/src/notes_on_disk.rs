//! The notes of a workspace on disk: whatever names they are asked for, nothing outside `memory/` is touched.

use crate::notes::{FolderNotes, MemoryNotes, NoteStore};
use arbitrary::{Arbitrary, Unstructured};
use compact_review::host::{NoteEntry, Retention};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// One call of the host's imports, with names as a hostile plugin would make them.
#[derive(Arbitrary, Debug)]
enum Call {
    Save { key: Name, slot: Name, bytes: Vec<u8> },
    Load { key: Name, slot: Name },
    Clear { key: Name, slot: Name },
    Append { key: Name, date: Name, id: Name, text: String },
    ReadNote { key: Name, date: Name },
    Checkpoint { key: Name, text: String, keep: u8 },
    ReadCheckpoint { key: Name },
    Earlier { name: Name },
    Purge { keep: u8 },
}

/// Good names, bad ones, and any others.
#[derive(Arbitrary, Debug)]
enum Name {
    Good,
    Up,
    Absolute,
    Link,
    Long,
    Any(String),
}

impl Name {
    fn text(&self, good: &str) -> String {
        match self {
            Name::Good => good.to_string(),
            Name::Up => format!("../{good}"),
            Name::Absolute => format!("/tmp/{good}"),
            Name::Link => "2026-11-19".to_string(),
            Name::Long => good.repeat(300),
            Name::Any(text) => text.clone(),
        }
    }
}

const KEY: &str = "agent:main:main";
const SLOT: &str = "signals";
const DATE: &str = "2026-11-18";

thread_local! {
    /// Around the workspace stands what must not change.
    static OUTSIDE: TempDir = TempDir::with_prefix("compact-review-fuzz-").expect("a folder");
}

/// Any row of calls: a store on disk and one in memory give the same answers, and outside `memory/` nothing changes.
pub fn note_store(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let calls: Vec<Call> =
        (0..24).map_while(|_| if bytes.is_empty() { None } else { bytes.arbitrary().ok() }).collect();
    OUTSIDE.with(|outside| {
        let workspace = fresh(outside.path());
        let before = files(outside.path());
        let mut disk = FolderNotes::open(&workspace).expect("a workspace");
        let mut memory = MemoryNotes::default();
        for call in &calls {
            run(call, &mut disk, &mut memory);
        }
        let after = files(outside.path());
        let inside = workspace.join("memory");
        for (path, content) in &after {
            let ours = path.starts_with(&inside) && !path.ends_with("2026-11-19.md");
            assert!(ours || before.get(path) == Some(content), "{} was written", path.display());
            let plain = path.components().count() <= inside.components().count() + 2;
            assert!(!ours || plain, "{} is deeper than anything is kept", path.display());
        }
        assert!(before.keys().all(|path| after.contains_key(path)), "something was removed");
    });
}

/// A workspace with a link that leads out of it, and a file outside.
fn fresh(outside: &Path) -> PathBuf {
    let workspace = outside.join("workspace");
    drop(std::fs::remove_dir_all(&workspace));
    std::fs::create_dir_all(workspace.join("memory")).expect("a folder");
    std::fs::write(outside.join("outside.md"), "not ours\n").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../outside.md", workspace.join("memory/2026-11-19.md")).expect("a link");
    workspace
}

/// All files with what is in them; links are not followed.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = std::fs::symlink_metadata(&path).expect("an entry");
            if metadata.is_dir() {
                folders.push(path);
            } else {
                let content = if metadata.is_symlink() { Vec::new() } else { std::fs::read(&path).expect("a file") };
                found.insert(path, content);
            }
        }
    }
    found
}

fn run(call: &Call, disk: &mut FolderNotes, memory: &mut MemoryNotes) {
    match call {
        Call::Save { key, slot, bytes } => {
            let (key, slot) = (key.text(KEY), slot.text(SLOT));
            let saved = disk.save_state(&key, &slot, bytes);
            assert_eq!(saved.is_ok(), memory.save_state(&key, &slot, bytes).is_ok(), "{key:?} {slot:?}: {saved:?}");
            if saved.is_ok() {
                assert_eq!(disk.load_state(&key, &slot).as_ref(), Ok(&Some(bytes.clone())), "{key:?} {slot:?}");
            }
        }
        Call::Load { key, slot } => {
            let (key, slot) = (key.text(KEY), slot.text(SLOT));
            assert_eq!(disk.load_state(&key, &slot), memory.load_state(&key, &slot), "{key:?} {slot:?}");
        }
        Call::Clear { key, slot } => {
            let (key, slot) = (key.text(KEY), slot.text(SLOT));
            assert_eq!(disk.clear_state(&key, &slot), memory.clear_state(&key, &slot), "{key:?} {slot:?}");
        }
        Call::Append { key, date, id, text } => append(key, date, id, text, disk, memory),
        Call::ReadNote { key, date } => drop(disk.read_note(&key.text(KEY), &date.text(DATE))),
        Call::Checkpoint { key, text, keep } => {
            let keep = Retention { count: u32::from(*keep), bytes: 4096 };
            let written = disk.write_checkpoint(&key.text(KEY), text, keep);
            assert_eq!(written.is_ok(), !text.trim().is_empty(), "{written:?}");
            if written.is_ok() {
                assert_eq!(disk.active_checkpoint().expect("it was written").as_ref(), Some(text));
            }
        }
        Call::ReadCheckpoint { key } => drop(disk.read_checkpoint(&key.text(KEY))),
        Call::Earlier { name } => drop(disk.earlier_checkpoint(&name.text("2026-11-18T000000000Z-0.md"))),
        Call::Purge { keep } => {
            let kept = usize::from(*keep);
            disk.purge_checkpoints(kept, false).expect("they can be removed");
            assert!(disk.earlier_checkpoints().expect("they can be listed").len() <= kept);
        }
    }
}

/// An entry stands in the note as it was given, once.
fn append(key: &Name, date: &Name, id: &Name, text: &str, disk: &mut FolderNotes, memory: &mut MemoryNotes) {
    let link = matches!(date, Name::Link);
    let entry = NoteEntry {
        session_key: key.text(KEY),
        date: date.text(DATE),
        entry_id: id.text("00000000.c1"),
        text: text.to_string(),
    };
    let before = disk.note(&entry.date).ok().flatten().unwrap_or_default();
    let written = disk.append_note(&entry);
    if link {
        assert!(written.is_err(), "a link was followed");
        return;
    }
    assert_eq!(written.is_ok(), memory.append_note(&entry).is_ok(), "{entry:?}: {written:?}");
    let Ok(place) = written else { return };
    let after = disk.note(&entry.date).expect("it was written").expect("it was written");
    assert_eq!(memory.note(&entry.date).as_ref(), Some(&after));
    assert!(after.starts_with(&before), "what stood there stays");
    if place.already_there {
        assert_eq!(after, before);
    } else {
        assert!(after.contains(entry.text.trim_end()), "{entry:?} in {after:?}");
        assert_eq!(disk.append_note(&entry).map(|place| place.already_there), Ok(true), "{entry:?}");
    }
}
