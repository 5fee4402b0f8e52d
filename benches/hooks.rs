//! What the hooks cost: one compaction (`before_compaction`, then `after_compaction` on the same services) of 800 KB in
//! 800 messages and of 8 MB in 8,000 messages, through the component in wasmtime and through the same core natively.
//!
//! `cargo bench -p host-harness --bench hooks` runs the criterion groups and then prints a table of ratios. For the
//! table both ways run alternately in one process, so whatever slows the machine down hits both.
//!
//! Two things to know when reading it: the native core is compiled in the bench profile (no LTO, several codegen
//! units), the guest always in its own (`profile.guest`: fat LTO, one unit); and the summary does not grow with the
//! conversation, as summaries do not: every third fact of the short one makes 8 KB, and of the long one as many facts
//! are kept as fit into 10 KB, spread evenly. Both lengths are printed.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Session};
use compact_review::report::{CheckpointOutcome, Report, Verdict};
use criterion::{BatchSize, Criterion, SamplingMode, Throughput};
use host_harness::notes::MemoryNotes;
use host_harness::runtime::{COMPONENT, Call, ComponentPlugin, NativePlugin, Plugin, Services};
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Messages have 1,000 bytes on average, so these are 800 KB and 8 MB.
const SHORT: usize = 800;
const LONG: usize = 8_000;
const SUMMARY_BYTES: usize = 10_000;
/// Runs behind each median of the table; odd, so that there is a middle one.
const TABLE_RUNS_SHORT: usize = 21;
const TABLE_RUNS_LONG: usize = 7;
const TABLE_RUNS_INSTANTIATE: usize = 1_001;

fn main() {
    let component = ComponentPlugin::embedded().expect("our own component loads");
    let short = Compaction::of(SHORT);
    let long = Compaction::of(LONG);
    for (name, compaction) in [("800 KB", &short), ("8 MB", &long)] {
        println!("{name}: {}", same_answers(&component, compaction));
    }

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    bench_pairs(&mut criterion, &component, &[("800KB", &short), ("8MB", &long)]);
    bench_parts(&mut criterion, &component, &short);
    criterion.final_summary();

    // Under `cargo test --benches` everything runs once, and there is nothing to compare.
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if given("--bench") && !given("--test") && !given("--list") {
        print_table(&component, &short, &long);
    }
}

fn bench_pairs(criterion: &mut Criterion, component: &ComponentPlugin, sizes: &[(&str, &Compaction)]) {
    let plugins: [(&str, &dyn Plugin); 2] = [("component", component), ("native", &NativePlugin)];
    let mut group = criterion.benchmark_group("pair");
    // Every sample has the same number of runs: the default would need 55 of the long ones.
    group.sampling_mode(SamplingMode::Flat);
    for &(size, compaction) in sizes {
        group.throughput(Throughput::Bytes(compaction.bytes() as u64));
        for (name, plugin) in plugins {
            group.bench_function(format!("{name}/{size}"), |bencher| {
                bencher.iter_batched(services, |services| compaction.pair(plugin, &services), BatchSize::PerIteration);
            });
        }
    }
    group.finish();
}

fn bench_parts(criterion: &mut Criterion, component: &ComponentPlugin, short: &Compaction) {
    let mut group = criterion.benchmark_group("component");
    group.bench_function("instantiate", |bencher| {
        let services = services();
        bencher.iter(|| component.instantiate(black_box(&services)));
    });
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function("before_compaction/800KB", |bencher| {
        let run = |services: Services| short.before(component, &services);
        bencher.iter_batched(services, run, BatchSize::PerIteration);
    });
    group.bench_function("after_compaction/800KB", |bencher| {
        // An audit takes the ledger away, so each one needs a hook before it; that one is not measured.
        let with_ledger = || {
            let services = services();
            short.before(component, &services);
            services
        };
        bencher.iter_batched(with_ledger, |services| short.after(component, &services), BatchSize::PerIteration);
    });
    group.finish();
}

/// Both ways must do the same work, and real work, or their times say nothing.
fn same_answers(component: &ComponentPlugin, compaction: &Compaction) -> String {
    let (before, report) = compaction.pair(component, &services());
    let (native_before, native_report) = compaction.pair(&NativePlugin, &services());
    assert_eq!(before, native_before, "the component and the native core disagree");
    assert_eq!(report, native_report, "the component and the native core disagree");
    assert!(before.problems.is_empty() && report.problems.is_empty(), "{:?} {:?}", before.problems, report.problems);
    assert_eq!(report.verdict, Verdict::Lossy, "{}", report.verdict_reason);
    let count = |of: fn(&compact_review::report::Category) -> u32| report.categories.iter().map(of).sum::<u32>();
    format!(
        "{} messages, {} bytes, summary {} bytes; {} signals, {} preserved, {} altered, {} dropped, score {:.1}",
        compaction.before.messages.len(),
        compaction.bytes(),
        compaction.after.summary_text.as_ref().map_or(0, String::len),
        before.signals,
        count(|category| category.preserved),
        count(|category| category.altered),
        count(|category| category.dropped),
        report.score.unwrap_or_default(),
    )
}

fn services() -> Services {
    Services::new(MemoryNotes::default())
}

fn answer<T>(call: Call<T>) -> T {
    call.result.unwrap_or_else(|error| panic!("the hook gave no answer: {error}"))
}

// ---- the table ----

/// Medians of one plugin at one size.
#[derive(Clone, Copy)]
struct Medians {
    before: Duration,
    after: Duration,
    pair: Duration,
}

/// The times of one plugin at one size, run by run.
#[derive(Default)]
struct Runs {
    before: Vec<Duration>,
    after: Vec<Duration>,
    pair: Vec<Duration>,
}

impl Runs {
    fn add(&mut self, plugin: &dyn Plugin, compaction: &Compaction) {
        let services = services();
        let started = Instant::now();
        let outcome = compaction.before(plugin, &services);
        let before = started.elapsed();
        let started = Instant::now();
        let report = compaction.after(plugin, &services);
        let after = started.elapsed();
        black_box((outcome, report));
        self.before.push(before);
        self.after.push(after);
        self.pair.push(before + after);
    }

    fn medians(self) -> Medians {
        Medians { before: median(self.before), after: median(self.after), pair: median(self.pair) }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The component and the native core in turn.
fn measure(component: &ComponentPlugin, compaction: &Compaction, runs: usize) -> (Medians, Medians) {
    let (mut in_component, mut natively) = (Runs::default(), Runs::default());
    for _ in 0..runs {
        in_component.add(component, compaction);
        natively.add(&NativePlugin, compaction);
    }
    (in_component.medians(), natively.medians())
}

fn print_table(component: &ComponentPlugin, short: &Compaction, long: &Compaction) {
    let (short_wasm, short_native) = measure(component, short, TABLE_RUNS_SHORT);
    let (long_wasm, long_native) = measure(component, long, TABLE_RUNS_LONG);
    let idle = services();
    let instantiate = median((0..TABLE_RUNS_INSTANTIATE).map(|_| component.instantiate(&idle).took).collect());

    println!("\nmedians of {TABLE_RUNS_SHORT} runs (800 KB) and {TABLE_RUNS_LONG} runs (8 MB), both ways in turn\n");
    println!("| pair of hooks | 800 KB | 8 MB | growth |");
    println!("|---|---:|---:|---:|");
    for (name, short, long) in [("component", short_wasm, long_wasm), ("native", short_native, long_native)] {
        let growth = ratio(long.pair, short.pair);
        println!("| {name}, ms | {:.2} | {:.2} | {growth:.2} |", ms(short.pair), ms(long.pair));
    }
    let (at_short, at_long) = (ratio(short_wasm.pair, short_native.pair), ratio(long_wasm.pair, long_native.pair));
    println!("| component / native | {at_short:.2} | {at_long:.2} | |");

    println!("\n| hook | component, ms | share | native, ms | share | component / native |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (size, wasm, native) in [("800 KB", short_wasm, short_native), ("8 MB", long_wasm, long_native)] {
        for (hook, of) in [("before", (|m| m.before) as fn(Medians) -> Duration), ("after", |m| m.after)] {
            let share = |medians: Medians| 100.0 * ratio(of(medians), medians.before + medians.after);
            println!(
                "| {hook}_compaction, {size} | {:.2} | {:.0} % | {:.2} | {:.0} % | {:.2} |",
                ms(of(wasm)),
                share(wasm),
                ms(of(native)),
                share(native),
                ratio(of(wasm), of(native)),
            );
        }
    }
    println!("\ninstantiate: {:.1} µs; the component has {} bytes", 1e6 * instantiate.as_secs_f64(), COMPONENT.len());
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

// ---- the conversation ----

/// The two events of one compaction.
struct Compaction {
    before: BeforeCompaction,
    after: AfterCompaction,
}

impl Compaction {
    /// A conversation of so many messages, and a summary of it. The same on every machine.
    fn of(messages: usize) -> Self {
        let mut author = Author { numbers: Lcg(0x5eed), facts: Vec::new() };
        let messages = author.conversation(messages);
        let summary = summary_of(&author.facts);
        let count = messages.len() as u32;
        let session = Session {
            session_key: "agent:main:bench".to_string(),
            session_id: Some("bench-0001".to_string()),
            agent_id: Some("main".to_string()),
            ..Default::default()
        };
        let now = LocalTime { unix_ms: FIRST_MESSAGE_AT + i64::from(count) * 20_000, utc_offset_minutes: 60 };
        let before = BeforeCompaction {
            session: session.clone(),
            reason: Reason::Threshold,
            now,
            message_count: Some(count),
            messages,
            ..Default::default()
        };
        let after = AfterCompaction {
            session,
            now: LocalTime { unix_ms: now.unix_ms + 30_000, ..now },
            compaction_id: Some("bench-compaction".to_string()),
            messages_retained: Some(0),
            messages_dropped: Some(count),
            summary_text: Some(summary),
            ..Default::default()
        };
        Compaction { before, after }
    }

    fn bytes(&self) -> usize {
        self.before.messages.iter().map(|message| message.text.len()).sum()
    }

    fn before(&self, plugin: &dyn Plugin, services: &Services) -> CheckpointOutcome {
        answer(plugin.before_compaction(services, black_box(&self.before)))
    }

    fn after(&self, plugin: &dyn Plugin, services: &Services) -> Report {
        answer(plugin.after_compaction(services, black_box(&self.after)))
    }

    fn pair(&self, plugin: &dyn Plugin, services: &Services) -> (CheckpointOutcome, Report) {
        (self.before(plugin, services), self.after(plugin, services))
    }
}

const FIRST_MESSAGE_AT: i64 = 1_794_819_900_000;

/// Who speaks in turn, with which tool, and how many bytes: 8,000 in eight messages.
const TURNS: [(Role, Option<&str>, usize); 8] = [
    (Role::User, None, 450),
    (Role::Assistant, None, 700),
    (Role::Tool, Some("bash"), 1_700),
    (Role::Assistant, None, 600),
    (Role::Tool, Some("read"), 1_500),
    (Role::Assistant, None, 650),
    (Role::Tool, Some("http"), 1_600),
    (Role::Assistant, None, 800),
];

/// Facts per message of a user, and per first answer: with [`TURNS`], 300 in 800 messages.
const FACTS_OF_USER: usize = 2;
const FACTS_OF_ANSWER: usize = 1;

/// Every third fact, or fewer where they would not fit: evenly spread, up to the length of the summary.
fn summary_of(facts: &[String]) -> String {
    let all: usize = facts.iter().map(|fact| fact.len() + 3).sum();
    let step = all.div_ceil(SUMMARY_BYTES).max(3);
    let mut summary = String::from("## Where we are\n");
    for fact in facts.iter().step_by(step) {
        if summary.len() + fact.len() + 3 > SUMMARY_BYTES {
            break;
        }
        writeln!(summary, "- {fact}").unwrap();
    }
    summary
}

/// Numbers that look random and are the same everywhere (the constants are Knuth's, for MMIX).
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u32) as usize]
    }
}

const THINGS: &[&str] = &[
    "billing", "ledger", "harbor", "invoice", "gateway", "search", "ingest", "session", "export", "webhook", "mailer",
    "catalog", "pricing", "shipment", "audit", "profile", "upload", "archive", "tenant", "quota",
];
const PARTS: &[&str] = &[
    "worker", "client", "store", "router", "parser", "queue", "cache", "schema", "handler", "index", "policy",
    "report", "planner", "writer", "limiter", "backfill",
];
const VERBS: &[&str] = &["retry", "load", "merge", "resolve", "flush", "decode", "verify", "rotate", "publish", "trim"];
const REASONS: &[&str] = &[
    "the old one drops events under load",
    "finance reads that table every morning",
    "the vendor ends support in spring",
    "two customers saw duplicate charges",
    "the integration tests depend on it",
    "it halves the time of the nightly run",
];
const PROSE: &[&str] = &[
    "I looked at the call sites first, and most of them only need the new argument.",
    "That explains why the second run was fine while the first one timed out.",
    "Nothing else in the module depends on the order, so the change stays small.",
    "I will keep the old name as an alias until the callers have moved.",
    "The output below shows the same pattern as yesterday, only with larger batches.",
    "Before I go on I want to see whether the test fails without the change.",
    "It reads well now, and the diff is shorter than I expected.",
    "Let me check how the other services handle this case.",
];

/// Writes the conversation, and remembers the facts that it put in.
struct Author {
    numbers: Lcg,
    facts: Vec<String>,
}

impl Author {
    fn conversation(&mut self, count: usize) -> Vec<Message> {
        let mut messages = Vec::with_capacity(count);
        let (mut planned, mut written) = (0, 0);
        for (index, (role, tool, bytes)) in TURNS.into_iter().cycle().take(count).enumerate() {
            // A message ends with a whole line; what it has too much, the next one has less.
            planned += bytes;
            let room = planned.saturating_sub(written);
            let (text, failed) = match (role, index % TURNS.len()) {
                (Role::User, _) => (self.prose(FACTS_OF_USER, room), false),
                (Role::Tool, 2) => self.log(room),
                (Role::Tool, 4) => (self.code(room), false),
                (Role::Tool, _) => (self.json(room), false),
                (_, 1) => (self.prose(FACTS_OF_ANSWER, room), false),
                _ => (self.prose(0, room), false),
            };
            written += text.len();
            messages.push(Message {
                id: format!("m{:05}", index + 1),
                role,
                text,
                tool: tool.map(str::to_string),
                failed,
                at: Some(FIRST_MESSAGE_AT + index as i64 * 20_000),
            });
        }
        messages
    }

    fn name(&mut self) -> String {
        format!("{}-{}", self.numbers.pick(THINGS), self.numbers.pick(PARTS))
    }

    fn path(&mut self) -> String {
        let (thing, part, number) = (self.numbers.pick(THINGS), self.numbers.pick(PARTS), self.numbers.below(900));
        format!("services/{thing}/src/{part}_{number}.rs")
    }

    fn fact(&mut self) -> String {
        let name = self.name();
        let path = self.path();
        let reason = self.numbers.pick(REASONS);
        let number = self.numbers.below(9_000) + 1_000;
        let hex = self.numbers.next();
        match self.numbers.below(8) {
            0 => format!("Never restart {name} on node-{number} without a backup from the same day, because {reason}."),
            1 => format!("We decided to keep {name} on version 3.{}.{}, because {reason}.", number % 40, number % 7),
            2 => format!("Next step: move {path} to the new {name} and open the pull request #{number}."),
            3 => format!("The staging instance of {name} listens on 10.4.{}.{}:{number}.", number % 250, hex % 250),
            4 => format!("The build of {name} failed with E{number} in {path}; the cause was a stale lock file."),
            5 => format!("Always run `cargo test -p {name} --features f{number}` before you push to {path}."),
            6 => format!("The commit {hex:08x} fixed the leak in {name}; {number} rows were migrated."),
            _ => format!("Please ask me before you change {path}: {reason}."),
        }
    }

    fn prose(&mut self, facts: usize, bytes: usize) -> String {
        let mut text = String::new();
        for _ in 0..facts {
            let fact = self.fact();
            writeln!(text, "{fact}").unwrap();
            self.facts.push(fact);
        }
        while text.len() < bytes {
            let (name, path, number) = (self.name(), self.path(), self.numbers.below(90_000));
            match self.numbers.below(6) {
                0 => writeln!(text, "I am reading `{path}` now; the {name} is built around line {}.", number % 2_000),
                1 => writeln!(
                    text,
                    "Running `grep -rn {}_{number} services/ | head -20` next.",
                    self.numbers.pick(VERBS)
                ),
                2 => {
                    writeln!(text, "The {name} took {} ms for {number} rows – about what we had before.", number % 977)
                }
                _ => writeln!(text, "{}", self.numbers.pick(PROSE)),
            }
            .unwrap();
        }
        text
    }

    /// A log; one in eight ends in a failure.
    fn log(&mut self, bytes: usize) -> (String, bool) {
        let failed = self.numbers.below(8) == 0;
        let mut text = String::new();
        while text.len() < bytes {
            let level = self.numbers.pick(&["INFO", "INFO", "INFO", "DEBUG", "WARN"]);
            let (name, verb, second) = (self.name(), self.numbers.pick(VERBS), self.numbers.below(86_400));
            let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
            let (id, took) = (self.numbers.next(), self.numbers.below(4_000));
            writeln!(text, "2026-11-16T{clock}Z {level:<5} {name}: {verb} request={id:08x} took={took}ms").unwrap();
        }
        if failed {
            let (path, line) = (self.path(), self.numbers.below(800));
            writeln!(text, "error: assertion failed at {path}:{line}: left != right\nexit status 101").unwrap();
        }
        (text, failed)
    }

    fn json(&mut self, bytes: usize) -> String {
        let mut text = String::from("{\"items\": [\n");
        while text.len() < bytes {
            let (name, path, id) = (self.name(), self.path(), self.numbers.next());
            let (port, load) = (self.numbers.below(60_000), self.numbers.below(100));
            let item = format!(
                r#"{{"id": "{id:08x}", "name": "{name}", "source": "{path}", "port": {port}, "load": 0.{load:02}}}"#
            );
            writeln!(text, "  {item},").unwrap();
        }
        text.push_str("  null]}\n");
        text
    }

    fn code(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let (thing, part, verb) = (self.numbers.pick(THINGS), self.numbers.pick(PARTS), self.numbers.pick(VERBS));
            let (number, limit) = (self.numbers.below(10_000), self.numbers.below(500));
            writeln!(text, "/// Tries to {verb} the {part} of one {thing}; gives up after {limit} attempts.").unwrap();
            writeln!(text, "pub fn {verb}_{thing}_{number}({part}: &mut {part}::Handle) -> Result<usize, Error> {{")
                .unwrap();
            writeln!(text, "    let found = {part}.{verb}(\"{thing}/{number}\", {limit})?;").unwrap();
            writeln!(text, "    if found.is_empty() {{ return Err(Error::Missing({number})); }}").unwrap();
            writeln!(text, "    Ok(found.len())\n}}\n").unwrap();
        }
        text
    }
}
