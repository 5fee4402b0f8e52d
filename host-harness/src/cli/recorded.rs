//! What a recorded session tells of the budget: what was said, what the provider counted, what was compacted.

use crate::transcript::{Entry, RecordedCompaction, Transcript};
use anyhow::Result;
use compact_review::budget::event::{ProviderUsage, UsageEvent};
use compact_review::event::{Message, Role, Session};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// A recorded session.
pub(super) struct Recording {
    /// What it is called.
    pub session: Session,
    /// What happened, in order.
    pub happened: Vec<Happened>,
    /// What could not be read or taken, with the line.
    pub notices: Vec<String>,
}

/// Something that happened in it.
pub(super) enum Happened {
    /// Something was said; with the provider's count, where an answer has one.
    Said(Message, Option<ProviderUsage>),
    /// A summary replaced messages.
    Compacted(RecordedCompaction),
}

impl Recording {
    /// Reads a session file.
    pub(super) fn open(path: &Path) -> Result<Recording> {
        let transcript = Transcript::open(path)?;
        let mut notices: Vec<String> = transcript
            .broken
            .iter()
            .take(10)
            .map(|broken| format!("{}: line {}: {}", path.display(), broken.line, broken.why))
            .collect();
        let mut counted = usages(path, &mut notices)?;
        let happened = transcript.entries.into_iter().map(|entry| match entry {
            Entry::Message(message) => {
                let usage = counted.remove(&message.id);
                Happened::Said(message, usage)
            }
            Entry::Compaction(compaction) => Happened::Compacted(compaction),
        });
        Ok(Recording { session: transcript.session, happened: happened.collect(), notices })
    }

    /// How many compactions it has.
    pub(super) fn compactions(&self) -> usize {
        self.happened.iter().filter(|what| matches!(what, Happened::Compacted(_))).count()
    }

    /// What the context holds at the end: the newest count of a provider with what was said up to it, and what came
    /// after that; without a count everything.
    pub(super) fn context(&self) -> UsageEvent {
        let mut event = UsageEvent { session: self.session.clone(), ..Default::default() };
        for what in &self.happened {
            match what {
                Happened::Said(message, usage) => {
                    event.added.push(message.clone());
                    // An answer that was broken off has a count of 0, which says nothing.
                    if let Some(usage) = usage.filter(|usage| usage.prompt() > 0) {
                        event.usage = Some(usage);
                        event.messages.append(&mut event.added);
                    }
                }
                Happened::Compacted(compaction) => compact(&mut event, compaction),
            }
        }
        if event.usage.is_none() {
            event.messages.append(&mut event.added);
        }
        event
    }
}

/// The summary stands for everything before the first kept message; what was counted before is stale.
fn compact(event: &mut UsageEvent, compaction: &RecordedCompaction) {
    event.usage = None;
    event.messages.append(&mut event.added);
    let kept = compaction.first_kept_id.as_ref();
    let place = kept.and_then(|id| event.messages.iter().position(|message| message.id == *id));
    let kept = event.messages.split_off(place.unwrap_or(event.messages.len()));
    let id = compaction.id.clone().unwrap_or_else(|| "compaction".to_string());
    let text = compaction.summary.clone().unwrap_or_default();
    event.messages = vec![Message { id, role: Role::System, text, tool: None, failed: false, at: compaction.at }];
    event.messages.extend(kept);
}

/// What the provider counted, by the id of its answer. A count that cannot be is told and not taken.
fn usages(path: &Path, notices: &mut Vec<String>) -> Result<HashMap<String, ProviderUsage>> {
    let mut found = HashMap::new();
    let mut lines = BufReader::new(std::fs::File::open(path)?);
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if lines.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        // Lines that are no JSON were told already.
        let Ok(entry) = serde_json::from_slice::<Value>(&bytes) else { continue };
        let Some(usage) = entry.pointer("/message/usage").filter(|usage| usage.is_object()) else { continue };
        let id = entry.get("id").and_then(Value::as_str).map_or_else(|| format!("line-{number}"), str::to_string);
        match read_usage(usage) {
            Ok(usage) => drop(found.insert(id, usage)),
            Err(why) => notices.push(format!("{}: line {number}: {why}: this count is not taken", path.display())),
        }
    }
    Ok(found)
}

/// OpenClaw's and Pi's names.
fn read_usage(usage: &Value) -> Result<ProviderUsage, String> {
    let field = |name: &str| match usage.get(name) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => value.as_u64().ok_or_else(|| format!("message.usage.{name} is {value}, no count of tokens")),
    };
    Ok(ProviderUsage {
        input: field("input")?,
        output: field("output")?,
        cache_read: field("cacheRead")?,
        cache_write: field("cacheWrite")?,
        input_includes_cache: false,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn said(id: &str, input: u64) -> Happened {
        let message =
            Message { id: id.to_string(), role: Role::User, text: id.to_string(), tool: None, failed: false, at: None };
        Happened::Said(message, Some(ProviderUsage { input, ..Default::default() }))
    }

    fn ids(messages: &[Message]) -> Vec<&str> {
        messages.iter().map(|message| message.id.as_str()).collect()
    }

    #[test]
    fn what_came_after_the_newest_count_is_added_to_it() {
        let happened = vec![said("a", 5), said("b", 7), said("c", 0), said("d", 0)];
        let context = Recording { session: Session::default(), happened, notices: Vec::new() }.context();
        assert_eq!(context.usage.unwrap().input, 7, "a count of 0 says nothing");
        assert_eq!((ids(&context.messages), ids(&context.added)), (vec!["a", "b"], vec!["c", "d"]));
    }

    #[test]
    fn a_count_from_before_a_compaction_is_stale() {
        let kept = RecordedCompaction { first_kept_id: Some("b".to_string()), ..Default::default() };
        let happened = vec![said("a", 5), said("b", 7), Happened::Compacted(kept), said("c", 0)];
        let context = Recording { session: Session::default(), happened, notices: Vec::new() }.context();
        assert_eq!(context.usage, None);
        assert_eq!((ids(&context.messages), context.added.len()), (vec!["compaction", "b", "c"], 0));
    }

    #[test]
    fn a_count_that_cannot_be_is_named() {
        let error = read_usage(&serde_json::json!({"input": 5, "cacheRead": -3})).unwrap_err();
        assert_eq!(error, "message.usage.cacheRead is -3, no count of tokens");
    }
}
