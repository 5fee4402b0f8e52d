//! What became of one signal: preserved, altered or dropped, and how surely.

use super::matching::{Conflict, Fact, Scratch};
use super::summary::Summary;
use crate::event::Role;
use crate::report::Status;
use crate::signal::{Member, Signal, bounded, names};
use crate::text::cue::{self, Cues};

/// A sentence that shares so much of a user's statement can contradict it.
const SURE_SUBJECT: f32 = 0.7;
/// A piece that shares so much of a statement speaks of the same thing.
const SAME_SUBJECT: f64 = 0.62;
/// A piece that shares so much and has another value of the same form speaks of the same key.
const SAME_VALUE_SUBJECT: f64 = 0.5;
/// A statement of which so much stands in neighbouring pieces is preserved.
const PRESERVED: f64 = 0.60;
/// The same for its words anywhere, where neighbouring pieces have at least a third of that.
const SCATTERED: f64 = 0.62;

const NEGATIVE: Cues = Cues::NEGATION.with(Cues::PROHIBITION);

/// The judgement of one signal.
pub struct Judgement<'a> {
    /// The signal.
    pub signal: &'a Signal,
    /// Its status.
    pub status: Status,
    /// From 0 to 1: how much of it is left.
    pub kept: f64,
    /// Where it was altered: what the summary says.
    pub says: Option<String>,
    /// Of a family or a list: the members that are gone.
    pub gone: Vec<&'a Member>,
    /// Why it has this status.
    pub why: String,
}

/// Judges one signal; `retained` tells which messages still stand.
pub fn judge<'a>(
    signal: &'a Signal,
    summary: &Summary<'_>,
    retained: &dyn Fn(u32) -> bool,
    hits: &mut Vec<f32>,
) -> Judgement<'a> {
    let mut judgement =
        Judgement { signal, status: Status::Preserved, kept: 1.0, says: None, gone: Vec::new(), why: String::new() };
    if signal.superseded {
        judgement.status = Status::Superseded;
        judgement.why = "a later message overturned it".to_string();
        return judgement;
    }
    if !signal.members.is_empty() {
        judge_members(&mut judgement, summary, retained);
        return judgement;
    }
    if retained(signal.last_index) {
        judgement.why = "it stands in a retained message".to_string();
        return judgement;
    }
    judge_statement(&mut judgement, summary, hits);
    judgement
}

fn judge_members(judgement: &mut Judgement<'_>, summary: &Summary<'_>, retained: &dyn Fn(u32) -> bool) {
    let signal = judgement.signal;
    for member in &signal.members {
        let there = if member.values.is_empty() {
            summary.has(&member.text) || summary.text.contains(&member.text)
        } else {
            member.values.iter().all(|value| summary.has(value))
        };
        if !there && !retained(member.last_index) {
            judgement.gone.push(member);
        }
    }
    let count = signal.members.len() as f64;
    judgement.kept = 1.0 - judgement.gone.len() as f64 / count;
    judgement.why = format!("{} of {} are not in the summary", judgement.gone.len(), signal.members.len());
    if !judgement.gone.is_empty() {
        judgement.status = Status::Dropped;
    }
}

fn judge_statement(judgement: &mut Judgement<'_>, summary: &Summary<'_>, hits: &mut Vec<f32>) {
    let signal = judgement.signal;
    let share = summary.share(&signal.text, hits);
    let found = signal.values.iter().filter(|value| summary.has(value)).count();
    let values = if signal.values.is_empty() { 1.0 } else { found as f64 / signal.values.len() as f64 };
    let words = 0.35 * share.window + 0.65 * share.anywhere;
    judgement.kept = ((words - 0.15) / 0.6).clamp(0.0, 1.0) * (0.6 + 0.4 * values);
    let present = share.window >= PRESERVED || share.anywhere >= SCATTERED && share.window >= SCATTERED / 3.0;
    // A prohibition of which the "not" is nowhere near is not kept.
    let fact = cue::of_text(&signal.text);
    let silent = share.best.and_then(|best| summary.pieces.get(best)).is_none_or(|piece| !piece.cues.has(NEGATIVE));
    let lost_not = signal.role == Role::User && fact.has(Cues::PROHIBITION) && silent;
    if lost_not {
        judgement.kept *= 0.4;
    }
    let present = present && !(lost_not && share.piece < SAME_SUBJECT);
    let found = summary.index.look_up(&Fact::with_values(&signal.text, &signal.values), &mut Scratch::default());
    if let Some(conflict) = found.conflict
        && signal.role == Role::User
        && found.in_sentence >= SURE_SUBJECT
    {
        judgement.status = Status::Altered;
        judgement.kept = 0.0;
        let range = found.sentence.and_then(|(start, end)| summary.text.get(start..end));
        judgement.says = range.map(|text| bounded(text, 400).to_string());
        judgement.why = match conflict {
            Conflict::Polarity => "the summary turned its \"not\" round",
            Conflict::Status => "done in one, open or failed in the other",
            Conflict::Certainty => "it was a possibility, the summary says it is certain",
            Conflict::Value => "the summary gives another value for the same key",
        }
        .to_string();
        return;
    }
    let piece = share.best.and_then(|best| summary.pieces.get(best).map(|piece| (best, piece)));
    if let Some((number, piece)) = piece
        && share.piece >= SAME_SUBJECT
        && let Some(conflict) = conflict(fact, piece.cues)
    {
        judgement.status = Status::Altered;
        judgement.kept = 0.0;
        judgement.says = Some(bounded(summary.piece(number), 400).to_string());
        judgement.why = conflict.to_string();
        return;
    }
    if let Some((number, _)) = piece
        && share.piece >= SAME_VALUE_SUBJECT
        && let Some((ours, theirs)) = other_value(signal, summary, number)
    {
        judgement.status = Status::Altered;
        judgement.kept = 0.0;
        judgement.says = Some(bounded(summary.piece(number), 400).to_string());
        judgement.why = format!("the summary says {theirs} where the message says {ours}");
        return;
    }
    if !present {
        judgement.status = Status::Dropped;
        judgement.why = format!(
            "{:.0} % of its words stand together in the summary, {:.0} % anywhere",
            100.0 * share.window,
            100.0 * share.anywhere
        );
    } else {
        judgement.why = "its words stand together in the summary".to_string();
    }
}

/// A value of the statement that the summary lacks, and one of the same form that its best piece has instead.
fn other_value<'a>(signal: &'a Signal, summary: &Summary<'_>, piece: usize) -> Option<(&'a str, String)> {
    for ours in signal.values.iter().filter(|value| !summary.has(value)) {
        let form = form(ours);
        let mut other = None;
        names::names(summary.piece(piece), |name| {
            if other.is_none() && self::form(name.text) == form && !signal.text.contains(name.text) {
                other = Some(name.text.to_string());
            }
        });
        if let Some(theirs) = other {
            return Some((ours, theirs));
        }
    }
    None
}

/// What a value looks like: letters and digits by their runs, the rest as it is.
fn form(value: &str) -> Vec<u8> {
    let mut form: Vec<u8> = Vec::new();
    for byte in value.bytes() {
        let class = match byte {
            b'0'..=b'9' => b'9',
            b'a'..=b'z' | b'A'..=b'Z' => b'a',
            other => other,
        };
        if class == b'9' || form.last() != Some(&class) {
            form.push(class);
        }
    }
    form
}

/// Whether two sentences about the same thing contradict each other, and in what.
pub fn conflict(fact: Cues, said: Cues) -> Option<&'static str> {
    let negated = |cues: Cues| cues.has(Cues::NEGATION.with(Cues::PROHIBITION));
    if negated(fact) != negated(said) && fact.has(Cues::PROHIBITION.with(Cues::OBLIGATION)) {
        return Some("the summary turned its \"not\" round");
    }
    let open = Cues::PENDING.with(Cues::FAILED);
    if fact.has(Cues::DONE) && !fact.has(open) && said.has(open) && !said.has(Cues::DONE) {
        return Some("it was done, the summary says it is not");
    }
    if fact.has(open) && !fact.has(Cues::DONE) && said.has(Cues::DONE) && !said.has(open) {
        return Some("it was not done, the summary says it is");
    }
    if fact.has(Cues::TENTATIVE) && !said.has(Cues::TENTATIVE) && said.has(Cues::CONFIRMED) {
        return Some("it was a possibility, the summary says it is certain");
    }
    None
}
