//! What the summary states and no message ever contained: names, approvals, completions.

use super::summary::Summary;
use crate::redact::redact;
use crate::report::Invention;
use crate::signal::names::{self, NameKind};
use crate::signal::stance::{Reading, Side};
use crate::signal::{Ledger, bounded};
use crate::text::cue::{self, Cues};

/// So many are listed at most.
const MAX_INVENTED: usize = 40;
/// A completion of which the messages last said the opposite of so many words, and the same of none, is made up.
const CONTRADICTED: u32 = 3;
/// Sentences with these say that something is not so, not yet, or asked.
const UNCLAIMED: Cues =
    Cues::NEGATION.with(Cues::PROHIBITION).with(Cues::PENDING).with(Cues::QUESTION).with(Cues::TENTATIVE);

/// Names, then approvals and completions.
pub fn invented(summary: &Summary<'_>, ledger: &Ledger) -> Vec<Invention> {
    let mut found: Vec<Invention> = Vec::new();
    for number in 0..summary.pieces.len() {
        invented_names(summary.piece(number), ledger, &mut found);
    }
    let mut reading = Reading::default();
    for number in 0..summary.pieces.len() {
        let piece = summary.piece(number);
        if !cue::of_text(piece).has(UNCLAIMED) {
            invented_claims(piece, ledger, &mut reading, &mut found);
        }
    }
    found
}

/// Identifiers that the ledger does not know. Plain numbers are left out: a summary counts by itself.
fn invented_names(piece: &str, ledger: &Ledger, found: &mut Vec<Invention>) {
    names::names(piece, |name| {
        let certain = matches!(name.kind, NameKind::Id | NameKind::Url | NameKind::Flag | NameKind::Symbol)
            || name.kind == NameKind::File && name.key.contains('.');
        // A word in backticks may be a word of the messages.
        let certain = certain && !name.text.bytes().all(|byte| byte.is_ascii_alphabetic() && byte.is_ascii_lowercase());
        let known = ledger.knows(name.key.as_bytes()) || ledger.knows(name.text.as_bytes());
        if certain && !known && !found.iter().any(|it| it.text == name.text) {
            push(name.text, piece, found);
        }
    });
}

/// Approvals of things that nobody approved, completions of things that were last open or failing.
fn invented_claims(piece: &str, ledger: &Ledger, reading: &mut Reading, found: &mut Vec<Invention>) {
    reading.read(piece);
    let made_up = |side: Side, place: usize| {
        let words = reading.around(place);
        let (agree, differ) = ledger.stances.votes(side, words);
        let done = side.is_done() && differ >= CONTRADICTED && says_finished(piece);
        agree == 0 && (side.is_approval() && !words.is_empty() || done)
    };
    if let Some((side, _)) = reading.sides.iter().find(|(side, place)| made_up(*side, *place)) {
        push(if side.is_approval() { "an approval" } else { "a completion" }, piece, found);
    }
}

/// Whether a sentence says outright that something is over: "fix" and "working" may be plans.
fn says_finished(piece: &str) -> bool {
    const FINISHED: [&str; 14] = [
        "completed",
        "finished",
        "done",
        "merged",
        "deployed",
        "released",
        "shipped",
        "passed",
        "✅",
        "erledigt",
        "terminé",
        "completado",
        "完成",
        "완료",
    ];
    let piece = piece.to_lowercase();
    FINISHED.iter().any(|word| piece.contains(word))
}

fn push(text: &str, piece: &str, found: &mut Vec<Invention>) {
    if found.len() < MAX_INVENTED {
        found.push(Invention {
            text: redact(text).into_owned(),
            summary_says: redact(bounded(piece, 400)).into_owned(),
        });
    }
}
