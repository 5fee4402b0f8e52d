//! What the store promises, on a real file system.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use std::fs;
use std::path::PathBuf;

const DATE: &str = "2026-11-18";
const KEEP: Retention = Retention { count: 50, bytes: 5 << 20 };

fn entry(id: &str) -> NoteEntry {
    let text = format!("## Compaction {id}\n- lost: nothing\n<!-- compact-review:entry {id} -->\n");
    NoteEntry { session_key: "agent:main:main".to_string(), date: DATE.to_string(), entry_id: id.to_string(), text }
}

struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Workspace {
        Workspace { folder: tempfile::tempdir().unwrap() }
    }

    fn notes(&self) -> FolderNotes {
        FolderNotes::open(self.folder.path()).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("memory").join(name)
    }

    fn with(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn note(&self) -> String {
        fs::read_to_string(self.path("2026-11-18.md")).unwrap()
    }
}

#[test]
fn an_entry_is_written_once_and_behind_what_stands_there() {
    let workspace = Workspace::new();
    workspace.with("2026-11-18.md", "# My day\r\nno newline at the end");
    let mut notes = workspace.notes();
    assert!(!notes.append_note(&entry("a")).unwrap().already_there);
    assert!(notes.append_note(&entry("a")).unwrap().already_there);
    let place = notes.append_note(&entry("b")).unwrap().place;
    assert_eq!(place, "memory/2026-11-18.md");
    let expected = format!("# My day\r\nno newline at the end\n\n{}\n{}", entry("a").text, entry("b").text);
    assert_eq!(workspace.note(), expected);
}

#[test]
fn a_cut_off_entry_is_written_again_and_hides_nothing() {
    let whole = entry("a").text;
    for cut in 1..whole.len() {
        let workspace = Workspace::new();
        workspace.with("2026-11-18.md", &whole[..cut]);
        let mut notes = workspace.notes();
        notes.append_note(&entry("b")).unwrap();
        notes.append_note(&entry("a")).unwrap();
        let note = workspace.note();
        assert!(note.starts_with(&whole[..cut]), "{note}");
        for id in ["a", "b"] {
            let mark = entry_mark(id);
            assert_eq!(note.lines().filter(|line| *line == mark).count(), 1, "cut at {cut}: {note}");
        }
        assert!(note.contains(&entry("b").text));
        assert_eq!(note.matches("<!--").count(), note.matches("-->").count(), "cut at {cut}: {note}");
    }
}

#[test]
fn two_stores_at_once_lose_nothing() {
    let workspace = Workspace::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let mut notes = workspace.notes();
            scope.spawn(move || {
                for at in 0..25 {
                    notes.append_note(&entry(&format!("{writer}-{at}"))).unwrap();
                    // All writers also offer the same one.
                    notes.append_note(&entry(&format!("shared-{at}"))).unwrap();
                }
            });
        }
    });
    let note = workspace.note();
    assert_eq!(note.lines().filter(|line| line.starts_with("<!--")).count(), 125);
    assert_eq!(note.matches("- lost: nothing\n<!-- compact-review:entry ").count(), 125);
}

#[test]
fn a_checkpoint_replaces_the_last_one_which_is_kept() {
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    assert_eq!(notes.read_checkpoint("k").unwrap(), None);
    for at in 0..KEEP.count as usize + 5 {
        assert_eq!(notes.write_checkpoint("k", &checkpoint_text(at), KEEP).unwrap(), "memory/checkpoint.md");
    }
    assert_eq!(notes.read_checkpoint("k").unwrap(), Some(checkpoint_text(KEEP.count as usize + 4)));
    let earlier = notes.earlier_checkpoints().unwrap();
    assert_eq!(earlier.len(), KEEP.count as usize);
    // Oldest first, and the oldest four are gone.
    assert_eq!(notes.earlier_checkpoint(&earlier[0].name).unwrap(), Some(checkpoint_text(4)));
    assert_eq!(notes.purge_checkpoints(10, true).unwrap().len(), 40);
    assert_eq!(notes.earlier_checkpoints().unwrap().len(), 50);
    assert_eq!(notes.purge_checkpoints(10, false).unwrap().len(), 40);
    assert_eq!(notes.earlier_checkpoints().unwrap().len(), 10);
}

#[test]
fn the_newest_checkpoints_are_kept_when_the_clock_goes_back() {
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    for at in 0..=KEEP.count as usize {
        notes.write_checkpoint("k", &checkpoint_text(1_000 + at), KEEP).unwrap();
    }
    // As in an hour that daylight saving gives twice, or in another session whose clock is behind.
    let back = [500, 3, 2, 1, 0];
    for at in back {
        notes.write_checkpoint("k", &checkpoint_text(at), KEEP).unwrap();
    }
    let earlier = notes.earlier_checkpoints().unwrap();
    assert_eq!(earlier.len(), KEEP.count as usize);
    let text = |earlier: &EarlierCheckpoint| notes.earlier_checkpoint(&earlier.name).unwrap().unwrap();
    let last: Vec<String> = earlier[earlier.len() - 4..].iter().map(text).collect();
    assert_eq!(last, [500, 3, 2, 1].map(checkpoint_text));
    // With the clock right again, names are true again.
    notes.write_checkpoint("k", &checkpoint_text(2_000), KEEP).unwrap();
    notes.write_checkpoint("k", &checkpoint_text(2_001), KEEP).unwrap();
    let newest = notes.earlier_checkpoints().unwrap().pop().unwrap().name;
    assert!(newest.starts_with("2026-11-17T170320000Z-"), "{newest}");
}

#[test]
fn a_session_whose_clock_went_back_reads_its_newest_checkpoint() {
    let of = |key: &str, at: usize| checkpoint_text(at).replace("\"k\"", &format!("\"{key}\""));
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    for (key, at) in [("a", 900), ("a", 1), ("b", 2)] {
        notes.write_checkpoint(key, &of(key, at), KEEP).unwrap();
    }
    assert_eq!(notes.read_checkpoint("a").unwrap(), Some(of("a", 1)));
}

#[test]
fn a_reader_is_not_disturbed_by_a_writer_that_removes_old_checkpoints() {
    const FEW: Retention = Retention { count: 3, bytes: 5 << 20 };
    let workspace = Workspace::new();
    let (mut writer, mut reader) = (workspace.notes(), workspace.notes());
    writer.write_checkpoint("k", &checkpoint_text(0), FEW).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for at in 1..200 {
                writer.write_checkpoint("k", &checkpoint_text(at), FEW).unwrap();
            }
        });
        while !writing.is_finished() {
            // Another session's: all that are kept are looked through.
            assert!(reader.read_checkpoint("another").unwrap().is_some());
            reader.earlier_checkpoints().unwrap();
        }
    });
}

fn checkpoint_text(at: usize) -> String {
    let taken = 1_794_933_000_000 + at as i64 * 1000;
    format!(
        "<!-- compact-review:checkpoint {{\"sessionKey\":\"k\",\"taken\":{{\"unixMs\":{taken}}}}} -->\n# Active Checkpoint {at}\n"
    )
}

#[test]
fn an_empty_checkpoint_replaces_nothing() {
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    notes.write_checkpoint("k", "good", KEEP).unwrap();
    assert!(matches!(notes.write_checkpoint("k", " \n", KEEP), Err(HostError::Denied(_))));
    let large = "x".repeat(MAX_CHECKPOINT_BYTES + 1);
    assert!(matches!(notes.write_checkpoint("k", &large, KEEP), Err(HostError::TooLarge(_))));
    assert_eq!(notes.read_checkpoint("k").unwrap().as_deref(), Some("good"));
}

#[test]
fn state_is_kept_by_session_and_slot() {
    let workspace = Workspace::new();
    let folder: &mut dyn NoteStore = &mut workspace.notes();
    let memory: &mut dyn NoteStore = &mut MemoryNotes::default();
    for notes in [folder, memory] {
        let key = "agent:main/../../etc:日本";
        assert_eq!(notes.load_state(key, "signals").unwrap(), None);
        notes.clear_state(key, "signals").unwrap();
        notes.save_state(key, "signals", b"one").unwrap();
        notes.save_state(key, "recovery", b"two").unwrap();
        notes.save_state("agent:main/../../etc-日本", "signals", b"three").unwrap();
        assert_eq!(notes.load_state(key, "signals").unwrap().as_deref(), Some(&b"one"[..]));
        notes.clear_state(key, "signals").unwrap();
        assert_eq!(notes.load_state(key, "signals").unwrap(), None);
        assert_eq!(notes.load_state(key, "recovery").unwrap().as_deref(), Some(&b"two"[..]));
        for slot in ["", "../x", "A", "a/b"] {
            assert!(matches!(notes.save_state(key, slot, b""), Err(HostError::Denied(_))), "{slot}");
        }
    }
}

#[test]
fn names_that_are_no_names_are_refused() {
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    for date in ["..", "../../x", "/etc/passwd", "2026-11-18.md", "2026-11-1", "2026/11/18", "MEMORY"] {
        let entry = NoteEntry { date: date.to_string(), ..entry("a") };
        assert!(matches!(notes.append_note(&entry), Err(HostError::Denied(_))), "{date}");
    }
    for id in ["", "a b", "a-->b", "a\nb"] {
        assert!(notes.append_note(&NoteEntry { entry_id: id.to_string(), ..entry("a") }).is_err(), "{id}");
    }
    for name in ["../checkpoint.md", "/etc/passwd", ".hidden", ""] {
        assert!(matches!(notes.earlier_checkpoint(name), Err(HostError::Denied(_))), "{name}");
    }
    assert!(!workspace.path("").exists(), "nothing is made for a name that is refused");
}

#[cfg(unix)]
#[test]
fn links_pipes_and_folders_are_refused_and_what_they_point_to_is_untouched() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    fs::write(&target, "mine").unwrap();

    for name in ["2026-11-18.md", "checkpoint.md"] {
        let workspace = Workspace::new();
        fs::create_dir(workspace.path("")).unwrap();
        symlink(&target, workspace.path(name)).unwrap();
        denied(&workspace, name, "a symbolic link");
        fs::remove_file(workspace.path(name)).unwrap();
        fs::create_dir(workspace.path(name)).unwrap();
        denied(&workspace, name, "a folder");
        fs::remove_dir(workspace.path(name)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(workspace.path(name)).status().unwrap();
        assert!(made.success());
        denied(&workspace, name, "a pipe");
    }
    for parent in ["memory", "memory/.compact-review"] {
        let workspace = Workspace::new();
        if parent != "memory" {
            fs::create_dir(workspace.path("")).unwrap();
        }
        symlink(outside.path(), workspace.folder.path().join(parent)).unwrap();
        denied(&workspace, "2026-11-18.md", "a symbolic link");
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn what_is_made_is_the_users_alone_and_what_stood_there_keeps_its_readers() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    notes.append_note(&entry("a")).unwrap();
    notes.save_state("k", "signals", b"state").unwrap();
    for at in 0..2 {
        notes.write_checkpoint("k", &checkpoint_text(at), KEEP).unwrap();
    }
    for folder in ["", "checkpoints", ".compact-review"] {
        assert_eq!(mode(workspace.path(folder)), 0o700, "{folder}");
        for file in fs::read_dir(workspace.path(folder)).unwrap().flatten().filter(|file| file.path().is_file()) {
            assert_eq!(mode(file.path()), 0o600, "{:?}", file.path());
        }
    }

    for name in ["checkpoint.md", "2026-11-18.md"] {
        fs::set_permissions(workspace.path(name), fs::Permissions::from_mode(0o640)).unwrap();
    }
    notes.append_note(&entry("b")).unwrap();
    notes.write_checkpoint("k", &checkpoint_text(2), KEEP).unwrap();
    assert_eq!((mode(workspace.path("checkpoint.md")), mode(workspace.path("2026-11-18.md"))), (0o640, 0o640));
}

/// The name of an unfinished file can be guessed: what somebody puts there first is neither followed nor kept.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_an_unfinished_file_is_swept_and_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    fs::write(&target, "mine").unwrap();
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("")).unwrap();
    for count in 0..2_000 {
        let guess = format!(".unfinished-{}-{count}", std::process::id());
        std::os::unix::fs::symlink(&target, workspace.path(&guess)).unwrap();
    }
    workspace.notes().write_checkpoint("k", "text", KEEP).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    assert_eq!(fs::read_dir(workspace.path("")).unwrap().flatten().filter(|file| file.path().is_symlink()).count(), 0);
}

fn denied(workspace: &Workspace, name: &str, what: &str) {
    let mut notes = workspace.notes();
    let answer = if name == "checkpoint.md" {
        notes.write_checkpoint("k", "text", KEEP).map(|_| ())
    } else {
        notes.append_note(&entry("a")).map(|_| ())
    };
    match answer {
        Err(HostError::Denied(why)) => assert!(why.contains(what), "{why}"),
        other => panic!("{name} as {what}: {other:?}"),
    }
}

#[test]
fn system_errors_say_the_place_and_what_to_do() {
    use std::io::{Error, ErrorKind};
    let of = |kind: ErrorKind| files::host_error("append to", "memory/x.md", &Error::from(kind));
    assert!(matches!(of(ErrorKind::ReadOnlyFilesystem), HostError::Denied(why) if why.contains("memory/x.md")));
    assert!(matches!(of(ErrorKind::StorageFull), HostError::Full(why) if why.contains("make room")));
    assert!(matches!(of(ErrorKind::QuotaExceeded), HostError::Full(_)));
}

#[test]
fn what_a_killed_writer_left_is_swept_away() {
    let workspace = Workspace::new();
    workspace.with(".unfinished-1-0", "half");
    workspace.notes().write_checkpoint("k", "text", KEEP).unwrap();
    assert!(!workspace.path(".unfinished-1-0").exists());
}

#[test]
fn a_state_that_a_power_cut_left_in_part_is_none() {
    let workspace = Workspace::new();
    let mut notes = workspace.notes();
    notes.save_state("key\nof two lines", "signals", b"one\ntwo\n\nthree").unwrap();
    assert_eq!(notes.load_state("key\nof two lines", "signals").unwrap().as_deref(), Some(&b"one\ntwo\n\nthree"[..]));
    let folder = workspace.path(".compact-review");
    let file = fs::read_dir(&folder).unwrap().flatten().find(|file| file.file_name() != "lock").unwrap().path();
    let whole = fs::read(&file).unwrap();
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(notes.load_state("key\nof two lines", "signals").unwrap(), None, "cut to {length} bytes");
    }
    let mut other = whole.clone();
    *other.last_mut().unwrap() ^= 1;
    fs::write(&file, other).unwrap();
    assert_eq!(notes.load_state("key\nof two lines", "signals").unwrap(), None);
}

#[test]
fn each_session_reads_its_own_checkpoint() {
    let of = |key: &str, at: usize| checkpoint_text(at).replace("\"k\"", &format!("\"{key}\""));
    let workspace = Workspace::new();
    let folder: &mut dyn NoteStore = &mut workspace.notes();
    let memory: &mut dyn NoteStore = &mut MemoryNotes::default();
    for notes in [folder, memory] {
        for (key, at) in [("a", 1), ("a", 2), ("b", 3)] {
            notes.write_checkpoint(key, &of(key, at), KEEP).unwrap();
        }
        assert_eq!(notes.read_checkpoint("a").unwrap(), Some(of("a", 2)));
        assert_eq!(notes.read_checkpoint("b").unwrap(), Some(of("b", 3)));
        assert_eq!(
            notes.read_checkpoint("c").unwrap(),
            Some(of("b", 3)),
            "the active one, whose first line says whose it is"
        );
    }
}
