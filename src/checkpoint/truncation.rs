//! Did the conversation lose messages that nobody told of? A checkpoint knows how long it was.

use super::quote::quote;
use super::record::Baseline;

/// An id in a sentence for people, in bytes.
const SHOWN_ID: usize = 60;

/// The conversation as it is now.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// Which transcript of it, where the gateway tells.
    pub session_id: Option<&'a str>,
    /// How many messages it has.
    pub message_count: u32,
    /// The gateway told that number.
    pub told: bool,
    /// The ids of the messages at hand, oldest first; empty where the gateway cannot give them.
    pub message_ids: &'a [&'a str],
}

/// A sign that messages are gone that nobody told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// There were more messages before.
    FewerMessages {
        /// When it was last known.
        before: u32,
        /// Now.
        now: u32,
    },
    /// A message that must be there is not.
    LastMessageUnknown(String),
    /// The conversation begins later than it did.
    StartsMidway {
        /// Its first message when it was last known.
        before: String,
        /// Its first message now.
        now: String,
    },
}

impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Truncation::FewerMessages { before, now } => {
                write!(f, "the conversation had {before} messages at least and has {now} now")
            }
            Truncation::LastMessageUnknown(id) => {
                write!(f, "a message that the last checkpoint saw is gone: {}", quote(id, SHOWN_ID))
            }
            Truncation::StartsMidway { before, now } => {
                let (before, now) = (quote(before, SHOWN_ID), quote(now, SHOWN_ID));
                write!(f, "the conversation began with message {before} and begins with {now} now")
            }
        }
    }
}

/// The first sign that messages are gone; `None` where there is none, or where another transcript began since.
pub fn truncation(baseline: &Baseline, history: &History<'_>) -> Option<Truncation> {
    let other_transcript = match (baseline.session_id.as_deref(), history.session_id) {
        (Some(before), Some(now)) => before != now,
        _ => false,
    };
    if other_transcript {
        return None;
    }
    if history.told == baseline.told && history.message_count < baseline.message_count {
        return Some(Truncation::FewerMessages { before: baseline.message_count, now: history.message_count });
    }
    let first = history.message_ids.first()?;
    if let Some(last) = baseline.last_message_id.as_deref()
        && !history.message_ids.contains(&last)
    {
        return Some(Truncation::LastMessageUnknown(last.to_string()));
    }
    match baseline.first_message_id.as_deref() {
        Some(before) if before != *first => {
            Some(Truncation::StartsMidway { before: before.to_string(), now: first.to_string() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Baseline {
        Baseline {
            session_id: Some("s".to_string()),
            message_count: 3,
            told: true,
            first_message_id: Some("m1".to_string()),
            last_message_id: Some("m3".to_string()),
        }
    }

    fn history<'a>(message_count: u32, message_ids: &'a [&'a str]) -> History<'a> {
        History { session_id: Some("s"), message_count, told: true, message_ids }
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
    fn another_transcript_says_nothing() {
        assert_eq!(truncation(&checkpoint(), &History { session_id: Some("new"), ..history(1, &[]) }), None);
    }
}
