//! What a line is for each format, from the first look at it.

use super::format::Format;
use super::peek::{Parts, Peek};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Names the session.
    Header,
    /// Something was said.
    Message,
    /// What a tool gave back, in a format where it may hang beside the branch.
    ToolResult,
    /// A summary replaced messages.
    Compaction,
    /// Announces a compaction (Claude Code).
    Boundary,
    /// The conversation began anew, messages were taken back, or tokens were counted.
    Event,
    /// Part of the tree, and nothing else.
    Other,
    /// What a subagent said: not part of this conversation.
    Sidechain,
    /// Not part of the tree.
    Apart,
}

impl LineKind {
    /// Whether it must be read again to tell what happened.
    pub(super) fn happened(self) -> bool {
        !matches!(self, LineKind::Header | LineKind::Other | LineKind::Sidechain | LineKind::Apart)
    }

    pub(super) fn in_tree(self) -> bool {
        !matches!(self, LineKind::Header | LineKind::Sidechain | LineKind::Apart)
    }
}

const ROLES: &str = "user, assistant, toolResult, tool, bashExecution, system, developer, compactionSummary, \
                     branchSummary, custom, hookMessage";

/// What the line is, or why it cannot be used.
pub(super) fn classify(format: Format, peek: &Peek<'_>) -> Result<LineKind, String> {
    match format {
        Format::Openclaw | Format::OpenclawStore | Format::Pi => openclaw(peek),
        Format::ClaudeCode => Ok(claude(peek)),
        Format::Codex => Ok(codex(peek)),
        Format::Plain => plain(peek),
    }
}

/// The parts of the line that are no text.
pub(super) fn parts(peek: &Peek<'_>) -> Parts {
    let mut parts = Parts::default();
    for inner in peek.message.iter().chain(&peek.payload) {
        parts.add(&inner.content);
        if inner.encrypted {
            parts.encrypted += 1;
        } else if inner.kind.as_deref() == Some("reasoning") {
            parts.thinking += 1;
        }
    }
    if let Some(content) = &peek.content {
        parts.add(content);
    }
    parts
}

fn openclaw(peek: &Peek<'_>) -> Result<LineKind, String> {
    let kind = peek.kind.as_deref().ok_or("the field `type` is missing or no string")?;
    Ok(match kind {
        "session" => LineKind::Header,
        "message" => {
            let message = peek.message.as_ref().ok_or("the field `message` is missing or no object")?;
            let role = message.role.as_deref().ok_or("the field `message.role` is missing or no string")?;
            if super::entry::role(role).is_none() {
                let role = super::content::cut(role, 60);
                return Err(format!("the field `message.role` is {role:?}; known are {ROLES}"));
            }
            LineKind::Message
        }
        "custom_message" | "branch_summary" => LineKind::Message,
        "compaction" => LineKind::Compaction,
        "reset" => LineKind::Event,
        _ => LineKind::Other,
    })
}

fn claude(peek: &Peek<'_>) -> LineKind {
    if peek.sidechain {
        return LineKind::Sidechain;
    }
    if peek.uuid.is_none() {
        return LineKind::Apart;
    }
    match peek.kind.as_deref() {
        Some("user" | "assistant") if peek.message.is_some() => {
            if peek.compact_summary {
                LineKind::Compaction
            } else if peek.tool_result {
                LineKind::ToolResult
            } else {
                LineKind::Message
            }
        }
        Some("system") if peek.subtype.as_deref() == Some("compact_boundary") => LineKind::Boundary,
        _ => LineKind::Other,
    }
}

fn codex(peek: &Peek<'_>) -> LineKind {
    let (kind, inner) = match &peek.payload {
        Some(payload) => (peek.kind.as_deref(), payload.kind.as_deref()),
        // The first versions wrote the items as they were.
        None => (Some("response_item"), peek.kind.as_deref()),
    };
    match (kind, inner) {
        (Some("session_meta"), _) => LineKind::Header,
        (Some("compacted"), _) => LineKind::Compaction,
        (Some("event_msg"), Some("token_count" | "thread_rolled_back")) => LineKind::Event,
        (
            Some("response_item"),
            Some(
                "message"
                | "function_call"
                | "function_call_output"
                | "custom_tool_call"
                | "custom_tool_call_output"
                | "local_shell_call",
            ),
        ) => LineKind::Message,
        (Some("response_item"), None) if peek.id.is_some() && peek.timestamp => LineKind::Header,
        _ => LineKind::Other,
    }
}

fn plain(peek: &Peek<'_>) -> Result<LineKind, String> {
    if peek.kind.as_deref() == Some("compaction") {
        return Ok(LineKind::Compaction);
    }
    let role = peek.role.as_deref().ok_or("the field `role` is missing or no string")?;
    match role {
        "summary" | "compaction" | "compactionSummary" => Ok(LineKind::Compaction),
        _ if super::entry::role(role).is_some() => Ok(LineKind::Message),
        _ => {
            let role = super::content::cut(role, 60);
            Err(format!("the field `role` is {role:?}; known are summary, {ROLES}"))
        }
    }
}
