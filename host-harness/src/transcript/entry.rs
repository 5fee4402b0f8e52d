//! One line of a session file.

use super::RecordedCompaction;
use compact_review::event::{Message, Role};
use serde_json::Value;

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    /// The first line.
    Header { session_id: Option<String> },
    /// Something was said.
    Message { number: usize, id: Option<String>, parent: Option<String>, message: Message },
    /// A summary replaced messages.
    Compaction {
        number: usize,
        id: Option<String>,
        parent: Option<String>,
        compaction: RecordedCompaction,
        first_kept_index: Option<usize>,
    },
    /// Anything else that is part of the tree.
    Other { number: usize, id: Option<String>, parent: Option<String> },
}

impl Line {
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Line::Header { .. } => None,
            Line::Message { id, .. } | Line::Compaction { id, .. } | Line::Other { id, .. } => id.as_deref(),
        }
    }

    pub(super) fn parent(&self) -> Option<&str> {
        match self {
            Line::Header { .. } => None,
            Line::Message { parent, .. } | Line::Compaction { parent, .. } | Line::Other { parent, .. } => {
                parent.as_deref()
            }
        }
    }

    pub(super) fn number(&self) -> usize {
        match self {
            Line::Header { .. } => 1,
            Line::Message { number, .. } | Line::Compaction { number, .. } | Line::Other { number, .. } => *number,
        }
    }

    pub(super) fn message_id(&self) -> Option<String> {
        match self {
            Line::Message { message, .. } => Some(message.id.clone()),
            _ => None,
        }
    }
}

/// Reads one line; `None` for a blank one.
pub(super) fn parse(bytes: &[u8], number: usize, opaque_parts: &mut usize) -> Result<Option<Line>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 after byte {}", error.valid_up_to()))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let kind = value.get("type").and_then(Value::as_str).ok_or("the field `type` is missing or no string")?;
    let (id, parent) = (string(&value, "id"), string(&value, "parentId"));
    let line = match kind {
        "session" => Line::Header { session_id: id },
        "message" => {
            let message = message(&value, id.clone(), number, opaque_parts)?;
            Line::Message { number, id, parent, message }
        }
        "compaction" => {
            let compaction = RecordedCompaction {
                id: id.clone(),
                at: timestamp(&value),
                summary: string(&value, "summary"),
                first_kept_id: string(&value, "firstKeptEntryId"),
                tokens_before: value.get("tokensBefore").and_then(Value::as_u64),
            };
            let index = value.get("firstKeptEntryIndex").and_then(Value::as_u64);
            let first_kept_index = index.and_then(|index| usize::try_from(index).ok());
            Line::Compaction { number, id, parent, compaction, first_kept_index }
        }
        _ => Line::Other { number, id, parent },
    };
    Ok(Some(line))
}

fn message(entry: &Value, id: Option<String>, number: usize, opaque: &mut usize) -> Result<Message, String> {
    let message = entry.get("message").ok_or("the field `message` is missing")?;
    let role = message.get("role").and_then(Value::as_str).ok_or("the field `message.role` is missing or no string")?;
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => join(parts, opaque),
        Some(_) => return Err("the field `message.content` must be a string or a list of parts".to_string()),
        None => spoken_otherwise(message),
    };
    Ok(Message {
        id: id.unwrap_or_else(|| format!("line-{number}")),
        role: match role {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "toolResult" | "tool" | "bashExecution" => Role::Tool,
            "system" | "developer" | "compactionSummary" | "branchSummary" | "custom" | "hookMessage" => Role::System,
            other => {
                return Err(format!(
                    "the field `message.role` is {other:?}; known are user, assistant, toolResult, tool, \
                     bashExecution, system, developer, compactionSummary, branchSummary, custom, hookMessage"
                ));
            }
        },
        text,
        tool: string(message, "toolName"),
        failed: message.get("isError").and_then(Value::as_bool).unwrap_or(false),
        at: message.get("timestamp").and_then(Value::as_i64).or_else(|| timestamp(entry)),
    })
}

/// Messages without `content`: a command that the user ran, a summary.
fn spoken_otherwise(message: &Value) -> String {
    let parts = ["command", "output", "summary"].into_iter().filter_map(|field| string(message, field));
    parts.collect::<Vec<_>>().join("\n")
}

fn join(parts: &[Value], opaque: &mut usize) -> String {
    let mut texts = Vec::new();
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => texts.extend(string(part, "text")),
            Some("toolCall") => {
                let name = part.get("name").and_then(Value::as_str).unwrap_or("tool");
                let arguments = part.get("arguments").map(Value::to_string).unwrap_or_default();
                texts.push(format!("{name} {arguments}"));
            }
            _ => *opaque += 1,
        }
    }
    texts.join("\n")
}

fn string(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_string)
}

fn timestamp(entry: &Value) -> Option<i64> {
    let text = entry.get("timestamp").and_then(Value::as_str)?;
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}
