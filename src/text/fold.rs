//! Case, diacritics and width: one form for each letter.

/// What a character is to the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A letter or digit of a script that separates words by spaces.
    Letter,
    /// A Han character.
    Han,
    /// Hiragana.
    Hiragana,
    /// Katakana and its length mark.
    Katakana,
    /// A Hangul syllable.
    Hangul,
    /// A combining mark: belongs to the letter before it, and is dropped.
    Mark,
    /// An apostrophe in its typographic form.
    Apostrophe,
    /// Anything else: punctuation, symbols, emoji, spaces.
    Other,
}

/// The class of a non-ASCII character.
pub fn class(c: char) -> Class {
    match c as u32 {
        0x0300..=0x036f | 0x1ab0..=0x1aff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => Class::Mark,
        0x2019 | 0x02bc | 0xff07 => Class::Apostrophe,
        0x2000..=0x206f | 0x2190..=0x2bff | 0x3000..=0x3004 | 0x3008..=0x3020 => Class::Other,
        0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af => Class::Han,
        0x3041..=0x309f => Class::Hiragana,
        0x30a1..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f => Class::Katakana,
        0xac00..=0xd7a3 | 0x1100..=0x11ff | 0x3130..=0x318f => Class::Hangul,
        _ if c.is_alphanumeric() => Class::Letter,
        // Vowel signs of Indic and Thai scripts are no letters to Unicode, but stand inside words.
        0x0900..=0x0dff | 0x0e00..=0x0eff | 0x0f00..=0x109f | 0x1780..=0x17ff | 0x0591..=0x05c7 | 0x064b..=0x0670 => {
            Class::Letter
        }
        _ => Class::Other,
    }
}

/// Gives the folded form of a letter to `out`: lower case, no diacritics for Latin, ASCII for full-width forms.
pub fn fold(c: char, mut out: impl FnMut(char)) {
    if c.is_ascii() {
        return out(c.to_ascii_lowercase());
    }
    let code = c as u32;
    if let 0xff01..=0xff5e = code {
        return out(((code - 0xfee0) as u8 as char).to_ascii_lowercase());
    }
    if let Some(base) = latin_base(code) {
        return base.chars().for_each(out);
    }
    match c {
        'ё' | 'Ё' => out('е'),
        'ά' | 'Ά' => out('α'),
        'έ' | 'Έ' => out('ε'),
        'ή' | 'Ή' => out('η'),
        'ί' | 'Ί' | 'ϊ' | 'ΐ' => out('ι'),
        'ό' | 'Ό' => out('ο'),
        'ύ' | 'Ύ' | 'ϋ' | 'ΰ' => out('υ'),
        'ώ' | 'Ώ' => out('ω'),
        'ς' => out('σ'),
        _ => c.to_lowercase().for_each(out),
    }
}

/// The base letters of Latin-1 and Latin Extended-A and -B letters with diacritics.
fn latin_base(code: u32) -> Option<&'static str> {
    Some(match code {
        0xc0..=0xc5 | 0xe0..=0xe5 | 0x100..=0x105 | 0x1cd | 0x1ce | 0x1ea0..=0x1eb7 => "a",
        0xc6 | 0xe6 => "ae",
        0xc7 | 0xe7 | 0x106..=0x10d => "c",
        0xd0 | 0xf0 | 0x10e..=0x111 => "d",
        0xc8..=0xcb | 0xe8..=0xeb | 0x112..=0x11b | 0x1eb8..=0x1ec7 => "e",
        0x11c..=0x123 => "g",
        0x124..=0x127 => "h",
        0xcc..=0xcf | 0xec..=0xef | 0x128..=0x131 | 0x1cf | 0x1d0 | 0x1ec8..=0x1ecb => "i",
        0x134 | 0x135 => "j",
        0x136..=0x138 => "k",
        0x139..=0x142 => "l",
        0xd1 | 0xf1 | 0x143..=0x14b => "n",
        0xd2..=0xd6 | 0xd8 | 0xf2..=0xf6 | 0xf8 | 0x14c..=0x151 | 0x1a0 | 0x1a1 | 0x1d1 | 0x1d2 | 0x1ecc..=0x1ee3 => {
            "o"
        }
        0x152 | 0x153 => "oe",
        0x154..=0x159 => "r",
        0xdf | 0x1e9e => "ss",
        0x15a..=0x161 | 0x218 | 0x219 => "s",
        0xde | 0xfe => "th",
        0x162..=0x167 | 0x21a | 0x21b => "t",
        0xd9..=0xdc | 0xf9..=0xfc | 0x168..=0x173 | 0x1af | 0x1b0 | 0x1d3..=0x1dc | 0x1ee4..=0x1ef1 => "u",
        0x174 | 0x175 => "w",
        0xdd | 0xfd | 0xff | 0x176..=0x178 | 0x1ef2..=0x1ef9 => "y",
        0x179..=0x17e => "z",
        _ => return None,
    })
}
