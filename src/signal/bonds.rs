//! Bonds: which words the conversation put side by side.
//!
//! A summary that says of one thing what the messages said of another uses known words in company that they never
//! kept. Every two content words of a statement that stand close together are remembered as one bit; the audit asks for
//! the pairs of the summary.

use crate::text::{Place, Token, lexicon, pair};

/// Words this far from each other belong together; function words do not count.
pub const REACH: usize = 4;
/// Words more common than this say nothing by standing beside another.
const COMMON: f32 = 0.3;
/// Sentences with more words are data.
const LONGEST: usize = 120;
/// Pairs are told apart by so many bits of their hash: of 60,000 pairs one in seventy is mistaken for another.
const BITS: u32 = 22;
/// About so many pairs are kept at most; of more, those whose hashes end with zeros.
const MOST: usize = 60_000;

/// A content word of a sentence; an identifier is one as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Where it begins.
    pub start: usize,
    /// Its base form.
    pub base: u64,
    /// How rare it is in the language.
    pub weight: f32,
}

/// The content words of a sentence, in order.
pub fn words(tokens: &[Token], found: &mut Vec<Word>) {
    found.clear();
    for token in tokens.iter().filter(|token| token.place != Place::Part) {
        let entry = lexicon::entry(token.hash);
        if entry.weight > COMMON || token.is_value() {
            found.push(Word { start: token.start, base: entry.base, weight: entry.weight });
        }
        if found.len() >= LONGEST {
            return;
        }
    }
}

/// Which pairs were met, one bit each.
struct Met {
    bits: Vec<u64>,
    /// Which of `bits` are not zero, one bit each: a short conversation touches few.
    touched: Vec<u64>,
}

impl Met {
    fn new() -> Met {
        Met { bits: vec![0; 1 << (BITS - 6)], touched: vec![0; 1 << (BITS - 12)] }
    }

    #[inline]
    fn set(&mut self, index: u32) {
        if let (Some(bits), Some(touched)) =
            (self.bits.get_mut((index >> 6) as usize), self.touched.get_mut((index >> 12) as usize))
        {
            *bits |= 1 << (index & 63);
            *touched |= 1 << (index >> 6 & 63);
        }
    }

    /// All that were met, rising.
    fn each(&self, mut found: impl FnMut(u32)) {
        for (high, touched) in (0u32..).zip(&self.touched) {
            ones(*touched, |middle| {
                let at = high << 6 | middle;
                ones(self.bits.get(at as usize).copied().unwrap_or(0), |low| found(at << 6 | low));
            });
        }
    }
}

/// The places of the ones in a word.
#[inline]
fn ones(mut word: u64, mut found: impl FnMut(u32)) {
    while word != 0 {
        found(word.trailing_zeros());
        word &= word - 1;
    }
}

#[inline]
fn index(one: u64, other: u64) -> u32 {
    (pair(one.min(other), one.max(other)) >> (64 - BITS)) as u32
}

/// Collects while the messages are read.
pub struct Collector {
    met: Met,
    words: Vec<Word>,
}

impl Default for Collector {
    fn default() -> Collector {
        Collector { met: Met::new(), words: Vec::new() }
    }
}

impl Collector {
    /// Takes the words of a statement in.
    pub fn read(&mut self, tokens: &[Token]) {
        words(tokens, &mut self.words);
        for (at, word) in self.words.iter().enumerate() {
            // A word beside itself: it is known.
            self.met.set(index(word.base, word.base));
            for next in self.words.iter().skip(at + 1).take(REACH) {
                self.met.set(index(word.base, next.base));
            }
        }
    }

    /// All pairs, or a sample of them.
    pub fn finish(self) -> Bonds {
        let mut bonds = Bonds::default();
        let mut count = 0;
        self.met.each(|_| count += 1);
        while count >> bonds.sampled > MOST {
            bonds.sampled += 1;
        }
        let mask = bonds.mask();
        bonds.pairs.reserve(count >> bonds.sampled);
        self.met.each(|pair| {
            if pair & mask == 0 {
                bonds.pairs.push(pair);
            }
        });
        bonds
    }
}

/// The pairs of a conversation, as the ledger keeps them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bonds {
    /// Sorted.
    pub pairs: Vec<u32>,
    /// Of pairs only those are kept whose so many last bits are 0.
    pub sampled: u8,
}

impl Bonds {
    fn mask(&self) -> u32 {
        (1u32 << self.sampled.min(31)) - 1
    }

    /// Ready to be asked many times.
    pub fn open(&self) -> OpenBonds<'_> {
        // About one pair to a bucket.
        let bucket = BITS - self.pairs.len().max(1).ilog2().min(BITS);
        let mut starts = Vec::with_capacity((1 << (BITS - bucket)) + 1);
        for (at, pair) in (0u32..).zip(&self.pairs) {
            let number = (*pair >> bucket) as usize;
            if number >= 1 << (BITS - bucket) {
                break;
            }
            while starts.len() <= number {
                starts.push(at);
            }
        }
        starts.resize((1 << (BITS - bucket)) + 1, self.pairs.len() as u32);
        OpenBonds { pairs: &self.pairs, starts, bucket, mask: self.mask() }
    }
}

/// See [`Bonds::open`].
pub struct OpenBonds<'a> {
    pairs: &'a [u32],
    /// Where the pairs with these first bits begin.
    starts: Vec<u32>,
    /// So many bits of a pair are not among the first.
    bucket: u32,
    mask: u32,
}

impl OpenBonds<'_> {
    /// Whether two words stood side by side; absent where the sample does not tell.
    #[inline]
    pub fn ask(&self, one: u64, other: u64) -> Option<bool> {
        let index = index(one, other);
        (index & self.mask == 0).then(|| self.has(index))
    }

    #[inline]
    fn has(&self, index: u32) -> bool {
        let number = (index >> self.bucket) as usize;
        let start = |at: usize| self.starts.get(at).copied().unwrap_or(0) as usize;
        self.pairs.get(start(number)..start(number + 1)).is_some_and(|pairs| pairs.contains(&index))
    }

    /// Whether some statement had this word, as far as the sample tells.
    #[inline]
    pub fn knows(&self, word: u64) -> bool {
        self.ask(word, word) != Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::token;

    fn bonds(sentences: &[&str]) -> Bonds {
        let mut collector = Collector::default();
        sentences.iter().for_each(|sentence| collector.read(&token::all(sentence)));
        collector.finish()
    }

    fn word(text: &str) -> u64 {
        lexicon::entry(crate::text::word_hash(text)).base
    }

    #[test]
    fn words_that_stood_side_by_side_are_bound_in_either_order_and_others_are_not() {
        let bonds = bonds(&["Restart the invoicer on harbor-7 tomorrow.", "The staging database is kestrel-2."]);
        let open = bonds.open();
        assert_eq!(open.ask(word("invoicer"), word("harbor-7")), Some(true));
        assert_eq!(open.ask(word("harbor-7"), word("invoicer")), Some(true));
        assert_eq!(open.ask(word("invoicer"), word("kestrel-2")), Some(false));
        assert!(open.knows(word("kestrel-2")) && !open.knows(word("osprey")));
    }

    #[test]
    fn words_far_from_each_other_are_not_bound() {
        let bonds = bonds(&["invoicer alpha1 beta2 gamma3 delta4 epsilon5 zeta6 harbor-7"]);
        assert_eq!(bonds.open().ask(word("invoicer"), word("harbor-7")), Some(false));
    }

    #[test]
    fn of_too_many_pairs_a_sample_is_kept_that_knows_what_it_does_not_know() {
        let sentences: Vec<String> = (0..40_000).map(|at| format!("host-{at} rack-{at} port-{at}")).collect();
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        let bonds = bonds(&sentences);
        assert!(bonds.sampled > 0 && bonds.pairs.len() <= MOST + MOST / 8, "{}", bonds.pairs.len());
        assert!(bonds.pairs.is_sorted());
        let open = bonds.open();
        let answers: Vec<Option<bool>> =
            (0..2_000).map(|at| open.ask(word(&format!("host-{at}")), word(&format!("rack-{at}")))).collect();
        assert!(answers.contains(&None) && answers.contains(&Some(true)) && !answers.contains(&Some(false)));
    }

    #[test]
    fn pairs_of_a_foreign_ledger_are_harmless() {
        let bonds = Bonds { pairs: vec![u32::MAX, 3, 7, u32::MAX - 1, 0], sampled: 200 };
        assert_ne!(bonds.open().ask(1, 2), Some(true));
        assert_eq!(Bonds::default().open().ask(1, 1), Some(false));
    }
}
