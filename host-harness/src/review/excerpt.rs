//! The place in a message that a finding came from: a short piece around it, without secrets.

use compact_review::redact::redact;
use compact_review::report::Finding;
use serde::{Deserialize, Serialize};

/// How much of a message is shown around a fact, in bytes on each side.
const AROUND: usize = 240;
/// How much is looked at for secrets on each side of that: one that begins before the piece is still recognised.
const MARGIN: usize = 4 * 1024;

/// A piece of a text with the fact in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// What stands before the fact.
    pub before: String,
    /// The fact; empty where it could not be found word for word.
    pub fact: String,
    /// What stands behind it.
    pub after: String,
}

/// The piece of `text` that a finding came from.
pub fn excerpt(text: &str, finding: &Finding) -> Excerpt {
    let place = find(text, &finding.text).or_else(|| finding.values.iter().find_map(|value| find(text, value)));
    let (start, end) = place.unwrap_or((0, 0));
    around(text, start, end)
}

/// A piece of a text around a place, without secrets.
fn around(text: &str, start: usize, end: usize) -> Excerpt {
    let low = text.floor_char_boundary(start.saturating_sub(AROUND + MARGIN));
    let high = text.ceil_char_boundary((end + AROUND + MARGIN).min(text.len()));
    // All of it at once: a secret may span the borders of the fact. The marks tell where it was.
    let clean = redact(&text[low..high]);
    let (start, end) = (start - low, end - low);
    if clean.len() == high - low && clean.is_char_boundary(start) && clean.is_char_boundary(end) {
        let from = clean.floor_char_boundary(start.saturating_sub(AROUND));
        let to = clean.ceil_char_boundary((end + AROUND).min(clean.len()));
        return Excerpt {
            before: lead(from > 0 || low > 0, &clean[from..start]),
            fact: clean[start..end].to_string(),
            after: tail(to < clean.len() || high < text.len(), &clean[end..to]),
        };
    }
    // Something was redacted: the places no longer hold. Each side is cleaned with the fact in view, then cut.
    let fact = redact(&text[low + start..low + end]).into_owned();
    let before = redact(&text[low..low + start]).into_owned();
    let after = redact(&text[low + end..high]).into_owned();
    let whole = format!("{before}{fact}{after}");
    if redact(&whole) != whole || fact.contains("[redacted") {
        // A secret lies across a border: no piece of it may be shown, so the whole is shown cleaned and unmarked.
        let to = clean.ceil_char_boundary((2 * AROUND).min(clean.len()));
        return Excerpt { after: tail(to < clean.len(), &clean[..to]), ..Excerpt::default() };
    }
    let from = before.ceil_char_boundary(before.len().saturating_sub(AROUND));
    let to = after.floor_char_boundary(AROUND.min(after.len()));
    Excerpt {
        before: lead(from > 0 || low > 0, &before[from..]),
        fact,
        after: tail(to < after.len() || high < text.len(), &after[..to]),
    }
}

fn lead(cut: bool, text: &str) -> String {
    if cut { format!("…{text}") } else { text.to_string() }
}

fn tail(cut: bool, text: &str) -> String {
    if cut { format!("{text}…") } else { text.to_string() }
}

/// Where the words of `needle` stand in `text`, however the white space between them differs. What a finding says is
/// bounded, so its last words may be cut off: the longest beginning of at least four words counts.
fn find(text: &str, needle: &str) -> Option<(usize, usize)> {
    let needle = needle.trim().trim_end_matches('…');
    let words: Vec<&str> = needle.split_whitespace().take(40).collect();
    let first = words.first()?;
    let mut best: Option<(usize, usize, usize)> = None;
    for (start, _) in text.match_indices(first).take(200) {
        let (mut end, mut matched) = (start + first.len(), 1);
        for word in &words[1..] {
            let rest = &text[end..];
            let gap = rest.len() - rest.trim_start().len();
            if !rest[gap..].starts_with(word) {
                break;
            }
            end += gap + word.len();
            matched += 1;
        }
        if best.is_none_or(|(_, _, most)| matched > most) {
            best = Some((start, end, matched));
        }
        if matched == words.len() {
            break;
        }
    }
    best.filter(|(_, _, matched)| *matched >= words.len().min(4)).map(|(start, end, _)| (start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use compact_review::event::Role;
    use compact_review::report::{Kind, Status};

    fn finding(text: &str, values: &[&str]) -> Finding {
        Finding {
            id: "s1".to_string(),
            kind: Kind::Constraint,
            text: text.to_string(),
            values: values.iter().map(|value| (*value).to_string()).collect(),
            message_id: "m".to_string(),
            role: Role::User,
            at: None,
            salience: 0.9,
            status: Status::Dropped,
            summary_says: None,
            why: Vec::new(),
        }
    }

    #[test]
    fn the_fact_is_found_whatever_the_white_space() {
        let found = excerpt("Hello.\nNever  deploy\non Fridays, please.", &finding("Never deploy on Fridays", &[]));
        assert_eq!((found.before.as_str(), found.fact.as_str()), ("Hello.\n", "Never  deploy\non Fridays"));
        assert_eq!(found.after, ", please.");
    }

    #[test]
    fn a_value_is_the_second_choice_and_the_beginning_the_last() {
        assert_eq!(excerpt("the port is 5432 there", &finding("port: database", &["5432"])).fact, "5432");
        let found = excerpt("nothing of it", &finding("something quite different here", &[]));
        assert_eq!((found.fact.as_str(), found.after.as_str()), ("", "nothing of it"));
    }

    #[test]
    fn pieces_are_bounded_and_cut_on_characters() {
        let text = format!("{} Never deploy {}", "日".repeat(3_000), "本".repeat(3_000));
        let found = excerpt(&text, &finding("Never deploy", &[]));
        assert_eq!(found.fact, "Never deploy");
        assert!(found.before.len() < 300 && found.after.len() < 300, "{found:?}");
        assert!(found.before.starts_with('…') && found.after.ends_with('…'));
    }

    #[test]
    fn secrets_around_and_in_the_fact_are_not_shown() {
        let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        for text in [
            format!("The token is {secret} and never deploy on Fridays."),
            format!("Never deploy on Fridays with {secret}."),
            format!("Never deploy {secret} on Fridays."),
        ] {
            for fact in ["never deploy on Fridays", "Never deploy on Fridays", "Never deploy", &text[..20]] {
                let found = excerpt(&text, &finding(fact, &[secret, &secret[..12]]));
                let shown = format!("{}{}{}", found.before, found.fact, found.after);
                assert!(!shown.contains("16C7e42F"), "{fact}: {shown}");
            }
        }
    }
}
