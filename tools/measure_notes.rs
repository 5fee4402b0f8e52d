//! What redaction finds and what it costs, and which share of a compaction's two hooks the write path and redaction take.
//!
//! `cargo run --release -p host-harness --example measure_notes [FILE…]` prints both. Each FILE is JSON; every string in
//! it is read as the text of a conversation, and every secret that is found there is shown with its kind and what stands
//! around it (the secret itself is not), so that false alarms can be counted by eye. Without files only the made-up
//! conversation of 800 KB is measured.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Role, Session};
use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
use compact_review::redact::redact;
use host_harness::notes::{FolderNotes, NoteStore};
use host_harness::runtime::{ComponentPlugin, NativePlugin, Plugin, Services};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const BYTES: usize = 800_000;
const RUNS: usize = 15;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if !files.is_empty() {
        false_alarms(&files);
    }
    let messages = conversation(BYTES);
    let redaction = median(|| messages.iter().map(|message| redact(black_box(&message.text)).len()).sum::<usize>());
    let bytes: usize = messages.iter().map(|message| message.text.len()).sum();
    println!("redaction of {} KB: {:.2?}, {:.0} MB/s", bytes / 1000, redaction, rate(bytes, redaction));
    let component = ComponentPlugin::embedded().expect("our own component loads");
    for (name, plugin) in [("native", &NativePlugin as &dyn Plugin), ("component", &component)] {
        shares(name, plugin, &messages, redaction);
    }
}

/// Every string of the files through `redact`; what was taken for a secret is listed.
fn false_alarms(files: &[String]) {
    let (mut bytes, mut took, mut found) = (0, Duration::ZERO, 0);
    for file in files {
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect(file)).expect(file);
        let mut texts = Vec::new();
        strings(&json, &mut texts);
        for text in texts {
            let started = Instant::now();
            let clean = redact(text);
            took += started.elapsed();
            bytes += text.len();
            for (at, mark) in clean.match_indices("[redacted: ").filter(|_| *clean != *text) {
                found += 1;
                let from = clean.floor_char_boundary(at.saturating_sub(70));
                let to = clean.floor_char_boundary((at + mark.len() + 60).min(clean.len()));
                println!("{file}: {:?}", &clean[from..to]);
            }
        }
    }
    println!(
        "{} files, {:.1} MB: {found} secrets found, {:.0} MB/s",
        files.len(),
        bytes as f64 / 1e6,
        rate(bytes, took)
    );
}

fn strings<'a>(json: &'a serde_json::Value, out: &mut Vec<&'a str>) {
    match json {
        serde_json::Value::String(text) => out.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|item| strings(item, out)),
        _ => {}
    }
}

fn rate(bytes: usize, took: Duration) -> f64 {
    bytes as f64 / 1e6 / took.as_secs_f64()
}

fn median<T>(mut run: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            black_box(run());
            started.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

/// A store that measures itself.
struct Timed {
    notes: FolderNotes,
    spent: Arc<Mutex<Duration>>,
}

impl Timed {
    fn time<T>(&mut self, run: impl FnOnce(&mut FolderNotes) -> T) -> T {
        let started = Instant::now();
        let answer = run(&mut self.notes);
        *self.spent.lock().expect("one thread") += started.elapsed();
        answer
    }
}

impl NoteStore for Timed {
    fn load_state(&mut self, key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        self.time(|notes| notes.load_state(key, slot))
    }
    fn save_state(&mut self, key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.time(|notes| notes.save_state(key, slot, bytes))
    }
    fn clear_state(&mut self, key: &str, slot: &str) -> Result<(), HostError> {
        self.time(|notes| notes.clear_state(key, slot))
    }
    fn read_checkpoint(&mut self, key: &str) -> Result<Option<String>, HostError> {
        self.time(|notes| notes.read_checkpoint(key))
    }
    fn write_checkpoint(&mut self, key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        self.time(|notes| notes.write_checkpoint(key, text, keep))
    }
    fn read_note(&mut self, key: &str, date: &str) -> Result<Option<String>, HostError> {
        self.time(|notes| notes.read_note(key, date))
    }
    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        self.time(|notes| notes.append_note(entry))
    }
}

/// Both hooks on a real folder: how much of their time is the store, how much redaction.
fn shares(name: &str, plugin: &dyn Plugin, messages: &[Message], redaction: Duration) {
    let session = Session { session_key: "agent:main:measure".to_string(), ..Default::default() };
    let mut rounds: Vec<(Duration, Duration)> = Vec::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The first round makes the folders and is not counted.
    for round in 0..=RUNS {
        let now = LocalTime { unix_ms: 1_794_933_000_000 + round as i64 * 600_000, utc_offset_minutes: 0 };
        let spent = Arc::new(Mutex::new(Duration::ZERO));
        let notes = FolderNotes::open(folder.path()).expect("the folder opens");
        let services = Services::new(Timed { notes, spent: spent.clone() });
        let before =
            BeforeCompaction { session: session.clone(), now, messages: messages.to_vec(), ..Default::default() };
        let after = AfterCompaction {
            session: session.clone(),
            now,
            compaction_id: Some(format!("c{round}")),
            summary_text: Some("The work goes on with step 12 of the migration.".to_string()),
            ..Default::default()
        };
        let first = plugin.before_compaction(&services, &before);
        let second = plugin.after_compaction(&services, &after);
        let (first_took, second_took) = (first.took, second.took);
        assert!(
            first.result.expect("answers").problems.is_empty() && second.result.expect("answers").problems.is_empty()
        );
        let store = *spent.lock().expect("one thread");
        rounds.push((first_took + second_took, store));
    }
    rounds.remove(0);
    rounds.sort();
    let (whole, store) = rounds[RUNS / 2];
    let share = |part: Duration| 100.0 * part.as_secs_f64() / whole.as_secs_f64();
    println!(
        "{name}: both hooks {whole:.2?}; write path {store:.2?} ({:.0} %); redaction, timed natively, {redaction:.2?} ({:.0} %)",
        share(store),
        share(redaction)
    );
}

/// Prose, calls and tool output in turn, each different.
fn conversation(bytes: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut total = 0;
    for at in 0.. {
        if total >= bytes {
            break;
        }
        let (role, mut text) = match at % 4 {
            0 => (
                Role::User,
                format!("Step {at}: move table orders_{at} to db-{at}.example.internal, but never on Fridays."),
            ),
            1 => {
                (Role::Assistant, format!("[tool bash] {{\"command\": \"pg_dump -t orders_{at} -h db-{at} | wc -l\"}}"))
            }
            2 => (Role::Tool, String::new()),
            _ => (
                Role::Assistant,
                format!("Table orders_{at} has {} rows; commit {:040x} moves it.", at * 37, at * 7919),
            ),
        };
        if role == Role::Tool {
            for line in 0..60 {
                let _ = writeln!(
                    text,
                    "2026-11-18T00:{:02}:{line:02}Z worker[{at}] copied block {} of orders_{at}: ok",
                    at % 60,
                    line * at
                );
            }
        }
        total += text.len();
        messages.push(Message { id: format!("m{at}"), role, text, tool: None, failed: false, at: None });
    }
    messages
}
