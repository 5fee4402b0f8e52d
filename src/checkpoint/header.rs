//! The hidden first line of a checkpoint, for machines: whose it is, and how long the conversation was.

use crate::event::{BeforeCompaction, LocalTime};
use serde::{Deserialize, Serialize};

pub(super) const OPEN: &str = "<!-- compact-review:checkpoint ";
const CLOSE: &str = " -->";
/// The version that is written. Later ones may add fields.
const VERSION: u32 = 1;
/// People may put lines before the header; it is not looked for beyond these.
const LINES_LOOKED_AT: usize = 50;

/// What a checkpoint says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Header {
    /// The version of this header.
    pub version: u32,
    /// Whose conversation.
    pub session_key: String,
    /// Which transcript of it.
    pub session_id: Option<String>,
    /// How many messages it had.
    pub message_count: u32,
    /// Its first message.
    pub first_message_id: Option<String>,
    /// Its last message.
    pub last_message_id: Option<String>,
    /// When the checkpoint was taken.
    pub taken: LocalTime,
    /// It was taken because a compaction was about to begin: the conversation is shorter afterwards, rightly.
    pub before_compaction: bool,
}

impl Header {
    pub(super) fn of(event: &BeforeCompaction, before_compaction: bool) -> Header {
        Header {
            version: VERSION,
            session_key: event.session.session_key.clone(),
            session_id: event.session.session_id.clone(),
            message_count: message_count(event),
            first_message_id: event.messages.first().map(|message| message.id.clone()),
            last_message_id: event.messages.last().map(|message| message.id.clone()),
            taken: event.now,
            before_compaction,
        }
    }

    /// Names the checkpoint: it is handed back to an agent once.
    pub(super) fn id(&self) -> String {
        format!("checkpoint.{}.{}", self.taken.unix_ms, self.message_count)
    }

    /// As a comment on one line, whatever the ids hold: nothing in it can end the comment.
    pub(super) fn line(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let inert = json.replace('<', "\\u003c").replace('>', "\\u003e").replace("--", "-\\u002d");
        format!("{OPEN}{inert}{CLOSE}\n")
    }
}

/// How many messages there were, as the gateway counts or as it gave them.
pub(super) fn message_count(event: &BeforeCompaction) -> u32 {
    event.message_count.unwrap_or(event.messages.len() as u32)
}

/// Reads the header of a checkpoint; `None` where there is none, or none that can be read.
pub fn parse(checkpoint: &str) -> Option<Header> {
    let line = checkpoint.lines().take(LINES_LOOKED_AT).find(|line| line.starts_with(OPEN))?;
    let json = line.trim_end().strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    let header: Header = serde_json::from_str(json).ok()?;
    (!header.session_key.is_empty()).then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_as_itself_whatever_it_names() {
        let header = Header {
            version: 1,
            session_key: "agent:main:--> <script>\n\"日本\"".to_string(),
            session_id: Some("---".to_string()),
            message_count: 7,
            first_message_id: None,
            last_message_id: Some("m7".to_string()),
            taken: LocalTime { unix_ms: 1_794_933_000_000, utc_offset_minutes: -480 },
            before_compaction: true,
        };
        let line = header.line();
        assert_eq!(line.lines().count(), 1);
        assert_eq!(line.matches("-->").count(), 1);
        assert_eq!(parse(&line), Some(header.clone()));
        assert_eq!(parse(&format!("my own line\r\n{}\r\n# Active", line.trim_end())), Some(header));
    }

    #[test]
    fn what_is_no_header_is_none() {
        for text in [
            "",
            "# Active Checkpoint",
            "<!-- compact-review:checkpoint {} -->",
            "<!-- compact-review:checkpoint {\"ses",
        ] {
            assert_eq!(parse(text), None);
        }
    }

    #[test]
    fn a_later_version_with_more_fields_is_read() {
        let line = "<!-- compact-review:checkpoint {\"version\":9,\"sessionKey\":\"k\",\"more\":true} -->";
        assert_eq!(parse(line).map(|header| (header.version, header.session_key)), Some((9, "k".to_string())));
    }
}
