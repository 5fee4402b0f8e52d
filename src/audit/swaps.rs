//! Values that the summary put in the place of others.
//!
//! A name that is gone from the summary is looked for in the places of the names that stand there: did the words beside
//! another name of the same form stand beside the lost one in the messages, and not beside the one that is there?

use super::judge::Judgement;
use super::summary::Summary;
use crate::signal::Member;
use crate::signal::bonds::{self, OpenBonds, REACH, Word};
use crate::signal::inventory::HashedMap;
use crate::signal::names::{self, NameKind};
use crate::text::{lexicon, token, word_hash};
use std::collections::{HashMap, HashSet};

/// Words that must bear a lost name out in the place of the other.
const MIN_WORDS: u32 = 2;
/// What they must say in all, each by how few names have it. Found by hand: below it, summaries that swap nothing are
/// accused more often, above it hardly less.
const EVIDENCE: f32 = 7.0;
/// And how much more than what speaks for the name that stands there.
const BETTER: f32 = 4.0;
/// They must be so much of all words there that say anything. In the place of a name that was really swapped nearly all
/// speak for the lost one; where two things merely share a few words, others speak for neither. Without it, 52 names in 42
/// real summaries were taken for swapped, and hardly one of them was; with it, 13 are.
const COVERED: f32 = 0.6;
/// So many lost names, the likeliest to be needed, are looked for in other places.
const MOST_LOST: usize = 200;

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
pub fn swaps<'a>(summary: &Summary<'_>, bonds: &OpenBonds<'_>, judgements: &[Judgement<'a>]) -> Vec<Swap<'a>> {
    let mut trial = Trial::new(bonds, judgements);
    let mut words = Vec::new();
    for piece in 0..summary.pieces.len() {
        let text = summary.piece(piece);
        bonds::words(&token::all(text), &mut words);
        names::names(text, |name| {
            if !matches!(name.kind, NameKind::Number | NameKind::Command) {
                trial.hear(piece, name, &words);
            }
        });
    }
    trial.verdicts()
}

/// The word that a name is as a whole.
fn word_of(name: &str) -> u64 {
    lexicon::entry(word_hash(name)).base
}

/// A lost name.
struct Lost<'a> {
    member: &'a Member,
    signal: usize,
    form: u64,
    word: u64,
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

/// What a word of the summary says of the lost names.
struct Witness {
    /// How few of them stood beside it.
    rarity: f32,
    /// Which.
    of: Vec<u32>,
}

/// The names of the summary, heard one after the other.
struct Trial<'a, 'b> {
    bonds: &'b OpenBonds<'b>,
    lost: Vec<Lost<'a>>,
    witnesses: HashedMap<Witness>,
    /// What speaks for each lost name beside the name that is being heard, and in how many words.
    evidence: Vec<(f32, u32)>,
    cases: Vec<Case>,
    places: HashMap<(usize, String), usize>,
}

impl<'a, 'b> Trial<'a, 'b> {
    fn new(bonds: &'b OpenBonds<'b>, judgements: &[Judgement<'a>]) -> Trial<'a, 'b> {
        let mut lost: Vec<Lost<'a>> = Vec::new();
        for (signal, judgement) in judgements.iter().enumerate() {
            for member in judgement.gone.iter().filter(|member| member.weight > 0.0) {
                let (form, word) = (names::form(&member.text), word_of(&member.text));
                lost.push(Lost { member, signal, form, word });
            }
        }
        lost.sort_by(|a, b| b.member.weight.total_cmp(&a.member.weight));
        lost.truncate(MOST_LOST);
        Trial {
            bonds,
            evidence: vec![(0.0, 0); lost.len()],
            lost,
            witnesses: HashedMap::default(),
            cases: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Asks for one name of the summary which lost name stood in its place, if one did.
    fn hear(&mut self, piece: usize, name: names::Name<'_>, words: &[Word]) {
        let own = word_of(name.text);
        let form = names::form(name.text);
        if !self.lost.iter().any(|lost| lost.form == form) {
            return;
        }
        let near = neighbours(name, own, words);
        let (mut all, mut theirs) = (0.0, 0.0);
        for word in &near {
            let rarity = self.witness(*word).rarity;
            all += rarity;
            if self.bonds.ask(own, *word) == Some(true) {
                theirs += rarity;
            }
        }
        if let Some((lost, evidence)) = self.best(form, &near)
            && evidence >= theirs + BETTER
            && evidence >= COVERED * all
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
    fn best(&mut self, form: u64, near: &[u64]) -> Option<(usize, f32)> {
        self.evidence.fill((0.0, 0));
        for word in near {
            let Some(witness) = self.witnesses.get(word) else { continue };
            for at in &witness.of {
                if let Some((evidence, words)) = self.evidence.get_mut(*at as usize) {
                    *evidence += witness.rarity;
                    *words += 1;
                }
            }
        }
        let mut best: Option<(usize, f32)> = None;
        for (at, ((evidence, words), lost)) in self.evidence.iter().zip(&self.lost).enumerate() {
            let enough = lost.form == form && *words >= MIN_WORDS && *evidence >= EVIDENCE;
            if enough && best.is_none_or(|(_, known)| *evidence > known) {
                best = Some((at, *evidence));
            }
        }
        best
    }

    /// Which lost names stood beside a word.
    fn witness(&mut self, word: u64) -> &Witness {
        let Trial { bonds, lost, witnesses, .. } = self;
        witnesses.entry(word).or_insert_with(|| {
            let beside = |lost: &Lost<'_>| lost.word != word && bonds.ask(lost.word, word) == Some(true);
            let of: Vec<u32> = (0..).zip(lost.iter()).filter(|(_, lost)| beside(lost)).map(|(at, _)| at).collect();
            let rarity = libm::logf((1.0 + lost.len() as f32) / (1.0 + of.len() as f32));
            Witness { rarity, of }
        })
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
fn neighbours(name: names::Name<'_>, own: u64, words: &[Word]) -> Vec<u64> {
    let at = words.partition_point(|word| word.start < name.start);
    let inside = name.start..name.start + name.text.len();
    let near = words.get(at.saturating_sub(REACH + 1)..(at + REACH + 1).min(words.len())).unwrap_or_default();
    let beside = near.iter().filter(|word| !inside.contains(&word.start) && word.base != own);
    let mut near: Vec<u64> = beside.map(|word| word.base).collect();
    near.sort_unstable();
    near.dedup();
    near
}
