//! Is it still there: matching, score, verdict.
//!
//! [`review`] judges each signal of the ledger by the summary (`judge`), lists what was lost by importance
//! (`findings`), sums it up (`score`) and says whether the summary is one at all (`verdict`).

use crate::checkpoint::recovery::{self, recovery_text};
use crate::config::Settings;
use crate::event::AfterCompaction;
use crate::host::Host;
use crate::report::{Alert, AlertLevel, Finding, Kind, Recovery, Report, Status, Verdict};
use crate::signal::Ledger;

pub mod matching;
pub mod probe;
mod probe_weights;

mod claims;
mod findings;
mod grounds;
mod invented;
mod judge;
mod score;
mod summary;
mod swaps;
mod verdict;

pub use probe::probe;

/// Below this score, or with a rule lost, a summary is lossy.
const FAITHFUL: f64 = 85.0;
/// A lost signal of this salience is worth an alert.
const CRITICAL: f64 = 0.70;

/// Judges a summary by the ledger of what it replaced.
pub fn review(host: &mut dyn Host, ledger: Option<&Ledger>, event: &AfterCompaction, settings: &Settings) -> Report {
    let mut report = Report {
        score: None,
        verdict: Verdict::Unverifiable,
        verdict_reason: String::new(),
        categories: Vec::new(),
        lost: Vec::new(),
        invented: Vec::new(),
        alerts: Vec::new(),
        recovery: None,
        summary_tokens: event.summary_tokens,
        writes: Vec::new(),
        problems: Vec::new(),
        notices: Vec::new(),
    };
    if event.messages_dropped == Some(0) {
        report.verdict = Verdict::Faithful;
        report.verdict_reason = "nothing was compacted".to_string();
        report.score = Some(100.0);
        return report;
    }
    let Some(text) = event.summary_text.as_deref() else {
        report.verdict_reason = "the gateway did not hand over the summary".to_string();
        return report;
    };
    if report.summary_tokens.is_none() {
        report.summary_tokens = Some(count_tokens(host, text).into());
    }
    let failure = verdict::failure(text, ledger.map_or(0, |ledger| ledger.source_bytes));
    let Some(ledger) = ledger.filter(|ledger| ledger.message_count > 0) else {
        report.verdict_reason = match failure {
            Some(why) => {
                report.verdict = Verdict::Failed;
                report.score = Some(0.0);
                why
            }
            None => "nothing is known of the messages before the compaction".to_string(),
        };
        alert_failure(&mut report);
        return report;
    };
    compare(host, ledger, text, failure, event, settings, &mut report);
    report
}

fn compare(
    host: &mut dyn Host,
    ledger: &Ledger,
    text: &str,
    failure: Option<String>,
    event: &AfterCompaction,
    settings: &Settings,
    report: &mut Report,
) {
    let summary = summary::Summary::new(text);
    let retained = findings::Retained::new(ledger, event);
    let judgements = judge::judge_all(&ledger.signals, &summary, &|index| retained.has(index));
    let shares = score::shares(&judgements);
    report.categories = shares.iter().map(|share| share.category.clone()).collect();
    let bonds = ledger.bonds.open();
    let swaps = swaps::swaps(&summary, &bonds, &judgements);
    report.invented = invented::invented(&summary, ledger);
    let pins = findings::lost_pins(settings, &summary);
    let made_up = score::MadeUp {
        invented: report.invented.len(),
        swapped: swaps.len(),
        doubt: (1.0 - claims::borne_out(&summary, ledger)) / 2.0,
    };
    let pairs = ledger.bonds.pairs.len() as f64 * retained.replaced(ledger);
    let whole = score::whole(grounds::borne_out(&summary, &bonds), pairs);
    let mut score = score::score(&shares) * made_up.leaves() * whole;
    // A pin is a promise: each lost one halves what is left.
    for _ in &pins {
        score /= 2.0;
    }
    report.lost = pins;
    report.lost.extend(findings::findings(&judgements, &swaps, &summary));
    report.lost.truncate(settings.audit.max_findings as usize);
    report.notices = ledger.notices();
    let rules = report.lost.iter().filter(|finding| is_rule(finding)).count();
    (report.verdict, report.verdict_reason) = match failure {
        Some(why) => {
            score = 0.0;
            (Verdict::Failed, why)
        }
        None if score < FAITHFUL || rules > 0 => {
            let altered = report.lost.iter().filter(|finding| finding.status == Status::Altered).count();
            (
                Verdict::Lossy,
                format!("{} findings, {altered} of them altered, {rules} of them rules of weight", report.lost.len()),
            )
        }
        None => (Verdict::Faithful, "nothing of weight was lost".to_string()),
    };
    report.score = Some(score.clamp(0.0, 100.0));
    if report.verdict == Verdict::Failed {
        alert_failure(report);
    } else {
        alert_rules(report);
    }
    report.recovery = bounded_recovery(host, &report.lost, settings);
}

/// The recovery text within its limit of tokens: what a byte costs differs by text, so it is counted and cut again.
fn bounded_recovery(host: &mut dyn Host, lost: &[Finding], settings: &Settings) -> Option<Recovery> {
    let most = settings.recovery.max_tokens;
    let mut bytes = most as usize * recovery::BYTES_PER_TOKEN;
    loop {
        let text = recovery_text(lost, bytes)?;
        let tokens = count_tokens(host, &text);
        if tokens <= most {
            return Some(Recovery { text, tokens });
        }
        // At least a tenth less each time, so this ends.
        bytes = (bytes * most as usize / tokens as usize).min(bytes * 9 / 10);
    }
}

fn is_rule(finding: &Finding) -> bool {
    finding.kind == Kind::Constraint && finding.salience >= CRITICAL
}

fn alert_failure(report: &mut Report) {
    if report.verdict == Verdict::Failed {
        report.alerts.push(Alert {
            level: AlertLevel::Critical,
            code: "summary-failed".to_string(),
            text: report.verdict_reason.clone(),
        });
    }
}

/// One line for all rules that are gone; nothing where none is.
fn alert_rules(report: &mut Report) {
    let Some(first) = report.lost.iter().find(|finding| is_rule(finding)) else { return };
    let count = report.lost.iter().filter(|finding| is_rule(finding)).count();
    let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    let pinned = first.id.starts_with("pin");
    report.alerts.push(Alert {
        level: if pinned { AlertLevel::Critical } else { AlertLevel::Warning },
        code: if pinned { "pin-lost" } else { "rule-lost" }.to_string(),
        text: format!("the summary lost a rule: {}{more}", crate::signal::bounded(&first.text, 160)),
    });
}

/// The length of a text in tokens, counted by the host or estimated.
pub fn count_tokens(host: &mut dyn Host, text: &str) -> u32 {
    match host.count_tokens(&[text]).as_deref() {
        Some([count]) => *count,
        _ => crate::budget::estimate::estimate(text),
    }
}

#[cfg(test)]
mod tests;
