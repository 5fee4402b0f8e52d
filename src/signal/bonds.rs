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
/// So many pairs are kept at most; of more, those with the smallest hashes in the last bits.
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
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn new() -> Bits {
        Bits(vec![0; 1 << (BITS - 6)])
    }

    #[inline]
    fn set(&mut self, index: u32) {
        if let Some(word) = self.0.get_mut((index >> 6) as usize) {
            *word |= 1 << (index & 63);
        }
    }

    #[inline]
    fn has(&self, index: u32) -> bool {
        self.0.get((index >> 6) as usize).is_some_and(|word| word & (1 << (index & 63)) != 0)
    }
}

#[inline]
fn index(one: u64, other: u64) -> u32 {
    (pair(one.min(other), one.max(other)) >> (64 - BITS)) as u32
}

/// Collects while the messages are read.
pub struct Collector {
    bits: Bits,
    words: Vec<Word>,
}

impl Default for Collector {
    fn default() -> Collector {
        Collector { bits: Bits::new(), words: Vec::new() }
    }
}

impl Collector {
    /// Takes the words of a statement in.
    pub fn read(&mut self, tokens: &[Token]) {
        words(tokens, &mut self.words);
        for (at, word) in self.words.iter().enumerate() {
            // A word beside itself: it is known.
            self.bits.set(index(word.base, word.base));
            for next in self.words.iter().skip(at + 1).take(REACH) {
                self.bits.set(index(word.base, next.base));
            }
        }
    }

    /// All pairs, or a sample of them.
    pub fn finish(self) -> Bonds {
        let mut bonds = Bonds::default();
        let ones = |bonds: &mut Bonds| {
            let mask = bonds.mask();
            bonds.pairs.clear();
            for (at, word) in (0u32..).zip(&self.bits.0) {
                let mut rest = *word;
                while rest != 0 {
                    let pair = at << 6 | rest.trailing_zeros();
                    if pair & mask == 0 {
                        bonds.pairs.push(pair);
                    }
                    rest &= rest - 1;
                }
            }
        };
        ones(&mut bonds);
        while bonds.pairs.len() > MOST {
            bonds.sampled += 1;
            ones(&mut bonds);
        }
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
    pub fn open(&self) -> OpenBonds {
        let mut bits = Bits::new();
        self.pairs.iter().for_each(|pair| bits.set(*pair));
        OpenBonds { bits, mask: self.mask() }
    }
}

/// See [`Bonds::open`].
pub struct OpenBonds {
    bits: Bits,
    mask: u32,
}

impl OpenBonds {
    /// Whether two words stood side by side; absent where the sample does not tell.
    #[inline]
    pub fn ask(&self, one: u64, other: u64) -> Option<bool> {
        let index = index(one, other);
        (index & self.mask == 0).then(|| self.bits.has(index))
    }

    /// Whether some statement had this word, as far as the sample tells.
    #[inline]
    pub fn knows(&self, word: u64) -> bool {
        self.ask(word, word) != Some(false)
    }
}
