//! Our own texts inside a message: a checkpoint, an entry of a daily note or a recovery text that an agent read back.
//!
//! What they quote was said once, by someone, in a message that is known. Read again as if it were new, a quote of a
//! tool's output would come back in the voice of whoever pasted it, and quotes of quotes would pile up. So these parts
//! are taken out before anything is read; [`super::carried`] keeps the facts themselves alive.

use super::header;
use super::recovered;
use std::borrow::Cow;
use std::ops::Range;

/// The last line of a checkpoint.
pub(super) const CHECKPOINT_END: &str = "<!-- compact-review:end of checkpoint -->";
/// How the mark of a note's entry begins; it is the entry's last line.
const ENTRY_MARK: &str = "<!-- compact-review:entry ";
/// How the heading of an entry begins, behind the mark of its verdict.
const ENTRY_HEADINGS: [&str; 2] = ["## 🧹 Compaction ", "## ⚠️ Compaction "];
/// How the list of lost facts begins in a report, for gateways that hand on that text as it is.
const FACTS_HEAD: &str = "Facts from before the compaction that the summary lacks.";
/// All of the above contain it: a message without it has nothing of ours.
const COMMON: &str = "ompact";
/// A text of ours whose end was cut off is taken to have at most so many bytes.
const LONGEST: usize = 80 * 1024;

/// What kind of text of ours begins at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Begin {
    Checkpoint,
    Entry,
    Mark,
    Fenced,
}

/// Where texts of ours stand, in order and without overlap.
pub(super) fn ours(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if !text.contains(COMMON) {
        return found;
    }
    let mut begins: Vec<(usize, Begin)> = Vec::new();
    for (pattern, begin) in [
        (header::OPEN, Begin::Checkpoint),
        (ENTRY_HEADINGS[0], Begin::Entry),
        (ENTRY_HEADINGS[1], Begin::Entry),
        (ENTRY_MARK, Begin::Mark),
        (recovered::HEAD, Begin::Fenced),
        (FACTS_HEAD, Begin::Fenced),
    ] {
        begins.extend(text.match_indices(pattern).map(|(at, _)| (at, begin)));
    }
    if begins.is_empty() {
        return found;
    }
    begins.sort_unstable();
    let places = Places::new(text);
    for (start, begin) in begins {
        if found.last().is_none_or(|last| start >= last.end) {
            let longest = text.floor_char_boundary(text.len().min(start.saturating_add(LONGEST)));
            found.push(start..places.end(start, begin).unwrap_or(longest).min(longest));
        }
    }
    found
}

/// Where the things stand that can end a text of ours; each is looked for once, so that the time stays linear.
struct Places {
    /// Behind each [`CHECKPOINT_END`].
    checkpoint_ends: Vec<usize>,
    marks: Vec<usize>,
    /// Behind each end of a comment.
    comment_ends: Vec<usize>,
    headings: Vec<usize>,
    /// Behind each fence.
    fences: Vec<usize>,
}

impl Places {
    fn new(text: &str) -> Places {
        let at = |pattern: &str| text.match_indices(pattern).map(|(at, _)| at).collect::<Vec<_>>();
        let behind = |pattern: &str| text.match_indices(pattern).map(|(at, _)| at + pattern.len()).collect::<Vec<_>>();
        let mut headings: Vec<usize> = ["\n# ", "\n## ", "\\n# ", "\\n## "].into_iter().flat_map(at).collect();
        headings.sort_unstable();
        Places {
            checkpoint_ends: behind(CHECKPOINT_END),
            marks: at(ENTRY_MARK),
            comment_ends: behind("-->"),
            headings,
            fences: behind(recovered::FENCE),
        }
    }

    /// Where the text of ours that begins at `start` ends; `None` where its end was cut off.
    fn end(&self, start: usize, begin: Begin) -> Option<usize> {
        let next = |places: &[usize], from: usize| places.get(places.partition_point(|at| *at <= from)).copied();
        match begin {
            Begin::Checkpoint => next(&self.checkpoint_ends, start),
            Begin::Mark => next(&self.comment_ends, start),
            Begin::Entry => match (next(&self.marks, start), next(&self.headings, start)) {
                // A heading before the mark begins something else: the end of this entry was cut off.
                (Some(mark), heading) if heading.is_none_or(|heading| mark < heading) => next(&self.comment_ends, mark),
                (_, heading) => heading,
            },
            Begin::Fenced => next(&self.fences, start).and_then(|inside| next(&self.fences, inside)),
        }
    }
}

/// The text without what is ours.
pub(super) fn without<'a>(text: &'a str, ours: &[Range<usize>]) -> Cow<'a, str> {
    if ours.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for range in ours {
        rest.push_str(text.get(at..range.start).unwrap_or_default());
        at = range.end;
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> String {
        without(text, &ours(text)).into_owned()
    }

    #[test]
    fn other_peoples_words_are_left_alone() {
        for text in
            ["", "Compaction is lossy.", "## Compaction\n- by me", "compact-review is a plugin", "~~~~~~text\nx"]
        {
            assert_eq!(left(text), text);
        }
    }

    #[test]
    fn a_checkpoint_goes_from_its_header_to_its_end() {
        let text = format!("cat says:\n{} {{}} -->\n# Active Checkpoint\n- a\n{CHECKPOINT_END}\nmine", header::OPEN);
        assert_eq!(left(&text), "cat says:\n\nmine");
        // As JSON escapes it, and cut off by a tool.
        assert_eq!(left(&text.replace('\n', "\\n")), "cat says:\\n\\nmine");
        assert_eq!(left(&text[..60]), "cat says:\n");
    }

    #[test]
    fn an_entry_goes_from_its_heading_to_its_mark() {
        let entry =
            format!("## ⚠️ Compaction 00:30 (lossy, 50.0 of 100)\n- Lost or altered: 1\n  - x\n{ENTRY_MARK}ab.c1 -->");
        assert_eq!(left(&format!("# My day\n{entry}\n\n## Lunch\n{entry}\nend")), "# My day\n\n\n## Lunch\n\nend");
        let cut = entry.split("<!--").next().unwrap_or_default();
        assert_eq!(left(&format!("{}\n## Lunch\nsoup", cut.trim_end())), "\n## Lunch\nsoup");
        assert_eq!(left(&format!("a {ENTRY_MARK}ab.c1 --> b")), "a  b");
    }

    #[test]
    fn both_forms_of_the_recovery_text_go_with_their_fence() {
        let finding = crate::report::Finding {
            id: "s1".to_string(),
            kind: crate::report::Kind::Constraint,
            text: "Never deploy on Fridays".to_string(),
            values: Vec::new(),
            message_id: "m1".to_string(),
            role: crate::event::Role::User,
            at: None,
            salience: 0.9,
            status: crate::report::Status::Dropped,
            summary_says: None,
            why: Vec::new(),
        };
        let facts = crate::checkpoint::recovery::recovery_text(&[finding], 4000).unwrap_or_default();
        assert_eq!(left(&format!("{facts}Go on.")).trim(), "Go on.");
        let whole = format!("{} x\n{}text\n- fact\n{}\nGo on.", recovered::HEAD, recovered::FENCE, recovered::FENCE);
        assert_eq!(left(&whole), "\nGo on.");
    }

    #[test]
    fn many_marks_are_read_in_linear_time() {
        for piece in ["## ⚠️ Compaction <!-- compact-review:entry ", "## ⚠️ Compaction -->", "\n## 🧹 Compaction x"]
        {
            let text = piece.repeat(20_000);
            let found = ours(&text);
            assert!(!found.is_empty() && found.iter().all(|range| range.end <= text.len()), "{piece}");
        }
    }
}
