//! What the agent wrote into its memory files: it meant to keep that, so a summary that forgets it is worth knowing.
//!
//! Calls of tools stand in the messages as JSON (`[tool write] {"path": "memory/2026-11-18.md", "content": "…"}`).

use super::own;
use crate::event::{Message, Role};
use crate::redact::redact;
use crate::report::Kind;
use crate::signal::cues::Cues;
use crate::signal::{Ledger, Signal, bounded, prose};
use crate::text;
use serde_json::Value;

/// How much such a write matters: as much as a rule that a user states plainly.
const SALIENCE: f64 = 0.72;
/// The newest writes that are looked at, and how many sentences of each.
const WRITES: usize = 12;
const SENTENCES: usize = 8;
/// Larger messages are not parsed: nobody writes that much into a note.
const LONGEST_MESSAGE: usize = 256 * 1024;
/// Calls in one message.
const CALLS: usize = 16;
/// One fact, in bytes.
const FACT: usize = 400;

const PATHS: [&str; 7] = ["path", "file_path", "filePath", "filename", "file", "target_file", "relative_path"];
const CONTENTS: [&str; 8] =
    ["content", "contents", "text", "file_text", "new_string", "newText", "new_str", "insert_text"];

/// A write to a memory file.
#[derive(Debug, PartialEq, Eq)]
struct Write {
    message: usize,
    path: String,
    text: String,
    /// The file has nothing else afterwards.
    whole: bool,
}

/// Adds what was written to memory files to the signals.
pub(super) fn add(ledger: &mut Ledger, messages: &[Message]) {
    let mut writes: Vec<Write> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant && mentions_memory(&message.text) && !failed(messages, index) {
            writes.extend(writes_of(&message.text, index));
        }
    }
    if writes.is_empty() {
        return;
    }
    let cues = Cues::new();
    let recent = writes.len().saturating_sub(WRITES);
    for (place, write) in writes.iter().enumerate().skip(recent) {
        let replaced = writes.iter().skip(place + 1).any(|later| later.whole && later.path == write.path);
        if let (false, Some(message)) = (replaced, messages.get(write.message)) {
            for signal in signals(write, message, &cues, ledger.signals.len()) {
                raise_or_add(ledger, signal);
            }
        }
    }
}

/// What is a signal already becomes a more important one.
fn raise_or_add(ledger: &mut Ledger, signal: Signal) {
    match ledger.signals.iter_mut().find(|known| known.text == signal.text) {
        Some(known) => {
            known.salience = known.salience.max(signal.salience);
            known.why.extend(signal.why);
        }
        None => ledger.signals.push(signal),
    }
}

/// The tool's answer says that nothing was written.
fn failed(messages: &[Message], call: usize) -> bool {
    messages.get(call + 1).is_some_and(|answer| answer.role == Role::Tool && answer.failed)
}

fn mentions_memory(text: &str) -> bool {
    text.len() <= LONGEST_MESSAGE
        && text.contains('{')
        && (text.contains("memory") || text.contains("MEMORY") || text.contains("Memory"))
}

/// The calls in a message that write a memory file.
fn writes_of(text: &str, message: usize) -> Vec<Write> {
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..CALLS {
        let Some(rest) = text.get(at..) else { break };
        let Some(open) = rest.find('{') else { break };
        let mut json = serde_json::Deserializer::from_str(rest.get(open..).unwrap_or_default()).into_iter::<Value>();
        match json.next() {
            Some(Ok(call)) => {
                found.extend(write_of(&call, message));
                at += open + json.byte_offset().max(1);
            }
            // No JSON here: the next line may have some.
            _ => at += open + rest.get(open..).and_then(|rest| rest.find('\n')).unwrap_or(rest.len()) + 1,
        }
    }
    found
}

fn write_of(call: &Value, message: usize) -> Option<Write> {
    // Some gateways put the arguments one level deeper.
    let call = ["arguments", "input", "args"].iter().find_map(|key| call.get(key)).unwrap_or(call);
    let text_of = |keys: &[&str]| keys.iter().find_map(|key| call.get(key).and_then(Value::as_str));
    if let Some(path) = text_of(&PATHS).filter(|path| is_memory_file(path)) {
        let text = text_of(&CONTENTS)?;
        let whole = ["content", "contents", "file_text"].iter().any(|key| call.get(key).is_some());
        return Some(Write { message, path: path.to_string(), text: text.to_string(), whole });
    }
    let command = text_of(&["command", "cmd"])?;
    let (text, target) = command.split_once(">>").or_else(|| command.split_once("tee -a"))?;
    let path = target.split_whitespace().next()?.trim_matches(['"', '\'']);
    let said =
        text.trim().trim_start_matches("echo").trim_start_matches("printf").trim().trim_matches(['"', '\'', '|', ' ']);
    is_memory_file(path).then(|| Write { message, path: path.to_string(), text: said.to_string(), whole: false })
}

/// `MEMORY.md`, `memory/2026-11-18.md`, `/home/x/workspace/memory/people/dana.md`.
fn is_memory_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase().replace('\\', "/");
    let mut parts = lower.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let document = name.ends_with(".md") || name.ends_with(".txt");
    document && (name == "memory.md" || parts.any(|folder| folder == "memory" || folder == "memories"))
}

fn signals(write: &Write, message: &Message, cues: &Cues, order: usize) -> Vec<Signal> {
    let ours = own::ours(&write.text);
    let text = own::without(&write.text, &ours);
    let mut found: Vec<Signal> = Vec::new();
    let mut buffer = prose::Buffer::default();
    prose::statements(&text, write.message as u32, cues, &mut buffer, |statement, _| {
        if let Some(said) = text.get(statement.start..statement.end).filter(|_| found.len() < SENTENCES) {
            found.push(signal(write, message, prose::kind(&statement, Role::Assistant), said, statement.cues));
        }
    });
    if found.is_empty() && text.trim().len() > 3 {
        found.push(signal(write, message, Kind::State, &text, 0));
    }
    // Following numbers: what was lost of one write stands in one line.
    for (at, signal) in found.iter_mut().enumerate() {
        signal.order = (1 << 20) + (order + at) as u32;
    }
    found
}

fn signal(write: &Write, message: &Message, kind: Kind, said: &str, cues: u32) -> Signal {
    let words: Vec<&str> = bounded(said, FACT).split_whitespace().collect();
    let text = redact(&words.join(" ")).into_owned();
    let path = redact(bounded(&write.path, 80)).into_owned();
    Signal {
        id: format!("w{:08x}", text::hash(text.as_bytes()) as u32),
        kind,
        values: prose::values(&text),
        text,
        members: Vec::new(),
        message_id: message.id.clone(),
        message_index: write.message as u32,
        last_index: write.message as u32,
        order: 0,
        role: Role::Assistant,
        at: message.at,
        salience: SALIENCE,
        cues,
        superseded: false,
        why: vec![format!("the agent wrote it to {path}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assistant(text: &str) -> Message {
        Message {
            id: "m".to_string(),
            role: Role::Assistant,
            text: text.to_string(),
            tool: None,
            failed: false,
            at: None,
        }
    }

    fn found(messages: &[Message]) -> Vec<(String, f64)> {
        let mut ledger = Ledger::default();
        add(&mut ledger, messages);
        ledger.signals.into_iter().map(|signal| (signal.text, signal.salience)).collect()
    }

    #[test]
    fn writes_and_appends_to_memory_files_are_found_in_every_shape() {
        for call in [
            r#"[tool write] {"path":"memory/2026-11-18.md","content":"Dana prefers short answers in the morning."}"#,
            r#"Noted. [tool Edit] {"file_path":"/w/MEMORY.md","old_string":"x","new_string":"Dana prefers short answers in the morning."}"#,
            r#"{"name":"write","arguments":{"path":"memory/people.md","content":"Dana prefers short answers in the morning."}}"#,
            r#"[tool bash] {"command":"echo \"Dana prefers short answers in the morning.\" >> memory/people.md"}"#,
        ] {
            let found = found(&[assistant(call)]);
            assert_eq!(found, [("Dana prefers short answers in the morning.".to_string(), SALIENCE)], "{call}");
        }
    }

    #[test]
    fn other_files_failed_writes_and_older_versions_are_not() {
        assert_eq!(
            found(&[assistant(r#"[tool write] {"path":"src/memory.rs","content":"The allocator is slow."}"#)]),
            []
        );
        let call =
            assistant(r#"[tool write] {"path":"memory/a.md","content":"The first version of the plan is old."}"#);
        let answer = Message { role: Role::Tool, failed: true, ..assistant("read-only") };
        assert_eq!(found(&[call.clone(), answer]), []);
        let later =
            assistant(r#"[tool write] {"path":"memory/a.md","content":"The second version of the plan holds."}"#);
        assert_eq!(found(&[call, later]).len(), 1);
    }

    #[test]
    fn secrets_and_texts_of_ours_are_left_out() {
        let own = "## 🧹 Compaction 00:30 (faithful)\\n- x\\n<!-- compact-review:entry a.b -->";
        let call = format!(
            r#"[tool write] {{"path":"memory/a.md","content":"The password is hunter2hunter2 for now.\n{own}"}}"#
        );
        let found = found(&[assistant(&call)]);
        assert_eq!(found.len(), 1);
        assert!(!found[0].0.contains("hunter2") && !found[0].0.contains("Compaction"), "{found:?}");
    }

    #[test]
    fn broken_json_is_passed_over() {
        assert_eq!(found(&[assistant("{memory {{{ \n{\"path\": \"memory/a.md\", \"content\": ")]), []);
    }
}
