//! Values that the summary put in the place of others.
//!
//! A name that is gone from the summary is asked for its company, the words that were said beside it most often: do they
//! stand in the summary beside another name of the same form, one beside which they were never said?

use super::judge::Judgement;
use super::summary::Summary;
use crate::signal::inventory::{HashedMap, company_hash};
use crate::signal::names::{self, NameKind};
use crate::signal::{Ledger, Member};
use crate::text::{Place, lexicon, tokens};
use std::collections::{HashMap, HashSet};

/// Words of the company that must stand beside the other name.
const MIN_WORDS: u32 = 2;
/// What they must say in all, each by how few names have it. Found by hand: below it, summaries that swap nothing are
/// accused more often, above it hardly less.
const EVIDENCE: f32 = 7.0;
/// And how much more than what speaks for the name that stands there.
const BETTER: f32 = 4.0;
/// So many words on each side of a name are looked at.
const REACH: usize = 6;
/// Of the names that have a word beside them so many are looked at: a word that more of them have says nothing, and a
/// summary that repeats it would cost the product of both.
const MOST_NAMES: usize = 200;

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

/// All swaps, surest first.
pub fn swaps<'a>(summary: &Summary<'_>, ledger: &'a Ledger, judgements: &[Judgement<'a>]) -> Vec<Swap<'a>> {
    let mut trial = Trial::new(ledger, judgements);
    for piece in 0..summary.pieces.len() {
        let text = summary.piece(piece);
        let words = words(text);
        names::names(text, |name| {
            if name.kind != NameKind::Number {
                trial.hear(piece, name, &words);
            }
        });
    }
    trial.verdicts()
}

/// The words of a piece that can be company, and where they begin.
fn words(piece: &str) -> Vec<(usize, u32)> {
    let mut words = Vec::new();
    tokens(piece, |token| {
        if token.place != Place::Part {
            words.push((token.start, company_hash(lexicon::entry(token.hash).base)));
        }
    });
    words
}

/// A lost name.
struct Lost<'a> {
    member: &'a Member,
    signal: usize,
    form: u64,
    /// What speaks for it beside the name that is being heard, and in how many words.
    evidence: f32,
    words: u32,
}

/// What speaks for one lost name in the place of another, over all sentences.
struct Case {
    lost: usize,
    theirs: String,
    /// Where it speaks most clearly, and how clearly.
    piece: usize,
    best: f32,
    /// By how much it outweighs what speaks for the other.
    margin: f32,
}

/// The names of the summary, heard one after the other.
struct Trial<'a> {
    companies: HashedMap<&'a [u32]>,
    /// How little each word is shared.
    rarity: HashMap<u32, f32>,
    lost: Vec<Lost<'a>>,
    /// Which lost names have a word beside them.
    holders: HashMap<u32, Vec<usize>>,
    cases: Vec<Case>,
    places: HashMap<(usize, String), usize>,
}

impl<'a> Trial<'a> {
    fn new(ledger: &'a Ledger, judgements: &[Judgement<'a>]) -> Trial<'a> {
        let mut companies: HashedMap<&[u32]> = HashedMap::default();
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for member in ledger.signals.iter().flat_map(|signal| &signal.members).filter(|one| !one.company.is_empty()) {
            companies.insert(names::key_hash(member.text.as_bytes()), &member.company);
            member.company.iter().for_each(|word| *counts.entry(*word).or_default() += 1);
        }
        let all = 1.0 + companies.len() as f32;
        let rarity = counts.into_iter().map(|(word, count)| (word, libm::logf(all / count as f32))).collect();
        let mut trial = Trial {
            companies,
            rarity,
            lost: Vec::new(),
            holders: HashMap::new(),
            cases: Vec::new(),
            places: HashMap::new(),
        };
        for (signal, judgement) in judgements.iter().enumerate() {
            for member in judgement.gone.iter().filter(|member| member.company.len() >= MIN_WORDS as usize) {
                for word in &member.company {
                    trial.holders.entry(*word).or_default().push(trial.lost.len());
                }
                let form = names::form(&member.text);
                trial.lost.push(Lost { member, signal, form, evidence: 0.0, words: 0 });
            }
        }
        trial
    }

    /// Asks for one name of the summary which lost name stood in its place, if one did.
    fn hear(&mut self, piece: usize, name: names::Name<'_>, words: &[(usize, u32)]) {
        let near = neighbours(name, words);
        let company = self.companies.get(&names::key_hash(name.text.as_bytes())).copied().unwrap_or_default();
        let theirs: f32 = near.iter().filter(|word| company.contains(word)).map(|word| self.rarity(*word)).sum();
        if let Some((lost, evidence)) = self.best(names::form(name.text), &near)
            && evidence >= theirs + BETTER
        {
            let next = self.cases.len();
            let place = *self.places.entry((lost, name.text.to_string())).or_insert(next);
            if place == next {
                self.cases.push(Case { lost, theirs: name.text.to_string(), piece, best: 0.0, margin: 0.0 });
            }
            if let Some(case) = self.cases.get_mut(place) {
                case.margin += evidence - theirs;
                if evidence > case.best {
                    (case.best, case.piece) = (evidence, piece);
                }
            }
        }
    }

    /// The lost name of this form for which the words speak most, if they say enough.
    fn best(&mut self, form: u64, near: &[u32]) -> Option<(usize, f32)> {
        let mut touched: Vec<usize> = Vec::new();
        for word in near {
            let rarity = self.rarity(*word);
            for at in self.holders.get(word).into_iter().flatten().take(MOST_NAMES) {
                if let Some(lost) = self.lost.get_mut(*at).filter(|lost| lost.form == form) {
                    if lost.words == 0 {
                        touched.push(*at);
                    }
                    lost.evidence += rarity;
                    lost.words += 1;
                }
            }
        }
        let mut best: Option<(usize, f32)> = None;
        for at in touched {
            let Some(lost) = self.lost.get_mut(at) else { continue };
            let (evidence, words) = (std::mem::take(&mut lost.evidence), std::mem::take(&mut lost.words));
            if words >= MIN_WORDS && evidence >= EVIDENCE && best.is_none_or(|(_, known)| evidence > known) {
                best = Some((at, evidence));
            }
        }
        best
    }

    fn rarity(&self, word: u32) -> f32 {
        self.rarity.get(&word).copied().unwrap_or(0.0)
    }

    /// Each lost name in one place and each name of the summary for one lost name, surest first.
    fn verdicts(mut self) -> Vec<Swap<'a>> {
        self.cases.sort_by(|a, b| b.margin.total_cmp(&a.margin));
        let mut swaps = Vec::new();
        let (mut placed, mut answered) = (HashSet::new(), HashSet::new());
        for Case { lost: number, theirs, piece, .. } in self.cases {
            let Some(Lost { member, signal, .. }) = self.lost.get(number) else { continue };
            if !placed.contains(&number) && answered.insert(theirs.clone()) {
                placed.insert(number);
                swaps.push(Swap { piece, theirs, ours: member, signal: *signal });
            }
        }
        swaps
    }
}

/// The words near a name, each once.
fn neighbours(name: names::Name<'_>, words: &[(usize, u32)]) -> Vec<u32> {
    let own = name.start..name.start + name.text.len();
    let at = words.partition_point(|(start, _)| *start < name.start);
    let near = words.get(at.saturating_sub(REACH)..(at + REACH).min(words.len())).unwrap_or_default();
    let mut near: Vec<u32> = near.iter().filter(|(start, _)| !own.contains(start)).map(|(_, word)| *word).collect();
    near.sort_unstable();
    near.dedup();
    near
}
