//! An audit for people: score, categories as bars, what was lost and where it came from.
//!
//! Text from a conversation is data here too: control characters never reach the terminal.

use anstyle::{AnsiColor, Style};
use compact_review::event::LocalTime;
use compact_review::report::{Category, Finding, Report, Status, Verdict, WriteTarget};
use std::io::{self, Write};

const BAR: usize = 20;
const TEXT_WIDTH: usize = 96;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();

/// Prints a whole audit; `most` bounds the list of what was lost.
pub fn audit(out: &mut impl Write, report: &Report, most: usize) -> io::Result<()> {
    headline(out, report)?;
    categories(out, &report.categories)?;
    lost(out, &report.lost, most)?;
    invented(out, report)?;
    for problem in &report.problems {
        writeln!(out, "  {RED}problem{RED:#} {}", plain(problem, 300))?;
    }
    for notice in &report.notices {
        writeln!(out, "  {DIM}note{DIM:#} {}", plain(notice, 300))?;
    }
    Ok(())
}

fn headline(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let style = verdict_style(report.verdict);
    let score = report.score.map_or_else(|| "–".to_string(), |score| format!("{score:.1}"));
    let verdict = report.verdict.name();
    writeln!(out, "  {BOLD}score {score}{BOLD:#} · {style}{verdict}{style:#} · {}", plain(&report.verdict_reason, 200))
}

fn categories(out: &mut impl Write, categories: &[Category]) -> io::Result<()> {
    for category in categories {
        let style = if category.score >= 80.0 {
            GREEN
        } else if category.score >= 50.0 {
            YELLOW
        } else {
            RED
        };
        let name = category.category.name();
        let bar = bar(category.score / 100.0);
        let counts = format!("{} kept, {} altered, {} dropped", category.preserved, category.altered, category.dropped);
        writeln!(out, "  {name:<15} {style}{bar}{style:#} {:>5.1}  {DIM}{counts}{DIM:#}", category.score)?;
    }
    Ok(())
}

fn lost(out: &mut impl Write, findings: &[Finding], most: usize) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {BOLD}lost, most important first{BOLD:#}")?;
    for finding in findings.iter().take(most) {
        let (word, style) = match finding.status {
            Status::Altered => ("altered", RED),
            _ => ("dropped", YELLOW),
        };
        let text = plain(&finding.text, TEXT_WIDTH);
        writeln!(out, "  {style}{word}{style:#} {:<14} {text}", finding.kind.name())?;
        let when = finding.at.map(|at| format!(" {} UTC", minute(at)));
        let source = format!("{}{}", plain(&finding.message_id, 40), when.unwrap_or_default());
        let values = plain(&finding.values.join(" "), 60);
        let gap = if values.is_empty() { "" } else { " · " };
        writeln!(out, "  {DIM}{:>7} {} {source}{gap}{values} · {}{DIM:#}", "", speaker(finding), finding.id)?;
        if let Some(says) = &finding.summary_says {
            writeln!(out, "          {DIM}the summary says:{DIM:#} {}", plain(says, TEXT_WIDTH))?;
        }
    }
    if findings.len() > most {
        writeln!(out, "  {DIM}… {} more{DIM:#}", findings.len() - most)?;
    }
    Ok(())
}

fn invented(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.invented.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {BOLD}in the summary, but in no message{BOLD:#}")?;
    for invention in report.invented.iter().take(8) {
        writeln!(
            out,
            "  {RED}{}{RED:#}  {DIM}{}{DIM:#}",
            plain(&invention.text, 60),
            plain(&invention.summary_says, 90)
        )?;
    }
    Ok(())
}

/// Prints what was written, and where.
pub fn writes(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for write in &report.writes {
        let name = match write.target {
            WriteTarget::Checkpoint => "checkpoint",
            WriteTarget::DailyNote => "daily note",
        };
        match (&write.place, &write.error) {
            (Some(place), _) => writeln!(out, "  {name}: {place}")?,
            (None, error) => writeln!(out, "  {RED}{name} not written{RED:#}: {}", error.as_deref().unwrap_or("?"))?,
        }
    }
    Ok(())
}

/// A text of ours, quoted line by line behind a bar.
pub fn quoted(out: &mut impl Write, text: &str, most_lines: usize) -> io::Result<()> {
    for line in text.lines().take(most_lines) {
        writeln!(out, "  {DIM}│{DIM:#} {}", plain(line, 140))?;
    }
    let lines = text.lines().count();
    if lines > most_lines {
        writeln!(out, "  {DIM}│ … {} more lines{DIM:#}", lines - most_lines)?;
    }
    Ok(())
}

/// A bar for a share from 0 to 1.
pub fn bar(share: f64) -> String {
    let filled = ((share.clamp(0.0, 1.0) * BAR as f64).round() as usize).min(BAR);
    format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled))
}

/// Thousands with commas.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One line without control characters, of at most that many characters.
pub fn plain(text: &str, most: usize) -> String {
    let mut out: String =
        text.chars().map(|c| if c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) { ' ' } else { c }).collect();
    if let Some((end, _)) = out.char_indices().nth(most) {
        out.truncate(end);
        out.push('…');
    }
    out
}

fn speaker(finding: &Finding) -> &'static str {
    match finding.role {
        compact_review::event::Role::System => "system",
        compact_review::event::Role::User => "user",
        compact_review::event::Role::Assistant => "assistant",
        compact_review::event::Role::Tool => "tool",
    }
}

/// Date and time of a message, in UTC: the report does not know the user's clock.
fn minute(at: i64) -> String {
    let time = LocalTime { unix_ms: at, utc_offset_minutes: 0 };
    format!("{} {}", time.date(), time.clock())
}

/// How a verdict is coloured.
pub fn verdict_style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Faithful => GREEN,
        Verdict::Lossy => YELLOW,
        Verdict::Failed => RED,
        Verdict::Unverifiable => DIM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_sees_control_characters() {
        assert_eq!(plain("a\u{1b}[31mred\u{7}\nnext\u{202e}", 80), "a [31mred  next ");
    }

    #[test]
    fn long_text_is_cut_on_a_character() {
        assert_eq!(plain("日本語テキスト", 3), "日本語…");
    }

    #[test]
    fn a_lost_fact_shows_its_source_and_when_it_was_said() {
        let finding = Finding {
            id: "s1".to_string(),
            kind: compact_review::report::Kind::Constraint,
            text: "Never push on Fridays.".to_string(),
            values: Vec::new(),
            message_id: "m7".to_string(),
            role: compact_review::event::Role::User,
            at: Some(1_795_000_000_000),
            salience: 0.9,
            status: Status::Altered,
            summary_says: Some("Always push on Fridays.".to_string()),
            why: Vec::new(),
        };
        let mut out = Vec::new();
        assert!(lost(&mut out, &[finding], 5).is_ok());
        let shown = anstream::adapter::strip_str(&String::from_utf8_lossy(&out)).to_string();
        for part in ["altered", "Never push on Fridays.", "user m7 2026-11-18 11:06 UTC", "Always push on Fridays."] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1000, 131_072, 1_234_567].map(thousands), ["0", "999", "1,000", "131,072", "1,234,567"]);
    }
}
