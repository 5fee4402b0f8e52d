//! Readers of recorded sessions: any bytes as a file of each format, and any rows in a store.

use crate::input;
use crate::transcript::{Control, Entry, Follower, Format, News, Transcripts};
use rusqlite::{Connection, params};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// OpenClaw's files, and Pi's, from which they come.
pub fn transcript_openclaw(data: &[u8]) {
    read_file(data, &[Some(Format::Openclaw), Some(Format::Pi), None]);
}

/// Claude Code's files.
pub fn transcript_claude_code(data: &[u8]) {
    read_file(data, &[Some(Format::ClaudeCode), None]);
}

/// Codex's files.
pub fn transcript_codex(data: &[u8]) {
    read_file(data, &[Some(Format::Codex), None]);
}

/// Lines `{"role", "content"}`.
pub fn transcript_plain(data: &[u8]) {
    read_file(data, &[Some(Format::Plain), None]);
}

thread_local! {
    static FOLDER: TempDir = tempfile::Builder::new().prefix("compact-review-fuzz-").tempdir_in(fast()).expect("a folder");
}

/// In memory where there is such a place: the file is written anew in each run.
fn fast() -> PathBuf {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() }
}

fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

/// A file is read whole in each format, and followed while its second half is written.
fn read_file(data: &[u8], formats: &[Option<Format>]) {
    let path = path("session.jsonl");
    for format in formats {
        std::fs::write(&path, data).expect("a file");
        read(&path, *format);
        follow(&path, *format, data);
    }
}

/// Reads all sessions and branches; what they tell must agree with itself, and be told again the same.
fn read(path: &Path, format: Option<Format>) {
    let Ok(transcripts) = Transcripts::open(path, format, Control::default()) else { return };
    drop(transcripts.newest(None));
    for index in 0..transcripts.len().min(8) {
        let Ok(mut recording) = transcripts.recording(index) else { continue };
        let stats = &recording.stats;
        assert!(stats.broken.len() as u64 <= stats.broken_lines && stats.broken_lines <= stats.lines, "{stats:?}");
        assert!(stats.messages + stats.compactions <= stats.lines, "{stats:?}");
        assert!(!recording.session.session_key.is_empty());
        for branch in 0..recording.branches() {
            let first = play(&mut recording, branch);
            assert_eq!(first, play(&mut recording, branch));
            let mut ids = std::collections::HashSet::new();
            for entry in first.iter().flatten() {
                if let Entry::Message(said) = entry {
                    assert!(ids.insert(said.message.id.clone()), "{:?} is there twice", said.message.id);
                }
            }
        }
    }
}

fn play(recording: &mut crate::transcript::Recording, branch: usize) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    let played = recording.play(branch, |entry| {
        entries.push(entry);
        true
    });
    played.ok().map(|_| entries)
}

fn follow(path: &Path, format: Option<Format>, data: &[u8]) {
    let (first, second) = data.split_at(data.len() / 2);
    std::fs::write(path, first).expect("a file");
    let mut follower = Follower::new(path, format, None);
    let mut starts = 0;
    let mut seen = |news: News| starts += usize::from(matches!(news, News::Start(_)));
    drop(follower.poll(&mut seen));
    let mut file = OpenOptions::new().append(true).open(path).expect("a file");
    file.write_all(second).expect("a file");
    drop(follower.poll(&mut seen));
    drop(follower.poll(&mut seen));
    assert!(starts <= 3);
}

const MAGIC: &[u8] = b"SQLite format 3\0";

/// A store: any bytes behind SQLite's first ones as its file, or else a store with the pieces as its rows.
pub fn transcript_store(data: &[u8]) {
    let any = data.starts_with(MAGIC);
    let path = path(if any { "any.sqlite" } else { "agent.sqlite" });
    if any {
        std::fs::write(&path, data).expect("a file");
    } else if let Err(why) = fill(&path, data) {
        panic!("the store cannot be made: {why}");
    }
    read(&path, None);
    let mut follower = Follower::new(&path, None, None);
    drop(follower.poll(&mut |_| {}));
}

/// Each piece becomes a row: as JSON (`j`), packed (`z`), bytes that claim to be packed (`x`), nothing (`n`), a number in
/// the place of text (`i`); or an archive: as it is (`a`), packed (`p`), bytes that claim to be packed (`b`).
fn fill(path: &Path, data: &[u8]) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = 24;
         CREATE TABLE IF NOT EXISTS transcript_events
           (session_id, seq, event_json, event_zstd, created_at, PRIMARY KEY (session_id, seq));
         CREATE TABLE IF NOT EXISTS session_windows (session_id PRIMARY KEY, session_key);
         CREATE TABLE IF NOT EXISTS session_transcript_archives (session_id, session_key, generation, encoding, archive_blob);
         BEGIN; DELETE FROM transcript_events; DELETE FROM session_windows; DELETE FROM session_transcript_archives;
         INSERT INTO session_windows VALUES ('s0', 'agent:main:main');",
    )?;
    let mut row = connection.prepare_cached("INSERT OR REPLACE INTO transcript_events VALUES (?1, ?2, ?3, ?4, ?2)")?;
    let mut archive =
        connection.prepare_cached("INSERT INTO session_transcript_archives VALUES ('s1', NULL, ?1, ?2, ?3)")?;
    let text = input::text(data);
    for (seq, piece) in input::pieces(&text).into_iter().enumerate() {
        let body = piece.get(1..).unwrap_or_default();
        let session = format!("s{}", seq % 5 / 4);
        let packed = || zstd::bulk::compress(body.as_bytes(), 1).unwrap_or_default();
        let (none, seq) = (None::<&str>, seq as i64);
        match piece.as_bytes().first() {
            Some(b'z') => row.execute(params![session, seq, none, packed()])?,
            Some(b'x') => row.execute(params![session, seq, none, raw(body)])?,
            Some(b'n') => row.execute(params![session, seq, none, none])?,
            Some(b'i') => row.execute(params![session, seq, seq, none])?,
            Some(b'a') => archive.execute(params![seq.to_string(), "identity", body.as_bytes()])?,
            Some(b'p') => archive.execute(params![seq.to_string(), "zstd", packed()])?,
            Some(b'b') => archive.execute(params![seq.to_string(), "zstd", raw(body)])?,
            _ => row.execute(params![session, seq, body, none])?,
        };
    }
    drop((row, archive));
    connection.execute_batch("COMMIT")
}

/// zstd's magic number and then these bytes.
fn raw(body: &str) -> Vec<u8> {
    [&[0x28, 0xb5, 0x2f, 0xfd], body.as_bytes()].concat()
}
