//! What counting and estimating tokens costs, on 1 MB of this project's own sources and documents.
//!
//! `cargo bench -p host-harness --bench tokens` runs the criterion groups and then prints two tables in which the
//! contestants run in turn, so whatever slows the machine down hits all of them:
//!
//! - counting with o200k: our counter (with an empty memory), and the three libraries alone, all with the same counts;
//! - estimating: natively, through the `usage` hook natively and in the component, where the text is copied in too, and
//!   the rule of thumb that people use, characters divided by four;
//! - a session of 2,000 messages counted again after one more.
//!
//! `tokenizers` has no built-in vocabulary: its file is made here from the ranks of o200k.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod measure;
mod o200k_file;

use compact_review::budget::estimate::estimate;
use compact_review::budget::event::{UsageEvent, UsageOutcome};
use compact_review::event::{Message, Role, Session};
use criterion::{Criterion, Throughput};
use host_harness::notes::MemoryNotes;
use host_harness::runtime::{Call, ComponentPlugin, NativePlugin, Plugin, Services};
use host_harness::tokens::TokenCounter;
use measure::{Contestant, Heat};
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const MEGABYTE: usize = 1_000_000;
/// Runs behind each line of the tables.
const TABLE_RUNS: usize = 15;

fn main() {
    let text = megabyte();
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), o200k_file::tokenizer_json()).expect("the tokenizer file is written");
    let component = ComponentPlugin::embedded().expect("our own component loads");
    let counting = || counting(&text, file.path());
    let estimating = || estimating(&text, &component);
    let session = Recount::new();

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    for (name, contestants) in [("count", counting()), ("estimate", estimating())] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        for mut contestant in contestants {
            group.bench_function(contestant.name(), |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| contestant.run()[0].1).sum());
            });
        }
    }
    criterion.bench_function("recount/2,000 messages and one more", |bencher| bencher.iter(|| session.run()));
    criterion.final_summary();

    if measure::tables_wanted() {
        let heat = |topic| Heat { topic, size: "1 MB", bytes: text.len(), runs: TABLE_RUNS };
        let mut all = heat("count").run(counting());
        measure::print_heat("counting 1 MB with o200k", &all);
        let estimated = heat("estimate").run(estimating());
        measure::print_heat("estimating 1 MB", &estimated);
        all.extend(estimated);
        measure::write_records(&all, json!({}));
    }
}

/// Sources, documents and tests of this project, up to 1 MB.
fn megabyte() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut text = String::new();
    let mut folders = vec![root.join("src"), root.join("host-harness/src"), root.join("tests"), root.join("docs")];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(file) = std::fs::read_to_string(&path) {
                text.push_str(&file);
            }
        }
    }
    let whole = text.clone();
    while text.len() < MEGABYTE {
        text.push_str(&whole);
    }
    text.truncate(text.floor_char_boundary(MEGABYTE));
    text
}

fn counting<'a>(text: &'a str, file: &Path) -> Vec<Contestant<'a>> {
    let tiktoken = tiktoken_rs::o200k_base_singleton();
    let built_in = bpe_openai::o200k_base();
    let tokenizer = tokenizers::Tokenizer::from_file(file).expect("the file that was made here");
    let ours = move || TokenCounter::open("o200k").unwrap().count(&[text]).unwrap()[0] as usize;
    let with_file = move || tokenizer.encode_fast(text, false).unwrap().len();
    let counts = [ours(), built_in.count(text), tiktoken.count_ordinary(text), with_file()];
    assert!(counts.iter().all(|count| *count == counts[0]), "all must count the same: {counts:?}");
    println!("{} bytes, {} tokens", text.len(), counts[0]);
    vec![
        Contestant::warm("ours", ours),
        Contestant::warm("bpe-openai", move || built_in.count(text)),
        Contestant::warm("tiktoken-rs", move || tiktoken.count_ordinary(text)),
        Contestant::warm("tokenizers", with_file),
    ]
}

fn estimating<'a>(text: &'a str, component: &'a ComponentPlugin) -> Vec<Contestant<'a>> {
    let services = || Services::new(MemoryNotes::default());
    let event = |text: &str| {
        let message = Message {
            id: "m".to_string(),
            role: Role::Tool,
            text: text.to_string(),
            tool: None,
            failed: false,
            at: None,
        };
        UsageEvent {
            session: Session { session_key: "bench".to_string(), ..Default::default() },
            messages: vec![message],
            ..Default::default()
        }
    };
    let tokens = |call: Call<UsageOutcome>| call.result.unwrap().status.used.unwrap() as usize;
    let (native_event, component_event) = (event(text), event(text));
    let (native_services, component_services) = (services(), services());
    vec![
        Contestant::warm("native", move || estimate(black_box(text))),
        Contestant::warm("usage hook, native", move || tokens(NativePlugin.usage(&native_services, &native_event))),
        Contestant::warm("usage hook, component", move || {
            tokens(component.usage(&component_services, &component_event))
        }),
        Contestant::warm("characters / 4", move || black_box(text).chars().count() / 4),
    ]
}

/// A session that was counted, and one message more each time.
struct Recount {
    messages: Vec<String>,
    counter: std::cell::RefCell<(TokenCounter, usize)>,
}

impl Recount {
    fn new() -> Self {
        let messages: Vec<String> =
            (0..2_000).map(|n| format!("message {n}: {}", "some words of a long session ".repeat(17))).collect();
        let mut counter = TokenCounter::open("o200k").unwrap();
        counter.count(&messages.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        Recount { messages, counter: std::cell::RefCell::new((counter, 0)) }
    }

    fn run(&self) {
        let mut counter = self.counter.borrow_mut();
        counter.1 += 1;
        let one_more = format!("one more: {}", counter.1);
        let texts: Vec<&str> = self.messages.iter().chain([&one_more]).map(String::as_str).collect();
        let before = counter.0.counted();
        black_box(counter.0.count(&texts).unwrap());
        assert_eq!(counter.0.counted(), before + 1);
    }
}
