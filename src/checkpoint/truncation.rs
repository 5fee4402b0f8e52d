//! Did the conversation lose messages that nobody told of? A checkpoint knows how long it was.

use super::Header;
use super::quote::quote;

/// An id in a sentence for people, in bytes.
const SHOWN_ID: usize = 60;

/// The conversation as it is now.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// Whose.
    pub session_key: &'a str,
    /// Which transcript of it, where the gateway tells.
    pub session_id: Option<&'a str>,
    /// How many messages it has.
    pub message_count: u32,
    /// The ids of the messages at hand, oldest first; empty where the gateway cannot give them.
    pub message_ids: &'a [&'a str],
}

/// A sign that messages are gone. To be asked only where no compaction was announced since the checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// There were more messages before.
    FewerMessages {
        /// In the checkpoint.
        before: u32,
        /// Now.
        now: u32,
    },
    /// The last message of the checkpoint is not there.
    LastMessageUnknown(String),
    /// The conversation begins later than it did.
    StartsMidway {
        /// Its first message in the checkpoint.
        before: String,
        /// Its first message now.
        now: String,
    },
}

impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Truncation::FewerMessages { before, now } => {
                write!(f, "the conversation had {before} messages at its checkpoint and has {now} now")
            }
            Truncation::LastMessageUnknown(id) => {
                write!(f, "the last message of the checkpoint is gone: {}", quote(id, SHOWN_ID))
            }
            Truncation::StartsMidway { before, now } => {
                let (before, now) = (quote(before, SHOWN_ID), quote(now, SHOWN_ID));
                write!(f, "the conversation began with message {before} and begins with {now} now")
            }
        }
    }
}

/// The first sign that messages are gone; `None` where there is none or the checkpoint is another conversation's.
pub fn truncation(checkpoint: &Header, history: &History<'_>) -> Option<Truncation> {
    let other_transcript = match (checkpoint.session_id.as_deref(), history.session_id) {
        (Some(before), Some(now)) => before != now,
        _ => false,
    };
    if checkpoint.session_key != history.session_key || other_transcript {
        return None;
    }
    if history.message_count < checkpoint.message_count {
        return Some(Truncation::FewerMessages { before: checkpoint.message_count, now: history.message_count });
    }
    let first = history.message_ids.first()?;
    if let Some(last) = checkpoint.last_message_id.as_deref()
        && !history.message_ids.contains(&last)
    {
        return Some(Truncation::LastMessageUnknown(last.to_string()));
    }
    match checkpoint.first_message_id.as_deref() {
        Some(before) if before != *first => {
            Some(Truncation::StartsMidway { before: before.to_string(), now: first.to_string() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Header {
        Header {
            version: 1,
            session_key: "k".to_string(),
            session_id: Some("s".to_string()),
            message_count: 3,
            first_message_id: Some("m1".to_string()),
            last_message_id: Some("m3".to_string()),
            ..Header::default()
        }
    }

    fn history<'a>(message_count: u32, message_ids: &'a [&'a str]) -> History<'a> {
        History { session_key: "k", session_id: Some("s"), message_count, message_ids }
    }

    #[test]
    fn a_conversation_that_went_on_is_whole() {
        assert_eq!(truncation(&checkpoint(), &history(4, &["m1", "m2", "m3", "m4"])), None);
        assert_eq!(truncation(&checkpoint(), &history(3, &[])), None);
    }

    #[test]
    fn each_sign_is_told() {
        let fewer = truncation(&checkpoint(), &history(2, &[]));
        assert_eq!(fewer, Some(Truncation::FewerMessages { before: 3, now: 2 }));
        let unknown = truncation(&checkpoint(), &history(3, &["m1", "x", "y"]));
        assert_eq!(unknown, Some(Truncation::LastMessageUnknown("m3".to_string())));
        let midway = truncation(&checkpoint(), &history(3, &["m2", "m3", "m4"]));
        assert_eq!(midway, Some(Truncation::StartsMidway { before: "m1".to_string(), now: "m2".to_string() }));
    }

    #[test]
    fn another_conversations_checkpoint_says_nothing() {
        assert_eq!(truncation(&checkpoint(), &History { session_key: "other", ..history(1, &[]) }), None);
        assert_eq!(truncation(&checkpoint(), &History { session_id: Some("new"), ..history(1, &[]) }), None);
    }
}
