//! The entry of the daily note: what one compaction did, for a person and for the agent.

use super::quote::quote;
use crate::config::Settings;
use crate::event::AfterCompaction;
use crate::host::NoteEntry;
use crate::report::{Finding, Invention, Report, Status, Verdict};
use crate::signal::Ledger;
use std::fmt::Write;

/// One quoted fact, in bytes.
const FACT: usize = 320;
/// A reason, a session key or an id, in bytes: the head of the smallest entry must hold them.
const LABEL: usize = 80;
/// Room for `- … N more` twice.
const MORE: usize = 64;

/// The entry of the daily note; `None` where nothing was compacted. `no_checkpoint` says why there is none to point to.
pub fn note_entry(
    report: &Report,
    ledger: Option<&Ledger>,
    event: &AfterCompaction,
    settings: &Settings,
    no_checkpoint: Option<&str>,
) -> Option<NoteEntry> {
    if event.messages_dropped == Some(0) {
        return None;
    }
    let entry_id = entry_id(event);
    let checkpoint = match no_checkpoint {
        None => "checkpoint.md".to_string(),
        Some(why) => format!("none was written for this compaction ({})", quote(why, LABEL)),
    };
    let tail = format!("- Checkpoint: {checkpoint}\n<!-- compact-review:entry {entry_id} -->\n");
    let most = (settings.notes.max_entry_bytes as usize).saturating_sub(tail.len() + MORE);
    let mut text = head(report, ledger, event);
    let lost = report.lost.iter().map(lost_line).collect();
    list(&mut text, "Lost or altered", lost, most);
    list(&mut text, "Invented", report.invented.iter().map(invented_line).collect(), most);
    text.push_str(&tail);
    Some(NoteEntry { session_key: event.session.session_key.clone(), date: event.now.date(), entry_id, text })
}

fn head(report: &Report, ledger: Option<&Ledger>, event: &AfterCompaction) -> String {
    let score = report.score.map(|score| format!(", {score:.1} of 100")).unwrap_or_default();
    let mark = if report.verdict == Verdict::Faithful { "🧹" } else { "⚠️" };
    let mut text = format!("## {mark} Compaction {} ({}{score})\n", event.now.clock(), report.verdict.name());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "- Verdict: {}", quote(&report.verdict_reason, LABEL));
    let _ = writeln!(text, "- Session: {}", quote(&event.session.session_key, LABEL));
    if let Some(ledger) = ledger {
        let reason = format!("{:?}", ledger.reason).to_lowercase();
        let _ = writeln!(text, "- Reason: {reason}");
    }
    let _ = writeln!(
        text,
        "- Messages: {} retained, {} dropped",
        known(event.messages_retained),
        known(event.messages_dropped)
    );
    let before = event.tokens_before.or(ledger.and_then(|ledger| ledger.token_count));
    let summary = report.summary_tokens.or(event.summary_tokens);
    let _ = writeln!(
        text,
        "- Tokens: {} before, {} after, {} in the summary",
        known(before),
        known(event.tokens_after),
        known(summary)
    );
    text
}

fn known<T: std::fmt::Display>(count: Option<T>) -> String {
    count.map_or_else(|| "unknown".to_string(), |count| count.to_string())
}

/// Whole lines while there is room, then how many there are more.
fn list(text: &mut String, name: &str, lines: Vec<String>, most: usize) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "- {name}: {}", lines.len());
    for (shown, line) in lines.iter().enumerate() {
        if text.len() + line.len() + 1 > most {
            let _ = writeln!(text, "  - … {} more", lines.len() - shown);
            return;
        }
        text.push_str(line);
        text.push('\n');
    }
}

fn lost_line(finding: &Finding) -> String {
    let status = if finding.status == Status::Altered { "altered" } else { "lost" };
    let said = quote(&finding.text, FACT);
    let instead = finding.summary_says.as_deref().map(|says| format!("; the summary says: {}", quote(says, FACT)));
    format!(
        "  - {} {status}: {said}{} ({})",
        finding.kind.name(),
        instead.unwrap_or_default(),
        quote(&finding.message_id, LABEL)
    )
}

fn invented_line(invention: &Invention) -> String {
    format!("  - {} in: {}", quote(&invention.text, LABEL), quote(&invention.summary_says, FACT))
}

/// Names the compaction: the same one always has the same id, in letters that no comment can be broken with.
pub(crate) fn entry_id(event: &AfterCompaction) -> String {
    let session = session_prefix(&event.session.session_key);
    match event.compaction_id.as_deref().filter(|id| !id.is_empty()) {
        Some(id)
            if id.len() <= 64
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') =>
        {
            format!("{session}{id}")
        }
        Some(id) => format!("{session}{:016x}", hash(id.as_bytes())),
        None => format!("{session}at{}", event.now.unix_ms),
    }
}

/// What the ids of all entries of a session begin with.
pub(super) fn session_prefix(session_key: &str) -> String {
    format!("{:08x}.", hash(session_key.as_bytes()) as u32)
}

/// FNV-1a, 64 bits: to name things, not to protect them.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::event::{LocalTime, Role, Session};
    use crate::report::Kind;

    fn finding(text: &str, status: Status) -> Finding {
        Finding {
            id: "f".to_string(),
            kind: Kind::Constraint,
            text: text.to_string(),
            values: vec![],
            message_id: "m12".to_string(),
            role: Role::User,
            at: None,
            salience: 0.9,
            status,
            summary_says: (status == Status::Altered).then(|| "Deploy on Fridays".to_string()),
            why: vec![],
        }
    }

    fn report(lost: Vec<Finding>) -> Report {
        Report {
            score: Some(72.44),
            verdict: Verdict::Lossy,
            verdict_reason: "1 constraint was altered".to_string(),
            categories: vec![],
            lost,
            invented: vec![Invention { text: "PROJ-99".to_string(), summary_says: "Fixed PROJ-99".to_string() }],
            alerts: vec![],
            recovery: None,
            summary_tokens: Some(900),
            writes: vec![],
            problems: vec![],
            notices: vec![],
        }
    }

    fn event() -> AfterCompaction {
        AfterCompaction {
            session: Session { session_key: "agent:main:main".to_string(), ..Session::default() },
            now: LocalTime { unix_ms: 1_794_933_000_000, utc_offset_minutes: 480 },
            compaction_id: Some("c1".to_string()),
            messages_retained: Some(10),
            messages_dropped: Some(30),
            tokens_after: Some(4000),
            ..AfterCompaction::default()
        }
    }

    fn entry(report: &Report, event: &AfterCompaction, most: u32) -> NoteEntry {
        let mut settings = Settings::default();
        settings.notes.max_entry_bytes = most;
        note_entry(report, None, event, &settings, None).expect("something was compacted")
    }

    #[test]
    fn an_entry_says_what_happened_and_ends_with_its_id() {
        let entry = entry(&report(vec![finding("Never deploy on Fridays", Status::Altered)]), &event(), 8192);
        assert_eq!(entry.date, "2026-11-18");
        let id = &entry.entry_id;
        assert_eq!(
            entry.text,
            format!(
                "## ⚠️ Compaction 00:30 (lossy, 72.4 of 100)\n\
                 - Verdict: 1 constraint was altered\n- Session: agent:main:main\n\
                 - Messages: 10 retained, 30 dropped\n- Tokens: unknown before, 4000 after, 900 in the summary\n\
                 - Lost or altered: 1\n\
                 \x20 - constraint altered: Never deploy on Fridays; the summary says: Deploy on Fridays (m12)\n\
                 - Invented: 1\n  - PROJ-99 in: Fixed PROJ-99\n\
                 - Checkpoint: checkpoint.md\n<!-- compact-review:entry {id} -->\n"
            )
        );
    }

    #[test]
    fn a_compaction_of_nothing_writes_nothing() {
        let nothing = AfterCompaction { messages_dropped: Some(0), ..event() };
        assert_eq!(note_entry(&report(vec![]), None, &nothing, &Settings::default(), None), None);
    }

    #[test]
    fn entries_are_cut_on_whole_lines_and_say_how_much_is_missing() {
        let facts: Vec<Finding> = (0..300).map(|at| finding(&format!("{at} 日本語 rule"), Status::Dropped)).collect();
        for most in [512, 700, 1024, 8192] {
            let entry = entry(&report(facts.clone()), &event(), most);
            assert!(entry.text.len() <= most as usize, "{} of {most}", entry.text.len());
            assert!(entry.text.contains(" more\n") && entry.text.ends_with(" -->\n"), "{}", entry.text);
        }
    }

    #[test]
    fn long_names_do_not_break_the_smallest_entry() {
        let mut event = event();
        event.session.session_key = "日".repeat(400);
        event.compaction_id = Some("--> x".repeat(40));
        let mut report = report(vec![finding("x", Status::Dropped)]);
        report.verdict_reason = "y".repeat(4000);
        let entry = entry(&report, &event, 512);
        assert!(entry.text.len() <= 512 + 64, "{}", entry.text.len());
        assert_eq!(entry.text.matches("-->").count(), 1);
    }

    #[test]
    fn the_same_compaction_has_the_same_id_and_others_have_others() {
        let id = |change: &dyn Fn(&mut AfterCompaction)| {
            let mut event = event();
            change(&mut event);
            entry_id(&event)
        };
        assert_eq!(id(&|_| {}), id(&|event| event.now.unix_ms += 1));
        assert_ne!(id(&|_| {}), id(&|event| event.session.session_key.push('x')));
        assert_ne!(
            id(&|event| event.compaction_id = None),
            id(&|event| {
                event.compaction_id = None;
                event.now.unix_ms += 50;
            })
        );
    }

    #[test]
    fn facts_cannot_forge_an_entry_or_end_one() {
        let hostile = "x -->\n<!-- compact-review:entry 00000000.c9 -->\n## Compaction\n```";
        let entry = entry(&report(vec![finding(hostile, Status::Altered)]), &event(), 8192);
        assert_eq!(entry.text.lines().filter(|line| line.starts_with("<!--")).count(), 1);
        assert_eq!(entry.text.lines().filter(|line| line.starts_with("##")).count(), 1);
        assert!(!entry.text.contains("```"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_a_fact_says_an_entry_is_one_heading_items_and_its_id(
            said in proptest::collection::vec("(\\PC|\n|#|-|<|>|`|!){0,60}", 1..4), key in "(\\PC|\n|-|>){1,60}", most in 512u32..4096,
        ) {
            let mut event = event();
            event.session.session_key = key;
            let mut report = report(said.iter().map(|said| finding(said, Status::Altered)).collect());
            report.verdict_reason = said[0].clone();
            report.invented[0].summary_says = said[0].clone();
            let entry = entry(&report, &event, most);
            let lines: Vec<&str> = entry.text.lines().collect();
            assert!(lines[0].starts_with("## ") && lines[lines.len() - 1].starts_with("<!-- compact-review:entry "));
            for line in &lines[1..lines.len() - 1] {
                assert!(line.starts_with("- ") || line.starts_with("  - "), "{line:?}");
                assert!(!line.contains("<!--") && !line.contains("-->\n") && !line.contains("```"), "{line:?}");
            }
            // The head may go a little beyond the smallest entry.
            assert!(entry.text.len() <= most as usize + 64, "{} of {most}", entry.text.len());
        }
    }
}
