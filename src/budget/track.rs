//! The state of one session: what is used, which thresholds have fired, and whether compactions help at all.
//! It lives in a host slot between two events.

use super::event::{BudgetStatus, Crossing, ProviderUsage, Source, UsageEvent};
use crate::config::{Action, BudgetSettings};
use crate::event::{AfterCompaction, BeforeCompaction, Reason};
use serde::{Deserialize, Serialize};

/// What is known about the context of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tracker {
    /// The model that answers.
    pub model: Option<String>,
    /// Its window, as the gateway told.
    pub window: Option<u64>,
    /// The reserve, as the gateway told.
    pub reserve: Option<u64>,
    /// The context in tokens.
    pub used: Option<u64>,
    /// Where `used` comes from.
    pub source: Source,
    /// The thresholds that have fired and not been re-armed.
    pub fired: Vec<u32>,
    /// How many compactions there were.
    pub compactions: u32,
    /// The context before a compaction whose effect is not known yet.
    pub unjudged: Option<Unjudged>,
    /// How many of the last compactions in a row were futile or premature.
    pub futile: u32,
    /// Proactive compactions are held back.
    pub paused: bool,
}

/// A compaction whose effect is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unjudged {
    /// The context before it.
    pub before: u64,
    /// It came far below the thresholds, and nobody asked for it.
    pub premature: bool,
    /// It is over: the next count tells what it freed.
    pub ended: bool,
}

/// Tokens of messages, counted or estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many.
    pub tokens: u64,
    /// Whether the host counted them.
    pub by_host: bool,
}

impl Tracker {
    /// From the host.
    pub fn from_bytes(bytes: &[u8]) -> Result<Tracker, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    /// For the host to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The effective limit; `None` where the window is unknown, an error where the reserve leaves nothing of it.
    pub fn limit(&self, settings: &BudgetSettings) -> Result<Option<u64>, String> {
        let Some(window) = self.window.or(settings.context_window) else { return Ok(None) };
        let reserve = self.reserve.unwrap_or(settings.reserve_tokens);
        match window.checked_sub(reserve) {
            Some(limit) if limit > 0 => Ok(Some(limit)),
            _ => Err(format!("the context window ({window}) must be above the reserve ({reserve})")),
        }
    }

    /// How full it is. A window that its reserve uses up has no percentage.
    pub fn status(&self, settings: &BudgetSettings) -> BudgetStatus {
        let budget = self.limit(settings).unwrap_or(None);
        let both = self.used.zip(budget);
        BudgetStatus {
            used: self.used,
            budget,
            remaining: both.map(|(used, limit)| limit.saturating_sub(used)),
            pct: both.map(|(used, limit)| libm::floor(used as f64 / limit as f64 * 1000.0) / 10.0),
            source: self.source,
            compactions: self.compactions,
        }
    }

    /// Whether the provider's usage in the event, if any, tells nothing, so that the messages must be counted.
    pub fn needs_count(&self, event: &UsageEvent, settings: &BudgetSettings) -> bool {
        let mut next = self.clone();
        if next.take_model(event, &mut Vec::new()).is_err() {
            return false;
        }
        let window = next.window.or(settings.context_window);
        event.usage.and_then(|usage| plausible(usage, window, &mut Vec::new())).is_none()
    }

    /// Takes in an event. `whole` and `added` are the lengths of the messages in it, where it has any. Gives notices.
    pub fn update(
        &mut self,
        event: &UsageEvent,
        whole: Option<Counted>,
        added: Option<Counted>,
        settings: &BudgetSettings,
    ) -> Result<Vec<String>, String> {
        let mut notices = Vec::new();
        let mut next = self.clone();
        next.take_model(event, &mut notices)?;
        let limit = next.limit(settings)?;
        let window = next.window.or(settings.context_window);
        let reported = event.usage.and_then(|usage| plausible(usage, window, &mut notices));
        match (reported, whole) {
            (Some(context), _) => (next.used, next.source) = (Some(context), Source::Provider),
            (None, Some(count)) => {
                let source = if count.by_host { Source::Counted } else { Source::Estimate };
                (next.used, next.source) = (Some(count.tokens), source);
            }
            (None, None) => {}
        }
        if let (Some(used), Some(count)) = (next.used, added) {
            next.used = Some(used.saturating_add(count.tokens));
            next.source = match (next.source, count.by_host) {
                (Source::Provider | Source::Mixed, _) => Source::Mixed,
                (Source::Counted, true) => Source::Counted,
                _ => Source::Estimate,
            };
        }
        if (reported.is_some() || whole.is_some())
            && let Some(used) = next.used
        {
            next.judge(used, limit, settings, &mut notices);
        }
        *self = next;
        Ok(notices)
    }

    fn take_model(&mut self, event: &UsageEvent, notices: &mut Vec<String>) -> Result<(), String> {
        if event.context_window == Some(0) {
            return Err("contextWindow is 0; leave it out where it is not known".to_string());
        }
        if let Some(model) = &event.model
            && self.model.as_ref() != Some(model)
        {
            if let Some(old) = &self.model {
                notices.push(format!("the model was switched from {} to {}", label(old), label(model)));
                // The window and the loop guard's experience belong to the old model.
                (self.window, self.reserve, self.futile, self.paused) = (None, None, 0, false);
            }
            self.model = Some(model.clone());
        }
        self.window = event.context_window.or(self.window);
        self.reserve = event.reserve_tokens.or(self.reserve);
        Ok(())
    }

    /// The thresholds that this state has reached since they last fired; re-arms those far enough above it.
    pub fn cross(&mut self, settings: &BudgetSettings) -> Vec<Crossing> {
        let Ok(Some(limit)) = self.limit(settings) else { return Vec::new() };
        let Some(used) = self.used else { return Vec::new() };
        // In hundredths of tokens, so that nothing is rounded.
        let filled = u128::from(used) * 100;
        let reaches = |pct: u32| filled >= u128::from(limit) * u128::from(pct);
        self.fired.retain(|&pct| reaches(pct.saturating_sub(settings.hysteresis_pct)));
        let mut crossings = Vec::new();
        for threshold in &settings.thresholds {
            if reaches(threshold.pct) && !self.fired.contains(&threshold.pct) {
                self.fired.push(threshold.pct);
                let paused = self.paused && threshold.action == Action::Compact;
                crossings.push(Crossing { threshold_pct: threshold.pct, action: threshold.action, paused });
            }
        }
        crossings
    }

    /// A compaction begins: remembers what it began with.
    pub fn compaction_began(&mut self, event: &BeforeCompaction, settings: &BudgetSettings) {
        let limit = self.limit(settings).unwrap_or(None);
        self.unjudged = event.token_count.filter(|&count| count > 0).or(self.used).map(|before| {
            let early = limit.is_some_and(|limit| percent(before, limit) < u128::from(settings.premature_pct));
            // A provider that refused the request knows better, and a person may compact when they like.
            let premature = early && !matches!(event.reason, Reason::Manual | Reason::Overflow);
            Unjudged { before, premature, ended: false }
        });
    }

    /// A compaction ended: what was known is stale until something fresh comes. Gives notices.
    pub fn compaction_ended(&mut self, event: &AfterCompaction, settings: &BudgetSettings) -> Vec<String> {
        if event.messages_dropped == Some(0) {
            self.unjudged = None;
            return Vec::new();
        }
        self.compactions = self.compactions.saturating_add(1);
        (self.used, self.source) = (None, Source::Unknown);
        let mut notices = Vec::new();
        let limit = self.limit(settings).unwrap_or(None);
        self.unjudged = match self.unjudged {
            Some(last) => Some(Unjudged { ended: true, ..last }),
            None => event.tokens_before.map(|before| Unjudged { before, premature: false, ended: true }),
        };
        if let Some(after) = event.tokens_after {
            self.judge(after, limit, settings, &mut notices);
        }
        notices
    }

    /// The loop guard: did the last compaction help, and was it time for one?
    fn judge(&mut self, after: u64, limit: Option<u64>, settings: &BudgetSettings, notices: &mut Vec<String>) {
        let (Some(last), Some(limit)) = (self.unjudged.filter(|last| last.ended), limit) else { return };
        self.unjudged = None;
        let freed = last.before.saturating_sub(after);
        let futile = percent(freed, limit) < u128::from(settings.min_freed_pct);
        if !futile && !last.premature {
            (self.futile, self.paused) = (0, false);
            return;
        }
        self.futile = self.futile.saturating_add(1);
        let pct = percent(last.before, limit);
        notices.push(if last.premature {
            format!("the last compaction was premature: the context was at {pct}% of {limit} tokens")
        } else {
            format!("the last compaction freed only {freed} of {limit} tokens")
        });
        if self.futile >= settings.max_futile && !self.paused {
            self.paused = true;
            let count = self.futile;
            notices.push(format!("{count} compactions in a row did not help: proactive compactions pause"));
        }
    }
}

/// The context that a provider reported, if one request can have had it.
fn plausible(usage: ProviderUsage, window: Option<u64>, notices: &mut Vec<String>) -> Option<u64> {
    if usage.prompt() == 0 {
        notices.push("the provider reported a prompt of 0 tokens: taken as not reported".to_string());
        return None;
    }
    if let Some(window) = window
        && usage.prompt() > window
    {
        let prompt = usage.prompt();
        notices.push(format!(
            "the provider reported a prompt of {prompt} tokens, more than the window of {window}: not taken, it looks like a sum over several requests"
        ));
        return None;
    }
    Some(usage.context())
}

fn percent(part: u64, limit: u64) -> u128 {
    u128::from(part) * 100 / u128::from(limit.max(1))
}

/// A name from outside, bounded and on one line.
fn label(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests;
