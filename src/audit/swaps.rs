//! Values that the summary put in the place of others.
//!
//! A name that is gone from the summary is asked for its company: does a sentence of the summary hold the words beside
//! which it was said, with another name of the same form in its place, one that was never said beside them?

use super::judge::Judgement;
use super::summary::Summary;
use crate::signal::inventory::{HashedMap, company_hash};
use crate::signal::names::{self, NameKind};
use crate::signal::{Ledger, Member};
use crate::text::{lexicon, tokens};
use std::collections::HashMap;

/// So much of the company of a name must stand in a sentence.
const COMPANY: f64 = 0.6;
/// And so much more than of the company of the name that stands there.
const BETTER: f64 = 0.5;
/// So many words of the company at least.
const MIN_WORDS: usize = 2;
/// Of the sentences that hold one word so many are looked at, the last ones: a summary has no more, and one that repeats the
/// company of a thousand names would cost the product of both.
const MOST_HOLDERS: usize = 2_000;

/// A name of the summary in whose place another one stood.
pub struct Swap<'a> {
    /// The sentence of the summary.
    pub piece: usize,
    /// What it says.
    pub theirs: String,
    /// What the messages say.
    pub ours: &'a Member,
    /// Which signal holds it.
    pub signal: usize,
}

struct Sentence {
    /// Sorted.
    words: Vec<u32>,
    /// Each name: its form and its text.
    names: Vec<(u64, String)>,
}

/// All swaps, by the weight of the signals.
pub fn swaps<'a>(summary: &Summary<'_>, ledger: &'a Ledger, judgements: &[Judgement<'a>]) -> Vec<Swap<'a>> {
    let sentences: Vec<Sentence> = (0..summary.pieces.len()).map(|at| read(summary.piece(at))).collect();
    let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| !sentence.names.is_empty()) {
        for word in &sentence.words {
            holders.entry(*word).or_default().push(at);
        }
    }
    let mut companies: HashedMap<&[u32]> = HashedMap::default();
    for member in ledger.signals.iter().flat_map(|signal| &signal.members) {
        companies.insert(names::key_hash(member.text.as_bytes()), &member.company);
    }
    let mut found: Vec<Swap<'a>> = Vec::new();
    for (number, judgement) in judgements.iter().enumerate() {
        for member in judgement.gone.iter().filter(|member| member.company.len() >= MIN_WORDS) {
            if let Some((piece, theirs)) = place_of(member, &sentences, &holders, &companies) {
                found.push(Swap { piece, theirs, ours: member, signal: number });
            }
        }
    }
    found
}

fn read(piece: &str) -> Sentence {
    let mut sentence = Sentence { words: Vec::new(), names: Vec::new() };
    tokens(piece, |token| {
        sentence.words.push(company_hash(lexicon::entry(token.hash).base));
    });
    // A sentence may be as long as the summary, so no word is looked for among all before it.
    sentence.words.sort_unstable();
    sentence.words.dedup();
    names::names(piece, |name| {
        if name.kind != NameKind::Number {
            sentence.names.push((names::form(name.text), name.text.to_string()));
        }
    });
    sentence
}

fn fit(company: &[u32], sentence: &Sentence) -> f64 {
    let held = company.iter().filter(|word| sentence.words.binary_search(word).is_ok()).count();
    if held < MIN_WORDS { 0.0 } else { held as f64 / company.len() as f64 }
}

/// The sentence where a name is missed most, and the name that stands there instead.
fn place_of(
    member: &Member,
    sentences: &[Sentence],
    holders: &HashMap<u32, Vec<usize>>,
    companies: &HashedMap<&[u32]>,
) -> Option<(usize, String)> {
    let form = names::form(&member.text);
    let mut best: Option<(f64, usize, &str)> = None;
    let known = member.company.iter().filter_map(|word| holders.get(word));
    let mut held: Vec<usize> = known.flat_map(|places| places.iter().rev().take(MOST_HOLDERS)).copied().collect();
    held.sort_unstable();
    for run in held.chunk_by(|a, b| a == b) {
        let own = run.len() as f64 / member.company.len() as f64;
        let Some((at, sentence)) = run.first().and_then(|at| sentences.get(*at).map(|sentence| (at, sentence))) else {
            continue;
        };
        if run.len() < MIN_WORDS || own < COMPANY || best.is_some_and(|(known, _, _)| known >= own) {
            continue;
        }
        let instead = sentence.names.iter().find(|(other, text)| {
            let theirs = companies.get(&names::key_hash(text.as_bytes())).map_or(0.0, |words| fit(words, sentence));
            *other == form && own >= theirs + BETTER
        });
        if let Some((_, text)) = instead {
            best = Some((own, *at, text));
        }
    }
    best.map(|(_, at, text)| (at, text.to_string()))
}
