//! Whole hooks: a compaction from its JSON or from a conversation, settings, estimates of tokens.

use crate::host::TestHost;
use crate::{input, written};
use compact_review::budget::estimate;
use compact_review::config::Settings;
use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, SessionStart};
use compact_review::hooks;
use compact_review::report::Report;
use serde::Deserialize;

/// What `audit EVENTS.json` reads.
#[derive(Deserialize)]
struct Events {
    #[serde(default)]
    before: Option<BeforeCompaction>,
    after: AfterCompaction,
}

/// The events of one compaction as JSON: both hooks, then the next prompt and the next start.
pub fn events(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(events) = serde_json::from_str::<Events>(text) else { return };
    let report = compaction(&mut TestHost::default(), events.before.as_ref(), &events.after);
    if let Some(report) = report {
        let json = serde_json::to_string(&report).expect("a report is JSON");
        let back: Report = serde_json::from_str(&json).expect("its JSON is a report");
        assert_eq!(back, report);
    }
}

/// A conversation with its summary, then the same again: equal bytes, and nothing in it forges what is written.
pub fn conversation(data: &[u8]) {
    let text = input::text(data);
    let (before, after) = input::compaction(&text);
    let (mut first, mut second) = (TestHost::default(), TestHost::default());
    let report = compaction(&mut first, Some(&before), &after);
    assert_eq!(report, compaction(&mut second, Some(&before), &after), "the same event gives the same report");
    assert_eq!(first.said, second.said);
}

/// Runs a compaction through every hook around it, and looks at all that was written.
fn compaction(host: &mut TestHost, before: Option<&BeforeCompaction>, after: &AfterCompaction) -> Option<Report> {
    if let Some(before) = before
        && let Ok(outcome) = hooks::before_compaction(host, before)
    {
        outcome.writes.iter().for_each(written::check_write);
    }
    let report = hooks::after_compaction(host, after).ok()?;
    assert!(report.score.is_none_or(|score| (0.0..=100.0).contains(&score)), "{:?}", report.score);
    for category in &report.categories {
        assert!((0.0..=100.0).contains(&category.score), "{category:?}");
    }
    for finding in &report.lost {
        assert!((0.0..=1.0).contains(&finding.salience), "{finding:?}");
        written::check_no_secret(&finding.text);
    }
    report.writes.iter().for_each(written::check_write);
    if let Some(recovery) = &report.recovery {
        written::check_fenced(&recovery.text);
        assert!(recovery.tokens <= Settings::default().recovery.max_tokens, "{}", recovery.tokens);
    }
    let now = LocalTime { unix_ms: after.now.unix_ms.saturating_add(1), ..after.now };
    let prompt = hooks::before_prompt(host, &after.session, now).expect("the state is ours");
    if let Some(recovery) = &prompt {
        written::check_recovery(&recovery.text);
        assert!(recovery.tokens <= Settings::default().recovery.max_tokens, "{}", recovery.tokens);
    }
    assert_eq!(hooks::before_prompt(host, &after.session, now), Ok(None), "it is handed out once");
    let start = SessionStart {
        session: after.session.clone(),
        now,
        message_count: after.messages_retained,
        message_ids: Vec::new(),
    };
    let started = hooks::session_start(host, &start).expect("the state is ours");
    if let Some(recovery) = started.recovery {
        written::check_recovery(&recovery.text);
    }
    host.said.iter().for_each(|line| written::check_no_secret(line));
    Some(report)
}

/// Settings: whatever is accepted reads back as itself, and the hooks run with it.
pub fn settings(data: &[u8]) {
    let Ok(json) = std::str::from_utf8(data) else { return };
    let Ok(settings) = Settings::parse(Some(json)) else { return };
    let effective = settings.to_json();
    let again = Settings::parse(Some(&effective)).expect("effective settings are settings");
    assert_eq!(again.to_json(), effective);
    let (before, after) = input::compaction(SESSION);
    let mut host = TestHost { settings: Some(json.to_string()), ..TestHost::default() };
    hooks::before_compaction(&mut host, &before).expect("these settings were accepted");
    let report = hooks::after_compaction(&mut host, &after).expect("these settings were accepted");
    assert!(report.lost.len() <= settings.audit.max_findings as usize);
    if let Some(recovery) = &report.recovery {
        assert!(recovery.tokens <= settings.recovery.max_tokens, "{}", recovery.tokens);
    }
    hooks::before_prompt(&mut host, &after.session, after.now).expect("these settings were accepted");
}

/// Enough to lose for every setting to have something to do.
const SESSION: &str = "u:Never deploy on Fridays. Always run `make smoke` on db-7.example.org:5433 first.\n%%\n\
    a:We decided to use axum because it is maintained. Next step: migrate src/main.rs and 0042_split.sql.\n%%\n\
    f:error: connection refused (os error 111)\n%%\nu:Which region?\n%%\nThe work went on.";

/// The estimate of tokens: the pieces are a partition of the text, and the number is of its size.
pub fn tokens(data: &[u8]) {
    let text = input::text(data);
    let whole = estimate::estimate(&text);
    assert_eq!(whole == 0, text.is_empty());
    assert!(whole as usize <= 4 * text.len(), "{whole} tokens in {} bytes", text.len());
    let mut last = 0;
    estimate::scan(&text, |cell, end| {
        assert!(cell < estimate::CELLS && last < end && text.is_char_boundary(end), "{cell}: {last}..{end}");
        last = end;
    });
    assert_eq!(last, text.len());
    // A cut costs the piece in which it falls, not more.
    let half = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(half);
    let sum = estimate::estimate(first) + estimate::estimate(second);
    assert!(sum * 2 + 64 >= whole, "{sum} in two halves, {whole} in one piece");
}
