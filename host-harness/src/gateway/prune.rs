//! Which messages a compaction cuts out: a run between what is protected at both ends, or what a plan says.

use super::config::{GatewayConfig, Strategy};
use super::session::GatewaySession;
use compact_review::budget::event::{Choice, Plan};
use compact_review::event::{Message, Role};

/// A result shorter than this, in bytes, is not worth a stub in its place.
const WORTH_A_STUB: usize = 80;

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    /// It stands verbatim.
    Whole,
    /// Its place stands, its text is gone.
    Stub,
    /// It is gone.
    Not,
}

/// What goes, and what stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// What becomes of each message.
    pub stays: Vec<Stays>,
    /// The places of what the summary is to stand for.
    pub summarized: Vec<usize>,
    /// Before which message the summary stands.
    pub summary_at: usize,
    /// How many do not stand verbatim any more.
    pub dropped: usize,
    /// The ids of what stays.
    pub kept_ids: Vec<String>,
    /// The first from which everything stays.
    pub first_kept_id: Option<String>,
    /// Something before that stays too.
    pub scattered: bool,
}

impl Cut {
    fn new(messages: &[Message], stays: Vec<Stays>, summarized: Vec<usize>) -> Cut {
        let gone = |stays: &Stays| *stays != Stays::Whole;
        let first_gone = stays.iter().position(gone).unwrap_or(stays.len());
        let first_kept = stays.iter().rposition(gone).map_or(0, |last| last + 1);
        let mut summary_at = first_gone;
        // Between a call and its results nothing may stand.
        while stays.get(summary_at) == Some(&Stays::Stub) || (summary_at != first_gone && is_tool(messages, summary_at))
        {
            match summary_at.checked_sub(1) {
                Some(before) => summary_at = before,
                None => break,
            }
        }
        let kept = messages.iter().zip(&stays).filter(|(_, stays)| !gone(stays));
        Cut {
            dropped: stays.iter().filter(|stays| gone(stays)).count(),
            kept_ids: kept.map(|(message, _)| message.id.clone()).collect(),
            first_kept_id: messages.get(first_kept).map(|message| message.id.clone()),
            scattered: stays.iter().take(first_kept).any(|stays| !gone(stays)),
            summary_at,
            summarized,
            stays,
        }
    }

    /// A run of messages goes.
    fn run(messages: &[Message], from: usize, to: usize) -> Cut {
        let stays = (0..messages.len()).map(|at| if (from..to).contains(&at) { Stays::Not } else { Stays::Whole });
        Cut::new(messages, stays.collect(), (from..to).collect())
    }

    /// Everything stays.
    pub(super) fn nothing(session: &GatewaySession) -> Cut {
        Cut::run(&session.messages, 0, 0)
    }
}

fn is_tool(messages: &[Message], at: usize) -> bool {
    messages.get(at).is_some_and(|message| message.role == Role::Tool)
}

/// What the plan says, repaired where it would part a call from its results: a plan knows no calls.
pub(super) fn planned(session: &GatewaySession, plan: &Plan) -> Result<Cut, String> {
    let messages = &session.messages;
    let fits = plan.rows.len() == messages.len()
        && plan.rows.iter().zip(messages).all(|(row, message)| row.message_id == message.id);
    if !fits {
        return Err(format!("the plan has {} rows for other messages than these {}", plan.rows.len(), messages.len()));
    }
    let mut stays: Vec<Stays> =
        plan.rows.iter().map(|row| if row.choice == Choice::Keep { Stays::Whole } else { Stays::Not }).collect();
    if let (Some(last), Some(Role::Assistant)) = (stays.last_mut(), messages.last().map(|message| message.role)) {
        // Its calls are under way.
        *last = Stays::Whole;
    }
    for (caller, end) in calls(messages) {
        if !stays.get(caller..end).is_some_and(|group| group.contains(&Stays::Whole)) {
            continue;
        }
        for at in caller..end {
            let long = messages.get(at).is_some_and(|message| message.text.len() > WORTH_A_STUB);
            if let Some(place) = stays.get_mut(at).filter(|stays| **stays == Stays::Not) {
                *place = if at > caller && long { Stays::Stub } else { Stays::Whole };
            }
        }
    }
    let summarize = |at: &usize| {
        let asked = plan.rows.get(*at).is_some_and(|row| row.choice == Choice::Summarize);
        asked && stays.get(*at) != Some(&Stays::Whole)
    };
    let summarized = (0..messages.len()).filter(summarize).collect();
    Ok(Cut::new(messages, stays, summarized))
}

/// Each message of the agent that tools answered, and where the answers end.
fn calls(messages: &[Message]) -> Vec<(usize, usize)> {
    let callers = messages.iter().enumerate().filter(|(_, message)| message.role == Role::Assistant);
    let end = |from: usize| (from..messages.len()).find(|&at| !is_tool(messages, at)).unwrap_or(messages.len());
    callers.map(|(caller, _)| (caller, end(caller + 1))).filter(|(caller, end)| *end > caller + 1).collect()
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
        while end > protected_start && is_tool(&session.messages, end) {
            end -= 1;
        }
    }
    // Where the protected ends meet, nothing goes.
    Cut::run(&session.messages, protected_start, end.max(protected_start))
}

fn until_half_is_free(session: &GatewaySession, config: &GatewayConfig, from: usize) -> usize {
    let mut excess = session.tokens().saturating_sub(config.effective_limit() / 2);
    for (index, message) in session.messages.iter().enumerate().skip(from) {
        if excess == 0 {
            return index;
        }
        excess = excess.saturating_sub(session.cost(message));
    }
    session.messages.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use compact_review::budget::event::{PlanRow, Source};

    fn session(roles: &[Role]) -> GatewaySession {
        let mut session = GatewaySession::default();
        for (index, role) in roles.iter().enumerate() {
            let text = "some words that cost a few tokens, and a few more, so that a stub in their place is shorter";
            let text = text.to_string();
            session.push(Message { id: format!("m{index}"), role: *role, text, tool: None, failed: false, at: None });
        }
        session
    }

    fn config(strategy: Strategy, head: usize, tail: usize) -> GatewayConfig {
        GatewayConfig { strategy, head_protection: head, tail_protection: tail, ..Default::default() }
    }

    fn plan(choices: &[Choice]) -> Plan {
        let row = |(at, choice): (usize, &Choice)| PlanRow {
            message_id: format!("m{at}"),
            choice: *choice,
            why: String::new(),
            tokens: 1,
        };
        Plan {
            due: None,
            strategy: compact_review::config::Strategy::Summarize,
            summary_prefix: "[S]".to_string(),
            rows: choices.iter().enumerate().map(row).collect(),
            tokens_kept: 0,
            tokens_summarized: 0,
            tokens_dropped: 0,
            source: Source::Estimate,
            instructions: String::new(),
            facts_left_out: 0,
        }
    }

    #[test]
    fn both_ends_are_protected() {
        let cut = cut(&session(&[Role::User; 10]), &config(Strategy::Discard, 3, 2), None);
        assert_eq!((cut.summary_at, cut.dropped), (2, 5));
        assert_eq!(cut.first_kept_id.as_deref(), Some("m7"));
        assert!(cut.scattered);
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

    #[test]
    fn a_plan_can_keep_messages_in_the_middle_and_drops_what_no_summary_stands_for() {
        use Choice::{Drop, Keep, Summarize};
        let mut session = session(&[Role::User; 6]);
        let cut = planned(&session, &plan(&[Keep, Summarize, Keep, Drop, Summarize, Keep])).unwrap();
        assert_eq!((cut.dropped, cut.summarized.as_slice()), (3, [1, 4].as_slice()));
        assert_eq!((cut.kept_ids.join(" "), cut.first_kept_id.as_deref()), ("m0 m2 m5".to_string(), Some("m5")));
        assert!(cut.scattered);
        let summary = Message { id: "s".to_string(), text: "all of it".to_string(), ..session.messages[0].clone() };
        session.replace(&cut, summary);
        let ids: Vec<_> = session.messages.iter().map(|message| message.id.as_str()).collect();
        assert_eq!(ids, ["m0", "s", "m2", "m5"]);
    }

    #[test]
    fn a_kept_result_keeps_its_call_and_the_other_results_of_the_call_become_stubs() {
        use Choice::{Keep, Summarize};
        let roles = [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User];
        let mut session = session(&roles);
        let cut = planned(&session, &plan(&[Summarize, Summarize, Summarize, Keep, Keep])).unwrap();
        assert_eq!(cut.stays, [Stays::Not, Stays::Whole, Stays::Stub, Stays::Whole, Stays::Whole]);
        assert_eq!((cut.kept_ids.join(" "), cut.dropped), ("m1 m3 m4".to_string(), 2));
        assert_eq!(cut.summarized, [0, 2]);
        let before = session.tokens();
        session.replace(&cut, Message { text: "so far".to_string(), ..session.messages[0].clone() });
        assert!(session.tokens() < before);
        let roles: Vec<_> = session.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User]);
    }

    #[test]
    fn the_summary_never_stands_between_a_call_and_its_result() {
        use Choice::{Keep, Summarize};
        let roles = [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant];
        let cut = planned(&session(&roles), &plan(&[Keep, Keep, Summarize, Summarize, Summarize])).unwrap();
        assert_eq!((cut.summary_at, cut.stays[2]), (1, Stays::Stub));
        assert_eq!(cut.stays[4], Stays::Whole, "the call under way");
    }

    #[test]
    fn a_plan_for_other_messages_is_refused() {
        let error = planned(&session(&[Role::User; 3]), &plan(&[Choice::Keep])).unwrap_err();
        assert_eq!(error, "the plan has 1 rows for other messages than these 3");
    }
}
