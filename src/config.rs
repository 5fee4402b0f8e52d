//! Every setting, its default and its range. Settings come as one JSON object, camelCase, every key optional.

use crate::host::Retention;
use crate::report::HookError;
use serde::{Deserialize, Serialize};

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// How summaries are judged.
    pub audit: AuditSettings,
    /// What is handed back to the agent.
    pub recovery: RecoverySettings,
    /// What is written to the daily notes.
    pub notes: NoteSettings,
    /// When checkpoints are written outside a compaction, and what is kept of them.
    pub checkpoint: CheckpointSettings,
    /// How the token budget is watched and what is done about it.
    pub budget: BudgetSettings,
}

/// How summaries are judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct AuditSettings {
    /// Facts that must survive every compaction, checked first. At most 100, each at most 400 bytes.
    pub pins: Vec<String>,
    /// How many findings a report lists at most. 1 to 1000.
    pub max_findings: u32,
}

impl Default for AuditSettings {
    fn default() -> Self {
        AuditSettings { pins: Vec::new(), max_findings: 200 }
    }
}

/// What is handed back to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RecoverySettings {
    /// Whether the next prompt gets the recovery text.
    pub enabled: bool,
    /// Its length at most. 100 to 20000.
    pub max_tokens: u32,
}

impl Default for RecoverySettings {
    fn default() -> Self {
        RecoverySettings { enabled: true, max_tokens: 1500 }
    }
}

/// What is written to the daily notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NoteSettings {
    /// Whether an entry is appended after each compaction.
    pub enabled: bool,
    /// The length of an entry at most. 512 to 65536.
    pub max_entry_bytes: u32,
}

impl Default for NoteSettings {
    fn default() -> Self {
        NoteSettings { enabled: true, max_entry_bytes: 8192 }
    }
}

/// When checkpoints are written outside a compaction, and what is kept of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CheckpointSettings {
    /// A checkpoint is due after so many minutes. 0 to 1440; 0 is off.
    pub every_minutes: u32,
    /// The same where the last one found a complex task: many open steps, or tools that fail. 0 to 1440; 0 is as
    /// `everyMinutes`.
    pub every_minutes_complex: u32,
    /// A checkpoint is due after so many prompts of the user. 0 to 1000; 0 is off.
    pub every_exchanges: u32,
    /// A checkpoint is due when the budget crosses a threshold whose action is `checkpoint` or stronger.
    pub on_threshold: bool,
    /// A checkpoint is written when the gateway announces a reset (`/new`, `/reset`).
    pub before_reset: bool,
    /// How many earlier checkpoints are kept. 1 to 10000.
    pub keep_count: u32,
    /// How many bytes of them are kept. 10000 to 1000000000.
    pub keep_bytes: u64,
}

impl Default for CheckpointSettings {
    fn default() -> Self {
        CheckpointSettings {
            every_minutes: 10,
            every_minutes_complex: 5,
            every_exchanges: 10,
            on_threshold: true,
            before_reset: true,
            keep_count: 50,
            keep_bytes: 5 * 1024 * 1024,
        }
    }
}

impl CheckpointSettings {
    /// What the host is told with every checkpoint.
    pub fn retention(&self) -> Retention {
        Retention { count: self.keep_count, bytes: self.keep_bytes }
    }

    fn check(&self) -> Result<(), String> {
        range("checkpoint.everyMinutes", self.every_minutes.into(), 0, 1440)?;
        range("checkpoint.everyMinutesComplex", self.every_minutes_complex.into(), 0, 1440)?;
        range("checkpoint.everyExchanges", self.every_exchanges.into(), 0, 1000)?;
        range("checkpoint.keepCount", self.keep_count.into(), 1, 10_000)?;
        range("checkpoint.keepBytes", self.keep_bytes, 10_000, 1_000_000_000)
    }
}

/// How the token budget is watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// The context window in tokens, for gateways that do not tell it. 1000 to 100000000; not set: unknown.
    pub context_window: Option<u64>,
    /// Tokens kept free for the answer, for gateways that do not tell. Effective limit = window - reserve. 0 to 1000000.
    pub reserve_tokens: u64,
    /// What to do from which percentage of the effective limit on. 1 to 16, rising, 1 to 100.
    pub thresholds: Vec<Threshold>,
    /// How far usage must fall below a threshold before it can fire again, in percent of the limit. 1 to 50.
    pub hysteresis_pct: u32,
    /// A compaction that frees less than this, in percent of the limit, is futile. 1 to 50.
    pub min_freed_pct: u32,
    /// After this many futile or premature compactions in a row, proactive ones pause. 1 to 10.
    pub max_futile: u32,
    /// A compaction that nobody asked for below this percentage is premature. 1 to 99.
    pub premature_pct: u32,
    /// Whether the agent is told `[TOKEN_STATE: …]` after each step.
    pub inject_state: bool,
    /// Whether the agent gets a short hint when a compaction comes near.
    pub inject_hint: bool,
    /// How near, in percent of the limit below the first `compact` or `force`. 1 to 50.
    pub hint_margin_pct: u32,
    /// What a compaction keeps.
    pub plan: PlanSettings,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        let threshold = |pct, action| Threshold { pct, action };
        BudgetSettings {
            context_window: None,
            reserve_tokens: 0,
            thresholds: vec![
                threshold(70, Action::Warn),
                threshold(80, Action::Checkpoint),
                threshold(85, Action::Compact),
                threshold(95, Action::Force),
                threshold(100, Action::Force),
            ],
            hysteresis_pct: 5,
            min_freed_pct: 10,
            max_futile: 2,
            premature_pct: 50,
            inject_state: false,
            inject_hint: false,
            hint_margin_pct: 10,
            plan: PlanSettings::default(),
        }
    }
}

/// What to do from which percentage on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Threshold {
    /// Percent of the effective limit.
    pub pct: u32,
    /// What to do.
    pub action: Action,
}

/// What a threshold asks for, from mild to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Tell a person.
    Warn,
    /// Write a checkpoint now.
    Checkpoint,
    /// Compact at the next pause in the work. The loop guard can hold it back.
    Compact,
    /// Compact before the next request, whatever the loop guard says.
    Force,
}

/// What a compaction keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PlanSettings {
    /// What becomes of messages that are not kept.
    pub strategy: Strategy,
    /// From this percentage of the effective limit on a plan is due. 1 to 100.
    pub threshold_pct: u32,
    /// Always keep the last so many messages. 0 to 1000.
    pub head_protection: u32,
    /// Always keep the first so many messages. 0 to 1000.
    pub tail_protection: u32,
    /// What the summary begins with: one line of 1 to 200 bytes.
    pub summary_prefix: String,
    /// The length of the instructions for the summarizer at most. 100 to 8000.
    pub instructions_max_tokens: u32,
}

impl Default for PlanSettings {
    fn default() -> Self {
        PlanSettings {
            strategy: Strategy::Summarize,
            threshold_pct: 80,
            head_protection: 15,
            tail_protection: 5,
            summary_prefix: "[CONTEXT SUMMARY — reference only]".to_string(),
            instructions_max_tokens: 800,
        }
    }
}

/// What becomes of messages that are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    /// A summary replaces them.
    #[default]
    Summarize,
    /// The oldest are dropped, only as many as needed. No summary.
    Truncate,
    /// All are dropped. No summary.
    Discard,
}

impl BudgetSettings {
    fn check(&self) -> Result<(), String> {
        if let Some(window) = self.context_window {
            range("budget.contextWindow", window, 1000, 100_000_000)?;
        }
        range("budget.reserveTokens", self.reserve_tokens, 0, 1_000_000)?;
        if let Some(window) = self.context_window
            && window <= self.reserve_tokens
        {
            let reserve = self.reserve_tokens;
            return Err(format!("budget.contextWindow ({window}) must be above budget.reserveTokens ({reserve})"));
        }
        range("budget.thresholds: their number", self.thresholds.len() as u64, 1, 16)?;
        let mut last = 0;
        for (at, threshold) in self.thresholds.iter().enumerate() {
            range(&format!("budget.thresholds[{at}].pct"), threshold.pct.into(), 1, 100)?;
            if threshold.pct <= last {
                let pct = threshold.pct;
                return Err(format!(
                    "budget.thresholds must rise: thresholds[{at}] is {pct}, the one before it {last}"
                ));
            }
            last = threshold.pct;
        }
        range("budget.hysteresisPct", self.hysteresis_pct.into(), 1, 50)?;
        range("budget.minFreedPct", self.min_freed_pct.into(), 1, 50)?;
        range("budget.maxFutile", self.max_futile.into(), 1, 10)?;
        range("budget.prematurePct", self.premature_pct.into(), 1, 99)?;
        range("budget.hintMarginPct", self.hint_margin_pct.into(), 1, 50)?;
        range("budget.plan.thresholdPct", self.plan.threshold_pct.into(), 1, 100)?;
        range("budget.plan.headProtection", self.plan.head_protection.into(), 0, 1000)?;
        range("budget.plan.tailProtection", self.plan.tail_protection.into(), 0, 1000)?;
        range("budget.plan.instructionsMaxTokens", self.plan.instructions_max_tokens.into(), 100, 8000)?;
        let prefix = &self.plan.summary_prefix;
        if prefix.trim().is_empty() || prefix.len() > 200 || prefix.chars().any(char::is_control) {
            return Err("budget.plan.summaryPrefix must be one line of 1 to 200 bytes".to_string());
        }
        Ok(())
    }
}

fn range(key: &str, value: u64, low: u64, high: u64) -> Result<(), String> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(format!("{key} must be from {low} to {high}: found {value}"))
    }
}

impl Settings {
    /// Reads settings; `None` and an empty text are the defaults.
    pub fn parse(json: Option<&str>) -> Result<Settings, HookError> {
        let settings = match json.map(str::trim) {
            None | Some("") => Settings::default(),
            Some(text) => serde_json::from_str(text).map_err(|error| HookError::InvalidSettings(error.to_string()))?,
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), HookError> {
        let range = |key: &str, value: u32, low: u32, high: u32| {
            range(key, value.into(), low.into(), high.into()).map_err(HookError::InvalidSettings)
        };
        range("audit.maxFindings", self.audit.max_findings, 1, 1000)?;
        range("recovery.maxTokens", self.recovery.max_tokens, 100, 20_000)?;
        range("notes.maxEntryBytes", self.notes.max_entry_bytes, 512, 65_536)?;
        self.checkpoint.check().map_err(HookError::InvalidSettings)?;
        self.budget.check().map_err(HookError::InvalidSettings)?;
        if self.audit.pins.len() > 100 {
            let found = self.audit.pins.len();
            return Err(HookError::InvalidSettings(format!("audit.pins may hold at most 100 facts: found {found}")));
        }
        match self.audit.pins.iter().position(|pin| pin.trim().is_empty() || pin.len() > 400) {
            Some(at) => Err(HookError::InvalidSettings(format!("audit.pins[{at}] must have 1 to 400 bytes"))),
            None => Ok(()),
        }
    }

    /// The settings with every key filled in, as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn nothing_set_gives_the_defaults() {
        assert_eq!(Settings::parse(None), Ok(Settings::default()));
        assert_eq!(Settings::parse(Some(" ")), Ok(Settings::default()));
        assert_eq!(Settings::parse(Some("{}")), Ok(Settings::default()));
    }

    #[test]
    fn a_key_that_does_not_exist_is_named() {
        let error = Settings::parse(Some(r#"{"recovery":{"maxToken":5}}"#)).unwrap_err();
        assert!(error.to_string().contains("maxToken"), "{error}");
    }

    #[test]
    fn a_value_out_of_range_is_named_with_its_range() {
        let error = Settings::parse(Some(r#"{"recovery":{"maxTokens":5}}"#)).unwrap_err();
        assert_eq!(error.to_string(), "invalid settings: recovery.maxTokens must be from 100 to 20000: found 5");
    }

    #[test]
    fn effective_settings_read_back_as_themselves() {
        let settings = Settings::parse(Some(r#"{"audit":{"pins":["never deploy on Fridays"]}}"#)).unwrap();
        assert_eq!(Settings::parse(Some(&settings.to_json())), Ok(settings));
    }

    #[test]
    fn budget_settings_that_cannot_work_are_refused_by_name() {
        for (json, says) in [
            (r#"{"contextWindow":10}"#, "budget.contextWindow must be from 1000 to 100000000: found 10"),
            (r#"{"contextWindow":8000,"reserveTokens":8000}"#, "must be above budget.reserveTokens (8000)"),
            (r#"{"thresholds":[]}"#, "budget.thresholds: their number must be from 1 to 16: found 0"),
            (
                r#"{"thresholds":[{"pct":80,"action":"warn"},{"pct":70,"action":"force"}]}"#,
                "budget.thresholds must rise: thresholds[1] is 70, the one before it 80",
            ),
            (r#"{"thresholds":[{"pct":101,"action":"warn"}]}"#, "thresholds[0].pct must be from 1 to 100: found 101"),
            (r#"{"thresholds":[{"pct":80,"action":"panic"}]}"#, "unknown variant `panic`"),
            (r#"{"thresholds":[{"pct":-1,"action":"warn"}]}"#, "invalid value: integer `-1`"),
            (r#"{"hysteresisPct":0}"#, "budget.hysteresisPct must be from 1 to 50: found 0"),
            (r#"{"plan":{"strategy":"forget"}}"#, "unknown variant `forget`"),
            (r#"{"plan":{"thresholdPct":0}}"#, "budget.plan.thresholdPct must be from 1 to 100: found 0"),
            (r#"{"plan":{"summaryPrefix":" "}}"#, "budget.plan.summaryPrefix must be one line"),
            (r#"{"plan":{"headProtecton":3}}"#, "unknown field `headProtecton`"),
        ] {
            let error = Settings::parse(Some(&["{\"budget\":", json, "}"].concat())).unwrap_err().to_string();
            assert!(error.starts_with("invalid settings: ") && error.contains(says), "{json}: {error}");
        }
    }
}
