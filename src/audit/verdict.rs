//! Is the summary one at all? Empty, placeholder, headings only, truncated, larger than its source.

use crate::text::{UnitKind, units};

/// A summary with fewer letters than this under its headings says nothing.
const MIN_LETTERS: usize = 40;
/// A summary may be as long as its source where that is short.
const OVERSIZE_FLOOR: u64 = 2_000;

/// Why the summary failed, if it did.
pub fn failure(text: &str, source_bytes: u64) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Some("the summary is empty".to_string());
    }
    let (mut headings, mut empty, mut letters, mut only_placeholder) = (0, 0, 0, true);
    units(trimmed, |unit| {
        let Some(piece) = trimmed.get(unit.start..unit.end) else { return };
        if unit.kind == UnitKind::Heading || piece.starts_with("**") && piece.trim_end_matches(':').ends_with("**") {
            headings += 1;
        } else if is_placeholder(piece) {
            empty += 1;
        } else {
            only_placeholder = false;
            letters +=
                piece.chars().filter(|c| c.is_alphanumeric()).map(|c| if c.is_ascii() { 1 } else { 2 }).sum::<usize>();
        }
    });
    if only_placeholder {
        let what = if headings > 0 { "has headings and nothing under them" } else { "is a placeholder" };
        return Some(format!("the summary {what}"));
    }
    if truncated(trimmed) {
        return Some("the summary was truncated".to_string());
    }
    if letters < MIN_LETTERS && source_bytes > OVERSIZE_FLOOR {
        let what = if headings + empty > 2 { "a skeleton of headings" } else { "too short to say anything" };
        return Some(format!("the summary is {what}"));
    }
    if source_bytes > 0 && text.len() as u64 > source_bytes.max(OVERSIZE_FLOOR) {
        return Some("the summary is larger than what it replaced".to_string());
    }
    None
}

/// Words that stand where nothing was written.
fn is_placeholder(piece: &str) -> bool {
    let word = piece.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let known = [
        "",
        "none",
        "n a",
        "n/a",
        "na",
        "nothing",
        "no summary available",
        "no prior history",
        "tbd",
        "todo",
        "empty",
        "not applicable",
        "none yet",
        "none identified",
        "no summary",
        "summary unavailable",
        "no content",
        "placeholder",
        "null",
        "undefined",
        "无",
        "無",
        "なし",
        "없음",
        "keine",
        "aucun",
        "aucune",
        "ninguno",
        "ninguna",
        "nessuno",
    ];
    known.contains(&word.as_str())
        || word.len() < 80 && word.starts_with("summary unavailable")
        || word.len() < 80 && word.starts_with("no prior history")
}

/// A mark that says that text was cut off, at the end and not in a quotation of it.
fn truncated(text: &str) -> bool {
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(160))..).unwrap_or_default().to_lowercase();
    let line = tail.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let open = line.rfind(['[', '<', '(', '…']).map_or("", |at| line.get(at..).unwrap_or_default());
    ["[truncated", "<truncated", "(truncated", "…truncated", "[output truncated", "[summary truncated", "…[truncated"]
        .iter()
        .any(|mark| open.starts_with(mark))
}
