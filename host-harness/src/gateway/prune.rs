//! Which messages a compaction cuts out: a run in the middle, between what is protected at both ends.

use super::config::{GatewayConfig, Strategy};
use super::session::{GatewaySession, cost};
use compact_review::event::Role;

/// A run of messages that goes, and what stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The first that goes.
    pub first_dropped: usize,
    /// The first after the run that stays.
    pub last_dropped: usize,
    /// How many go.
    pub dropped: usize,
    /// The ids of what stays.
    pub kept_ids: Vec<String>,
    /// The first from which everything stays.
    pub first_kept_id: Option<String>,
    /// Something before the run stays too.
    pub keeps_the_start: bool,
}

impl Cut {
    fn new(session: &GatewaySession, first_dropped: usize, last_dropped: usize) -> Cut {
        let messages = &session.messages;
        let kept = messages[..first_dropped].iter().chain(&messages[last_dropped..]);
        Cut {
            first_dropped,
            last_dropped,
            dropped: last_dropped - first_dropped,
            kept_ids: kept.map(|message| message.id.clone()).collect(),
            first_kept_id: messages.get(last_dropped).map(|message| message.id.clone()),
            keeps_the_start: first_dropped > 0,
        }
    }

    /// Everything stays.
    pub(super) fn nothing(session: &GatewaySession) -> Cut {
        Cut::new(session, 0, 0)
    }
}

/// What the strategy cuts out; or, for a recorded compaction, everything before the first kept message.
pub(super) fn cut(session: &GatewaySession, config: &GatewayConfig, first_kept: Option<usize>) -> Cut {
    let length = session.messages.len();
    let protected_start = if first_kept.is_some() { 0 } else { config.tail_protection.min(length) };
    let end = match first_kept {
        Some(first_kept) => first_kept.min(length),
        None => length.saturating_sub(config.head_protection),
    };
    let mut end = match config.strategy {
        Strategy::Truncate => end.min(until_half_is_free(session, config, protected_start)),
        Strategy::Summarize | Strategy::Discard => end,
    };
    if first_kept.is_none() {
        // The answer of a tool without the call before it is refused by the providers.
        while end > protected_start && session.messages.get(end).is_some_and(|kept| kept.role == Role::Tool) {
            end -= 1;
        }
    }
    // Where the protected ends meet, nothing goes.
    Cut::new(session, protected_start, end.max(protected_start))
}

fn until_half_is_free(session: &GatewaySession, config: &GatewayConfig, from: usize) -> usize {
    let mut excess = session.tokens().saturating_sub(config.effective_limit() / 2);
    for (index, message) in session.messages.iter().enumerate().skip(from) {
        if excess == 0 {
            return index;
        }
        excess = excess.saturating_sub(cost(message));
    }
    session.messages.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use compact_review::event::Message;

    fn session(roles: &[Role]) -> GatewaySession {
        let mut session = GatewaySession::default();
        for (index, role) in roles.iter().enumerate() {
            let text = "some words that cost a few tokens".to_string();
            session.push(Message { id: format!("m{index}"), role: *role, text, tool: None, failed: false, at: None });
        }
        session
    }

    fn config(strategy: Strategy, head: usize, tail: usize) -> GatewayConfig {
        GatewayConfig { strategy, head_protection: head, tail_protection: tail, ..Default::default() }
    }

    #[test]
    fn both_ends_are_protected() {
        let cut = cut(&session(&[Role::User; 10]), &config(Strategy::Discard, 3, 2), None);
        assert_eq!((cut.first_dropped, cut.last_dropped, cut.dropped), (2, 7, 5));
        assert_eq!(cut.first_kept_id.as_deref(), Some("m7"));
        assert!(cut.keeps_the_start);
    }

    #[test]
    fn the_answer_of_a_tool_is_not_kept_without_its_call() {
        let roles = [Role::User, Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User];
        let cut = cut(&session(&roles), &config(Strategy::Summarize, 2, 0), None);
        assert_eq!(cut.first_kept_id.as_deref(), Some("m2"));
    }

    #[test]
    fn protection_of_more_than_there_is_keeps_everything() {
        let cut = cut(&session(&[Role::User; 4]), &config(Strategy::Discard, 10, 10), None);
        assert_eq!((cut.dropped, cut.kept_ids.len()), (0, 4));
    }

    #[test]
    fn truncation_takes_no_more_than_it_needs() {
        let session = session(&[Role::User; 10]);
        let mut config = config(Strategy::Truncate, 1, 0);
        config.context_window = session.tokens();
        let cut = cut(&session, &config, None);
        assert_eq!(cut.dropped, 5);
    }
}
