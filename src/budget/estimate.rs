//! How many tokens a text has, without a vocabulary: one pass over its bytes.
//!
//! The vocabularies of today's models cut a text by the same simple rules first (words with the space before them,
//! runs of punctuation, up to three digits, runs of white space) and by frequency after that. The first half is
//! done here as they do it: [`scan`] partitions a text into pieces and puts each into a cell: its script, its case, its length,
//! what stands before it. The second half is an average: how many o200k tokens the pieces of a cell
//! have, measured by `tools/calibrate_estimate.rs` and kept in [`weights`]. See `docs/budget.md` for the error.

pub mod weights;

use weights::WEIGHTS;

/// How many parts of a token one unit of a weight is.
pub const UNITS_PER_TOKEN: u64 = 1024;

/// How many tokens the text has, roughly: within a tenth for prose, code, JSON, Chinese, Japanese, Korean and Russian
/// of some length. 0 only for the empty text.
pub fn estimate(text: &str) -> u32 {
    let mut units = 0u64;
    scan(text, |cell, _end| units += u64::from(WEIGHTS.get(cell).copied().unwrap_or(0)));
    let tokens = units.div_ceil(UNITS_PER_TOKEN);
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

// ---- cells: where each kind of piece begins in the table of weights -------------------------------------------

/// A word of ASCII letters: what stands before it x case x length.
const WORD: usize = 0;
const WORD_MAX: usize = 16;
const BEFORES: usize = 4;
const CASES: usize = 3;
/// The same deep inside an unbroken run of letters and digits: base64, hex, ids. Case x length.
const BLOB: usize = WORD + BEFORES * CASES * WORD_MAX;
const BLOB_MAX: usize = 8;
/// A word of another alphabet: alphabet x (space before it or not) x length in characters.
const ALPHABET: usize = BLOB + CASES * BLOB_MAX;
const ALPHABET_MAX: usize = 16;
/// One character of Han, Hiragana or Katakana: which x which before it (or space, or anything else).
const IDEOGRAPH: usize = ALPHABET + ALPHABETS * 2 * ALPHABET_MAX;
/// A group of one to three digits.
const DIGITS: usize = IDEOGRAPH + 3 * 5;
/// A run of ASCII punctuation: (space before it or not) x (one character repeated or not) x length.
const PUNCTUATION: usize = DIGITS + 3;
const PUNCTUATION_MAX: usize = 8;
/// White space within a line, by length in steps, and the white space of line ends.
const SPACES: usize = PUNCTUATION + 2 * 2 * PUNCTUATION_MAX;
const SPACE_STEPS: usize = 8;
const TABS: usize = SPACES + SPACE_STEPS;
const NEWLINES: usize = TABS + SPACE_STEPS;
const NEWLINE_STEPS: usize = 4;
/// One character of any other kind: symbol kind x (the same kind before it or not).
const SYMBOL: usize = NEWLINES + NEWLINE_STEPS;
/// How many cells there are.
pub const CELLS: usize = SYMBOL + SYMBOLS * 2;

/// Alphabets that have words, beside ASCII.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// Words with at least one Latin letter beyond ASCII.
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Indic,
    Thai,
    Hangul,
    Rest,
}
const ALPHABETS: usize = 9;

/// Characters that stand for themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    /// Latin-1: `§`, `°`, `»`.
    Latin,
    /// Dashes, quotes, bullets, joiners: U+2000 to U+206F.
    General,
    /// Arrows, mathematics, boxes, dingbats: the rest of U+2000 to U+2FFF.
    Sign,
    /// CJK punctuation: U+3000 to U+303F.
    CjkPunctuation,
    /// Full-width and half-width forms.
    FullWidth,
    /// Emoji and everything near.
    Emoji,
    /// Variation selectors and private use.
    Other,
}
const SYMBOLS: usize = 7;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Glyph {
    Letter(Alphabet),
    /// 0 Han, 1 Hiragana, 2 Katakana.
    Ideograph(usize),
    Symbol(Symbol),
}

/// What stands before a piece, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Exactly the space that the piece takes along.
    Space = 0,
    /// One character of punctuation that the piece takes along.
    Mark = 1,
    /// A line end, a digit, a run of punctuation, or nothing.
    Nothing = 2,
    /// A letter: the hump of a camel.
    Letter = 3,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Tab,
    Newline,
    Mark,
    Wide,
}

const CLASS: [Class; 256] = {
    let mut table = [Class::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b' ' => Class::Space,
            b'\t' | 0x0b | 0x0c => Class::Tab,
            b'\n' | b'\r' => Class::Newline,
            0x80.. => Class::Wide,
            _ => Class::Mark,
        };
        byte += 1;
    }
    table
};

/// White space is taken in steps of this many bytes at most.
const WHITE_MAX: usize = (1 << SPACE_STEPS) - 1;

/// Repeated punctuation likewise: the vocabulary knows lines of dashes of about this length.
const REPEATED_MAX: usize = 1 << (PUNCTUATION_MAX - 1);

/// After this many pieces without a break a run of letters and digits is taken for base64, hex or an id.
const BLOB_PIECES: u32 = 4;

/// Partitions the text into pieces; tells for each, in order, its cell (below [`CELLS`]) and the byte where it ends.
#[inline]
pub fn scan(text: &str, piece: impl FnMut(usize, usize)) {
    Scanner { bytes: text.as_bytes(), at: 0, before: Before::Nothing, joined: 0, kin: Kin::Nothing, piece }.run();
}

/// What the last piece was, for the characters whose cost depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kin {
    Nothing,
    Space,
    Ideograph(usize),
    Symbol(Symbol),
}

struct Scanner<'a, F> {
    bytes: &'a [u8],
    at: usize,
    before: Before,
    /// How many pieces of letters and digits stand directly before this one.
    joined: u32,
    kin: Kin,
    piece: F,
}

impl<F: FnMut(usize, usize)> Scanner<'_, F> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match CLASS[usize::from(byte)] {
                Class::Lower | Class::Upper => self.word(self.at),
                Class::Digit => self.digits(),
                Class::Space | Class::Tab | Class::Newline => self.white(),
                Class::Mark => self.punctuation(self.at),
                Class::Wide => self.wide(self.at),
            }
        }
    }

    #[inline]
    fn class(&self, at: usize) -> Option<Class> {
        self.bytes.get(at).map(|&byte| CLASS[usize::from(byte)])
    }

    #[inline]
    fn emit(&mut self, cell: usize, end: usize, kin: Kin) {
        (self.piece)(cell, end);
        self.at = end;
        self.kin = kin;
    }

    /// Letters from `start` on, which is after the space or mark that the word takes along.
    fn word(&mut self, start: usize) {
        let mut at = start;
        // A word without end is taken in steps, so that its cost grows with it.
        let limit = start + WORD_MAX;
        while at < limit && self.class(at) == Some(Class::Upper) {
            at += 1;
        }
        let upper = at - start;
        while at < limit && self.class(at) == Some(Class::Lower) {
            at += 1;
        }
        if at < limit
            && self.class(at) == Some(Class::Wide)
            && let (Glyph::Letter(Alphabet::Latin), _) = glyph(self.bytes, at)
        {
            return self.letters(start, Alphabet::Latin);
        }
        let length = at - start;
        let case = match upper {
            0 => 0,
            1 if length > 1 => 1,
            _ => 2,
        };
        let cell = if self.joined >= BLOB_PIECES {
            BLOB + case * BLOB_MAX + length.min(BLOB_MAX) - 1
        } else {
            WORD + (self.before as usize * CASES + case) * WORD_MAX + length.min(WORD_MAX) - 1
        };
        self.emit(cell, at, Kin::Nothing);
        self.before = Before::Letter;
        self.joined += 1;
    }

    /// A word of an alphabet beyond ASCII.
    fn letters(&mut self, start: usize, alphabet: Alphabet) {
        let (mut at, mut length) = (start, 0);
        while let Some(&byte) = self.bytes.get(at)
            && length < ALPHABET_MAX
        {
            let width = if byte < 0x80 {
                let letter = alphabet == Alphabet::Latin && byte.is_ascii_alphabetic();
                usize::from(letter)
            } else {
                match glyph(self.bytes, at) {
                    (Glyph::Letter(found), width) if found == alphabet => width,
                    _ => 0,
                }
            };
            if width == 0 {
                break;
            }
            at += width;
            length += 1;
        }
        let spaced = usize::from(self.before == Before::Space);
        let cell = ALPHABET + (alphabet as usize * 2 + spaced) * ALPHABET_MAX + length.max(1) - 1;
        self.emit(cell, at, Kin::Nothing);
        self.before = Before::Letter;
        self.joined = 0;
    }

    fn digits(&mut self) {
        let mut length = 1;
        while length < 3 && self.class(self.at + length) == Some(Class::Digit) {
            length += 1;
        }
        self.emit(DIGITS + length - 1, self.at + length, Kin::Nothing);
        self.before = Before::Nothing;
        self.joined += 1;
    }

    /// White space. The last space goes with the word or the punctuation after it.
    fn white(&mut self) {
        let start = self.at;
        let (mut at, mut line_end, mut tabs) = (start, None, false);
        let mut lines = 0usize;
        while at - start < WHITE_MAX
            && let Some(class @ (Class::Space | Class::Tab | Class::Newline)) = self.class(at)
        {
            match class {
                Class::Newline => {
                    line_end = Some(at + 1);
                    lines += 1;
                    tabs = false;
                }
                Class::Tab => tabs = true,
                _ => {}
            }
            at += 1;
        }
        self.joined = 0;
        self.before = Before::Nothing;
        let mut from = start;
        if let Some(end) = line_end {
            let plain = end - start == lines;
            let step = if plain { lines.min(3) - 1 } else { 3 };
            self.emit(NEWLINES + step, end, Kin::Space);
            from = end;
        }
        if at == from {
            return;
        }
        let next = self.class(at);
        let takes_space = self.bytes.get(at - 1) == Some(&b' ');
        let joins = match next {
            Some(Class::Lower | Class::Upper) => true,
            Some(Class::Mark) => takes_space,
            Some(Class::Wide) => takes_space,
            _ => false,
        };
        let end = if joins { at - 1 } else { at };
        if end > from {
            let step = (usize::BITS - (end - from).leading_zeros()).min(SPACE_STEPS as u32) as usize - 1;
            self.emit(if tabs { TABS } else { SPACES } + step, end, Kin::Space);
        }
        if joins {
            self.kin = Kin::Space;
            self.before = if takes_space { Before::Space } else { Before::Mark };
            match next {
                Some(Class::Mark) => self.punctuation(at),
                Some(Class::Wide) => self.wide(at),
                _ => self.word(at),
            }
        }
    }

    /// ASCII punctuation from `start` on, and the line ends that follow it.
    fn punctuation(&mut self, start: usize) {
        let mut at = start + 1;
        // One mark goes with the word after it; a space before the mark breaks that.
        if self.before != Before::Space && matches!(self.class(at), Some(Class::Lower | Class::Upper)) {
            self.before = Before::Mark;
            let byte = self.bytes.get(start).copied().unwrap_or(0);
            if !matches!(byte, b'+' | b'/' | b'-') {
                self.joined = 0;
            }
            return self.word(at);
        }
        let first = self.bytes.get(start).copied();
        let mut same = true;
        while self.class(at) == Some(Class::Mark) {
            let repeated = same && self.bytes.get(at).copied() == first;
            if at - start >= if repeated { REPEATED_MAX } else { PUNCTUATION_MAX } {
                break;
            }
            same = repeated;
            at += 1;
        }
        // A repeated mark by powers of two, anything else by its length.
        let length = at - start;
        let step = if same { (usize::BITS - length.leading_zeros()) as usize } else { length };
        while matches!(self.bytes.get(at), Some(b'\n' | b'\r')) {
            at += 1;
        }
        let spaced = usize::from(self.before == Before::Space);
        let cell = PUNCTUATION + (spaced * 2 + usize::from(same)) * PUNCTUATION_MAX + step.min(PUNCTUATION_MAX) - 1;
        self.emit(cell, at, Kin::Nothing);
        self.before = Before::Nothing;
        self.joined = 0;
    }

    /// Anything beyond ASCII from `start` on.
    fn wide(&mut self, start: usize) {
        let (glyph, width) = glyph(self.bytes, start);
        match glyph {
            Glyph::Letter(alphabet) => return self.letters(start, alphabet),
            Glyph::Ideograph(which) => {
                let before = match self.kin {
                    Kin::Ideograph(before) => before,
                    Kin::Space => 3,
                    _ => 4,
                };
                self.emit(IDEOGRAPH + which * 5 + before, start + width, Kin::Ideograph(which));
            }
            Glyph::Symbol(symbol) => {
                let again = usize::from(self.kin == Kin::Symbol(symbol));
                self.emit(SYMBOL + symbol as usize * 2 + again, start + width, Kin::Symbol(symbol));
            }
        }
        self.before = Before::Nothing;
        self.joined = 0;
    }
}

/// The character that begins at `at`, and how many bytes it has.
#[inline]
fn glyph(bytes: &[u8], at: usize) -> (Glyph, usize) {
    let byte = |offset: usize| u32::from(bytes.get(at + offset).copied().unwrap_or(0) & 0x3f);
    let lead = bytes.get(at).copied().unwrap_or(0);
    let (code, width) = match lead {
        0xf0.. => (0x10000, 4),
        0xe0.. => ((u32::from(lead & 0x0f) << 12) | (byte(1) << 6) | byte(2), 3),
        _ => ((u32::from(lead & 0x1f) << 6) | byte(1), 2),
    };
    let glyph = match code {
        0..=0xbf | 0xd7 | 0xf7 => Glyph::Symbol(Symbol::Latin),
        0xc0..=0x36f | 0x1e00..=0x1eff => Glyph::Letter(Alphabet::Latin),
        0x370..=0x3ff | 0x1f00..=0x1fff => Glyph::Letter(Alphabet::Greek),
        0x400..=0x52f => Glyph::Letter(Alphabet::Cyrillic),
        0x590..=0x5ff => Glyph::Letter(Alphabet::Hebrew),
        0x600..=0x77f => Glyph::Letter(Alphabet::Arabic),
        0x900..=0xdff => Glyph::Letter(Alphabet::Indic),
        0xe00..=0xeff => Glyph::Letter(Alphabet::Thai),
        0x1100..=0x11ff | 0xac00..=0xd7ff => Glyph::Letter(Alphabet::Hangul),
        0x2000..=0x206f => Glyph::Symbol(Symbol::General),
        0x2070..=0x2fff => Glyph::Symbol(Symbol::Sign),
        0x3000..=0x303f => Glyph::Symbol(Symbol::CjkPunctuation),
        0x3040..=0x309f => Glyph::Ideograph(1),
        0x30a0..=0x30ff | 0x31f0..=0x31ff => Glyph::Ideograph(2),
        0x3400..=0x9fff | 0xf900..=0xfaff => Glyph::Ideograph(0),
        0xff00..=0xffef => Glyph::Symbol(Symbol::FullWidth),
        0xe000..=0xf8ff | 0xfe00..=0xfe0f | 0xfff0..=0xffff => Glyph::Symbol(Symbol::Other),
        0x10000.. => Glyph::Symbol(Symbol::Emoji),
        _ => Glyph::Letter(Alphabet::Rest),
    };
    (glyph, width)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_tokens_and_anything_has_some() {
        assert_eq!(estimate(""), 0);
        for text in ["a", " ", "\n", "\u{0}", "é", "中", "😀", "\u{10ffff}"] {
            assert!(estimate(text) >= 1, "{text:?}");
        }
    }

    #[test]
    fn the_pieces_partition_the_text_and_their_cells_exist() {
        let text =
            "Don't   panic:\r\n\tfooBar_baz2(\"ключ\", 'größe') => 東京タワーです。한국어 😀👍🏽 0xdeadBEEF==\n\n  end ";
        let mut ends = vec![0];
        scan(text, |cell, end| {
            assert!(cell < CELLS);
            ends.push(end);
        });
        assert!(ends.is_sorted_by(|a, b| a < b), "{ends:?}");
        assert_eq!(ends.last(), Some(&text.len()));
        assert!(ends.iter().all(|&end| text.is_char_boundary(end)));
    }

    #[test]
    fn a_word_takes_its_space_along() {
        assert_eq!(estimate("the the the the the the the the"), estimate("the") + 7);
    }

    #[test]
    fn a_megabyte_of_one_character_is_counted_without_overflow() {
        for text in ["a", "中", "=", " ", "7", "ж"] {
            assert!(estimate(&text.repeat(1 << 20)) > 100, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_partitioned(text in any::<String>()) {
            let mut last = 0;
            scan(&text, |cell, end| {
                assert!(cell < CELLS);
                assert!(end > last);
                last = end;
            });
            prop_assert_eq!(last, text.len());
        }

        #[test]
        fn what_is_appended_never_takes_more_than_two_tokens_away(
            head in "[ -~\\nа-яё中文字가-힣]{0,80}",
            tail in "[ -~\\nа-яё中文字가-힣]{0,80}",
        ) {
            let whole = [head.as_str(), tail.as_str()].concat();
            prop_assert!(estimate(&whole) + 2 >= estimate(&head));
        }
    }
}
