//! What a person sees while a session goes by: the budget line, thresholds, messages in short, audits.

use super::Outcome;
use crate::report::terminal::{self, thousands};
use crate::review::{Reviewed, Reviewer};
use crate::transcript::{Entry, RecordedCompaction, Said};
use anstyle::{AnsiColor, Style};
use anyhow::Result;
use compact_review::budget::event::UsageEvent;
use compact_review::budget::status;
use compact_review::budget::track::{Counted, Tracker};
use compact_review::config::BudgetSettings;
use compact_review::event::{AfterCompaction, Role};
use compact_review::redact::redact;
use std::io::Write;

const DIM: Style = Style::new().dimmed();
const YELLOW: Style = AnsiColor::Yellow.on_default();
/// How much of a message is shown.
const SHOWN: usize = 100;

/// How full the context is while a session goes by.
pub(super) struct Live {
    tracker: Tracker,
    settings: BudgetSettings,
    last: String,
}

impl Live {
    /// `window` is what the person says; the transcript's own word comes first.
    pub(super) fn new(window: Option<u64>) -> Self {
        let settings = BudgetSettings { context_window: window, ..BudgetSettings::default() };
        Live { tracker: Tracker::default(), settings, last: String::new() }
    }

    /// Takes in the state of the context; gives the thresholds that it crossed.
    pub(super) fn update(&mut self, reviewer: &Reviewer<'_>) -> Vec<String> {
        let usage = reviewer.usage.as_ref();
        let event = UsageEvent {
            usage: usage.map(|usage| usage.counted),
            context_window: usage.and_then(|usage| usage.window).filter(|window| *window > 0),
            ..UsageEvent::default()
        };
        let estimated = Counted { tokens: reviewer.tokens(), by_host: false };
        let mut told = match self.tracker.update(&event, Some(estimated), None, &self.settings) {
            Ok(notices) => notices,
            Err(why) => vec![why],
        };
        for crossing in self.tracker.cross(&self.settings) {
            let action = format!("{:?}", crossing.action).to_lowercase();
            told.push(format!("⚠️ Context at {}%: {action}", crossing.threshold_pct));
        }
        told
    }

    /// A compaction took place.
    pub(super) fn compacted(&mut self, reviewed: &Reviewed) {
        let event = AfterCompaction {
            messages_dropped: u32::try_from(reviewed.dropped).ok(),
            tokens_before: Some(reviewed.tokens_before),
            tokens_after: Some(reviewed.tokens_after),
            ..AfterCompaction::default()
        };
        self.tracker.compaction_ended(&event, &self.settings);
    }

    /// So many compactions took place, those included that nobody watched.
    pub(super) fn count(&mut self, compactions: usize) {
        self.tracker.compactions = u32::try_from(compactions).unwrap_or(u32::MAX);
    }

    /// The budget line, where it is another one than last time.
    pub(super) fn line(&mut self) -> Option<String> {
        let line = status::line(&self.tracker.status(&self.settings));
        (line != self.last).then(|| {
            self.last.clone_from(&line);
            line
        })
    }
}

/// One message in one line, without secrets.
pub(super) fn message(out: &mut impl Write, said: &Said) -> Result<()> {
    let who = match said.message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "agent",
        Role::Tool => "tool",
    };
    let head = crate::transcript::cut(&said.message.text, 4 * 1024);
    writeln!(out, "  {DIM}{who:>6}{DIM:#} {}", terminal::plain(&redact(&head), SHOWN))?;
    Ok(())
}

/// What came of a compaction.
pub(super) fn compaction(out: &mut impl Write, reviewed: &Reviewed, top: usize) -> Result<()> {
    let (before, after) = (thousands(reviewed.tokens_before), thousands(reviewed.tokens_after));
    writeln!(
        out,
        "compaction {}: {} messages, {} dropped, {} kept · ~{before} → ~{after} tokens",
        reviewed.number, reviewed.messages_before, reviewed.dropped, reviewed.retained
    )?;
    if let Some(report) = &reviewed.report {
        terminal::audit(out, report, top)?;
    }
    for failure in &reviewed.failures {
        writeln!(out, "  problem {}", terminal::plain(failure, 300))?;
    }
    writeln!(out)?;
    Ok(())
}

/// One entry as it goes by; gives what a compaction was found to be.
pub(super) fn step(
    out: &mut impl Write,
    live: &mut Live,
    reviewer: &mut Reviewer<'_>,
    entry: Entry,
    top: usize,
) -> Result<Option<(RecordedCompaction, Reviewed)>> {
    if let Entry::Message(said) = &entry {
        message(out, said)?;
    }
    let recorded = if let Entry::Compaction(recorded) = &entry { Some(recorded.clone()) } else { None };
    let reviewed = reviewer.take(entry);
    if let Some(reviewed) = &reviewed {
        live.compacted(reviewed);
        writeln!(out, "🧹 Compaction complete")?;
        compaction(out, reviewed, top)?;
    }
    for told in live.update(reviewer) {
        writeln!(out, "{YELLOW}{}{YELLOW:#}", terminal::plain(&told, 200))?;
    }
    if let Some(line) = live.line() {
        writeln!(out, "{line}")?;
    }
    Ok(recorded.zip(reviewed))
}

/// Whether a limit on the score was missed.
pub(super) fn outcome(reviewed: &Reviewed, fail_under: Option<f64>) -> Outcome {
    Outcome::of(reviewed.report.as_ref().and_then(|report| report.score), fail_under)
}
