//! Transcripts to measure `scan` with, and the bare passes to compare it to.
//!
//! ```sh
//! cargo run --release -p host-harness --example generate_transcripts -- make DIR MEGABYTES KB_PER_COMPACTION
//! cargo run --release -p host-harness --example generate_transcripts -- bare DIR
//! ```
//!
//! `make` writes sessions of 1 to 12 MB in four formats, always the same ones: turns of a person and an agent who work
//! on a service, tool output of 1 to 24 KB, hidden reasoning, and, after each so many KB, a compaction whose summary keeps
//! about two thirds of what was said. `bare` times two passes of serde_json over the same files on one core: each line
//! checked and thrown away, and each line as a tree of values.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A small generator of numbers (SplitMix64): the same session for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.roll() % n
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

const SERVICES: [&str; 10] =
    ["billing", "ledger", "search", "mailer", "gateway", "indexer", "scheduler", "vault", "importer", "dashboard"];
const VERBS: [&str; 10] =
    ["restart", "migrate", "measure", "rewrite", "deploy", "review", "profile", "rename", "test", "document"];
const REASONS: [&str; 8] = [
    "because the old one times out under load",
    "because the auditors asked for it",
    "since the licence changed",
    "until the new cluster is ready",
    "because two tests are flaky",
    "since the customer complained twice",
    "because the disk fills up at night",
    "so that the on-call person can sleep",
];

fn fact(dice: &mut Dice) -> String {
    let (service, verb, reason) = (dice.pick(&SERVICES), dice.pick(&VERBS), dice.pick(&REASONS));
    let n = dice.below(9_000) + 1_000;
    match dice.below(7) {
        0 => format!("Never {verb} the {service} service on a Friday {reason}."),
        1 => format!("We decided to {verb} {service} with version {}.{}.{} {reason}.", n % 9, n % 23, n % 57),
        2 => format!("Ticket OPS-{n} must stay open until Dana approves the budget of {n} EUR."),
        3 => format!("The {service} host is {service}-{}.example.internal:{n}.", n % 40),
        4 => format!("The next step is to {verb} src/{service}/{verb}_{}.rs {reason}.", n % 300),
        5 => format!("The {verb} of {service} failed with error E{n}: connection reset after {} ms.", n * 3),
        _ => format!("Shall I {verb} the {service} table orders_{n} today?"),
    }
}

fn output(dice: &mut Dice) -> String {
    let length = 1_000 + dice.below(24_000) as usize;
    let mut text = String::with_capacity(length + 200);
    while text.len() < length {
        let (service, verb, n) = (dice.pick(&SERVICES), dice.pick(&VERBS), dice.below(1_000_000));
        let line = match dice.below(4) {
            0 => format!("    let {verb}_{} = {service}::{verb}(&config, {n})?; // \"{service}\"\n", n % 90),
            1 => format!(
                "2026-03-{:02}T10:{:02}:07Z INFO {service} {verb} done id={n:08x} took={}ms\n",
                n % 28 + 1,
                n % 60,
                n % 900
            ),
            2 => format!("test {service}::tests::{verb}_{} ... ok\n", n % 500),
            _ => format!("-rw-r--r-- 1 app app {n} Mar  3 10:00 src/{service}/{verb}_{}.rs\n", n % 300),
        };
        text.push_str(&line);
    }
    text
}

/// Writes the lines of one format.
trait Writer {
    fn header(&mut self, id: &str) -> Vec<Value>;
    fn user(&mut self, text: &str, at: i64) -> Value;
    fn agent(&mut self, text: &str, command: &str, at: i64) -> Vec<Value>;
    fn tool(&mut self, output: &str, at: i64) -> Value;
    fn compaction(&mut self, summary: &str, tokens: usize, at: i64) -> Vec<Value>;
}

fn time(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap().to_string()
}

#[derive(Default)]
struct Family {
    session: String,
    count: u64,
    linear: bool,
}

impl Family {
    fn entry(&mut self, kind: &str, at: i64) -> Value {
        let parent = (self.count > 0).then(|| format!("{}-{}", self.session, self.count));
        self.count += 1;
        let mut entry = json!({"type": kind, "timestamp": time(at)});
        if !self.linear {
            entry["id"] = format!("{}-{}", self.session, self.count).into();
            entry["parentId"] = parent.into();
        }
        entry
    }
}

impl Writer for Family {
    fn header(&mut self, id: &str) -> Vec<Value> {
        self.session = id.to_string();
        let version = if self.linear { Value::Null } else { 4.into() };
        vec![json!({"type": "session", "version": version, "id": id, "timestamp": time(0), "cwd": "/srv/app"})]
    }
    fn user(&mut self, text: &str, at: i64) -> Value {
        let mut entry = self.entry("message", at);
        entry["message"] = json!({"role": "user", "content": text, "timestamp": at});
        entry
    }
    fn agent(&mut self, text: &str, command: &str, at: i64) -> Vec<Value> {
        let mut entry = self.entry("message", at);
        entry["message"] = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": text},
            {"type": "text", "text": text}, {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": command}}],
            "usage": {"input": 10, "output": 200, "cacheRead": 40_000, "cacheWrite": 900}});
        vec![entry]
    }
    fn tool(&mut self, output: &str, at: i64) -> Value {
        let mut entry = self.entry("message", at);
        entry["message"] =
            json!({"role": "toolResult", "toolName": "bash", "content": [{"type": "text", "text": output}]});
        entry
    }
    fn compaction(&mut self, summary: &str, tokens: usize, at: i64) -> Vec<Value> {
        let mut entry = self.entry("compaction", at);
        entry["summary"] = summary.into();
        entry["tokensBefore"] = tokens.into();
        vec![entry]
    }
}

#[derive(Default)]
struct Claude {
    session: String,
    count: u64,
}

impl Claude {
    fn line(&mut self, kind: &str, at: i64) -> Value {
        let parent = (self.count > 0).then(|| format!("{}-{}", self.session, self.count));
        self.count += 1;
        json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/srv/app", "version": "2.1.7",
            "sessionId": self.session, "type": kind, "uuid": format!("{}-{}", self.session, self.count), "timestamp": time(at)})
    }
}

impl Writer for Claude {
    fn header(&mut self, id: &str) -> Vec<Value> {
        self.session = id.to_string();
        Vec::new()
    }
    fn user(&mut self, text: &str, at: i64) -> Value {
        let mut line = self.line("user", at);
        line["message"] = json!({"role": "user", "content": text});
        line
    }
    fn agent(&mut self, text: &str, command: &str, at: i64) -> Vec<Value> {
        let mut thought = self.line("assistant", at);
        thought["message"] = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": text}]});
        let mut line = self.line("assistant", at);
        line["message"] = json!({"role": "assistant", "content": [{"type": "text", "text": text},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 50_000, "output_tokens": 300}});
        vec![thought, line]
    }
    fn tool(&mut self, output: &str, at: i64) -> Value {
        let mut line = self.line("user", at);
        line["message"] =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]});
        line["toolUseResult"] = json!({"stdout": output, "stderr": ""});
        line
    }
    fn compaction(&mut self, summary: &str, tokens: usize, at: i64) -> Vec<Value> {
        let mut boundary = self.line("system", at);
        boundary["logicalParentUuid"] = boundary["parentUuid"].take();
        boundary["subtype"] = "compact_boundary".into();
        boundary["compactMetadata"] = json!({"trigger": "auto", "preTokens": tokens});
        let mut line = self.line("user", at);
        line["isCompactSummary"] = true.into();
        line["message"] = json!({"role": "user", "content": summary});
        vec![boundary, line]
    }
}

struct Codex;

impl Writer for Codex {
    fn header(&mut self, id: &str) -> Vec<Value> {
        vec![
            json!({"timestamp": time(0), "type": "session_meta", "payload": {"id": id, "cwd": "/srv/app", "cli_version": "0.9"}}),
        ]
    }
    fn user(&mut self, text: &str, at: i64) -> Value {
        json!({"timestamp": time(at), "type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": text}]}})
    }
    fn agent(&mut self, text: &str, command: &str, at: i64) -> Vec<Value> {
        vec![
            json!({"timestamp": time(at), "type": "response_item", "payload": {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA".repeat(80)}}),
            json!({"timestamp": time(at), "type": "response_item", "payload": {"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": text}]}}),
            json!({"timestamp": time(at), "type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c",
                "arguments": json!({"command": command}).to_string()}}),
        ]
    }
    fn tool(&mut self, output: &str, at: i64) -> Value {
        json!({"timestamp": time(at), "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": output}})
    }
    fn compaction(&mut self, summary: &str, _tokens: usize, at: i64) -> Vec<Value> {
        vec![json!({"timestamp": time(at), "type": "compacted", "payload": {"message": summary}})]
    }
}

fn session(number: u64, per_compaction: usize, folder: &Path) -> u64 {
    let mut dice = Dice(number);
    let id = format!("s{number:05}-{:08x}", dice.roll() as u32);
    let (name, mut writer): (String, Box<dyn Writer>) = match number % 4 {
        0 => (format!("agents/main/sessions/{id}.jsonl"), Box::new(Family::default())),
        1 => (format!("pi/{id}.jsonl"), Box::new(Family { linear: true, ..Family::default() })),
        2 => (format!("claude/{id}.jsonl"), Box::new(Claude::default())),
        _ => (format!("codex/rollout-{id}.jsonl"), Box::new(Codex)),
    };
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut out = BufWriter::new(std::fs::File::create(path).unwrap());
    let size = 1_000_000 + dice.below(11_000_000) as usize;
    let (mut written, mut since) = (0usize, 0usize);
    let mut at = 1_767_225_600_000 + number as i64 * 3_600_000;
    let mut said = Vec::new();
    let mut put = |line: &Value| {
        let text = line.to_string();
        out.write_all(text.as_bytes()).unwrap();
        out.write_all(b"\n").unwrap();
        text.len() + 1
    };
    for line in writer.header(&id) {
        written += put(&line);
    }
    while written < size {
        at += 20_000 + dice.below(60_000) as i64;
        let mut now = 0;
        let asked = format!("{} {}", fact(&mut dice), fact(&mut dice));
        now += put(&writer.user(&asked, at));
        let answer = format!("{} {} {}", fact(&mut dice), fact(&mut dice), fact(&mut dice));
        for _ in 0..1 + dice.below(4) {
            let command = format!("cargo {} -p {}", dice.pick(&VERBS), dice.pick(&SERVICES));
            for line in writer.agent(&answer, &command, at + 1_000) {
                now += put(&line);
            }
            now += put(&writer.tool(&output(&mut dice), at + 2_000));
        }
        said.push(asked);
        said.push(answer);
        written += now;
        since += now;
        if since >= per_compaction {
            let mut summary = String::from("## Decisions\n");
            for text in said.drain(..) {
                if dice.below(3) > 0 {
                    writeln!(summary, "- {text}").unwrap();
                }
            }
            for line in writer.compaction(&summary, since / 4, at + 5_000) {
                written += put(&line);
            }
            since = 0;
        }
    }
    out.flush().unwrap();
    written as u64
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn bare(folder: &Path) {
    let mut found = Vec::new();
    files(folder, &mut found);
    let bytes: u64 = found.iter().map(|path| path.metadata().unwrap().len()).sum();
    for (name, tree) in [("checked and thrown away", false), ("as a tree of values", true)] {
        let started = std::time::Instant::now();
        let (mut lines, mut line) = (0u64, Vec::new());
        for path in &found {
            let mut input = BufReader::with_capacity(256 * 1024, std::fs::File::open(path).unwrap());
            while input.read_until(b'\n', &mut line).unwrap() > 0 {
                lines += 1;
                if tree {
                    assert!(serde_json::from_slice::<Value>(&line).unwrap().is_object());
                } else {
                    serde_json::from_slice::<IgnoredAny>(&line).unwrap();
                }
                line.clear();
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "serde_json, {name}: {lines} lines, {:.1} MB in {seconds:.2} s, {:.0} MB/s",
            bytes as f64 / 1e6,
            bytes as f64 / 1e6 / seconds
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder, megabytes, per_compaction] => {
            let target = megabytes.parse::<u64>().expect("MEGABYTES is a number") * 1_000_000;
            let per_compaction = per_compaction.parse::<usize>().expect("KB_PER_COMPACTION is a number") * 1_000;
            let (mut bytes, mut number) = (0, 0);
            while bytes < target {
                bytes += session(number, per_compaction, Path::new(folder));
                number += 1;
            }
            println!("{number} sessions, {:.1} MB", bytes as f64 / 1e6);
        }
        ["bare", folder] => bare(Path::new(folder)),
        _ => {
            eprintln!("generate_transcripts make DIR MEGABYTES KB_PER_COMPACTION | bare DIR");
            std::process::exit(2);
        }
    }
}
