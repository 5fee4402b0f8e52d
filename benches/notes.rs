//! The write path: both hooks on 800 KB with a real folder behind them, how much of their time is the store, and beside
//! it the floor: files of the same lengths written and synced, nothing else. Redaction too, which every text goes through.
//!
//! `cargo bench -p host-harness --bench notes` runs the criterion groups and then prints a table, `-- table` the table
//! alone. The folder is where temporary files are: `TMPDIR=/dev/shm` shows the times without waiting for a disk.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod conversation;
mod measure;

use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
use compact_review::redact::redact;
use conversation::Compaction;
use criterion::{Criterion, Throughput};
use host_harness::notes::{FolderNotes, NoteStore};
use host_harness::runtime::{ComponentPlugin, NativePlugin, Plugin, Services};
use measure::{Contestant, Heat, Laps};
use serde_json::json;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SIZE: (&str, usize) = ("800 KB", 800);
const TABLE_RUNS: usize = 15;
/// One after another, so that each compaction is a later one than that before it.
const BETWEEN_COMPACTIONS_MS: i64 = 600_000;

fn main() {
    let component = conversation::component();
    let compaction = Compaction::of(SIZE.1);
    let text = compaction.text();
    let writes = Workspace::new().run(&NativePlugin, &compaction).1;

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for mut contestant in contestants(&component, &compaction, &text, &writes) {
        let mut group = criterion.benchmark_group("notes");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(contestant.name(), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| contestant.run()[0].1).sum());
        });
    }
    criterion.final_summary();

    if measure::tables_wanted() {
        let heat = Heat { topic: "notes", size: SIZE.0, bytes: text.len(), runs: TABLE_RUNS };
        let measured = heat.run(contestants(&component, &compaction, &text, &writes));
        println!("\nmedians of {TABLE_RUNS} runs in turn\n\n| | | ms |\n|---|---|---:|");
        for one in &measured {
            println!("| {} | {} | {:.2} |", one.name, one.part, one.ms());
        }
        let synced = writes.iter().filter(|write| write.synced).count();
        println!("\nwrites: {writes:?}");
        measure::write_records(&measured, json!({"writes": writes.len(), "synced": synced}));
    }
}

fn contestants<'a>(
    component: &'a ComponentPlugin,
    compaction: &'a Compaction,
    text: &'a str,
    writes: &'a [Written],
) -> Vec<Contestant<'a>> {
    let (mut in_component, mut natively) = (Workspace::new(), Workspace::new());
    let folder = tempfile::tempdir().expect("a temporary folder");
    vec![
        Contestant::laps("component", move || in_component.run(component, compaction).0),
        Contestant::laps("native", move || natively.run(&NativePlugin, compaction).0),
        Contestant::laps("files of the same lengths", move || write_plainly(folder.path(), writes)),
        Contestant::warm("redaction", move || redact(black_box(text)).len()),
    ]
}

/// A folder that is compacted into again and again.
struct Workspace {
    folder: tempfile::TempDir,
    compactions: i64,
}

impl Workspace {
    fn new() -> Self {
        Workspace { folder: tempfile::tempdir().expect("a temporary folder"), compactions: 0 }
    }

    /// One compaction, and what was written.
    fn run(&mut self, plugin: &dyn Plugin, compaction: &Compaction) -> (Laps, Vec<Written>) {
        self.compactions += 1;
        let (mut before, mut after) = (compaction.before.clone(), compaction.after.clone());
        before.now.unix_ms += self.compactions * BETWEEN_COMPACTIONS_MS;
        after.now.unix_ms += self.compactions * BETWEEN_COMPACTIONS_MS;
        after.compaction_id = Some(format!("c{}", self.compactions));

        let spent = Arc::new(Mutex::new(Spent::default()));
        let notes = FolderNotes::open(self.folder.path()).expect("the folder opens");
        let services = Services::new(Timed { notes, spent: spent.clone() });
        let first = plugin.before_compaction(&services, &before);
        let second = plugin.after_compaction(&services, &after);
        let both = first.took + second.took;
        assert!(first.result.expect("answers").problems.is_empty());
        assert!(second.result.expect("answers").problems.is_empty());
        drop(services);
        let spent = std::mem::take(&mut *spent.lock().expect("one thread"));
        (vec![("both hooks", both), ("of which the store", spent.time)], spent.writes)
    }
}

/// How long a text was that the hooks had written, and whether it must outlive a power cut.
#[derive(Clone, Copy, Debug)]
struct Written {
    bytes: usize,
    synced: bool,
}

/// The least that one would do: a file for each text, synced where the store syncs.
fn write_plainly(folder: &Path, writes: &[Written]) -> Laps {
    let texts: Vec<Vec<u8>> = writes.iter().map(|write| vec![b'x'; write.bytes]).collect();
    let started = Instant::now();
    for (index, (text, write)) in texts.iter().zip(writes).enumerate() {
        let mut file = File::create(folder.join(index.to_string())).expect("the folder is ours");
        file.write_all(text).expect("there is room");
        if write.synced {
            file.sync_all().expect("the disk takes it");
        }
    }
    vec![("written and synced", started.elapsed())]
}

/// What a store did.
#[derive(Default)]
struct Spent {
    time: Duration,
    writes: Vec<Written>,
}

/// A store that measures itself.
struct Timed {
    notes: FolderNotes,
    spent: Arc<Mutex<Spent>>,
}

impl Timed {
    fn time<T>(&mut self, run: impl FnOnce(&mut FolderNotes) -> T) -> T {
        let started = Instant::now();
        let answer = run(&mut self.notes);
        self.spent.lock().expect("one thread").time += started.elapsed();
        answer
    }

    fn wrote(&self, bytes: usize, synced: bool) {
        self.spent.lock().expect("one thread").writes.push(Written { bytes, synced });
    }
}

impl NoteStore for Timed {
    fn load_state(&mut self, key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        self.time(|notes| notes.load_state(key, slot))
    }
    fn save_state(&mut self, key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.wrote(bytes.len(), false);
        self.time(|notes| notes.save_state(key, slot, bytes))
    }
    fn clear_state(&mut self, key: &str, slot: &str) -> Result<(), HostError> {
        self.time(|notes| notes.clear_state(key, slot))
    }
    fn read_checkpoint(&mut self, key: &str) -> Result<Option<String>, HostError> {
        self.time(|notes| notes.read_checkpoint(key))
    }
    fn write_checkpoint(&mut self, key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        self.wrote(text.len(), true);
        self.time(|notes| notes.write_checkpoint(key, text, keep))
    }
    fn read_note(&mut self, key: &str, date: &str) -> Result<Option<String>, HostError> {
        self.time(|notes| notes.read_note(key, date))
    }
    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        self.wrote(entry.text.len(), true);
        self.time(|notes| notes.append_note(entry))
    }
}
