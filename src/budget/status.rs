//! How full it is, for people and for the agent.

use super::event::{BudgetStatus, Source};
use crate::config::{Action, BudgetSettings};

/// For people: `📚 Context: 45,231/131,072 (34%) · 🧹 Compactions: 0`. A `~` marks what was not counted by the
/// provider or a tokenizer, a `?` what is not known.
pub fn line(status: &BudgetStatus) -> String {
    let mark = if matches!(status.source, Source::Estimate | Source::Mixed) { "~" } else { "" };
    let number = |count: Option<u64>| count.map_or_else(|| "?".to_string(), grouped);
    // Whole percents, rounded down: 99.9 % is not full yet.
    let pct = status.pct.map_or_else(|| "?".to_string(), |pct| format!("{}", libm::floor(pct) as u64));
    format!(
        "📚 Context: {mark}{}/{} ({pct}%) · 🧹 Compactions: {}",
        number(status.used),
        number(status.budget),
        status.compactions
    )
}

/// For the agent: `[TOKEN_STATE: 45231/131072 (34.5%)]`. `None` where any of it is unknown.
pub fn token_state(status: &BudgetStatus) -> Option<String> {
    let (used, budget, pct) = (status.used?, status.budget?, status.pct?);
    let mark = if matches!(status.source, Source::Estimate | Source::Mixed) { "~" } else { "" };
    Some(format!("[TOKEN_STATE: {mark}{used}/{budget} ({pct:.1}%)]"))
}

/// For the agent, when a compaction comes near; `None` before that.
pub fn hint(status: &BudgetStatus, settings: &BudgetSettings) -> Option<String> {
    let first = settings.thresholds.iter().find(|threshold| threshold.action >= Action::Compact)?;
    let pct = status.pct?;
    if pct < f64::from(first.pct.saturating_sub(settings.hint_margin_pct)) {
        return None;
    }
    let at = first.pct;
    Some(format!("[CONTEXT: {pct:.1}% full, compaction at {at}%. Unsaved decisions and open tasks may be lost then.]"))
}

/// What goes into the next prompt, as the settings ask for it.
pub fn injection(status: &BudgetStatus, settings: &BudgetSettings) -> Option<String> {
    let state = settings.inject_state.then(|| token_state(status)).flatten();
    let hint = settings.inject_hint.then(|| hint(status, settings)).flatten();
    match (state, hint) {
        (Some(state), Some(hint)) => Some(format!("{state}\n{hint}")),
        (state, hint) => state.or(hint),
    }
}

fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(used: u64, source: Source) -> BudgetStatus {
        let pct = libm::floor(used as f64 / 131_072.0 * 1000.0) / 10.0;
        BudgetStatus {
            used: Some(used),
            budget: Some(131_072),
            remaining: Some(131_072 - used),
            pct: Some(pct),
            source,
            compactions: 0,
        }
    }

    #[test]
    fn the_line_is_the_one_people_know() {
        let known = status(45_231, Source::Provider);
        assert_eq!(line(&known), "📚 Context: 45,231/131,072 (34%) · 🧹 Compactions: 0");
        assert_eq!(token_state(&known).as_deref(), Some("[TOKEN_STATE: 45231/131072 (34.5%)]"));
    }

    #[test]
    fn an_estimate_is_marked() {
        let estimated = status(999, Source::Estimate);
        assert_eq!(line(&estimated), "📚 Context: ~999/131,072 (0%) · 🧹 Compactions: 0");
        assert_eq!(token_state(&estimated).as_deref(), Some("[TOKEN_STATE: ~999/131072 (0.7%)]"));
    }

    #[test]
    fn what_is_unknown_is_a_question_mark_and_never_injected() {
        let unknown = BudgetStatus { budget: Some(131_072), compactions: 2, ..Default::default() };
        assert_eq!(line(&unknown), "📚 Context: ?/131,072 (?%) · 🧹 Compactions: 2");
        assert_eq!(line(&BudgetStatus::default()), "📚 Context: ?/? (?%) · 🧹 Compactions: 0");
        assert_eq!(token_state(&unknown), None);
        assert_eq!(hint(&unknown, &BudgetSettings::default()), None);
    }

    #[test]
    fn the_hint_comes_near_the_threshold_and_injections_only_when_asked_for() {
        let mut settings = BudgetSettings::default();
        assert_eq!(hint(&status(98_000, Source::Provider), &settings), None);
        assert!(hint(&status(98_400, Source::Provider), &settings).is_some());
        assert_eq!(injection(&status(98_400, Source::Provider), &settings), None);
        (settings.inject_state, settings.inject_hint) = (true, true);
        let text = injection(&status(98_400, Source::Provider), &settings).unwrap_or_default();
        assert!(
            text.starts_with("[TOKEN_STATE: 98400/131072 (75.0%)]\n[CONTEXT: 75.0% full, compaction at 85%."),
            "{text}"
        );
    }

    #[test]
    fn the_json_has_the_six_keys() {
        let json = serde_json::to_string(&status(45_231, Source::Provider)).unwrap_or_default();
        let expected =
            r#"{"used":45231,"budget":131072,"remaining":85841,"pct":34.5,"source":"provider","compactions":0}"#;
        assert_eq!(json, expected);
    }
}
