//! What a hook hands back is bounded too: a gateway must be able to show it.

use super::limits::Limits;
use compact_review::budget::event::{Plan, StatusReport, UsageOutcome};
use compact_review::report::{
    Alert, CheckpointOutcome, Finding, HookError, Recovery, Report, SessionStartOutcome, WriteOutcome,
};

/// A value that can be checked against the limits.
pub(super) trait Bounded {
    /// Names the first field that is over a limit.
    fn check(&self, limits: &Limits) -> Result<(), String>;
}

impl Bounded for () {
    fn check(&self, _limits: &Limits) -> Result<(), String> {
        Ok(())
    }
}

impl Bounded for HookError {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        let (HookError::InvalidEvent(why) | HookError::InvalidSettings(why) | HookError::Storage(why)) = self;
        text("the error of the hook", why, limits)
    }
}

impl Bounded for String {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        text("the settings", self, limits)
    }
}

impl Bounded for Option<Recovery> {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |recovery| text("the recovery text", &recovery.text, limits))
    }
}

impl Bounded for CheckpointOutcome {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        writes(&self.writes, limits)?;
        texts("problems", &self.problems, limits)?;
        texts("notices", &self.notices, limits)
    }
}

impl Bounded for Report {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        let mut scores = self.score.into_iter().chain(self.categories.iter().map(|category| category.score));
        if let Some(score) = scores.find(|score| !(0.0..=100.0).contains(score)) {
            return Err(format!("score must be from 0 to 100: found {score}"));
        }
        text("verdict-reason", &self.verdict_reason, limits)?;
        list("categories", self.categories.len(), limits)?;
        list("lost", self.lost.len(), limits)?;
        self.lost.iter().try_for_each(|finding| check_finding(finding, limits))?;
        list("invented", self.invented.len(), limits)?;
        for invention in &self.invented {
            text("invented.text", &invention.text, limits)?;
            text("invented.summary-says", &invention.summary_says, limits)?;
        }
        alerts(&self.alerts, limits)?;
        self.recovery.check(limits)?;
        writes(&self.writes, limits)?;
        texts("problems", &self.problems, limits)?;
        texts("notices", &self.notices, limits)
    }
}

impl Bounded for SessionStartOutcome {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        self.recovery.check(limits)?;
        text("truncation", self.truncation.as_deref().unwrap_or_default(), limits)?;
        alerts(&self.alerts, limits)?;
        texts("notices", &self.notices, limits)
    }
}

impl Bounded for UsageOutcome {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        percentage(self.status.pct)?;
        list("crossings", self.crossings.len(), limits)?;
        text("injection", self.injection.as_deref().unwrap_or_default(), limits)?;
        alerts(&self.alerts, limits)?;
        texts("notices", &self.notices, limits)
    }
}

impl Bounded for StatusReport {
    fn check(&self, limits: &Limits) -> Result<(), String> {
        percentage(self.status.pct)?;
        text("line", &self.line, limits)?;
        text("token-state", self.token_state.as_deref().unwrap_or_default(), limits)
    }
}

impl Bounded for Plan {
    /// A plan has a row for each message: their number is checked where the messages are known.
    fn check(&self, limits: &Limits) -> Result<(), String> {
        text("summary-prefix", &self.summary_prefix, limits)?;
        text("instructions", &self.instructions, limits)?;
        self.rows.iter().try_for_each(|row| {
            text("rows.message-id", &row.message_id, limits)?;
            text("rows.why", &row.why, limits)
        })
    }
}

fn check_finding(finding: &Finding, limits: &Limits) -> Result<(), String> {
    if !(0.0..=1.0).contains(&finding.salience) {
        return Err(format!("lost.salience must be from 0 to 1: found {}", finding.salience));
    }
    text("lost.id", &finding.id, limits)?;
    text("lost.text", &finding.text, limits)?;
    text("lost.message-id", &finding.message_id, limits)?;
    text("lost.summary-says", finding.summary_says.as_deref().unwrap_or_default(), limits)?;
    texts("lost.values", &finding.values, limits)?;
    texts("lost.why", &finding.why, limits)
}

fn percentage(pct: Option<f64>) -> Result<(), String> {
    match pct {
        Some(pct) if !(pct.is_finite() && pct >= 0.0) => Err(format!("pct must be a number from 0: found {pct}")),
        _ => Ok(()),
    }
}

fn alerts(alerts: &[Alert], limits: &Limits) -> Result<(), String> {
    list("alerts", alerts.len(), limits)?;
    alerts.iter().try_for_each(|alert| {
        text("alerts.code", &alert.code, limits)?;
        text("alerts.text", &alert.text, limits)
    })
}

fn writes(outcomes: &[WriteOutcome], limits: &Limits) -> Result<(), String> {
    list("writes", outcomes.len(), limits)?;
    outcomes.iter().try_for_each(|outcome| {
        text("writes.place", outcome.place.as_deref().unwrap_or_default(), limits)?;
        text("writes.error", outcome.error.as_deref().unwrap_or_default(), limits)?;
        text("writes.text", &outcome.text, limits)
    })
}

fn texts(field: &str, values: &[String], limits: &Limits) -> Result<(), String> {
    list(field, values.len(), limits)?;
    values.iter().try_for_each(|value| text(field, value, limits))
}

fn text(field: &str, value: &str, limits: &Limits) -> Result<(), String> {
    if value.len() > limits.text {
        return Err(format!("{field} has {} bytes, the limit is {}", value.len(), limits.text));
    }
    Ok(())
}

fn list(field: &str, length: usize, limits: &Limits) -> Result<(), String> {
    if length > limits.list {
        return Err(format!("{field} has {length} entries, the limit is {}", limits.list));
    }
    Ok(())
}
