//! Which tool wrote a transcript: told by its content, or by the person who names it.

use super::peek::Peek;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which tool wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// OpenClaw's JSONL files, old and current entries.
    Openclaw,
    /// OpenClaw's store: one SQLite file for each agent.
    OpenclawStore,
    /// Pi's sessions.
    Pi,
    /// Claude Code's JSONL files.
    ClaudeCode,
    /// Codex's rollout files.
    Codex,
    /// Lines `{"role", "content"}`.
    Plain,
}

impl Format {
    /// The word for it, on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Format::Openclaw => "openclaw",
            Format::OpenclawStore => "openclaw-store",
            Format::Pi => "pi",
            Format::ClaudeCode => "claude-code",
            Format::Codex => "codex",
            Format::Plain => "plain",
        }
    }

    /// The format that a line is proof of.
    pub(super) fn of(peek: &Peek<'_>) -> Option<Format> {
        let kind = peek.kind.as_deref();
        if peek.payload.is_some()
            && matches!(kind, Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"))
        {
            return Some(Format::Codex);
        }
        if peek.record_type || (peek.instructions && peek.id.is_some() && peek.timestamp && kind.is_none()) {
            return Some(Format::Codex);
        }
        if peek.session_id.is_some() && (peek.uuid.is_some() || peek.parent.is_some()) {
            return Some(Format::ClaudeCode);
        }
        let family = matches!(
            kind,
            Some(
                "session"
                    | "message"
                    | "compaction"
                    | "model_change"
                    | "thinking_level_change"
                    | "branch_summary"
                    | "custom_message"
            )
        );
        if family && peek.payload.is_none() && (peek.message.is_some() || kind != Some("message")) {
            // Pi's own versions end at 3; OpenClaw went on counting.
            return Some(if peek.version.is_some_and(|version| version >= 4) { Format::Openclaw } else { Format::Pi });
        }
        (peek.role.is_some() && peek.content.is_some()).then_some(Format::Plain)
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What every SQLite file begins with.
pub(super) const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
