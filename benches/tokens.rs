//! What counting and estimating tokens costs, on 1 MB of this project's own sources and documents.
//!
//! `cargo bench -p host-harness --bench tokens` runs the criterion groups and then prints two tables in which the
//! contestants run in turn, so whatever slows the machine down hits all of them:
//!
//! - counting with o200k: our counter (with an empty memory), and the three libraries alone, all with the same counts;
//! - estimating: natively, and through the `usage` hook natively and in the component, where the text is copied in too;
//! - a session of 2,000 messages counted again after one more.
//!
//! `tokenizers` has no built-in vocabulary: its file is made here from the ranks of o200k.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use compact_review::budget::estimate::estimate;
use compact_review::budget::event::{UsageEvent, UsageOutcome};
use compact_review::event::{Message, Role, Session};
use criterion::{Criterion, Throughput};
use host_harness::notes::MemoryNotes;
use host_harness::runtime::{Call, ComponentPlugin, NativePlugin, Plugin, Services};
use host_harness::tokens::TokenCounter;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const MEGABYTE: usize = 1_000_000;
/// Runs behind each line of the tables; odd, so that there is a middle one. The best of them is what the machine can do
/// when nobody else uses it.
const TABLE_RUNS: usize = 31;

/// Somebody who does the work once.
type Contestant<'a> = (&'a str, Box<dyn Fn() -> usize + 'a>);

fn main() {
    let text = megabyte();
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), tokenizer_json()).expect("the tokenizer file is written");
    let counting = counting(&text, file.path());
    let component = ComponentPlugin::embedded().expect("our own component loads");
    let estimating = estimating(&text, &component);
    let session = Recount::new();

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    for (name, contestants) in [("count", &counting), ("estimate", &estimating)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (contestant, work) in contestants {
            group.bench_function(*contestant, |bencher| bencher.iter(work));
        }
    }
    criterion.bench_function("recount/2,000 messages and one more", |bencher| bencher.iter(|| session.run()));
    criterion.final_summary();

    // Under `cargo test --benches` everything runs once, and there is nothing to compare.
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if given("--bench") && !given("--test") && !given("--list") {
        print_table("counting 1 MB with o200k", &counting, text.len());
        print_table("estimating 1 MB", &estimating, text.len());
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
        ("ours", Box::new(ours)),
        ("bpe-openai", Box::new(move || built_in.count(text))),
        ("tiktoken-rs", Box::new(move || tiktoken.count_ordinary(text))),
        ("tokenizers", Box::new(with_file)),
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
        ("native", Box::new(move || estimate(black_box(text)) as usize)),
        ("usage hook, native", Box::new(move || tokens(NativePlugin.usage(&native_services, &native_event)))),
        ("usage hook, component", Box::new(move || tokens(component.usage(&component_services, &component_event)))),
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

fn print_table(title: &str, contestants: &[Contestant<'_>], bytes: usize) {
    let mut times = vec![Vec::new(); contestants.len()];
    for _ in 0..TABLE_RUNS {
        for ((_, work), times) in contestants.iter().zip(&mut times) {
            // Once for nothing: the one before left its own data in the caches.
            black_box(work());
            let started = Instant::now();
            black_box(work());
            times.push(started.elapsed().as_secs_f64());
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable_by(f64::total_cmp));
    println!("\n{title}: best and median of {TABLE_RUNS} runs in turn\n");
    println!("| | best, ms | MB/s | to the first | median, ms | to the first |\n|---|---:|---:|---:|---:|---:|");
    for ((name, _), sorted) in contestants.iter().zip(&times) {
        let (best, median) = (sorted[0], sorted[TABLE_RUNS / 2]);
        let (to_best, to_median) = (best / times[0][0], median / times[0][TABLE_RUNS / 2]);
        let rate = bytes as f64 / 1e6 / best;
        let (best, median) = (best * 1e3, median * 1e3);
        println!("| {name} | {best:.2} | {rate:.0} | {to_best:.2} | {median:.2} | {to_median:.2} |");
    }
}

// ---- o200k as a file for `tokenizers` --------------------------------------------------------------------------

/// How o200k cuts a text before it merges bytes.
const PATTERN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn tokenizer_json() -> Vec<u8> {
    let bpe = &bpe_openai::o200k_base().bpe;
    let tokens: Vec<&[u8]> = (0..bpe.num_tokens() as u32).map(|id| bpe.token_bytes(id)).collect();
    let ranks: HashMap<&[u8], u32> = (0..).zip(&tokens).map(|(id, token)| (*token, id)).collect();
    let letters = letters();
    let spell = |bytes: &[u8]| bytes.iter().map(|byte| letters[usize::from(*byte)]).collect::<String>();
    let vocab: serde_json::Map<String, serde_json::Value> =
        (0u32..).zip(&tokens).map(|(id, token)| (spell(token), id.into())).collect();
    let merges: Vec<[String; 2]> = (0..)
        .zip(&tokens)
        .filter_map(|(id, token)| last_merge(token, id, &ranks))
        .map(|(left, right)| [spell(left), spell(right)])
        .collect();
    let json = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        ]},
        "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": true,
            "vocab": vocab, "merges": merges},
    });
    serde_json::to_vec(&json).expect("JSON")
}

/// The two tokens that a token is merged from.
fn last_merge<'a>(token: &'a [u8], rank: u32, ranks: &HashMap<&[u8], u32>) -> Option<(&'a [u8], &'a [u8])> {
    // Ends of the parts; the pair with the lowest rank is merged until no pair is below the token itself.
    let mut ends: Vec<usize> = (0..=token.len()).collect();
    while ends.len() > 3 {
        let pair = |at: &usize| ranks.get(&token[ends[*at]..ends[*at + 2]]).copied().unwrap_or(u32::MAX);
        let best = (0..ends.len() - 2).min_by_key(pair)?;
        if pair(&best) >= rank {
            return None;
        }
        ends.remove(best + 1);
    }
    (ends.len() == 3).then(|| token.split_at(ends[1]))
}

/// The letters that stand for bytes in such files: printable ones for themselves, the others from U+0100 on.
fn letters() -> Vec<char> {
    let mut next = 0x100;
    (0u8..=255)
        .map(|byte| match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
            _ => {
                next += 1;
                char::from_u32(next - 1).unwrap_or('?')
            }
        })
        .collect()
}
