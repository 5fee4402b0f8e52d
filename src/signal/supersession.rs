//! What later messages made of a statement: finished it, took it back, or gave another value for the same thing.
//!
//! Two statements speak of the same thing where they share rare words. Only a later statement counts, and only one
//! with a word that turns: "actually", "no longer", "instead", "done".

use super::cues::cue::*;
use super::inventory::HashedMap;
use super::names;
use super::prose::Statement;
use crate::event::{Message, Role};

/// What a statement must have to make something of an earlier one.
const TURNING: u32 = REVERSAL | DONE | CONTRAST | DECISION | CURRENT | PROHIBITION | CORRECTION;
/// So many rare words in common make one subject.
const SAME_SUBJECT: usize = 2;
/// So many make it surely one.
const SURELY_SAME: usize = 3;
/// So many later statements with a rare word are looked at.
const LOOKED_AT: usize = 24;

/// What became of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// A later statement says it is done.
    pub done: bool,
    /// A later statement may take it back.
    pub doubted: bool,
    /// The later statement that surely takes it back or gives another value.
    pub overturned_by: Option<usize>,
}

/// The fate of each statement, in order.
pub fn fates(statements: &[Statement], messages: &[Message]) -> Vec<Fate> {
    // Most statements turn nothing, and need not be found again.
    let mut carriers: HashedMap<Vec<u32>> = HashedMap::default();
    for (at, statement) in statements.iter().enumerate().filter(|(_, statement)| statement.cues & TURNING != 0) {
        for rare in statement.rare.iter().filter(|hash| **hash != 0) {
            carriers.entry(*rare).or_default().push(at as u32);
        }
    }
    let mut fates = vec![Fate::default(); statements.len()];
    for (at, (statement, fate)) in statements.iter().zip(&mut fates).enumerate() {
        for rare in statement.rare.iter().take(2).filter(|hash| **hash != 0) {
            let list = carriers.get(rare).map(Vec::as_slice).unwrap_or_default();
            let later = list.partition_point(|other| *other as usize <= at);
            // The newest say how things stand.
            for other in list.get(later..).unwrap_or_default().iter().rev().take(LOOKED_AT) {
                let Some(next) = statements.get(*other as usize).filter(|next| next.message > statement.message) else {
                    continue;
                };
                compare(statement, next, *other as usize, messages, fate);
            }
        }
    }
    fates
}

fn compare(old: &Statement, new: &Statement, number: usize, messages: &[Message], fate: &mut Fate) {
    let shared = old.rare.iter().filter(|hash| **hash != 0 && new.rare.contains(hash)).count();
    if shared < SAME_SUBJECT {
        return;
    }
    let role = |statement: &Statement| messages.get(statement.message as usize).map(|message| message.role);
    let by_user = role(new) == Some(Role::User);
    let turns = new.cues & REVERSAL != 0;
    let done = new.cues & DONE != 0 && new.cues & (TASK | QUESTION | DEFER | FAILURE) == 0;
    fate.done |= done && !by_user && old.cues & (TASK | ASK | WISH | FAILURE | QUESTION) != 0;
    fate.doubted |=
        turns || by_user && role(old) == Some(Role::Assistant) && new.cues & (PROHIBITION | CORRECTION | CONTRAST) != 0;
    let newly = new.cues & (REVERSAL | CONTRAST | DECISION | CURRENT) != 0;
    if turns && shared >= SURELY_SAME || newly && another_value(old, new, messages) {
        fate.overturned_by = Some(fate.overturned_by.map_or(number, |known| known.max(number)));
    }
}

/// Whether the newer statement has a value of the same form in the place of one of the older.
fn another_value(old: &Statement, new: &Statement, messages: &[Message]) -> bool {
    if old.values == 0 || new.values == 0 {
        return false;
    }
    let text = |statement: &Statement| {
        messages.get(statement.message as usize).and_then(|message| message.text.get(statement.start..statement.end))
    };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return false };
    let mut changed = false;
    names::names(old, |ours| {
        if changed {
            return;
        }
        let gone = !new.contains(ours.text);
        // "5433 instead of 5432": the old value is named as the one that was given up.
        let given_up = !gone && given_up(new, ours.text);
        if gone || given_up {
            names::names(new, |theirs| {
                changed |= theirs.text != ours.text
                    && names::form(theirs.text) == names::form(ours.text)
                    && !old.contains(theirs.text);
            });
        }
    });
    changed
}

/// Whether the value stands behind a word that gives it up.
fn given_up(text: &str, value: &str) -> bool {
    let before = text.find(value).and_then(|at| text.get(..at)).unwrap_or_default().trim_end();
    let tail = before.get(before.floor_char_boundary(before.len().saturating_sub(24))..).unwrap_or_default();
    ["instead of", "rather than", "no longer", "not", "from", "statt", "au lieu de", "en lugar de", "而不是", "대신"]
        .iter()
        .any(|mark| tail.to_lowercase().contains(mark))
}
