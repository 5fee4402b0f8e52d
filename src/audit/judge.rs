//! What became of one signal: preserved, altered or dropped, and how surely.

use super::matching::{Conflict, Fact, Match, Rarity, Scratch};
use super::probe;
use super::summary::Summary;
use crate::event::Role;
use crate::redact::redact;
use crate::report::Status;
use crate::signal::cues::cue::{ASK, DISCLAIMED, FOLLOWED};
use crate::signal::weights::MAX_TEXT;
use crate::signal::{Member, Signal, bounded, names};
use crate::text::cue::{self, Cues};

/// A sentence that shares so much of a user's statement can contradict it.
const SURE_SUBJECT: f32 = 0.7;
/// A sentence that shares so much and has another value of the same form speaks of the same key.
const SAME_KEY: f32 = 0.5;
/// A sentence with so many times the bytes of a statement says more than it.
const MUCH_LONGER: usize = 3;
/// What the word of status takes of [`SURE_SUBJECT`].
const STATUS_WORD: f32 = 0.15;
/// What the statements of anyone but the user need more.
const MORE_FOR_AGENTS: f32 = 0.1;
/// A statement that is there with this probability is preserved: below even odds, as one false alarm costs a reader
/// more than one loss of many that is not told.
const PRESERVED: f64 = 0.40;
/// A statement of which so much stands in one sentence is half kept, as far as the score goes; and how fast that grows.
const HALF_TOGETHER: f64 = 0.45;
/// See [`HALF_TOGETHER`].
const TOGETHER_STEP: f64 = 0.25;
/// A sentence that holds so much of a statement holds it all.
const WHOLE: f64 = 0.95;
/// A "not" that acts on less than this share of a prohibition's words is the "not" of something else.
const SAME_NOT: f64 = 0.34;
/// What is left of a prohibition whose "not" is gone: never enough to be preserved.
const LOST_NOT: f64 = PRESERVED;
/// What is left of an agent's ask of which the summary does not say that it is open: never enough to be preserved.
const LOST_ASK: f64 = PRESERVED;

const OPEN: Cues = Cues::QUESTION.with(Cues::PENDING);
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
    /// How much of it stands in one place of the summary, from 0 to 1.
    pub together: f64,
    /// It stands in a retained message, so it says nothing about the summary.
    pub retained: bool,
}

/// Judges all signals; `retained` tells which messages still stand.
pub fn judge_all<'a>(
    signals: &'a [Signal],
    summary: &Summary<'_>,
    retained: &dyn Fn(u32) -> bool,
) -> Vec<Judgement<'a>> {
    let mut rarity = Rarity::default();
    let mut facts: Vec<Option<Fact>> = Vec::with_capacity(signals.len());
    for signal in signals {
        let fact = signal.members.is_empty().then(|| Fact::with_values(&signal.text, &signal.values));
        if let Some(fact) = &fact {
            rarity.add(fact);
        }
        facts.push(fact);
    }
    let mut scratch = Scratch::default();
    let mut judgements = Vec::with_capacity(signals.len());
    for (signal, fact) in signals.iter().zip(&mut facts) {
        if let Some(fact) = fact {
            rarity.weigh(fact);
        }
        judgements.push(judge(signal, fact.as_ref(), summary, retained, &mut scratch));
    }
    judgements
}

fn judge<'a>(
    signal: &'a Signal,
    fact: Option<&Fact>,
    summary: &Summary<'_>,
    retained: &dyn Fn(u32) -> bool,
    scratch: &mut Scratch,
) -> Judgement<'a> {
    let mut judgement = Judgement {
        signal,
        status: Status::Preserved,
        kept: 1.0,
        says: None,
        gone: Vec::new(),
        why: String::new(),
        retained: false,
        together: 1.0,
    };
    if signal.superseded {
        judgement.status = Status::Superseded;
        judgement.why = "a later message overturned it".to_string();
    } else if let Some(fact) = fact {
        if retained(signal.last_index) {
            judgement.why = "it stands in a retained message".to_string();
            judgement.retained = true;
        } else {
            judge_statement(&mut judgement, fact, summary, scratch);
        }
    } else {
        judge_members(&mut judgement, summary, retained);
    }
    judgement
}

fn judge_members(judgement: &mut Judgement<'_>, summary: &Summary<'_>, retained: &dyn Fn(u32) -> bool) {
    let signal = judgement.signal;
    let (mut asked, mut kept) = (0.0, 0.0);
    let shared = shared_values(&signal.members);
    for member in signal.members.iter().filter(|member| !retained(member.last_index)) {
        let weight = if member.weight > 0.0 { member.weight } else { 1.0 };
        asked += weight;
        if has_member(summary, member, &shared) {
            kept += weight;
        } else {
            judgement.gone.push(member);
        }
    }
    judgement.retained = asked <= 0.0;
    judgement.kept = if asked > 0.0 { kept / asked } else { 1.0 };
    judgement.together = judgement.kept;
    judgement.why = format!("{} of {} are not in the summary", judgement.gone.len(), signal.members.len());
    if !judgement.gone.is_empty() {
        judgement.status = Status::Dropped;
    }
}

/// Whether a member stands in the summary: a name as it is, of `key=value` the value where that is unmistakable, as
/// summaries shorten the keys of a list.
fn has_member(summary: &Summary<'_>, member: &Member, shared: &[&str]) -> bool {
    match member.values.last() {
        None => summary.has(&member.text) || summary.text.contains(&member.text),
        Some(last) if unmistakable(last) => summary.has(last),
        Some(_) => member.values.iter().all(|value| shared.contains(&value.as_str()) || summary.has(value)),
    }
}

/// Values that every member of a list has: they tell none of them apart.
fn shared_values(members: &[Member]) -> Vec<&str> {
    let Some((first, rest)) = members.split_first().filter(|(_, rest)| rest.len() >= 2) else { return Vec::new() };
    let everywhere = |value: &&str| rest.iter().all(|member| member.values.iter().any(|other| other == value));
    first.values.iter().map(String::as_str).filter(everywhere).collect()
}

fn unmistakable(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn judge_statement(judgement: &mut Judgement<'_>, fact: &Fact, summary: &Summary<'_>, scratch: &mut Scratch) {
    let signal = judgement.signal;
    let (present, found) = probe::presence(&summary.index, fact, scratch);
    judgement.kept = present;
    // From 1 for nothing of it to 0 for all of it.
    let missing = |share: f64| 1.0 / (1.0 + libm::exp((share - HALF_TOGETHER) / TOGETHER_STEP));
    let gone = |share: f32| (missing(share.into()) - missing(1.0)) / (missing(0.0) - missing(1.0));
    // What stands in two places is surer to be found.
    judgement.together = 1.0 - gone(found.in_sentence) * gone(found.in_second);
    let sentence = found.sentence.and_then(|(start, end)| summary.text.get(start..end));
    if let Some((why, says)) = contradiction(signal, &found, sentence, summary) {
        judgement.status = Status::Altered;
        judgement.kept = 0.0;
        judgement.says = Some(redact(bounded(says, MAX_TEXT)).into_owned());
        judgement.why = why;
        return;
    }
    // A prohibition of which the "not" is nowhere near is not kept, nor one of another thing.
    if signal.role == Role::User && fact.cues().has(Cues::PROHIBITION) {
        let silent = sentence.is_none_or(|text| !cue::of_text(text).has(NEGATIVE));
        if silent || f64::from(found.negated) < SAME_NOT {
            judgement.kept *= LOST_NOT;
            judgement.together *= LOST_NOT;
        }
    }
    // Nor is an ask that the summary answers by itself.
    if signal.role != Role::User && signal.cues & ASK != 0 {
        let told = |text: &str| cue::of_text(text).has(OPEN) || text.contains(" ask") || text.starts_with("Ask");
        let settled = !sentence.is_some_and(told);
        if settled {
            judgement.kept *= LOST_ASK;
            judgement.together *= LOST_ASK;
        }
    }
    // What is wholly there is there, whatever the model thinks of it.
    if f64::from(found.in_sentence) > WHOLE && found.values_found == found.values_total {
        judgement.kept = judgement.kept.max(judgement.together);
    }
    if judgement.kept < PRESERVED {
        judgement.status = Status::Dropped;
    }
    judgement.why = format!(
        "{:.0} % of its words stand in the summary, {:.0} % of them together; {} of {} values",
        100.0 * found.anywhere,
        100.0 * found.in_window,
        found.values_found,
        found.values_total
    );
}

/// What the summary says against a statement: why, and its sentence.
fn contradiction<'a>(
    signal: &Signal,
    found: &Match,
    sentence: Option<&'a str>,
    summary: &Summary<'_>,
) -> Option<(String, &'a str)> {
    let says = sentence?;
    // What an agent said is how things stood: only its last word on a subject can be contradicted, and only in a value
    // or in what is done.
    let user = signal.role == Role::User;
    if !user && signal.cues & FOLLOWED != 0 || signal.cues & DISCLAIMED != 0 {
        return None;
    }
    // A sentence much longer than the statement has values of other things too.
    if found.in_sentence >= if user { SAME_KEY } else { SURE_SUBJECT }
        && says.len() <= MUCH_LONGER * signal.text.len()
        && let Some((ours, theirs)) = other_value(signal, summary, says)
    {
        return Some((format!("the summary says {theirs} where the message says {ours}"), says));
    }
    let conflict = found.conflict?;
    // The word of status itself is one that the two do not share.
    let sure = if conflict == Conflict::Status { SURE_SUBJECT - STATUS_WORD } else { SURE_SUBJECT };
    if found.in_sentence < if user { sure } else { sure + MORE_FOR_AGENTS } {
        return None;
    }
    let why = match conflict {
        Conflict::Polarity if user => "the summary turned its \"not\" round",
        Conflict::Status => "done in one, open or failed in the other",
        Conflict::Certainty => "it was a possibility, the summary says it is certain",
        Conflict::Polarity | Conflict::Value => return None,
    };
    Some((why.to_string(), says))
}

/// A value of the statement that the summary lacks, and one of the same form that its best piece has instead.
fn other_value<'a>(signal: &'a Signal, summary: &Summary<'_>, says: &str) -> Option<(&'a str, String)> {
    for ours in signal.values.iter().filter(|value| !summary.has(value)) {
        let form = form(ours);
        let mut other = None;
        names::names(says, |name| {
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

/// What a value looks like; one number looks like another, however long.
fn form(value: &str) -> u64 {
    let number = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    if number { 0 } else { names::form(value) }
}
