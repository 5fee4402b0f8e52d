//! Both hooks beside what somebody could run instead over the same text, and beside the floor: one `memcpy` and one
//! `memchr` pass over the same bytes.
//!
//! `cargo bench -p host-harness --bench alternatives` runs the criterion groups and then prints a table for each size from
//! 8 KB to 8 MB, `-- table` the tables alone. All contestants run in turn in one process.
//!
//! None of the others does what the hooks do: they say which identifiers are missing, or how long the text is.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod conversation;
mod measure;
mod o200k_file;

use compact_review::event::Message;
use conversation::{Compaction, SIZES, services};
use criterion::{Criterion, Throughput};
use host_harness::runtime::{ComponentPlugin, NativePlugin, Plugin};
use measure::{Contestant, Heat, Measured};
use regex::bytes::{Regex, RegexBuilder};
use serde_json::json;
use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

/// Runs behind each median, for each of [`SIZES`].
const TABLE_RUNS: [usize; 4] = [51, 31, 15, 5];
/// So many bytes are copied, or looked through, behind each time of the floor.
const FLOOR_BYTES: usize = 32_000_000;
/// Beyond this `tokenizers` is left out: it takes most of a second for each MB, and the same for each byte as below.
const MOST_FOR_TOKENIZERS: usize = 1_000_000;

/// The messages that OpenClaw's guard looks at, and how many identifiers it takes from them.
const GUARDED_MESSAGES: usize = 10;
const GUARDED_IDENTIFIERS: usize = 12;
/// What the guard takes for an identifier.
const GUARD: &str =
    r"[A-Fa-f0-9]{8,}|https?://\S+|/[\w.-]{2,}(?:/[\w.-]+)+|[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:\d{1,5}|\b\d{6,}\b";
/// What one would write for all identifiers: paths, long names, files, options, hashes, numbers of tickets.
const IDENTIFIERS: &str = r"[\w.@~-]*/[\w.@/-]+|\b[A-Za-z_][A-Za-z0-9_]{7,}\b|\b[\w-]+\.[a-z]{1,5}\b|--[a-z][a-z-]{3,}|\b[0-9a-f]{7,40}\b|#\d{2,}";

fn main() {
    let component = conversation::component();
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), o200k_file::tokenizer_json()).expect("the tokenizer file is written");
    let tools = Tools {
        component,
        guard: ascii(GUARD),
        identifiers: ascii(IDENTIFIERS),
        tokenizer: tokenizers::Tokenizer::from_file(file.path()).expect("the file that was made here"),
    };
    let texts = SIZES.map(|(size, messages)| (size, Text::of(messages)));

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1))
        .configure_from_args();
    for (size, text) in &texts {
        let mut group = criterion.benchmark_group(format!("alternatives/{size}"));
        group.throughput(Throughput::Bytes(text.compaction.bytes() as u64));
        for mut contestant in tools.contestants(text) {
            group.bench_function(contestant.name(), |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| contestant.run()[0].1).sum());
            });
        }
        group.finish();
    }
    criterion.final_summary();

    if measure::tables_wanted() {
        let mut all: Vec<Measured> = Vec::new();
        for ((size, text), runs) in texts.iter().zip(TABLE_RUNS) {
            let heat = Heat { topic: "alternatives", size, bytes: text.compaction.bytes(), runs };
            let measured = heat.run(tools.contestants(text));
            measure::print_heat(size, &measured);
            all.extend(measured);
        }
        let found = &texts[2].1;
        let guarded = tools.guard_missing(found.last_messages(), found.compaction.summary());
        let missing = tools.missing(&found.joined, found.compaction.summary());
        println!("\nat 800 KB the guard misses {guarded} identifiers, the one pass {missing}");
        measure::write_records(&all, json!({"guardMissing": guarded, "regexMissing": missing}));
    }
}

/// As the guard's own language reads a pattern: letters and digits are those of ASCII.
fn ascii(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a pattern of this file")
}

/// One conversation as the contestants want it.
struct Text {
    compaction: Compaction,
    joined: String,
}

impl Text {
    fn of(messages: usize) -> Self {
        let compaction = Compaction::of(messages);
        let joined = compaction.text();
        Text { compaction, joined }
    }

    fn last_messages(&self) -> &[Message] {
        let messages = &self.compaction.before.messages;
        &messages[messages.len().saturating_sub(GUARDED_MESSAGES)..]
    }
}

struct Tools {
    component: ComponentPlugin,
    guard: Regex,
    identifiers: Regex,
    tokenizer: tokenizers::Tokenizer,
}

impl Tools {
    fn contestants<'a>(&'a self, text: &'a Text) -> Vec<Contestant<'a>> {
        let (joined, summary) = (text.joined.as_str(), text.compaction.summary());
        let mut copy = vec![0; joined.len()];
        let times = u32::try_from(FLOOR_BYTES.div_ceil(joined.len())).expect("few");
        let mut all = vec![
            Contestant::laps("both hooks, component", || pair(&self.component, text)),
            Contestant::laps("both hooks, native", || pair(&NativePlugin, text)),
            Contestant::warm("tokenizing, bpe-openai", move || bpe_openai::o200k_base().count(black_box(joined))),
            Contestant::warm("regex pass", move || self.missing(black_box(joined), summary)),
            Contestant::warm("guard, whole text", move || {
                self.guard_missing(black_box(&text.compaction.before.messages), summary)
            }),
            Contestant::warm("guard, last 10 messages", || {
                self.guard_missing(black_box(text.last_messages()), summary)
            }),
            Contestant::repeated("memchr", times, move || memchr::memchr(0, black_box(joined.as_bytes()))),
            Contestant::repeated("memcpy", times, move || black_box(&mut copy).copy_from_slice(joined.as_bytes())),
        ];
        if joined.len() <= MOST_FOR_TOKENIZERS {
            let count = move || self.tokenizer.encode_fast(black_box(joined), false).expect("plain text").len();
            all.insert(2, Contestant::warm("tokenizing, tokenizers", count));
        }
        all
    }

    /// What OpenClaw's guard does: the first identifiers of some messages that the summary does not hold.
    fn guard_missing(&self, messages: &[Message], summary: &str) -> usize {
        let mut seen: Vec<&[u8]> = Vec::new();
        let mut known = HashSet::new();
        for message in messages {
            for found in self.guard.find_iter(message.text.as_bytes()) {
                if known.insert(found.as_bytes()) {
                    seen.push(found.as_bytes());
                }
            }
        }
        seen.truncate(GUARDED_IDENTIFIERS);
        seen.iter().filter(|value| memchr::memmem::find(summary.as_bytes(), value).is_none()).count()
    }

    /// All identifiers of the text that the summary does not hold.
    fn missing(&self, text: &str, summary: &str) -> usize {
        let found: HashSet<&[u8]> = self.identifiers.find_iter(text.as_bytes()).map(|found| found.as_bytes()).collect();
        found.iter().filter(|value| memchr::memmem::find(summary.as_bytes(), value).is_none()).count()
    }
}

fn pair(plugin: &dyn Plugin, text: &Text) -> measure::Laps {
    let services = services();
    let started = Instant::now();
    black_box(text.compaction.pair(plugin, &services));
    vec![("", started.elapsed())]
}
