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
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config::Threshold;
    use proptest::prelude::*;

    const WINDOW: u64 = 100_000;
    const NONE: [u32; 0] = [];

    fn provider(input: u64) -> UsageEvent {
        let usage = Some(ProviderUsage { input, ..Default::default() });
        UsageEvent { usage, context_window: Some(WINDOW), ..Default::default() }
    }

    fn tell(tracker: &mut Tracker, input: u64) -> Vec<u32> {
        let settings = BudgetSettings::default();
        tracker.update(&provider(input), None, None, &settings).unwrap();
        tracker.cross(&settings).iter().map(|crossing| crossing.threshold_pct).collect()
    }

    fn compact(tracker: &mut Tracker, before: u64, after: u64, reason: Reason) -> Vec<String> {
        let settings = BudgetSettings::default();
        let began = BeforeCompaction { token_count: Some(before), reason, ..Default::default() };
        tracker.compaction_began(&began, &settings);
        let mut notices = tracker.compaction_ended(&AfterCompaction::default(), &settings);
        notices.extend(tracker.update(&provider(after), None, None, &settings).unwrap());
        notices
    }

    #[test]
    fn cache_reads_are_part_of_the_prompt_and_never_add_up_over_requests() {
        let usage =
            ProviderUsage { input: 10, output: 500, cache_read: 40_000, cache_write: 2_000, ..Default::default() };
        assert_eq!(usage.context(), 42_510);
        let openai =
            ProviderUsage { input: 42_010, cache_read: 40_000, output: 500, input_includes_cache: true, ..usage };
        assert_eq!(openai.context(), 42_510);
        let mut tracker = Tracker::default();
        for _ in 0..5 {
            let event = UsageEvent { usage: Some(usage), context_window: Some(WINDOW), ..Default::default() };
            tracker.update(&event, None, None, &BudgetSettings::default()).unwrap();
        }
        assert_eq!((tracker.used, tracker.source), (Some(42_510), Source::Provider));
    }

    #[test]
    fn a_prompt_larger_than_the_window_is_a_sum_and_not_taken() {
        let mut tracker = Tracker::default();
        let settings = BudgetSettings::default();
        let notices = tracker.update(&provider(228_000), None, None, &settings).unwrap();
        assert!(notices[0].contains("228000") && notices[0].contains("sum over several"), "{notices:?}");
        assert_eq!((tracker.used, tracker.source), (None, Source::Unknown));
        let counted = Counted { tokens: 7_000, by_host: false };
        tracker.update(&provider(228_000), Some(counted), None, &settings).unwrap();
        assert_eq!((tracker.used, tracker.source), (Some(7_000), Source::Estimate));
    }

    #[test]
    fn usage_of_zero_is_not_a_context_of_zero() {
        let mut tracker = Tracker::default();
        let notices = tracker.update(&provider(0), None, None, &BudgetSettings::default()).unwrap();
        assert_eq!(notices, ["the provider reported a prompt of 0 tokens: taken as not reported"]);
        assert_eq!(tracker.status(&BudgetSettings::default()).pct, None);
    }

    #[test]
    fn negative_usage_is_an_error_that_names_it() {
        let json = r#"{"sessionKey":"s","usage":{"input":-5}}"#;
        let error = serde_json::from_str::<UsageEvent>(json).unwrap_err().to_string();
        assert!(error.contains("-5") && error.contains("u64"), "{error}");
    }

    #[test]
    fn a_window_of_zero_or_below_its_reserve_is_an_error_and_changes_nothing() {
        let settings = BudgetSettings::default();
        let mut tracker = Tracker::default();
        tell(&mut tracker, 5_000);
        let before = tracker.clone();
        let zero = UsageEvent { context_window: Some(0), ..Default::default() };
        assert!(tracker.update(&zero, None, None, &settings).unwrap_err().contains("contextWindow is 0"));
        let small = UsageEvent { context_window: Some(8_000), reserve_tokens: Some(8_000), ..Default::default() };
        let error = tracker.update(&small, None, None, &settings).unwrap_err();
        assert_eq!(error, "the context window (8000) must be above the reserve (8000)");
        assert_eq!(tracker, before);
    }

    #[test]
    fn without_a_window_the_use_is_known_and_the_percentage_is_not() {
        let mut tracker = Tracker::default();
        let event = UsageEvent { context_window: None, ..provider(5_000) };
        tracker.update(&event, None, None, &BudgetSettings::default()).unwrap();
        let status = tracker.status(&BudgetSettings::default());
        assert_eq!((status.used, status.budget, status.pct, status.remaining), (Some(5_000), None, None, None));
        assert_eq!(tracker.cross(&BudgetSettings::default()), []);
    }

    #[test]
    fn the_percentage_is_of_the_window_minus_the_reserve() {
        let mut tracker = Tracker::default();
        let event = UsageEvent { reserve_tokens: Some(20_000), ..provider(40_000) };
        tracker.update(&event, None, None, &BudgetSettings::default()).unwrap();
        let status = tracker.status(&BudgetSettings::default());
        assert_eq!((status.budget, status.pct, status.remaining), (Some(80_000), Some(50.0), Some(40_000)));
    }

    #[test]
    fn a_tool_result_between_two_calls_counts_at_once() {
        let settings = BudgetSettings::default();
        let mut tracker = Tracker::default();
        assert_eq!(tell(&mut tracker, 65_000), NONE);
        let result = Some(Counted { tokens: 25_000, by_host: false });
        tracker.update(&UsageEvent::default(), None, result, &settings).unwrap();
        assert_eq!((tracker.used, tracker.source), (Some(90_000), Source::Mixed));
        let crossed: Vec<_> = tracker.cross(&settings).iter().map(|crossing| crossing.threshold_pct).collect();
        assert_eq!(crossed, [70, 80, 85]);
    }

    #[test]
    fn a_crossing_fires_once_and_again_only_after_falling_well_below() {
        let mut tracker = Tracker::default();
        assert_eq!(tell(&mut tracker, 70_000), [70]);
        assert_eq!(tell(&mut tracker, 71_000), NONE);
        assert_eq!(tell(&mut tracker, 66_000), NONE);
        assert_eq!(tell(&mut tracker, 72_000), NONE);
        assert_eq!(tell(&mut tracker, 64_999), NONE);
        assert_eq!(tell(&mut tracker, 70_000), [70]);
    }

    #[test]
    fn more_than_full_is_said_as_it_is() {
        let mut tracker = Tracker::default();
        let settings = BudgetSettings::default();
        tell(&mut tracker, 90_000);
        let added = Some(Counted { tokens: 40_000, by_host: true });
        tracker.update(&UsageEvent::default(), None, added, &settings).unwrap();
        let status = tracker.status(&settings);
        assert_eq!((status.pct, status.remaining), (Some(130.0), Some(0)));
        let crossed: Vec<_> = tracker.cross(&settings).iter().map(|crossing| crossing.threshold_pct).collect();
        assert_eq!(crossed, [95, 100]);
    }

    #[test]
    fn after_a_compaction_it_is_unknown_until_something_fresh_comes() {
        let settings = BudgetSettings::default();
        let mut tracker = Tracker::default();
        tell(&mut tracker, 90_000);
        let ended = AfterCompaction { tokens_after: Some(20_000), ..Default::default() };
        tracker.compaction_ended(&ended, &settings);
        assert_eq!((tracker.used, tracker.source, tracker.compactions), (None, Source::Unknown, 1));
        let added = Some(Counted { tokens: 10, by_host: true });
        tracker.update(&UsageEvent::default(), None, added, &settings).unwrap();
        assert_eq!(tracker.used, None);
        tell(&mut tracker, 21_000);
        assert_eq!((tracker.used, tracker.source), (Some(21_000), Source::Provider));
        assert_eq!(tell(&mut tracker, 71_000), [70]);
    }

    #[test]
    fn a_compaction_of_nothing_is_none() {
        let mut tracker = Tracker::default();
        tell(&mut tracker, 60_000);
        let nothing = AfterCompaction { messages_dropped: Some(0), ..Default::default() };
        tracker.compaction_ended(&nothing, &BudgetSettings::default());
        assert_eq!((tracker.used, tracker.compactions), (Some(60_000), 0));
    }

    #[test]
    fn a_new_model_has_a_new_window_or_an_unknown_one() {
        let settings = BudgetSettings::default();
        let mut tracker = Tracker::default();
        let on = |model: &str, window| UsageEvent {
            model: Some(model.to_string()),
            context_window: window,
            ..Default::default()
        };
        tracker.update(&on("large", Some(200_000)), None, None, &settings).unwrap();
        tracker.update(&provider(90_000), None, None, &settings).unwrap();
        let notices = tracker.update(&on("small", Some(100_000)), None, None, &settings).unwrap();
        assert_eq!(notices, ["the model was switched from large to small"]);
        assert_eq!(tracker.status(&settings).pct, Some(90.0));
        tracker.update(&on("other", None), None, None, &settings).unwrap();
        assert_eq!(tracker.status(&settings).pct, None);
    }

    #[test]
    fn futile_compactions_pause_proactive_ones_but_never_forced_ones() {
        let settings = BudgetSettings::default();
        let mut tracker = Tracker::default();
        tell(&mut tracker, 84_000);
        let first = compact(&mut tracker, 84_000, 82_000, Reason::Threshold);
        assert_eq!(first, ["the last compaction freed only 2000 of 100000 tokens"]);
        assert!(!tracker.paused);
        let second = compact(&mut tracker, 82_000, 81_000, Reason::Threshold);
        assert_eq!(second[1], "2 compactions in a row did not help: proactive compactions pause");
        tracker.update(&provider(96_000), None, None, &settings).unwrap();
        let crossings = tracker.cross(&settings);
        let held: Vec<_> = crossings.iter().map(|crossing| (crossing.threshold_pct, crossing.paused)).collect();
        assert_eq!(held, [(85, true), (95, false)]);
        compact(&mut tracker, 96_000, 20_000, Reason::Threshold);
        assert_eq!((tracker.paused, tracker.futile), (false, 0));
    }

    #[test]
    fn a_compaction_far_below_the_threshold_is_premature_unless_it_was_asked_for() {
        let mut tracker = Tracker::default();
        tell(&mut tracker, 30_000);
        assert_eq!(compact(&mut tracker, 30_000, 5_000, Reason::Manual), Vec::<String>::new());
        let notices = compact(&mut tracker, 30_000, 5_000, Reason::Unknown);
        assert_eq!(notices, ["the last compaction was premature: the context was at 30% of 100000 tokens"]);
    }

    #[test]
    fn a_count_while_the_compaction_still_runs_does_not_judge_it() {
        let settings = BudgetSettings::default();
        let mut tracker = Tracker::default();
        tell(&mut tracker, 90_000);
        tracker.compaction_began(&BeforeCompaction { token_count: Some(90_000), ..Default::default() }, &settings);
        tell(&mut tracker, 90_500);
        assert_eq!((tracker.futile, tracker.unjudged.map(|last| last.before)), (0, Some(90_000)));
    }

    #[test]
    fn the_state_survives_the_host() {
        let mut tracker = Tracker::default();
        tell(&mut tracker, 86_000);
        assert_eq!(Tracker::from_bytes(&tracker.to_bytes()), Ok(tracker));
        assert!(Tracker::from_bytes(b"garbage").is_err());
    }

    proptest! {
        #[test]
        fn no_numbers_make_it_panic_or_fire_twice(
            inputs in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 1..20),
            window in any::<u64>(),
            reserve in any::<u64>(),
        ) {
            let thresholds = vec![Threshold { pct: 1, action: Action::Warn }, Threshold { pct: 100, action: Action::Force }];
            let settings = BudgetSettings { thresholds, ..Default::default() };
            let mut tracker = Tracker::default();
            for (input, output, cache_read) in inputs {
                let usage = Some(ProviderUsage { input, output, cache_read, ..Default::default() });
                let event = UsageEvent {
                    usage, context_window: Some(window), reserve_tokens: Some(reserve), ..Default::default()
                };
                let added = Some(Counted { tokens: output, by_host: false });
                if tracker.update(&event, None, added, &settings).is_ok() {
                    tracker.cross(&settings);
                    prop_assert_eq!(tracker.cross(&settings), vec![]);
                }
                prop_assert!(tracker.status(&settings).pct.is_none_or(f64::is_finite));
            }
        }
    }
}
