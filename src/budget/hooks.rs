//! What the budget does at each step, through which imports. The judgement is in [`super::track`] and [`super::plan`].

use super::event::{BudgetStatus, Crossing, Plan, PlanRequest, StatusReport, UsageEvent, UsageOutcome};
use super::plan::{self, Room};
use super::status;
use super::track::{Counted, Tracker};
use crate::budget::estimate::estimate;
use crate::checkpoint::{reading, trigger};
use crate::config::{Action, Settings};
use crate::event::{AfterCompaction, BeforeCompaction, Message, Session};
use crate::hooks::{check_session, load_settings};
use crate::host::{Host, HostError, LogLevel, slot};
use crate::report::{Alert, AlertLevel, HookError};
use crate::signal;

/// What a chat template puts around each message: role, separators.
const TOKENS_AROUND_A_MESSAGE: u64 = 4;

/// After each step: takes in what is known, raises an alert for each threshold crossed, says what to do.
pub fn usage(host: &mut dyn Host, event: &UsageEvent) -> Result<UsageOutcome, HookError> {
    check_session(&event.session)?;
    let Settings { budget: settings, checkpoint, .. } = load_settings(host)?;
    let (mut tracker, mut notices) = load(host, &event.session)?;
    // The whole context is counted only where the provider did not: it may be large.
    let uncounted = tracker.needs_count(event, &settings) && !event.messages.is_empty();
    let whole = uncounted.then(|| total(&count(host, &event.messages)));
    let added = (!event.added.is_empty()).then(|| total(&count(host, &event.added)));
    let told = tracker.update(event, whole, added, &settings).map_err(HookError::InvalidEvent)?;
    notices.extend(told);
    let crossings = tracker.cross(&settings);
    let status = tracker.status(&settings);
    let alerts: Vec<Alert> = crossings.iter().map(|crossing| alert(crossing, &status)).collect();
    for alert in &alerts {
        host.alert(alert);
    }
    for notice in &notices {
        host.log(LogLevel::Warn, notice);
    }
    save(host, &event.session, &tracker)?;
    let action = crossings.iter().filter(|crossing| !crossing.paused).map(|crossing| crossing.action).max();
    let saves = |crossing: &Crossing| crossing.action >= Action::Checkpoint;
    let checkpoint_due = trigger::due(host, event, crossings.iter().any(saves), &checkpoint)
        .map_err(|error| HookError::Storage(format!("what is known of the checkpoints: {error}")))?;
    let injection = status::injection(&status, &settings);
    Ok(UsageOutcome { status, crossings, action, checkpoint_due, injection, alerts, notices })
}

/// How full the context is. Changes nothing.
pub fn status(host: &mut dyn Host, session: &Session) -> Result<StatusReport, HookError> {
    check_session(session)?;
    let settings = load_settings(host)?.budget;
    let status = load(host, session)?.0.status(&settings);
    Ok(StatusReport { line: status::line(&status), token_state: status::token_state(&status), status })
}

/// Which messages to keep, summarize and drop. Changes nothing.
pub fn plan(host: &mut dyn Host, request: &PlanRequest) -> Result<Plan, HookError> {
    check_session(&request.session)?;
    let settings = load_settings(host)?;
    let (tracker, _) = load(host, &request.session)?;
    let status = tracker.status(&settings.budget);
    let tokens = count(host, &request.messages);
    let event = BeforeCompaction {
        session: request.session.clone(),
        now: request.now,
        messages: reading::messages(&request.messages),
        ..Default::default()
    };
    let ledger = signal::survey(&event, &settings);
    // Where nothing is tracked, the messages themselves tell how full it is.
    let known = status.pct.or_else(|| {
        let limit = status.budget?;
        Some(total(&tokens).tokens as f64 / limit as f64 * 100.0)
    });
    let room = Room { limit: status.budget, pct: known, manual: request.manual };
    Ok(plan::plan(&request.messages, &tokens, &ledger.signals, room, &settings.budget.plan))
}

/// From `before-compaction`: remembers what the compaction began with.
pub fn compaction_began(host: &mut dyn Host, event: &BeforeCompaction) -> Result<(), HookError> {
    let settings = load_settings(host)?.budget;
    let (mut tracker, _) = load(host, &event.session)?;
    tracker.window = event.context_window.filter(|&window| window > 0).or(tracker.window);
    tracker.compaction_began(event, &settings);
    save(host, &event.session, &tracker)
}

/// From `after-compaction`: the count is unknown from now on, and the loop guard judges. Gives notices.
pub fn compaction_ended(host: &mut dyn Host, event: &AfterCompaction) -> Result<Vec<String>, HookError> {
    let settings = load_settings(host)?.budget;
    let (mut tracker, mut notices) = load(host, &event.session)?;
    notices.extend(tracker.compaction_ended(event, &settings));
    save(host, &event.session, &tracker)?;
    Ok(notices)
}

fn alert(crossing: &Crossing, status: &BudgetStatus) -> Alert {
    let (level, code, advice) = match crossing.action {
        _ if crossing.paused => (AlertLevel::Warning, "budget-paused", "compactions did not help and are paused"),
        Action::Warn => (AlertLevel::Info, "budget-warn", "it fills up"),
        Action::Checkpoint => (AlertLevel::Warning, "budget-checkpoint", "save a checkpoint"),
        Action::Compact => (AlertLevel::Warning, "budget-compact", "compact now"),
        Action::Force => (AlertLevel::Critical, "budget-force", "compact before the next request"),
    };
    let pct = crossing.threshold_pct;
    let text = format!("⚠️ Context at {pct}%: {advice}. {}", status::line(status));
    Alert { level, code: code.to_string(), text }
}

/// The length of each message, with what stands around it: counted by the host in one call, or estimated.
fn count(host: &mut dyn Host, messages: &[Message]) -> Vec<Counted> {
    let texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
    let around = |tokens: u32| u64::from(tokens) + TOKENS_AROUND_A_MESSAGE;
    // Asked with nothing first: a host without a tokenizer need not be handed megabytes to say so.
    let counts = host.count_tokens(&[]).and_then(|_| host.count_tokens(&texts));
    match counts {
        Some(counts) if counts.len() == texts.len() => {
            counts.into_iter().map(|tokens| Counted { tokens: around(tokens), by_host: true }).collect()
        }
        _ => texts.iter().map(|text| Counted { tokens: around(estimate(text)), by_host: false }).collect(),
    }
}

fn total(counts: &[Counted]) -> Counted {
    Counted {
        tokens: counts.iter().map(|count| count.tokens).fold(0, u64::saturating_add),
        by_host: counts.iter().all(|count| count.by_host),
    }
}

/// The tracker of the session. One that cannot be read is replaced by an empty one, and that is said.
fn load(host: &mut dyn Host, session: &Session) -> Result<(Tracker, Vec<String>), HookError> {
    let storage = |error: HostError| HookError::Storage(format!("the budget was not loaded: {error}"));
    let Some(bytes) = host.load_state(&session.session_key, slot::BUDGET).map_err(storage)? else {
        return Ok((Tracker::default(), Vec::new()));
    };
    match Tracker::from_bytes(&bytes) {
        Ok(tracker) => Ok((tracker, Vec::new())),
        Err(why) => Ok((Tracker::default(), vec![format!("the saved budget is not readable and begins anew: {why}")])),
    }
}

fn save(host: &mut dyn Host, session: &Session, tracker: &Tracker) -> Result<(), HookError> {
    host.save_state(&session.session_key, slot::BUDGET, &tracker.to_bytes())
        .map_err(|error| HookError::Storage(format!("the budget was not saved: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::budget::event::{ProviderUsage, Source};
    use crate::event::Role;
    use crate::host::{NoteEntry, NotePlace, Retention};
    use std::collections::BTreeMap;

    /// A host in memory; `tokenizer` makes it count one token for each byte.
    #[derive(Default)]
    struct Memory {
        settings: Option<String>,
        tokenizer: bool,
        texts_counted: usize,
        full: bool,
        state: BTreeMap<(String, String), Vec<u8>>,
        alerts: Vec<Alert>,
    }

    impl Host for Memory {
        fn log(&mut self, _: LogLevel, _: &str) {}
        fn alert(&mut self, alert: &Alert) {
            self.alerts.push(alert.clone());
        }
        fn settings(&mut self) -> Option<String> {
            self.settings.clone()
        }
        fn count_tokens(&mut self, texts: &[&str]) -> Option<Vec<u32>> {
            self.texts_counted += texts.len();
            self.tokenizer.then(|| texts.iter().map(|text| text.len() as u32).collect())
        }
        fn load_state(&mut self, key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
            Ok(self.state.get(&(key.to_string(), slot.to_string())).cloned())
        }
        fn save_state(&mut self, key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
            if self.full {
                return Err(HostError::Full("disk".to_string()));
            }
            self.state.insert((key.to_string(), slot.to_string()), bytes.to_vec());
            Ok(())
        }
        fn clear_state(&mut self, key: &str, slot: &str) -> Result<(), HostError> {
            self.state.remove(&(key.to_string(), slot.to_string()));
            Ok(())
        }
        fn read_checkpoint(&mut self, _: &str) -> Result<Option<String>, HostError> {
            Ok(None)
        }
        fn write_checkpoint(&mut self, _: &str, _: &str, _: Retention) -> Result<String, HostError> {
            Err(HostError::Denied("not in this test".to_string()))
        }
        fn read_note(&mut self, _: &str, _: &str) -> Result<Option<String>, HostError> {
            Ok(None)
        }
        fn append_note(&mut self, _: &NoteEntry) -> Result<NotePlace, HostError> {
            Err(HostError::Denied("not in this test".to_string()))
        }
    }

    fn session() -> Session {
        Session { session_key: "agent:main:main".to_string(), ..Default::default() }
    }

    fn event(input: Option<u64>) -> UsageEvent {
        let usage = input.map(|input| ProviderUsage { input, ..Default::default() });
        UsageEvent { session: session(), context_window: Some(100_000), usage, ..Default::default() }
    }

    fn message(id: &str, text: &str) -> Message {
        Message { id: id.to_string(), role: Role::Tool, text: text.to_string(), tool: None, failed: false, at: None }
    }

    #[test]
    fn each_crossing_is_an_alert_once_and_the_strongest_action_is_named() {
        let mut host = Memory::default();
        let outcome = usage(&mut host, &event(Some(86_000))).unwrap();
        assert_eq!(outcome.action, Some(Action::Compact));
        let codes: Vec<_> = host.alerts.iter().map(|alert| alert.code.as_str()).collect();
        assert_eq!(codes, ["budget-warn", "budget-checkpoint", "budget-compact"]);
        assert!(host.alerts[0].text.starts_with("⚠️ Context at 70%"), "{}", host.alerts[0].text);
        let again = usage(&mut host, &event(Some(86_500))).unwrap();
        assert_eq!((again.action, again.crossings.len(), host.alerts.len()), (None, 0, 3));
    }

    #[test]
    fn messages_are_estimated_without_a_tokenizer_and_counted_with_one() {
        let whole = UsageEvent { messages: vec![message("1", "hello hello hello")], ..event(None) };
        let estimated = usage(&mut Memory::default(), &whole).unwrap().status;
        assert_eq!(
            (estimated.used, estimated.source),
            (Some(u64::from(estimate("hello hello hello")) + TOKENS_AROUND_A_MESSAGE), Source::Estimate)
        );
        let counted = usage(&mut Memory { tokenizer: true, ..Default::default() }, &whole).unwrap().status;
        assert_eq!((counted.used, counted.source), (Some(17 + TOKENS_AROUND_A_MESSAGE), Source::Counted));
    }

    #[test]
    fn where_the_provider_counts_only_what_was_added_is_counted() {
        let mut host = Memory { tokenizer: true, ..Default::default() };
        let many = vec![message("1", "x"); 2_000];
        let both = UsageEvent { messages: many, added: vec![message("2", "12345678")], ..event(Some(50_000)) };
        let outcome = usage(&mut host, &both).unwrap();
        assert_eq!((outcome.status.used, outcome.status.source), (Some(50_012), Source::Mixed));
        assert_eq!(host.texts_counted, 1);
    }

    #[test]
    fn a_sum_over_requests_is_not_taken_and_the_messages_are_counted_instead() {
        let mut host = Memory { tokenizer: true, ..Default::default() };
        usage(&mut host, &event(Some(50_000))).unwrap();
        let sum = UsageEvent { messages: vec![message("1", "123456")], ..event(Some(228_000)) };
        let outcome = usage(&mut host, &sum).unwrap();
        assert_eq!((outcome.status.used, outcome.status.source), (Some(10), Source::Counted));
        assert_eq!(outcome.notices.len(), 1);
    }

    #[test]
    fn a_session_without_a_key_bad_settings_and_a_full_disk_are_errors() {
        let nameless = UsageEvent::default();
        assert!(matches!(usage(&mut Memory::default(), &nameless), Err(HookError::InvalidEvent(_))));
        let mut wrong = Memory { settings: Some(r#"{"budget":{"maxFutile":0}}"#.to_string()), ..Default::default() };
        assert!(matches!(usage(&mut wrong, &event(Some(5))), Err(HookError::InvalidSettings(_))));
        let mut full = Memory { full: true, ..Default::default() };
        assert!(matches!(usage(&mut full, &event(Some(5))), Err(HookError::Storage(_))));
    }

    #[test]
    fn a_saved_budget_that_cannot_be_read_begins_anew_and_says_so() {
        let mut host = Memory::default();
        host.save_state("agent:main:main", slot::BUDGET, b"{").unwrap();
        let outcome = usage(&mut host, &event(Some(5_000))).unwrap();
        assert_eq!(outcome.status.used, Some(5_000));
        assert!(outcome.notices[0].contains("not readable"), "{:?}", outcome.notices);
    }

    #[test]
    fn both_compaction_hooks_leave_an_unknown_count_and_one_compaction_more() {
        let mut host = Memory::default();
        usage(&mut host, &event(Some(90_000))).unwrap();
        compaction_began(&mut host, &BeforeCompaction { session: session(), ..Default::default() }).unwrap();
        let after = AfterCompaction { session: session(), tokens_after: Some(88_000), ..Default::default() };
        let notices = compaction_ended(&mut host, &after).unwrap();
        assert_eq!(notices, ["the last compaction freed only 2000 of 100000 tokens"]);
        let status = status(&mut host, &session()).unwrap().status;
        assert_eq!((status.used, status.source, status.compactions), (None, Source::Unknown, 1));
    }

    #[test]
    fn a_plan_adds_up_to_all_messages() {
        let mut host = Memory { tokenizer: true, ..Default::default() };
        let messages: Vec<_> = (0..30).map(|n| message(&n.to_string(), "0123456789")).collect();
        let made = plan(&mut host, &PlanRequest { session: session(), messages, ..Default::default() }).unwrap();
        assert_eq!((made.rows.len(), made.due, made.source), (30, None, Source::Counted));
        assert_eq!((made.tokens_kept, made.tokens_summarized, made.tokens_dropped), (20 * 14, 10 * 14, 0));
    }

    /// The figures of a long session: 500 turns, large tool results thrown in, compaction when the action says so.
    #[test]
    fn five_hundred_turns_with_large_tool_results_never_overflow_when_the_action_is_heeded() {
        let mut host = Memory { tokenizer: true, ..Default::default() };
        let (mut context, mut compactions) = (5_000u64, 0u32);
        for turn in 0..500u64 {
            let size = if turn % 7 == 3 { 25_000 } else { 600 };
            let result = UsageEvent { added: vec![message("t", &"x".repeat(size))], ..event(None) };
            // Room for one large result is kept by the reserve: the limit is 70,000 of 100,000.
            let reserve = Some(30_000);
            let answered = UsageEvent { reserve_tokens: reserve, ..event(Some(context)) };
            let first = usage(&mut host, &answered).unwrap();
            context += size as u64 + TOKENS_AROUND_A_MESSAGE;
            let second = usage(&mut host, &UsageEvent { reserve_tokens: reserve, ..result }).unwrap();
            assert_eq!(second.status.used, Some(context));
            assert!(context <= 100_000, "overflow in turn {turn}: {context}");
            if first.action.max(second.action) >= Some(Action::Compact) {
                compaction_began(&mut host, &BeforeCompaction { session: session(), ..Default::default() }).unwrap();
                compaction_ended(&mut host, &AfterCompaction { session: session(), ..Default::default() }).unwrap();
                (context, compactions) = (8_000, compactions + 1);
            }
        }
        assert!(compactions > 20, "{compactions}");
        let forced = host.alerts.iter().filter(|alert| alert.code == "budget-compact").count() as u32;
        assert_eq!(forced, compactions);
    }
}
