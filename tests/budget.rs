//! The token budget through the component and the simulated gateway: nothing overflows that could be foreseen, and what
//! is said about the context is true.

mod commands;
mod prose;

use crate::support::{KEY, NOW, component, services, session};
use compact_review::budget::estimate::estimate;
use compact_review::budget::event::{ProviderUsage, Source, UsageEvent};
use compact_review::config::Action;
use compact_review::event::{AfterCompaction, Message, Reason, Role, Session};
use host_harness::gateway::{
    BudgetPolicy, ByRule, Fault, Gateway, GatewayConfig, GatewaySession, ProviderReport, Step, Strategy, Summarizer,
};
use host_harness::runtime::{CallError, Services, SharedNotes};
use host_harness::tokens::TokenCounter;
use std::sync::{Arc, Mutex};

const WINDOW: u64 = 131_072;

fn live(policy: BudgetPolicy) -> GatewayConfig {
    GatewayConfig { context_window: WINDOW, budget: Some(policy), ..Default::default() }
}

fn gateway(config: GatewayConfig, services: &Services) -> Gateway {
    Gateway::new(component(), services.clone(), config)
}

fn with_settings(json: &str) -> Services {
    Services { settings: Some(json.to_string()), ..services() }
}

fn message(id: impl std::fmt::Display, role: Role, text: impl Into<String>) -> Message {
    let tool = (role == Role::Tool).then(|| "bash".to_string());
    Message { id: format!("m{id}"), role, text: text.into(), tool, failed: false, at: Some(NOW.unix_ms) }
}

fn empty_session() -> GatewaySession {
    GatewaySession::new(Session { session_key: KEY.to_string(), ..Default::default() })
}

/// A log of about so many tokens.
fn log(tokens: u32, seed: usize) -> String {
    let mut text = String::new();
    for line in 0.. {
        text += &format!("{line} request {seed} to /api/orders/{} took {} ms\n", line * 7 % 991, line % 83);
        if line % 100 == 0 && estimate(&text) >= tokens {
            return text;
        }
    }
    text
}

/// One turn: the user asks, the agent calls a tool, the tool answers, the agent answers.
fn turn(number: usize, large: &str) -> [Message; 4] {
    let ask = if number.is_multiple_of(10) {
        format!("We decided to keep shard {number} on db-{number}.example.internal, because it is the slow one.")
    } else {
        format!("Have a look at shard {number}.")
    };
    let result = if number % 7 == 3 { large.to_string() } else { log(150, number) };
    [
        message(format!("{number}-ask"), Role::User, ask),
        message(format!("{number}-call"), Role::Assistant, format!("bash {{\"command\":\"tail shard-{number}.log\"}}")),
        message(format!("{number}-log"), Role::Tool, result),
        message(format!("{number}-answer"), Role::Assistant, format!("Shard {number} answers within its limits.")),
    ]
}

/// Each threshold fires when it is reached from below, once, and again only after 5 points below it: kept apart from the
/// code that is tested.
#[derive(Default)]
struct Oracle {
    fired: Vec<u32>,
}

impl Oracle {
    fn check(&mut self, step: &Step) {
        let Some(usage) = &step.usage else { return };
        let (Some(used), Some(budget)) = (usage.status.used, usage.status.budget) else { return };
        self.fired.retain(|pct| used * 100 >= budget * u64::from(pct - 5));
        let reached = [70, 80, 85, 95, 100].into_iter().filter(|pct| used * 100 >= budget * u64::from(*pct));
        let expected: Vec<u32> = reached.filter(|pct| !self.fired.contains(pct)).collect();
        let told: Vec<u32> = usage.crossings.iter().map(|crossing| crossing.threshold_pct).collect();
        assert_eq!(told, expected, "at {used} of {budget}");
        assert_eq!(usage.alerts.len(), told.len(), "one alert a crossing");
        self.fired.extend(expected);
    }
}

/// Plays 500 turns; `seen` gets each step and the session after it.
fn play(gateway: &Gateway, summarizer: &dyn Summarizer, mut seen: impl FnMut(&Step, &GatewaySession)) {
    let mut session = empty_session();
    let large = log(25_000, 0);
    for number in 0..500 {
        for message in turn(number, &large) {
            let step = gateway.step(&mut session, message, NOW, summarizer);
            assert!(step.failures.is_empty(), "{:?}", step.failures);
            for done in &step.compactions {
                assert!(done.failures.is_empty(), "{:?}", done.failures);
            }
            seen(&step, &session);
        }
    }
}

#[test]
fn five_hundred_turns_with_large_results_never_overflow_and_each_crossing_is_told_once() {
    for provider in [ProviderReport::CacheApart, ProviderReport::Nothing] {
        let services = services();
        let gateway = gateway(live(BudgetPolicy { provider, ..Default::default() }), &services);
        let (mut oracle, mut reasons, mut fullest) = (Oracle::default(), Vec::new(), 0);
        play(&gateway, &ByRule, |step, session| {
            oracle.check(step);
            reasons.extend(step.compactions.iter().map(|done| done.reason));
            assert!(!step.refused);
            assert_eq!(step.status().unwrap().used, Some(session.tokens()), "the plugin knows what is there");
            fullest = fullest.max(session.tokens());
        });
        assert!(reasons.len() > 10 && reasons.iter().all(|reason| *reason == Reason::Threshold), "{reasons:?}");
        assert!(fullest > WINDOW * 85 / 100, "it was tight: {fullest}");
        let status = component().status(&services, &empty_session().session).result.unwrap().status;
        assert_eq!(status.compactions as usize, reasons.len());
    }
}

/// Summarizes by rule, and writes down which checkpoint stood when it was asked.
struct Watching {
    notes: SharedNotes,
    checkpoints: Mutex<Vec<Option<String>>>,
}

impl Summarizer for Watching {
    fn summarize(&self, messages: &[Message]) -> Result<String, String> {
        ByRule.summarize(messages)
    }

    fn summarize_as_told(&self, messages: &[Message], instructions: &str) -> Result<String, String> {
        let checkpoint = self.notes.lock().unwrap().read_checkpoint(KEY).unwrap();
        self.checkpoints.lock().unwrap().push(checkpoint);
        ByRule.summarize_as_told(messages, instructions)
    }
}

#[test]
fn without_proactive_compaction_the_overflow_path_writes_its_checkpoint_first() {
    let services = services();
    let config = live(BudgetPolicy { proactive: false, ..Default::default() });
    let gateway = gateway(config, &services);
    let watching = Watching { notes: services.notes.clone(), checkpoints: Mutex::default() };
    let (mut oracle, mut written) = (Oracle::default(), Vec::new());
    play(&gateway, &watching, |step, _| {
        oracle.check(step);
        for done in &step.compactions {
            assert_eq!(done.reason, Reason::Overflow);
            assert!(done.tokens_before > WINDOW);
            written.push(Some(done.before.answer().unwrap().writes[0].text.clone()));
        }
        assert!(!step.refused, "the retry goes through");
    });
    assert!(written.len() > 10, "{}", written.len());
    assert_eq!(*watching.checkpoints.lock().unwrap(), written, "it stood before the summary was asked for");
}

#[test]
fn a_checkpoint_is_written_when_its_threshold_is_crossed_and_no_compaction_follows() {
    let services = services();
    let gateway = gateway(live(BudgetPolicy::default()), &services);
    let mut session = empty_session();
    gateway.step(&mut session, message(0, Role::User, "Never touch the shard db-3."), NOW, &ByRule);
    let step = gateway.step(&mut session, message(1, Role::Tool, log(106_000, 1)), NOW, &ByRule);
    assert_eq!(step.usage.as_ref().unwrap().action, Some(Action::Checkpoint), "{:?}", step.status());
    assert!(step.checkpoint.is_some() && step.compactions.is_empty());
    let checkpoint = services.notes.lock().unwrap().read_checkpoint(KEY).unwrap().unwrap();
    assert!(checkpoint.contains("Never touch the shard db-3"), "{checkpoint}");
}

#[test]
fn both_ways_to_report_a_cache_give_the_context_and_never_a_sum() {
    let used = [ProviderReport::CacheApart, ProviderReport::CacheIncluded].map(|provider| {
        let gateway = gateway(live(BudgetPolicy { provider, ..Default::default() }), &services());
        let mut session = empty_session();
        let mut last = None;
        for number in 0..5 {
            for message in turn(number, "") {
                last = gateway.step(&mut session, message, NOW, &ByRule).usage;
            }
        }
        let status = last.unwrap().status;
        assert_eq!((status.used, status.source), (Some(session.tokens()), Source::Provider));
        status.used
    });
    assert_eq!(used[0], used[1]);
}

#[test]
fn a_result_between_two_requests_counts_at_once_and_forces_a_compaction_before_the_next() {
    let gateway = gateway(live(BudgetPolicy::default()), &services());
    let mut session = empty_session();
    for number in 0..20 {
        for message in turn(number, "short") {
            gateway.step(&mut session, message, NOW, &ByRule);
        }
    }
    let filler = gateway.step(&mut session, message("f", Role::Tool, log(80_000, 1)), NOW, &ByRule);
    assert!(filler.usage.unwrap().action < Some(Action::Compact));
    gateway.step(&mut session, message("seen", Role::Assistant, "Read. Now the other log."), NOW, &ByRule);
    let result = gateway.step(&mut session, message("t", Role::Tool, log(50_000, 2)), NOW, &ByRule);
    let usage = result.usage.unwrap();
    assert_eq!((usage.action, usage.status.source), (Some(Action::Force), Source::Mixed));
    assert!(usage.status.pct.unwrap() > 100.0 && usage.status.remaining == Some(0), "{:?}", usage.status);
    let answer = gateway.step(&mut session, message("a", Role::Assistant, "That was a lot."), NOW, &ByRule);
    assert_eq!(answer.compactions.len(), 1);
    assert_eq!(answer.compactions[0].reason, Reason::Threshold, "no request was refused");
    assert!(!answer.refused);
}

#[test]
fn after_a_compaction_the_count_is_unknown_until_something_fresh_comes() {
    let services = services();
    let gateway = gateway(live(BudgetPolicy::default()), &services);
    let mut session = empty_session();
    for number in 0..12 {
        for message in turn(number, "short") {
            gateway.step(&mut session, message, NOW, &ByRule);
        }
    }
    gateway.compact(&mut session, Reason::Manual, NOW, &ByRule);
    let status = |services: &Services| component().status(services, &empty_session().session).result.unwrap();
    let report = status(&services);
    assert_eq!((report.status.used, report.status.source, report.status.compactions), (None, Source::Unknown, 1));
    assert_eq!(report.line, "📚 Context: ?/131,072 (?%) · 🧹 Compactions: 1");
    let next = gateway.step(&mut session, message("next", Role::User, "Go on."), NOW, &ByRule);
    assert_eq!(next.status().unwrap().used, Some(session.tokens()));
    assert!(status(&services).line.starts_with("📚 Context: ~"), "an estimate is marked");
}

#[test]
fn another_model_has_another_window() {
    let mut gateway =
        gateway(live(BudgetPolicy { model: Some("large".to_string()), ..Default::default() }), &services());
    let mut session = empty_session();
    gateway.step(&mut session, message(0, Role::User, log(20_000, 0)), NOW, &ByRule);
    gateway.switch_model("small", 32_000);
    let step = gateway.step(&mut session, message(1, Role::User, "Go on."), NOW, &ByRule);
    let usage = step.usage.unwrap();
    assert_eq!(
        (usage.status.budget, usage.notices.as_slice()),
        (Some(32_000), ["the model was switched from large to small".to_string()].as_slice())
    );
    assert!(usage.status.pct.unwrap() > 60.0);
}

/// Remembers what it was told.
#[derive(Default)]
struct Told(Mutex<Vec<(usize, String)>>);

impl Summarizer for Told {
    fn summarize(&self, _: &[Message]) -> Result<String, String> {
        Err("there should be instructions".to_string())
    }

    fn summarize_as_told(&self, messages: &[Message], instructions: &str) -> Result<String, String> {
        self.0.lock().unwrap().push((messages.len(), instructions.to_string()));
        Ok("The work goes on.".to_string())
    }
}

#[test]
fn a_compaction_follows_the_plan_and_hands_its_instructions_to_the_summarizer() {
    let services = with_settings(
        r#"{"budget": {"plan": {"headProtection": 2, "tailProtection": 1, "summaryPrefix": "[SO FAR]"}}}"#,
    );
    let gateway = gateway(live(BudgetPolicy::default()), &services);
    let mut session = session();
    session.push(message("ok", Role::User, "ok, got it"));
    session.push(message("last", Role::Assistant, "On it."));
    let told = Told::default();
    let done = gateway.compact(&mut session, Reason::Manual, NOW, &told);
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    let plan = done.plan.as_ref().unwrap();
    assert_eq!((plan.due, plan.rows.len(), done.strategy), (Some(true), 10, Strategy::Summarize));
    assert_eq!(done.messages_before, done.dropped + done.retained);
    let ids: Vec<&str> = session.messages.iter().map(|message| message.id.as_str()).collect();
    assert!(ids.starts_with(&["m0", "compaction-1"]) && ids.ends_with(&["mok", "mlast"]), "{ids:?}");
    assert!(session.messages[1].text.starts_with("[SO FAR]\n\nThe work goes on."), "{}", session.messages[1].text);
    let told = told.0.lock().unwrap();
    assert!(told[0].1.contains("Begin the summary with this line:\n[SO FAR]"), "{}", told[0].1);
    assert!(told[0].1.contains("api:4.8.2"), "{}", told[0].1);
    assert_eq!(done.on_hook_error, host_harness::gateway::OnHookError::Warn, "the policy stays visible");
}

#[test]
fn the_strategy_of_the_settings_is_the_one_of_the_gateway() {
    for (name, strategy) in [("discard", Strategy::Discard), ("truncate", Strategy::Truncate)] {
        let services = with_settings(&format!(
            r#"{{"budget": {{"plan": {{"strategy": "{name}", "headProtection": 2, "tailProtection": 0}}}}}}"#
        ));
        let config = GatewayConfig { context_window: 60, ..live(BudgetPolicy::default()) };
        let gateway = gateway(config, &services);
        let mut session = session();
        let done = gateway.compact(&mut session, Reason::Manual, NOW, &ByRule);
        assert_eq!((done.strategy, done.summary.as_deref()), (strategy, Some("")));
        assert!(done.dropped > 0 && session.messages.iter().all(|message| message.role != Role::System), "{name}");
    }
}

#[test]
fn the_agent_can_call_the_tool_compact() {
    let services = with_settings(r#"{"budget": {"plan": {"headProtection": 2, "tailProtection": 0}}}"#);
    let gateway = gateway(live(BudgetPolicy::default()), &services);
    let mut session = session();
    session.push(message("call", Role::Assistant, "compact {}"));
    let step = gateway.tool_call(&mut session, "compact", "answer".to_string(), NOW, &ByRule).unwrap();
    let done = &step.compactions[0];
    assert_eq!((done.reason, done.plan.as_ref().unwrap().due), (Reason::Manual, Some(true)));
    assert!(done.before.answer().unwrap().writes[0].place.is_some(), "its checkpoint too");
    let answer = session.messages.last().unwrap();
    assert_eq!((answer.id.as_str(), answer.role, answer.tool.as_deref()), ("answer", Role::Tool, Some("compact")));
    assert!(answer.text.starts_with("compacted: "), "{}", answer.text);
    assert_eq!(session.messages[session.messages.len() - 2].id, "mcall", "the call stands before its answer");

    let status = gateway.tool_call(&mut session, "session_status", "s".to_string(), NOW, &ByRule).unwrap();
    assert!(status.compactions.is_empty());
    assert!(session.messages.last().unwrap().text.contains("🧹 Compactions: 1"), "{:?}", session.messages.last());
    let unknown = gateway.tool_call(&mut session, "dance", "x".to_string(), NOW, &ByRule).unwrap_err();
    assert_eq!(unknown, "no tool \"dance\"; the gateway's own are compact, session_status");
}

/// Summaries as long as what they replace.
struct Wordy;

impl Summarizer for Wordy {
    fn summarize(&self, messages: &[Message]) -> Result<String, String> {
        Ok(messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n"))
    }
}

#[test]
fn compactions_that_free_nothing_are_reported_and_pause() {
    let gateway = gateway(live(BudgetPolicy::default()), &services());
    let mut session = empty_session();
    let (mut notices, mut held_back) = (Vec::new(), Vec::new());
    for number in 0..60 {
        let ask = message(format!("{number}-ask"), Role::User, log(3_000, number));
        let answer = message(format!("{number}-answer"), Role::Assistant, format!("Shard {number} is fine."));
        for message in [ask, answer] {
            let step = gateway.step(&mut session, message, NOW, &Wordy);
            let reports = step.compactions.iter().filter_map(|done| done.report());
            notices.extend(reports.flat_map(|report| report.notices.clone()));
            notices.extend(step.usage.iter().flat_map(|usage| usage.notices.clone()));
            held_back
                .extend(step.usage.into_iter().flat_map(|usage| usage.crossings).filter(|crossing| crossing.paused));
        }
    }
    assert!(notices.iter().any(|notice| notice.contains("freed only")), "{notices:?}");
    assert!(notices.iter().any(|notice| notice.contains("proactive compactions pause")), "{notices:?}");
    assert!(held_back.iter().all(|crossing| crossing.action == Action::Compact), "{held_back:?}");
}

#[test]
fn a_failed_usage_hook_is_told_and_the_session_goes_on() {
    let config = GatewayConfig { fault: Some(Fault::HookError), ..live(BudgetPolicy::default()) };
    let gateway = gateway(config, &services());
    let mut session = empty_session();
    let step = gateway.step(&mut session, message(0, Role::User, "Hello."), NOW, &ByRule);
    assert_eq!(step.failures, ["usage: the hook failed on purpose"]);
    assert_eq!((session.messages.len(), step.usage), (1, None));
}

#[test]
fn one_more_message_costs_one_message_through_the_component() {
    let counter = Arc::new(Mutex::new(TokenCounter::open("o200k").unwrap()));
    let services = Services { tokens: Some(counter.clone()), ..services() };
    let mut messages: Vec<Message> =
        (0..2_000).map(|n| message(n, Role::User, format!("message {n} of a long session"))).collect();
    let tell = |messages: &[Message]| {
        let event = UsageEvent {
            session: empty_session().session,
            context_window: Some(WINDOW),
            messages: messages.to_vec(),
            ..Default::default()
        };
        component().usage(&services, &event).result.unwrap().status
    };
    assert_eq!(tell(&messages).source, Source::Counted);
    assert_eq!(counter.lock().unwrap().counted(), 2_000);
    messages.push(message(2_000, Role::User, "one more"));
    tell(&messages);
    assert_eq!(counter.lock().unwrap().counted(), 2_001);
}

#[test]
fn summary_tokens_are_checked_by_the_tokenizer_and_corrected_with_a_note() {
    let counter = Arc::new(Mutex::new(TokenCounter::open("o200k").unwrap()));
    let counting = Services { tokens: Some(counter), ..services() };
    let report = |services: &Services, tokens| {
        let event = AfterCompaction { summary_tokens: Some(tokens), ..crate::support::after(Some("hello world")) };
        component().after_compaction(services, &event).result.unwrap()
    };
    let corrected = report(&counting, 900);
    assert_eq!(corrected.summary_tokens, Some(2));
    let note = "summaryTokens was 900; the tokenizer counts 2, which is used".to_string();
    assert!(corrected.notices.contains(&note), "{:?}", corrected.notices);
    assert!(!report(&counting, 2).notices.iter().any(|notice| notice.contains("summaryTokens")));
    assert_eq!(report(&services(), 900).summary_tokens, Some(900), "an estimate corrects nothing");
}

#[test]
fn the_state_is_injected_only_where_the_settings_ask_for_it() {
    let event = UsageEvent {
        session: empty_session().session,
        context_window: Some(WINDOW),
        usage: Some(ProviderUsage { input: 100_000, ..Default::default() }),
        ..Default::default()
    };
    assert_eq!(component().usage(&services(), &event).result.unwrap().injection, None);
    let asked = with_settings(r#"{"budget": {"injectState": true, "injectHint": true}}"#);
    let injection = component().usage(&asked, &event).result.unwrap().injection.unwrap();
    assert!(injection.starts_with("[TOKEN_STATE: 100000/131072 (76.2%)]\n[CONTEXT: 76.2% full"), "{injection}");
}

// ---- bad input -------------------------------------------------------------------------------------------------

fn tell(services: &Services, event: UsageEvent) -> Result<compact_review::budget::event::UsageOutcome, CallError> {
    let event = UsageEvent { session: empty_session().session, ..event };
    component().usage(services, &event).result
}

#[test]
fn usage_of_nothing_or_more_than_the_window_is_unknown_and_said() {
    let reported = |input| UsageEvent {
        usage: Some(ProviderUsage { input, ..Default::default() }),
        context_window: Some(100_000),
        ..Default::default()
    };
    for (input, says) in [(0, "a prompt of 0 tokens"), (228_000, "a sum over several requests")] {
        let outcome = tell(&services(), reported(input)).unwrap();
        assert_eq!((outcome.status.used, outcome.status.source), (None, Source::Unknown), "{input}");
        assert!(outcome.notices[0].contains(says), "{:?}", outcome.notices);
        assert!(outcome.crossings.is_empty());
    }
    let full = tell(&services(), reported(100_000)).unwrap();
    assert_eq!((full.status.pct, full.status.remaining), (Some(100.0), Some(0)));
}

#[test]
fn without_a_window_there_is_a_count_and_no_percentage() {
    let event = UsageEvent { usage: Some(ProviderUsage { input: 5_000, ..Default::default() }), ..Default::default() };
    let services = services();
    let status = tell(&services, event).unwrap().status;
    assert_eq!((status.used, status.budget, status.remaining, status.pct), (Some(5_000), None, None, None));
    let report = component().status(&services, &empty_session().session).result.unwrap();
    assert_eq!((report.line.as_str(), report.token_state), ("📚 Context: 5,000/? (?%) · 🧹 Compactions: 0", None));
}

#[test]
fn a_window_of_nothing_or_within_its_reserve_is_an_error() {
    let window = |window, reserve| UsageEvent {
        context_window: Some(window),
        reserve_tokens: reserve,
        usage: Some(ProviderUsage { input: 1, ..Default::default() }),
        ..Default::default()
    };
    for (event, says) in [
        (window(0, None), "contextWindow is 0"),
        (window(8_000, Some(8_000)), "the context window (8000) must be above the reserve (8000)"),
        (window(8_000, Some(9_000)), "must be above the reserve (9000)"),
    ] {
        let error = tell(&services(), event).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn thresholds_out_of_order_or_above_100_are_refused_by_name() {
    for (json, says) in [
        (r#"[{"pct": 80, "action": "warn"}, {"pct": 70, "action": "force"}]"#, "budget.thresholds must rise"),
        (r#"[{"pct": 101, "action": "warn"}]"#, "budget.thresholds[0].pct must be from 1 to 100: found 101"),
        (r#"[]"#, "budget.thresholds: their number must be from 1 to 16"),
    ] {
        let settings = format!(r#"{{"budget": {{"thresholds": {json}}}}}"#);
        let error = component().configure(&services(), &settings).result.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        let error = tell(&with_settings(&settings), UsageEvent::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
