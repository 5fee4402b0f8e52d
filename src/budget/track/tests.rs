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
    let usage = ProviderUsage { input: 10, output: 500, cache_read: 40_000, cache_write: 2_000, ..Default::default() };
    assert_eq!(usage.context(), 42_510);
    let openai = ProviderUsage { input: 42_010, cache_read: 40_000, output: 500, input_includes_cache: true, ..usage };
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
