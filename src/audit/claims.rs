//! Do the sides that the summary takes (done, pending, failed, not, without …) fit what the messages last said?

use super::summary::Summary;
use crate::signal::Ledger;
use crate::signal::stance::{Reading, Side};
use crate::text::UnitKind;

/// Fewer claims than this say less.
const MANY_CLAIMS: u32 = 30;
/// A line of at most so many words that ends with a colon is a heading.
const HEADING_WORDS: usize = 5;

/// From -1 to 1: how well the claims of a summary are borne out.
pub fn borne_out(summary: &Summary<'_>, ledger: &Ledger) -> f64 {
    let (mut total, mut count) = (0.0, 0u32);
    let mut reading = Reading::default();
    let mut heading: Option<Side> = None;
    for (number, piece) in summary.pieces.iter().enumerate() {
        let text = summary.piece(number);
        reading.read(text);
        let is_heading = piece.kind == UnitKind::Heading
            || text.trim_end_matches(['*', ' ']).ends_with([':', '：']) && reading.words.len() <= HEADING_WORDS;
        if is_heading {
            heading = reading.sides.first().map(|(side, _)| *side);
            continue;
        }
        let mut claim = |side: Side, words: &[u64]| {
            if let Some(fit) = ledger.stances.fit(side, words) {
                total += fit;
                count += 1;
            }
        };
        for (side, place) in &reading.sides {
            claim(*side, reading.around(*place));
        }
        // What stands below "Pending" is said to be pending.
        if let Some(side) = heading.filter(|_| reading.sides.is_empty()) {
            claim(side, &reading.words);
        }
    }
    total / f64::from(count.max(MANY_CLAIMS))
}
