//! What the summary names and no message ever contained.

use super::summary::Summary;
use crate::redact::redact;
use crate::report::Invention;
use crate::signal::names::{self, NameKind};
use crate::signal::{Ledger, bounded};

/// So many are listed at most.
const MAX_INVENTED: usize = 40;

/// Identifiers of the summary that the ledger does not know. Plain numbers are left out: a summary counts by itself.
pub fn invented(summary: &Summary<'_>, ledger: &Ledger) -> Vec<Invention> {
    let mut found: Vec<Invention> = Vec::new();
    for number in 0..summary.pieces.len() {
        let piece = summary.piece(number);
        names::names(piece, |name| {
            let certain = matches!(name.kind, NameKind::Id | NameKind::Url | NameKind::Flag)
                || name.kind == NameKind::Symbol
                || name.kind == NameKind::File && name.key.contains('.');
            let known = ledger.knows(name.key.as_bytes()) || ledger.knows(name.text.as_bytes());
            if certain && !known && found.len() < MAX_INVENTED && !found.iter().any(|it| it.text == name.text) {
                found.push(Invention {
                    text: redact(name.text).into_owned(),
                    summary_says: redact(bounded(piece, 400)).into_owned(),
                });
            }
        });
    }
    found
}
