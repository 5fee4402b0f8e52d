//! The JSON of `audit --json`: other programs read it, so its keys stay.

use compact_review::report::{Alert, Category, Finding, Invention, Recovery, Report, Verdict, WriteOutcome};
use serde::Serialize;

/// One audit.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditJson<'a> {
    score: Option<f64>,
    verdict: Verdict,
    categories: &'a [Category],
    lost: &'a [Finding],
    invented: &'a [Invention],
    alerts: &'a [Alert],
    recovery: Option<&'a Recovery>,
    summary: SummaryJson<'a>,
    writes: &'a [WriteOutcome],
    problems: &'a [String],
    notices: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson<'a> {
    tokens: Option<u64>,
    verdict_reason: &'a str,
}

impl<'a> AuditJson<'a> {
    /// A view of a report.
    pub fn new(report: &'a Report) -> Self {
        AuditJson {
            score: report.score,
            verdict: report.verdict,
            categories: &report.categories,
            lost: &report.lost,
            invented: &report.invented,
            alerts: &report.alerts,
            recovery: report.recovery.as_ref(),
            summary: SummaryJson { tokens: report.summary_tokens, verdict_reason: &report.verdict_reason },
            writes: &report.writes,
            problems: &report.problems,
            notices: &report.notices,
        }
    }
}
