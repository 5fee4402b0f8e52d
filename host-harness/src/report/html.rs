//! One page for people: self-contained, without the network.
//!
//! Transcripts are hostile: their text goes into the page as JSON in which nothing can end the element it stands in,
//! the script makes text nodes of it and nothing else, and a Content-Security-Policy with the hashes of our own script
//! and style forbids everything beside them.

use crate::cli::Row;
use crate::scan::Scanned;
use crate::scan::record::{CompactionRecord, LostFact};
use crate::transcript::cut;
use base64::Engine;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

const PAGE: &str = include_str!("../../assets/report/page.html");
const STYLE: &str = include_str!("../../assets/report/page.css");
const SCRIPT: &str = include_str!("../../assets/report/page.js");

/// The page should stay below 5 MB, however many compactions it has: what is shown of each shrinks with their number.
const TARGET_BYTES: usize = 4_200_000;
/// What is shown of one compaction at least and at most, in bytes.
const LEAST: usize = 1_500;
const MOST: usize = 60_000;
/// How many things that could not be read are listed.
const PROBLEMS: usize = 200;

/// Whether a page could be written there; asked before a long scan.
pub fn check_place(path: &Path) -> std::io::Result<()> {
    tempfile::Builder::new().prefix(".compact-review-").tempfile_in(folder(path)).map(drop)
}

/// Writes the page, as a whole or not at all. It quotes conversations: only the user can read it.
pub(crate) fn write(path: &Path, scanned: &Scanned, rows: &[Row<'_>]) -> std::io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".compact-review-").tempfile_in(folder(path))?;
    file.write_all(page(scanned, rows).as_bytes())?;
    file.persist(path)?;
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn page(scanned: &Scanned, rows: &[Row<'_>]) -> String {
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
    let mut page = String::with_capacity(TARGET_BYTES / 4);
    let mut rest = PAGE;
    // One pass over the template: text that looks like a placeholder of ours is never filled in.
    while let Some((before, behind)) = rest.split_once("@@") {
        let Some((name, after)) = behind.split_once("@@") else { break };
        page.push_str(before);
        match name {
            "STYLE" => page.push_str(STYLE),
            "SCRIPT" => page.push_str(SCRIPT),
            "STYLE_HASH" => page.push_str(&hash(STYLE)),
            "SCRIPT_HASH" => page.push_str(&hash(SCRIPT)),
            "DATA" => page.push_str(&inert(&data(scanned, rows).to_string())),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// JSON that cannot end its element or begin another one.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

fn data(scanned: &Scanned, rows: &[Row<'_>]) -> Value {
    let room = (TARGET_BYTES / rows.len().max(1)).clamp(LEAST, MOST);
    let home = std::env::var("HOME").ok().filter(|home| home.len() > 1);
    let place = |path: &str| private(path, home.as_deref()).into_owned();
    json!({
        "files": scanned.files.len(),
        "sessions": scanned.files.iter().map(|file| file.sessions.len()).sum::<usize>(),
        "problems": scanned.problems.iter().take(PROBLEMS)
            .map(|problem| (place(&problem.path), problem.why.as_str())).collect::<Vec<_>>(),
        "compactions": rows.iter()
            .map(|row| compaction(row.compaction, &place(&row.file.path), row.file.format.name(), room)).collect::<Vec<_>>(),
    })
}

/// A page is made to be sent to someone: the name of the user's home folder stays out of it.
fn private<'a>(path: &'a str, home: Option<&str>) -> Cow<'a, str> {
    match home.and_then(|home| path.strip_prefix(home)) {
        Some(rest) if rest.starts_with('/') => Cow::Owned(format!("~{rest}")),
        _ => Cow::Borrowed(path),
    }
}

/// A compaction within its room: as many facts as fit, most important first, and what is left for the summary.
fn compaction(record: &CompactionRecord, file: &str, format: &str, room: usize) -> Value {
    let summary = record.summary.as_deref().map(|summary| cut(summary, (room / 4).max(300)));
    let around = (room / 40).clamp(60, 260);
    let mut left = room.saturating_sub(summary.as_ref().map_or(0, |summary| summary.len()) + 900);
    let mut lost = Vec::new();
    for fact in &record.lost {
        let fact = fact_value(fact, around);
        let length = fact.to_string().len();
        // The worst loss is always shown.
        if length > left && !lost.is_empty() {
            break;
        }
        left = left.saturating_sub(length);
        lost.push(fact);
    }
    let used = record.lost.iter().take(lost.len()).map(|fact| fact.source).max().map_or(0, |last| last + 1);
    let categories: Vec<_> = record
        .categories
        .iter()
        .map(|part| (part.category.name(), part.score.round(), part.preserved, part.altered, part.dropped))
        .collect();
    json!({
        "session": short(&record.session_id, 120),
        "agent": short(&record.agent, 80),
        "format": format,
        "file": file,
        "line": record.line,
        "number": record.number,
        "active": record.active,
        "at": record.at,
        "score": record.score.map(|score| (score * 10.0).round() / 10.0),
        "verdict": record.verdict.name(),
        "reason": record.reason,
        "messagesBefore": record.messages_before,
        "messagesDropped": record.messages_dropped,
        "messagesRetained": record.messages_retained,
        "tokensBefore": record.tokens_before,
        "tokensAfter": record.tokens_after,
        "tokensRecorded": record.tokens_recorded,
        "lostTotal": record.lost_total,
        "critical": record.critical,
        "categories": categories,
        "lost": lost,
        "sources": record.sources.iter().take(used)
            .map(|source| json!({"id": short(&source.id, 60), "role": source.role, "tool": source.tool, "at": source.at}))
            .collect::<Vec<_>>(),
        "invented": record.invented.iter().take(if room < 8_000 { 3 } else { 20 })
            .map(|invention| (short(&invention.text, 80), short(&invention.summary_says, around))).collect::<Vec<_>>(),
        "summary": summary,
        "notes": record.problems.iter().chain(&record.notices).take(4).map(|note| short(note, 200)).collect::<Vec<_>>(),
    })
}

fn fact_value(fact: &LostFact, around: usize) -> Value {
    let before = &fact.excerpt.before;
    let before = &before[before.ceil_char_boundary(before.len().saturating_sub(around))..];
    json!({
        "kind": fact.kind.name(),
        "status": fact.status,
        "text": short(&fact.text, 2 * around),
        "salience": (fact.salience * 100.0).round() / 100.0,
        "source": fact.source,
        "excerpt": (before, short(&fact.excerpt.fact, 2 * around), short(&fact.excerpt.after, around)),
        "says": fact.summary_says.as_deref().map(|says| short(says, 2 * around)),
    })
}

fn short(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(most)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_the_page_cannot_end_its_element() {
        let json = json!({"a": "</script><script>alert(1)</script><!-- & \u{2028}"}).to_string();
        let inert = inert(&json);
        assert!(!inert.contains(['<', '>', '&', '\u{2028}']), "{inert}");
        assert_eq!(serde_json::from_str::<Value>(&inert).ok(), serde_json::from_str(&json).ok());
    }

    #[test]
    fn an_empty_scan_is_a_page_too_and_placeholders_are_gone() {
        let page = page(&Scanned::default(), &[]);
        assert!(page.contains("\"compactions\":[]") && !page.contains("@@"));
        assert!(!page.contains("http://") || page.matches("http://").count() == 1, "only the name of the SVG language");
        assert!(!page.contains("innerHTML") && !page.contains("eval("));
    }

    #[test]
    fn the_home_folder_is_not_named() {
        assert_eq!(private("/home/dana/.claude/x.jsonl", Some("/home/dana")), "~/.claude/x.jsonl");
        assert_eq!(private("/home/danae/x.jsonl", Some("/home/dana")), "/home/danae/x.jsonl");
    }
}
