//! What crafted text costs: both hooks over texts that repeat one thing, in growing sizes, as milliseconds of processor
//! time. Four times the text may cost eight times as much; more is growth that is not linear, and fails.
//!
//! `cargo run --release --example hostile_growth [PART OF A NAME]`

#![forbid(unsafe_code)]

use compact_review::event::{AfterCompaction, BeforeCompaction, Message, Role, Session};
use compact_review::hooks;
use compact_review::host::{Host, HostError, LogLevel, NoteEntry, NotePlace, Retention};
use compact_review::report::Alert;
use std::collections::HashMap;

const SIZES: [usize; 3] = [50_000, 200_000, 800_000];
/// Below this nothing is judged: the clock is too coarse.
const FLOOR_MS: f64 = 40.0;
const MOST: f64 = 8.0;

/// A pattern: its name, and the text of one repetition by its number.
type Pattern = (&'static str, fn(usize) -> String);

const PATTERNS: &[Pattern] = &[
    ("one letter", |_| "a".to_string()),
    ("one word", |_| "word ".to_string()),
    ("other words", |at| format!("word{} ", letters(at))),
    ("headings", |_| "## a\n".to_string()),
    ("other headings", |at| format!("## Part {}\n", letters(at))),
    ("brackets", |_| "[".to_string()),
    ("braces of JSON", |_| "{\"a\":".to_string()),
    ("angle brackets", |_| "<a".to_string()),
    ("double quotes", |_| "\"".to_string()),
    ("single quotes", |_| " 'a".to_string()),
    ("backticks", |_| " `a".to_string()),
    ("fences", |_| "```\n".to_string()),
    ("backslashes", |_| "\\".to_string()),
    ("dashes", |_| "-".to_string()),
    ("full stops", |_| ". ".to_string()),
    ("one path", |_| "src/main.rs ".to_string()),
    ("other paths", |at| format!("/srv/app/module_{at}/main.rs ")),
    ("a path without end", |_| "/a".to_string()),
    ("a name without end", |_| "a.".to_string()),
    ("tickets", |at| format!("PROJ-{at} ")),
    ("commits", |at| format!("{:040x} ", at.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    ("ids of one prefix", |at| format!("deadbeefdeadbeefdeadbeef{at:08x} ")),
    ("numbers", |at| format!("{at} ")),
    ("dates", |at| format!("2026-{:02}-{:02} ", at % 12 + 1, at % 28 + 1)),
    ("addresses", |at| format!("https://h{at}.example.org:{}/x ", at % 60_000)),
    ("keys and values", |at| format!("KEY_{at}=value{at} ")),
    ("one key, other values", |at| format!("port={at} ")),
    ("names in company", |at| format!("Restart the host h{at}x in the third rack today.\n")),
    ("bullets", |at| format!("- item {at}\n")),
    ("rows of a table", |at| format!("| a{at} | {at} |\n")),
    ("one rule", |_| "Never deploy on Fridays.\n".to_string()),
    ("other rules", |at| format!("Never deploy {} on Fridays.\n", letters(at))),
    ("decisions", |at| format!("We decided to use {} because of {}.\n", letters(at), letters(at + 7))),
    ("decisions that turn", |at| format!("Use {} instead of {}.\n", letters(at), letters(at + 1))),
    ("tasks", |at| format!("- [ ] TODO: write {} next.\n", letters(at))),
    ("tasks that are done", |at| format!("Task {} is done.\n", letters(at / 2))),
    ("questions", |at| format!("Should {} go?\n", letters(at))),
    ("errors", |at| format!("error: {} failed with code {at}\n", letters(at))),
    ("no and not", |_| "not no never ".to_string()),
    ("Chinese", |_| "不要部署".to_string()),
    ("Chinese rules", |at| format!("不要部署{at}。")),
    ("Korean", |_| "배포하지마세요 ".to_string()),
    ("Japanese", |_| "デプロイしないで".to_string()),
    ("marks on letters", |_| "e\u{301}\u{301}".to_string()),
    ("emoji", |_| "👩‍👩‍👧".to_string()),
    ("white space", |_| " \t".to_string()),
    ("line ends", |_| "\n".to_string()),
    ("terminal escapes", |_| "\u{1b}[31ma".to_string()),
    ("terminal titles", |_| "\u{1b}]0;a".to_string()),
    ("no width", |_| "a\u{200b}".to_string()),
    ("names of secrets", |_| "token:".to_string()),
    ("passwords", |at| format!("password=hunter{at}x ")),
    ("web tokens", |_| "eyJ-".to_string()),
    ("bearers", |_| "bearer+".to_string()),
    ("keys", |_| "-----BEGIN PRIVATE KEY-----".to_string()),
    ("passwords of addresses", |_| "https://a:".to_string()),
    ("prefixes", |_| "sk-ant-".to_string()),
    ("marks of redaction", |_| "[redacted: ".to_string()),
    ("own headers", |_| "<!-- compact-review:checkpoint ".to_string()),
    ("own marks", |_| "<!-- compact-review:entry ".to_string()),
    ("own entries", |_| "## ⚠️ Compaction ".to_string()),
    ("own recovery texts", |_| "Recovered from checkpoint (compact-review). ~~~~~~".to_string()),
    ("shell", |_| "$ cargo test && ".to_string()),
];

/// Where the text stands.
const PLACES: [&str; 6] =
    ["said by the user", "said by a tool", "the summary", "both", "both, other numbers", "a message each"];

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    println!("{:<26} {:<19} {}  growth", "text", "where", SIZES.map(|size| format!("{:>7} KB", size / 1000)).join(" "));
    let mut failed = false;
    for (name, repeat) in PATTERNS.iter().filter(|(name, _)| name.contains(&wanted)) {
        for place in PLACES {
            let times = SIZES.map(|size| cost(repeat, place, size));
            let growth = |from: f64, to: f64| if to < FLOOR_MS { 0.0 } else { to / from.max(FLOOR_MS / 4.0) };
            let worst = growth(times[0], times[1]).max(growth(times[1], times[2]));
            failed |= worst > MOST;
            let shown = times.map(|time| format!("{time:>10.1}")).join(" ");
            println!("{name:<26} {place:<19} {shown}  {worst:.1}{}", if worst > MOST { "  TOO MUCH" } else { "" });
        }
    }
    if failed {
        std::process::exit(1);
    }
}

/// A number in letters, so that it is a word.
fn letters(mut at: usize) -> String {
    let mut word = String::from("q");
    loop {
        word.push(char::from(b'a' + (at % 26) as u8));
        at /= 26;
        if at == 0 {
            return word;
        }
    }
}

/// Both hooks over so many bytes of a pattern.
fn cost(repeat: &fn(usize) -> String, place: &str, size: usize) -> f64 {
    let mut pieces = Vec::new();
    let mut length = 0;
    while length < size {
        let piece = repeat(pieces.len());
        length += piece.len();
        pieces.push(piece);
    }
    let text = pieces.concat();
    let message = |role: Role, text: &str, at: usize| Message {
        id: format!("m{at}"),
        role,
        text: text.to_string(),
        tool: None,
        failed: false,
        at: None,
    };
    const SAID: &str = "Never deploy on Fridays. We decided to use axum. Next step: run src/main.rs on db-1:5432.";
    const SUMMARY: &str = "The work on axum went on.";
    let (messages, summary) = match place {
        "said by the user" => (vec![message(Role::User, &text, 0)], SUMMARY.to_string()),
        "said by a tool" => (vec![message(Role::User, SAID, 0), message(Role::Tool, &text, 1)], SUMMARY.to_string()),
        "the summary" => (vec![message(Role::User, &SAID.repeat(20), 0)], text),
        "both" => (vec![message(Role::User, &text, 0)], text),
        "both, other numbers" => {
            let others: String = (0..pieces.len()).map(|at| repeat(at + 500_000)).collect();
            (vec![message(Role::User, &text, 0)], others)
        }
        _ => {
            let pieces: Vec<String> = pieces.chunks(8).map(<[String]>::concat).collect();
            let roles = [Role::User, Role::Assistant, Role::Tool];
            let messages = pieces.iter().enumerate().map(|(at, piece)| message(roles[at % 3], piece, at));
            (messages.collect(), SUMMARY.to_string())
        }
    };
    let session = Session { session_key: "agent:main:main".to_string(), ..Session::default() };
    let count = messages.len() as u32;
    let before = BeforeCompaction { session: session.clone(), messages, ..BeforeCompaction::default() };
    let after = AfterCompaction {
        session,
        messages_retained: Some(0),
        messages_dropped: Some(count),
        summary_text: Some(summary),
        ..AfterCompaction::default()
    };
    let mut host = Memory::default();
    let begin = processor_ms();
    let done = hooks::before_compaction(&mut host, &before).map(|_| hooks::after_compaction(&mut host, &after));
    let took = processor_ms() - begin;
    if !matches!(done, Ok(Ok(_))) {
        eprintln!("a hook failed: {done:?}");
        std::process::exit(2);
    }
    took
}

/// The time that this thread had the processor, where the system tells it (Linux); what passed elsewhere.
fn processor_ms() -> f64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(
        || BEGIN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64() * 1000.0,
        |nanoseconds| nanoseconds / 1e6,
    )
}

#[derive(Default)]
struct Memory(HashMap<String, Vec<u8>>);

impl Host for Memory {
    fn log(&mut self, _: LogLevel, _: &str) {}
    fn alert(&mut self, _: &Alert) {}
    fn settings(&mut self) -> Option<String> {
        None
    }
    fn count_tokens(&mut self, _: &[&str]) -> Option<Vec<u32>> {
        None
    }
    fn load_state(&mut self, _: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        Ok(self.0.get(slot).cloned())
    }
    fn save_state(&mut self, _: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.0.insert(slot.to_string(), bytes.to_vec());
        Ok(())
    }
    fn clear_state(&mut self, _: &str, slot: &str) -> Result<(), HostError> {
        self.0.remove(slot);
        Ok(())
    }
    fn read_checkpoint(&mut self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }
    fn read_note(&mut self, _: &str, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }
    fn write_checkpoint(&mut self, _: &str, _: &str, _: Retention) -> Result<String, HostError> {
        Ok("checkpoint.md".to_string())
    }
    fn append_note(&mut self, _: &NoteEntry) -> Result<NotePlace, HostError> {
        Ok(NotePlace { place: "note.md".to_string(), already_there: false })
    }
}
