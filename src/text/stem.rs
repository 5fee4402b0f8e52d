//! Which forms are one word: a light stemmer for English on folded ASCII bytes.
//!
//! It undoes plural, tense and the common derivations, and brings what is left to one spelling (no final `e`, no
//! doubled consonant, `i` for a final `y`), so that *use, uses, used, using* and *stop, stopped, stopping* meet. Short words and words without a
//! vowel before the suffix stay as they are, which also keeps most words of other languages whole.

/// Stems the word in `word` and gives its new length. `word` holds lower-case ASCII letters.
pub fn stem(word: &mut [u8]) -> usize {
    let mut len = word.len();
    if len <= 3 || !word.is_ascii() {
        return len;
    }
    len = plural(word, len);
    len = tense(word, len);
    len = derivation(word, len);
    tidy(word, len)
}

#[inline]
fn is_vowel(byte: u8) -> bool {
    const VOWELS: u32 =
        1 << (b'a' & 31) | 1 << (b'e' & 31) | 1 << (b'i' & 31) | 1 << (b'o' & 31) | 1 << (b'u' & 31) | 1 << (b'y' & 31);
    byte & 0xe0 == 0x60 && VOWELS >> (byte & 31) & 1 != 0
}

/// Whether the first `len` bytes hold a vowel, and so could be a word.
fn has_vowel(word: &[u8], len: usize) -> bool {
    word.iter().take(len).any(|byte| is_vowel(*byte))
}

#[inline]
fn ends(word: &[u8], len: usize, suffix: &[u8]) -> bool {
    // Two letters tell nearly all endings apart.
    let (Some(last), Some(rest)) = (suffix.last(), len.checked_sub(suffix.len())) else { return false };
    at(word, len - 1) == *last
        && at(word, rest) == at(suffix, 0)
        && word.get(rest..len).is_some_and(|tail| tail == suffix)
}

#[inline]
fn at(word: &[u8], index: usize) -> u8 {
    word.get(index).copied().unwrap_or(0)
}

/// How often a vowel run is followed by a consonant run: Porter's measure of how much word there is.
fn measure(word: &[u8], len: usize) -> usize {
    let mut count = 0;
    let mut vowel_before = false;
    for byte in word.iter().take(len) {
        let vowel = is_vowel(*byte);
        if vowel_before && !vowel {
            count += 1;
        }
        vowel_before = vowel;
    }
    count
}

fn plural(word: &mut [u8], len: usize) -> usize {
    if at(word, len.wrapping_sub(1)) != b's'
        || ends(word, len, b"ss")
        || ends(word, len, b"us")
        || ends(word, len, b"is")
    {
        return len;
    }
    if ends(word, len, b"ies") && len > 4 {
        if let Some(last) = word.get_mut(len - 3) {
            *last = b'y';
        }
        return len - 2;
    }
    for suffix in [b"sses".as_slice(), b"shes", b"ches", b"xes", b"zes"] {
        if ends(word, len, suffix) && len > suffix.len() + 1 {
            return len - 2;
        }
    }
    if has_vowel(word, len - 1) { len - 1 } else { len }
}

fn tense(word: &mut [u8], len: usize) -> usize {
    if !matches!(at(word, len.wrapping_sub(1)), b'g' | b'd') {
        return len;
    }
    for suffix in [b"ing".as_slice(), b"ied", b"ed"] {
        if !ends(word, len, suffix) {
            continue;
        }
        let rest = len - suffix.len();
        if suffix == b"ied" {
            if rest >= 2 {
                if let Some(last) = word.get_mut(rest) {
                    *last = b'y';
                }
                return rest + 1;
            }
            return len;
        }
        // "bring", "need", "speed" and "string" are no forms of anything.
        if rest < 2 || !has_vowel(word, rest) || ends(word, len, b"eed") {
            return len;
        }
        // "used", "owing": two letters are the base form without its e.
        if rest == 2 && !is_vowel(at(word, 1)) {
            if let Some(last) = word.get_mut(2) {
                *last = b'e';
            }
            return 3;
        }
        return undouble(word, rest);
    }
    len
}

/// "stopp" → "stop"; "fall" and "pass" keep theirs because the base form has it too: both ends meet in `tidy`.
fn undouble(word: &[u8], len: usize) -> usize {
    let last = at(word, len.wrapping_sub(1));
    if len > 3 && last == at(word, len - 2) && !is_vowel(last) && !matches!(last, b'l' | b's' | b'z') {
        return len - 1;
    }
    len
}

/// Suffix, what replaces it, and how much word must stand before it.
type Derivation = (&'static [u8], &'static [u8], usize);

/// The suffixes that end in this letter, the longest first. Most words end here, so this comes before any comparison.
#[inline]
fn derivations(last: u8) -> &'static [Derivation] {
    match last {
        b'e' => &[
            (b"able", b"", 2),
            (b"ible", b"", 2),
            (b"ance", b"", 2),
            (b"ence", b"", 2),
            (b"ive", b"", 2),
            (b"ize", b"", 2),
            (b"ise", b"", 2),
            (b"ate", b"", 2),
        ],
        b'l' => &[(b"ational", b"at", 1), (b"ful", b"", 1), (b"al", b"", 2)],
        b'm' => &[(b"ism", b"", 2)],
        b'n' => &[(b"ization", b"", 2), (b"isation", b"", 2), (b"ation", b"", 2), (b"ition", b"", 2), (b"ion", b"", 2)],
        b'r' => &[(b"ator", b"", 2), (b"er", b"", 2), (b"or", b"", 2)],
        b's' => &[
            (b"fulness", b"", 1),
            (b"ousness", b"", 1),
            (b"iveness", b"", 1),
            (b"ness", b"", 1),
            (b"less", b"", 1),
            (b"ous", b"", 2),
        ],
        b't' => &[(b"ment", b"", 1), (b"ant", b"", 2), (b"ent", b"", 2), (b"ist", b"", 2)],
        b'y' => &[(b"ically", b"", 2), (b"ingly", b"", 1), (b"ally", b"", 2), (b"ity", b"", 2), (b"ly", b"", 1)],
        _ => &[],
    }
}

fn derivation(word: &mut [u8], mut len: usize) -> usize {
    for _ in 0..2 {
        // A suffix of two letters needs a word of three before it.
        if len < 5 {
            break;
        }
        let before = len;
        for (suffix, replacement, needed) in derivations(at(word, len.wrapping_sub(1))) {
            if ends(word, len, suffix) {
                let rest = len - suffix.len();
                // "ion" only after s or t: "million" and "region" are whole.
                let fits = *suffix != b"ion" || matches!(at(word, rest.wrapping_sub(1)), b's' | b't');
                // "deployment" but not "statement", "document", "comment".
                let fits = fits && (*suffix != b"ment" || rest >= 6);
                if fits && rest >= 3 && measure(word, rest) >= *needed {
                    for (offset, byte) in replacement.iter().enumerate() {
                        if let Some(place) = word.get_mut(rest + offset) {
                            *place = *byte;
                        }
                    }
                    len = rest + replacement.len();
                }
                break;
            }
        }
        if len == before {
            break;
        }
    }
    len
}

/// One spelling for what is left.
fn tidy(word: &mut [u8], mut len: usize) -> usize {
    if len > 3 && at(word, len - 1) == b'e' {
        len -= 1;
    }
    if len > 3 && at(word, len - 1) == at(word, len - 2) && !is_vowel(at(word, len - 1)) {
        len -= 1;
    }
    if len > 2
        && at(word, len - 1) == b'y'
        && !is_vowel(at(word, len - 2))
        && let Some(last) = word.get_mut(len - 1)
    {
        *last = b'i';
    }
    len
}

#[cfg(test)]
mod tests {
    fn stem(word: &str) -> String {
        let mut bytes = word.as_bytes().to_vec();
        let len = super::stem(&mut bytes);
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }

    #[test]
    fn forms_of_one_word_meet() {
        for family in [
            &["use", "uses", "used", "using"][..],
            &["stop", "stops", "stopped", "stopping"],
            &["carry", "carries", "carried", "carrying"],
            &["pass", "passes", "passed", "passing"],
            &["deploy", "deploys", "deployed", "deploying", "deployment"],
            &["announce", "announced", "announcement", "announcing"],
            &["fix", "fixes", "fixed", "fixing"],
            &["configure", "configured", "configuration"],
            &["match", "matches", "matched", "matching"],
            &["quick", "quickly"],
        ] {
            let first = stem(family[0]);
            for word in family {
                assert_eq!(stem(word), first, "{word}");
            }
        }
    }

    #[test]
    fn different_words_stay_apart() {
        for (left, right) in [
            ("string", "strung"),
            ("need", "ned"),
            ("news", "net"),
            ("test", "text"),
            ("port", "portion"),
            ("million", "mill"),
            ("bus", "bu"),
            ("species", "spear"),
            ("address", "add"),
            ("bring", "br"),
            ("speed", "spe"),
            ("process", "proc"),
            ("status", "state"),
        ] {
            assert_ne!(stem(left), stem(right), "{left} {right}");
        }
    }

    #[test]
    fn short_words_stay_whole() {
        for word in ["a", "is", "api", "ing", "ed", "css", "bus"] {
            assert_eq!(stem(word), word);
        }
    }
}
