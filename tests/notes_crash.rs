//! The notes store under fire: killed writers, many writers, a full disk, a read-only folder.
//!
//! The writers are this test binary again, started for one hidden test each.

#![cfg(unix)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Role, Session};
use compact_review::host::{HostError, NoteEntry, Retention};
use host_harness::notes::{FolderNotes, NoteStore};
use host_harness::runtime::{NativePlugin, Plugin, Services};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DATE: &str = "2026-11-18";
const KEEP: Retention = Retention { count: 50, bytes: 5 << 20 };
const WORKSPACE: &str = "NOTES_CRASH_WORKSPACE";
const WRITER: &str = "NOTES_CRASH_WRITER";
const ENTRIES: &str = "NOTES_CRASH_ENTRIES";
/// What stands in the note before.
const OWN: &str = "# Written by a person\n";
/// Long enough that a torn write would show.
const FILLING: usize = 6000;

fn entry(id: &str) -> NoteEntry {
    let filling = "0123456789abcde\n".repeat(FILLING / 16);
    let text = format!("## Entry {id}\n{filling}<!-- compact-review:entry {id} -->\n");
    NoteEntry { session_key: "k".to_string(), date: DATE.to_string(), entry_id: id.to_string(), text }
}

fn checkpoint(id: &str) -> String {
    format!("# Active Checkpoint {id}\n{}end {id}\n", "line\n".repeat(FILLING / 5))
}

fn start(helper: &str, workspace: &Path, writer: &str, entries: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([helper, "--exact", "--ignored", "--nocapture"])
        .env(WORKSPACE, workspace)
        .env(WRITER, writer)
        .env(ENTRIES, entries.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A session of its own for each round, whose every sentence names the round: a mixture of two would show.
fn conversation(id: &str) -> Vec<Message> {
    let said = [
        (Role::User, format!("Never deploy {id} on Fridays. The database of {id} is db.example.internal:5432.")),
        (Role::Assistant, format!("[tool bash] {{\"command\": \"make {id} | tee {id}.log\"}}")),
        (Role::Tool, format!("{id}.log: 41 passed, 0 failed\n").repeat(40)),
        (Role::Assistant, format!("We decided to build {id} with make because {id} is small.")),
        (Role::User, format!("Next, write the dashboard for {id}.")),
    ];
    let message = |(at, (role, text)): (usize, (Role, String))| Message {
        id: format!("{id}-m{at}"),
        role,
        text,
        tool: None,
        failed: false,
        at: None,
    };
    said.into_iter().enumerate().map(message).collect()
}

const NOW: LocalTime = LocalTime { unix_ms: 1_794_933_000_000, utc_offset_minutes: 480 };

/// Both hooks around one compaction, as a gateway fires them.
fn compaction(services: &Services, id: &str) {
    let session = Session { session_key: id.to_string(), ..Default::default() };
    let before =
        BeforeCompaction { session: session.clone(), now: NOW, messages: conversation(id), ..Default::default() };
    let outcome = NativePlugin.before_compaction(services, &before).result.unwrap();
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    let after = AfterCompaction {
        session,
        now: NOW,
        compaction_id: Some(id.to_string()),
        summary_text: Some(format!("The dashboard of {id} is next.")),
        ..Default::default()
    };
    let report = NativePlugin.after_compaction(services, &after).result.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

/// Compactions, one after the other, until it is killed or done.
#[test]
#[ignore = "a helper process of the tests below"]
fn helper_compacts() {
    let Some(workspace) = std::env::var_os(WORKSPACE) else { return };
    let workspace = Path::new(&workspace);
    let writer = std::env::var(WRITER).unwrap();
    let entries: usize = std::env::var(ENTRIES).unwrap().parse().unwrap();
    let services = Services::new(FolderNotes::open(workspace).unwrap());
    let done = workspace.join("done");
    fs::create_dir_all(&done).unwrap();
    fs::write(workspace.join(&writer), "").unwrap();
    for at in 0..entries {
        let id = format!("{writer}r{at}");
        compaction(&services, &id);
        // The same once more, as after a retry: nothing may be written twice.
        compaction(&services, &id);
        // Reported as written: from here on it must never be missing.
        fs::write(done.join(&id), "").unwrap();
    }
}

#[test]
#[ignore = "a helper process of the tests below"]
fn helper_appends() {
    let Some(workspace) = std::env::var_os(WORKSPACE) else { return };
    let writer = std::env::var(WRITER).unwrap();
    let entries: usize = std::env::var(ENTRIES).unwrap().parse().unwrap();
    let mut notes = FolderNotes::open(Path::new(&workspace)).unwrap();
    for at in 0..entries {
        let id = format!("{writer}.{at}");
        let text = format!("## Entry {id}\n- of {writer}\n<!-- compact-review:entry {id} -->\n");
        let entry = NoteEntry { text, ..entry(&id) };
        notes.append_note(&entry).unwrap();
    }
}

/// The ids of the whole entries in a note, with how often each stands there.
fn entries_of(note: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in note.lines() {
        if let Some(id) = line.strip_prefix("<!-- compact-review:entry ").and_then(|rest| rest.strip_suffix(" -->")) {
            *found.entry(id.to_string()).or_default() += 1;
        }
    }
    found
}

/// What the kills of one workspace fell into.
#[derive(Default)]
struct Kills {
    /// Between a checkpoint and the entry of its compaction.
    between: usize,
    /// Into a file that was to replace another.
    unfinished: usize,
}

#[test]
fn five_hundred_kills_during_the_hooks_lose_nothing_and_mix_nothing() {
    const KILLS: usize = 500;
    // Most of the time is waiting for the disk, so several workspaces are worked on at once.
    const WORKSPACES: usize = 4;
    let all: Vec<Kills> = std::thread::scope(|scope| {
        let run = |at: usize| scope.spawn(move || kills_in_one_workspace(at, KILLS / WORKSPACES));
        let threads: Vec<_> = (0..WORKSPACES).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let between: usize = all.iter().map(|kills| kills.between).sum();
    let unfinished: usize = all.iter().map(|kills| kills.unfinished).sum();
    println!("of {KILLS} kills {between} fell between a checkpoint and its entry, {unfinished} into a replacement");
    // Otherwise the kills came between the writes and showed nothing.
    assert!(between >= KILLS / 100, "only {between} kills fell between a checkpoint and its entry");
}

fn kills_in_one_workspace(seed: usize, kills: usize) -> Kills {
    /// Some rounds on a disk where each sync takes 9 ms: the kills fall into every part of a round.
    const SPREAD_MICROS: u64 = 120_000;
    let workspace = tempfile::tempdir().unwrap();
    let memory = workspace.path().join("memory");
    fs::create_dir(&memory).unwrap();
    let note_path = memory.join(format!("{DATE}.md"));
    fs::write(&note_path, OWN).unwrap();
    let mut before = OWN.to_string();
    let mut fell = Kills::default();
    for kill in 0..kills {
        let writer = format!("w{kill}");
        let mut child = start("helper_compacts", workspace.path(), &writer, 1_000);
        // Wait for its first sign of life, then let it run for a moment that differs each time.
        let deadline = Instant::now() + Duration::from_secs(30);
        let alive = workspace.path().join(&writer);
        while !alive.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(50));
        }
        std::thread::sleep(Duration::from_micros(((kill + 1000 * seed) as u64 * 7_919) % SPREAD_MICROS));
        child.kill().unwrap();
        child.wait().unwrap();

        let note = fs::read_to_string(&note_path).unwrap();
        assert!(note.starts_with(&before), "kill {kill}: bytes that stood there have changed");
        check_entries(&note, kill);
        if let Some(id) = check_checkpoint(&memory, kill) {
            fell.between +=
                usize::from(id.starts_with(&format!("{writer}r")) && !note.contains(&format!("Session: {id}\n")));
        }
        fell.unfinished += usize::from(has_unfinished(&memory));
        check_states(workspace.path(), &writer);
        before = note;
        // A note of a normal length, so that reading it does not become the whole test.
        if before.len() > 400_000 {
            check_done(workspace.path(), &before);
            fs::write(&note_path, OWN).unwrap();
            fs::remove_dir_all(workspace.path().join("done")).unwrap();
            before = OWN.to_string();
        }
    }
    check_done(workspace.path(), &before);
    fell
}

/// Every entry stands there once and is whole: one heading, one session, its own facts, its mark at the end.
fn check_entries(note: &str, kill: usize) {
    let found = entries_of(note);
    assert!(found.values().all(|count| *count == 1), "kill {kill}: an entry stands there twice");
    let mut rest = note.strip_prefix(OWN).unwrap();
    for _ in 0..found.len() {
        let (entry, after) = rest.split_once("<!-- compact-review:entry ").unwrap();
        let (mark, after) = after.split_once(" -->\n").unwrap();
        rest = after;
        let id = mark.split_once('.').unwrap().1;
        let headings = entry.lines().filter(|line| line.starts_with("## ")).count();
        let session = format!("- Session: {id}\n");
        assert!(headings == 1 && entry.contains(&session), "kill {kill}: entry {id} is not whole: {entry}");
        assert!(
            entry.contains(&format!("Never deploy {id} on Fridays")),
            "kill {kill}: entry {id} lacks its loss: {entry}"
        );
        assert!(entry.ends_with("- Checkpoint: checkpoint.md\n"), "kill {kill}: {entry}");
    }
    assert!(rest.is_empty(), "kill {kill}: half an entry stands at the end: {rest:?}");
}

/// The checkpoint is one whole checkpoint of one round; gives its session.
fn check_checkpoint(memory: &Path, kill: usize) -> Option<String> {
    let text = fs::read_to_string(memory.join("checkpoint.md")).ok()?;
    let header = compact_review::checkpoint::parse(&text);
    let id = header.unwrap_or_else(|| panic!("kill {kill}: the checkpoint has no header: {text}")).session_key;
    assert!(
        text.ends_with("<!-- compact-review:end of checkpoint -->\n"),
        "kill {kill}: the checkpoint is cut off: {text}"
    );
    assert!(text.contains(&format!("Never deploy {id} on Fridays")), "kill {kill}: {text}");
    let other = text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| is_round(word) && **word != *id);
    assert_eq!(other, None, "kill {kill}: the checkpoint is a mixture: {text}");
    Some(id)
}

/// `w12r3`
fn is_round(word: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix('w')
        .and_then(|word| word.split_once('r'))
        .is_some_and(|(kill, round)| number(kill) && number(round))
}

/// What is kept between the hooks is whole or not there; then it is cleared away, its sessions are over.
fn check_states(workspace: &Path, writer: &str) {
    let mut notes = FolderNotes::open(workspace).unwrap();
    for round in 0..20 {
        let key = format!("{writer}r{round}");
        if let Some(ledger) = notes.load_state(&key, "signals").unwrap() {
            compact_review::signal::Ledger::from_bytes(&ledger).unwrap();
        }
        for slot in ["recovery", "checkpoints", "budget"] {
            if let Some(state) = notes.load_state(&key, slot).unwrap() {
                serde_json::from_slice::<serde_json::Value>(&state).unwrap();
            }
        }
    }
    notes.purge_state(false).unwrap();
}

/// A killed writer left a file that was to replace another.
fn has_unfinished(memory: &Path) -> bool {
    [memory.to_path_buf(), memory.join("checkpoints"), memory.join(".compact-review")].iter().any(|folder| {
        fs::read_dir(folder).is_ok_and(|files| {
            files.flatten().any(|file| file.file_name().to_string_lossy().starts_with(".unfinished-"))
        })
    })
}

/// Every entry that was reported as written stands in the note.
fn check_done(workspace: &Path, note: &str) {
    let found = entries_of(note);
    let Ok(done) = fs::read_dir(workspace.join("done")) else { return };
    for file in done {
        let id = file.unwrap().file_name().into_string().unwrap();
        let stands = found.keys().any(|entry| entry.split_once('.').is_some_and(|(_, name)| name == id));
        assert!(stands, "entry {id} was reported as written and is not there");
    }
}

#[test]
fn eight_processes_append_a_thousand_entries_each() {
    let workspace = tempfile::tempdir().unwrap();
    let children: Vec<Child> =
        (0..8).map(|writer| start("helper_appends", workspace.path(), &format!("p{writer}"), 1_000)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let note = fs::read_to_string(workspace.path().join("memory").join(format!("{DATE}.md"))).unwrap();
    let found = entries_of(&note);
    assert_eq!(found.len(), 8_000);
    for (id, count) in found {
        assert_eq!(count, 1, "{id}");
        let writer = id.split('.').next().unwrap();
        let whole = format!("## Entry {id}\n- of {writer}\n<!-- compact-review:entry {id} -->\n");
        assert!(whole.len() < 100);
    }
    // Nothing but whole entries with a blank line between them.
    let pieces: Vec<&str> = note.split("\n\n").collect();
    assert_eq!(pieces.len(), 8_000);
    for piece in pieces {
        let lines: Vec<&str> = piece.trim_end().lines().collect();
        let id = lines[0].strip_prefix("## Entry ").unwrap();
        assert_eq!(lines[1], format!("- of {}", id.split('.').next().unwrap()));
        assert_eq!(lines[2], format!("<!-- compact-review:entry {id} -->"));
        assert_eq!(lines.len(), 3);
    }
}

/// Runs in a mount namespace of its own, on a small disk that `notes_on_a_small_disk` mounted.
#[test]
#[ignore = "a helper process of the test below"]
fn helper_fills_the_disk() {
    let Some(workspace) = std::env::var_os(WORKSPACE) else { return };
    let workspace = Path::new(&workspace);
    let mut notes = FolderNotes::open(workspace).unwrap();
    if std::env::var(WRITER).as_deref() == Ok("read-only") {
        let answer = notes.append_note(&entry("a"));
        assert!(matches!(&answer, Err(HostError::Denied(why)) if why.contains("memory")), "{answer:?}");
        let answer = notes.write_checkpoint("k", "text", KEEP);
        assert!(matches!(&answer, Err(HostError::Denied(_))), "{answer:?}");
        assert_eq!(notes.read_checkpoint("k"), Ok(None));
        hooks_go_on(notes, "writable");
        return;
    }
    notes.write_checkpoint("k", &checkpoint("good"), KEEP).unwrap();
    let mut written = 0;
    let error = loop {
        match notes.append_note(&entry(&format!("e{written}"))) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1_000, "the disk was to be small");
    };
    assert!(matches!(&error, HostError::Full(why) if why.contains("make room")), "{error:?}");
    let note = notes.note(DATE).unwrap().unwrap();
    assert_eq!(entries_of(&note).len(), written);
    assert!(note.ends_with(" -->\n"), "a full disk leaves no half entry");
    let answer = notes.write_checkpoint("k", &checkpoint("new"), KEEP);
    assert!(matches!(&answer, Err(HostError::Full(_))), "{answer:?}");
    assert_eq!(notes.read_checkpoint("k"), Ok(Some(checkpoint("good"))));
    // The last bytes too, so that nothing fits any more.
    let mut filler = fs::File::create(workspace.join("filler")).unwrap();
    while filler.write_all(&[0; 512]).is_ok() {}
    let small = |at: usize| NoteEntry { text: "- x".to_string(), ..entry(&format!("s{at}")) };
    assert!((0..1_000).any(|at| notes.append_note(&small(at)).is_err()), "the disk was to be full");
    hooks_go_on(notes, "make room");
    assert_eq!(fs::read_to_string(workspace.join("memory/checkpoint.md")).unwrap(), checkpoint("good"));
}

/// A disk that refuses everything: the hooks answer all the same, and what could not be written is in their answer.
fn hooks_go_on(notes: FolderNotes, advice: &str) {
    let services = Services::new(notes);
    let session = Session { session_key: "full".to_string(), ..Default::default() };
    let before =
        BeforeCompaction { session: session.clone(), now: NOW, messages: conversation("w0r0"), ..Default::default() };
    let outcome = NativePlugin.before_compaction(&services, &before).result.unwrap();
    let write = &outcome.writes[0];
    assert!(write.place.is_none() && write.error.as_deref().unwrap().contains(advice), "{write:?}");
    assert!(write.text.contains("Never deploy w0r0 on Fridays") && !outcome.problems.is_empty());
    let after = AfterCompaction { session, now: NOW, summary_text: Some("Done.".to_string()), ..Default::default() };
    let report = NativePlugin.after_compaction(&services, &after).result.unwrap();
    let write = report.writes.last().unwrap();
    assert!(write.place.is_none() && write.error.is_some() && write.text.contains("Compaction"), "{write:?}");
}

/// Past the test harness, which hides what a passing test prints.
#[cfg(target_os = "linux")]
fn skipped(why: &str) {
    let line = format!("skipped, nothing was shown: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Mounts need a user namespace; where the system allows none, the test says so and proves nothing.
#[cfg(target_os = "linux")]
fn in_a_mount(options: &str, mode: &str) {
    let mount = tempfile::tempdir().unwrap();
    let folder = mount.path().display().to_string();
    let script = format!(
        "mount -t tmpfs -o size=96k tmpfs '{folder}' && mkdir '{folder}/memory' {options} || exit 77; \
         exec \"$0\" helper_fills_the_disk --exact --ignored"
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(WORKSPACE, mount.path())
        .env(WRITER, mode)
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) if output.status.code() == Some(77) || output.stderr.starts_with(b"unshare") => {
            skipped(&format!("no mounts in a user namespace here: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Err(error) => skipped(&format!("no `unshare` here: {error}")),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stdout)),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_leaves_what_stands_there() {
    in_a_mount("", "full");
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_told() {
    let folder = "&& mount -o remount,ro \"$NOTES_CRASH_WORKSPACE\"";
    in_a_mount(folder, "read-only");
}
