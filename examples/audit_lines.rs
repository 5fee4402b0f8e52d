//! Audits without a host, one JSON object a line, for the tools in `tools/`: `{"case", "before"}` reads the messages of
//! a case, `{"case", "after"}` prints the report on a summary of it, `{"case", "signals": true}` its signals, and
//! `{"summary", "facts"}` how surely each fact is in a summary.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

use compact_review::audit::{probe, review};
use compact_review::config::Settings;
use compact_review::event::{AfterCompaction, BeforeCompaction};
use compact_review::host::{Host, HostError, LogLevel, NoteEntry, NotePlace, Retention};
use compact_review::report::Alert;
use compact_review::signal::{Ledger, survey};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};

/// Keeps nothing and says nothing.
struct Quiet;

impl Host for Quiet {
    fn log(&mut self, _: LogLevel, _: &str) {}
    fn alert(&mut self, _: &Alert) {}
    fn settings(&mut self) -> Option<String> {
        None
    }
    fn count_tokens(&mut self, _: &[&str]) -> Option<Vec<u32>> {
        None
    }
    fn load_state(&mut self, _: &str, _: &str) -> Result<Option<Vec<u8>>, HostError> {
        Ok(None)
    }
    fn save_state(&mut self, _: &str, _: &str, _: &[u8]) -> Result<(), HostError> {
        Ok(())
    }
    fn clear_state(&mut self, _: &str, _: &str) -> Result<(), HostError> {
        Ok(())
    }
    fn read_checkpoint(&mut self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }
    fn read_note(&mut self, _: &str, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }
    fn write_checkpoint(&mut self, _: &str, _: &str, _: Retention) -> Result<String, HostError> {
        Ok(String::new())
    }
    fn append_note(&mut self, _: &NoteEntry) -> Result<NotePlace, HostError> {
        Ok(NotePlace { place: String::new(), already_there: false })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::default();
    let mut ledgers: HashMap<String, Ledger> = HashMap::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let mut line: Value = serde_json::from_str(&line?)?;
        let case = line["case"].as_str().unwrap_or_default().to_string();
        let answer = if line["before"].is_object() {
            let before: BeforeCompaction = serde_json::from_value(line["before"].take())?;
            let bytes = survey(&before, &settings).to_bytes();
            let size = bytes.len();
            ledgers.insert(case, Ledger::from_bytes(&bytes)?);
            json!({ "ledgerBytes": size })
        } else if line["after"].is_object() {
            let after: AfterCompaction = serde_json::from_value(line["after"].take())?;
            serde_json::to_value(review(&mut Quiet, ledgers.get(&case), &after, &settings))?
        } else if line["signals"].is_boolean() {
            let ledger = ledgers.get(&case).ok_or("signals before before")?;
            let signals: Vec<Value> = ledger.signals.iter().map(signal).collect();
            json!({ "signals": signals })
        } else {
            let facts: Vec<String> = serde_json::from_value(line["facts"].take())?;
            json!({ "present": probe(line["summary"].as_str().unwrap_or_default(), &facts) })
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn signal(signal: &compact_review::signal::Signal) -> Value {
    let members: Vec<&str> = signal.members.iter().map(|member| member.text.as_str()).collect();
    json!({
        "id": signal.id, "kind": signal.kind, "text": signal.text, "values": signal.values, "members": members,
        "messageId": signal.message_id, "index": signal.message_index, "role": signal.role, "cues": signal.cues,
        "salience": signal.salience, "superseded": signal.superseded, "why": signal.why, "order": signal.order,
    })
}
