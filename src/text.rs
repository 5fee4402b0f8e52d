//! The language layer: what a text is made of, whatever language it is in.
//!
//! | module | answers |
//! |---|---|
//! | [`token`] | words, numbers, identifiers (whole and in parts), CJK runs: ranges and hashes, nothing allocated |
//! | [`stem`] | which forms are one word |
//! | [`lexicon`] | how common a word is, irregular forms, small synonym classes |
//! | [`mod@unit`] | sentences, bullets, headings, table rows, code lines |
//! | [`cue`] | polarity, status and modality words |
//! | [`fold`] | case, diacritics, full-width forms |
//! | [`table`] | a map from hashes for lists of words |
//!
//! Two texts say the same word when the hashes are the same: Markdown, case, quotes, plural and tense do not count.
//! Nothing here knows signals, summaries or scores.

pub mod cue;
pub mod fold;
pub mod lexicon;
pub mod stem;
pub mod table;
pub mod token;
pub mod unit;

pub use token::{Place, Shape, Token, tokens};
pub use unit::{Unit, UnitKind, units};

/// An incremental 64-bit hash: FNV-1a with a final mix, the same on every host.
#[derive(Clone, Copy, Debug)]
pub struct Hasher(u64);

impl Hasher {
    /// The state before any byte.
    #[inline]
    pub const fn new() -> Hasher {
        Hasher(0xcbf2_9ce4_8422_2325)
    }

    /// Takes one byte in.
    #[inline]
    pub const fn push(self, byte: u8) -> Hasher {
        Hasher((self.0 ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// The hash of the bytes so far.
    #[inline]
    pub const fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher::new()
    }
}

/// The hash of normalised bytes.
#[inline]
pub const fn hash(bytes: &[u8]) -> u64 {
    let mut state = Hasher::new();
    let mut index = 0;
    while index < bytes.len() {
        state = state.push(bytes[index]);
        index += 1;
    }
    state.finish()
}

/// The hash that a token of this single word has: folded and stemmed.
pub fn word_hash(word: &str) -> u64 {
    let mut found = None;
    tokens(word, |token| {
        if found.is_none() {
            found = Some(token.hash);
        }
    });
    found.unwrap_or_else(|| hash(word.as_bytes()))
}

/// The hash of two hashes in this order.
#[inline]
pub const fn pair(first: u64, second: u64) -> u64 {
    let mixed = (first.rotate_left(23) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
