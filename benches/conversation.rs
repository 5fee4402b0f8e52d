//! A made-up conversation of any length and a summary of it, the same on every machine.
//!
//! Messages have 1,000 bytes on average. The summary does not grow with the conversation, as summaries do not: every
//! third fact, and where they would be more than 10 KB, fewer, spread evenly.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Session};
use compact_review::report::{CheckpointOutcome, Report};
use host_harness::notes::MemoryNotes;
use host_harness::runtime::{COMPONENT, Call, ComponentPlugin, Limits, Plugin, Services};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

/// The lengths at which everything is measured: in words, and in messages of 1,000 bytes. Three orders of magnitude.
pub const SIZES: [(&str, usize); 4] = [("8 KB", 8), ("80 KB", 80), ("800 KB", 800), ("8 MB", 8_000)];
const SUMMARY_BYTES: usize = 10_000;

/// The two events of one compaction.
pub struct Compaction {
    pub before: BeforeCompaction,
    pub after: AfterCompaction,
}

impl Compaction {
    /// A conversation of so many messages, and a summary of it. The same on every machine.
    pub fn of(messages: usize) -> Self {
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

    pub fn bytes(&self) -> usize {
        self.before.messages.iter().map(|message| message.text.len()).sum()
    }

    /// All messages in one text.
    pub fn text(&self) -> String {
        self.before.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The summary, as long as it is.
    pub fn summary(&self) -> &str {
        self.after.summary_text.as_deref().unwrap_or_default()
    }

    pub fn before(&self, plugin: &dyn Plugin, services: &Services) -> CheckpointOutcome {
        answer(plugin.before_compaction(services, black_box(&self.before)))
    }

    pub fn after(&self, plugin: &dyn Plugin, services: &Services) -> Report {
        answer(plugin.after_compaction(services, black_box(&self.after)))
    }

    pub fn pair(&self, plugin: &dyn Plugin, services: &Services) -> (CheckpointOutcome, Report) {
        (self.before(plugin, services), self.after(plugin, services))
    }
}

/// Our own component. A busy machine may take as long as it likes: what is measured is the time, not the deadline.
pub fn component() -> ComponentPlugin {
    component_within(Limits::default().memory)
}

/// The same with so many bytes of linear memory.
pub fn component_within(memory: usize) -> ComponentPlugin {
    let limits = Limits { memory, deadline: Duration::from_secs(300), ..Limits::default() };
    ComponentPlugin::load(COMPONENT, limits).expect("our own component loads")
}

/// Notes in memory, no tokenizer: nothing but the hooks themselves is measured.
pub fn services() -> Services {
    Services::new(MemoryNotes::default())
}

fn answer<T>(call: Call<T>) -> T {
    call.result.unwrap_or_else(|error| panic!("the hook gave no answer: {error}"))
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
