//! Names that must be exact to be of use: identifiers, paths, files, flags, hashes, long numbers.
//!
//! One pass over bytes gives every name as a range of the text. A name is what an agent could not guess: a word of a
//! language is none, `getUser`, `auth.go`, `--dry-run`, `38cd6b4` and `MAX_RETRIES` are.

/// What a name looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A file name, with the folders before it where they were given.
    File,
    /// A word with inner capitals or underscores.
    Symbol,
    /// `--flag`.
    Flag,
    /// Hashes, tickets, generated ids: letters and digits mixed.
    Id,
    /// `https://…`.
    Url,
    /// Digits, at least three; versions, decimals.
    Number,
}

/// A name in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// As it stands there.
    pub text: &'a str,
    /// The part that identifies it: of a path its last component.
    pub key: &'a str,
    /// What it looks like.
    pub kind: NameKind,
    /// Where it begins.
    pub start: usize,
}

const RUN: u8 = 1;
const WORD: u8 = 2;
/// Behind the first letter of a run these make it more than a word of a language.
const UNLIKE_WORDS: u8 = 4;

const CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || b == b'_' {
            table[byte] = if b.is_ascii_lowercase() { RUN | WORD } else { RUN | WORD | UNLIKE_WORDS };
        } else if matches!(b, b'-' | b'.' | b'/' | b':' | b'@' | b'~' | b'#') {
            table[byte] = RUN;
        }
        byte += 1;
    }
    table
};

/// The length above which a name is no name but data (base64, minified code).
const MAX_NAME: usize = 120;

/// Gives all names of a text in order.
pub fn names<'a>(text: &'a str, mut found: impl FnMut(Name<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if CLASS[bytes[at] as usize] & RUN == 0 {
            at += 1;
            continue;
        }
        let start = at;
        // All classes, and those behind the first byte; punctuation counts there only where a word follows it.
        let (mut seen, mut inner, mut punctuation) = (CLASS[bytes[at] as usize], 0u8, 0u8);
        if seen & WORD == 0 {
            punctuation = UNLIKE_WORDS;
        }
        at += 1;
        while at < bytes.len() {
            let class = CLASS[bytes[at] as usize];
            if class & RUN == 0 {
                break;
            }
            seen |= class;
            if class & WORD == 0 {
                punctuation = UNLIKE_WORDS;
            } else {
                inner |= class | punctuation;
            }
            at += 1;
        }
        if seen & WORD == 0 || at - start < 3 {
            continue;
        }
        if quoted_word(bytes, start, at) {
            let name = text.get(start..at).unwrap_or_default();
            found(Name { text: name, key: name, kind: NameKind::Symbol, start });
            continue;
        }
        // Most runs are words of a language, and need no second look.
        if inner & UNLIKE_WORDS == 0 && bytes[start].is_ascii_alphabetic() {
            continue;
        }
        // `\n` and `\t` inside quoted code: the letter belongs to the escape.
        let escaped = start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b't' | b'r');
        let start = if escaped { start + 1 } else { start };
        run(text, start, at, &mut found);
    }
}

/// A plain word in backticks: whoever wrote it means the name, not the word.
fn quoted_word(bytes: &[u8], start: usize, end: usize) -> bool {
    start > 0
        && bytes.get(start - 1) == Some(&b'`')
        && bytes.get(end) == Some(&b'`')
        && (3..=32).contains(&(end - start))
        && bytes.get(start..end).is_some_and(|word| word.iter().all(u8::is_ascii_alphabetic) && !symbol_like(word))
}

fn run<'a>(text: &'a str, mut start: usize, mut end: usize, found: &mut impl FnMut(Name<'a>)) {
    let bytes = text.as_bytes();
    while end > start && matches!(bytes[end - 1], b'.' | b':' | b'-' | b'/' | b'#' | b'@' | b'~') {
        end -= 1;
    }
    while start < end && matches!(bytes[start], b':' | b'#' | b'@') {
        start += 1;
    }
    if end - start < 3 || end - start > MAX_NAME {
        return;
    }
    let run = &bytes[start..end];
    // `188ec93..39f1152`: a range names nothing that anyone needs again.
    if is_moment(run) || find(run, b"..").is_some_and(|at| at > 0 && !run.contains(&b'/')) {
        return;
    }
    let slice = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    if run.starts_with(b"http") && find(run, b"://").is_some() {
        let whole = slice(start, end);
        return found(Name { text: whole, key: whole, kind: NameKind::Url, start });
    }
    if run.starts_with(b"--") {
        let word = &run[2..];
        if word.len() >= 3 && word[0].is_ascii_lowercase() {
            let flag = slice(start, end);
            found(Name { text: flag, key: flag, kind: NameKind::Flag, start });
        }
        return;
    }
    // `path:12:3` points into a file; the position is no part of its name.
    let mut stem_end = end;
    while let Some(colon) = bytes[start..stem_end].iter().rposition(|b| *b == b':') {
        let tail = &bytes[start + colon + 1..stem_end];
        if tail.is_empty() || !tail.iter().all(|b| b.is_ascii_digit() || *b == b'-') || colon == 0 {
            break;
        }
        stem_end = start + colon;
    }
    if let Some(slash) = bytes[start..stem_end].iter().rposition(|b| *b == b'/') {
        let key_start = start + slash + 1;
        let key = slice(key_start, stem_end);
        if key.len() >= 3 && (file_like(key.as_bytes()) || slash > 0) && identifying(key.as_bytes()) {
            let path = slice(start, stem_end);
            return found(Name { text: path, key, kind: NameKind::File, start });
        }
        // A path of plain words still identifies a place where it is long or absolute.
        if bytes[start..stem_end].iter().filter(|b| **b == b'/').count() >= 2 && key.len() >= 3 {
            let path = slice(start, stem_end);
            return found(Name { text: path, key: path, kind: NameKind::File, start });
        }
        if key.len() >= 3 && bytes[start] != b'/' && slash >= 2 {
            let path = slice(start, stem_end);
            if path.bytes().any(|b| b.is_ascii_digit() || b == b'-' || b == b'_' || b == b'.') {
                return found(Name { text: path, key: path, kind: NameKind::File, start });
            }
        }
        return;
    }
    let word = &bytes[start..stem_end];
    if file_like(word) {
        let name = slice(start, stem_end);
        return found(Name { text: name, key: name, kind: NameKind::File, start });
    }
    if word.iter().all(|b| b.is_ascii_digit() || *b == b'.' || *b == b'-' || *b == b':') {
        let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
        if digits >= 2 && word[0].is_ascii_digit() {
            let number = slice(start, stem_end);
            found(Name { text: number, key: number, kind: NameKind::Number, start });
        }
        return;
    }
    // Ids keep their hyphens and colons; a chain of calls is taken apart.
    if id_like(word) {
        let id = slice(start, stem_end);
        return found(Name { text: id, key: id, kind: NameKind::Id, start });
    }
    let mut from = start;
    while from < stem_end {
        while from < stem_end && CLASS[bytes[from] as usize] & WORD == 0 {
            from += 1;
        }
        let begin = from;
        while from < stem_end && CLASS[bytes[from] as usize] & WORD != 0 {
            from += 1;
        }
        let atom = &bytes[begin..from];
        let name = slice(begin, from);
        if symbol_like(atom) {
            found(Name { text: name, key: name, kind: NameKind::Symbol, start: begin });
        } else if id_like(atom) {
            found(Name { text: name, key: name, kind: NameKind::Id, start: begin });
        }
    }
}

/// `2026-11-16T09:00:10Z`: when a line was logged, which names nothing.
fn is_moment(run: &[u8]) -> bool {
    let shape = b"dddd-dd-ddTdd:dd";
    run.len() >= shape.len()
        && shape.iter().zip(run).all(|(want, byte)| if *want == b'd' { byte.is_ascii_digit() } else { want == byte })
}

/// Gives every form under which a summary may name something: whole runs, path components, parts between dots,
/// hyphens and colons, each in lower case by its hash.
pub fn forms(text: &str, mut found: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if CLASS[bytes[at] as usize] & RUN == 0 {
            at += 1;
            continue;
        }
        let mut start = at;
        while at < bytes.len() && CLASS[bytes[at] as usize] & RUN != 0 {
            at += 1;
        }
        let mut end = at;
        while end > start && CLASS[bytes[end - 1] as usize] & WORD == 0 {
            end -= 1;
        }
        let whole = start;
        while start < end && matches!(bytes[start], b':' | b'#' | b'@' | b'.' | b'/') {
            start += 1;
        }
        if end <= start || end - start > 4 * MAX_NAME {
            continue;
        }
        found(key_hash(&bytes[whole..end]));
        // Every stretch between separators of one sort, and every suffix that begins after a slash.
        let run = &bytes[start..end];
        for separators in [&b"/"[..], b"/:", b"/:.", b"/:.-@~#"] {
            for part in run.split(|b| separators.contains(b)) {
                if part.len() >= 2 {
                    found(key_hash(part));
                }
            }
        }
        for (index, byte) in run.iter().enumerate() {
            if *byte == b'/' {
                let suffix = &run[index + 1..];
                if suffix.len() >= 2 {
                    found(key_hash(suffix));
                    if let Some(colon) = suffix.iter().position(|b| *b == b':') {
                        found(key_hash(&suffix[..colon]));
                    }
                }
            } else if *byte == b':' {
                found(key_hash(&run[..index]));
            }
        }
    }
}

/// The hash under which a name is known: case does not count.
pub fn key_hash(key: &[u8]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325u64;
    for byte in key {
        state = (state ^ byte.to_ascii_lowercase() as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let mixed = (state ^ (state >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// What a value looks like: runs of letters as one, digits one by one, the rest as it is.
pub fn form(value: &str) -> u64 {
    let mut state = crate::text::Hasher::new();
    let mut last = 0;
    for byte in value.bytes() {
        let class = match byte {
            b'0'..=b'9' => b'9',
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => b'a',
            other => other,
        };
        if class == b'9' || class != last {
            state = state.push(class);
        }
        last = class;
    }
    state.finish()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// A name with a short lower-case ending after its last dot: `main.rs`, `.zshrc` is none, `e.g` is none.
fn file_like(word: &[u8]) -> bool {
    let Some(dot) = word.iter().rposition(|b| *b == b'.') else { return false };
    let (stem, ending) = (&word[..dot], &word[dot + 1..]);
    stem.len() >= 2
        && (1..=5).contains(&ending.len())
        && ending.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && ending[0].is_ascii_lowercase()
        && stem.iter().any(|b| b.is_ascii_alphabetic())
        && !word.iter().any(|b| matches!(b, b':' | b'#' | b'~'))
}

/// Inner capitals, underscores: what a programmer writes and a person does not.
fn symbol_like(atom: &[u8]) -> bool {
    if atom.len() < 5 || atom.len() > 80 || atom[0].is_ascii_digit() {
        return false;
    }
    let humps = atom.windows(2).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count();
    let inner_underscore = atom[1..atom.len() - 1].contains(&b'_') && atom.iter().any(|b| b.is_ascii_alphabetic());
    humps > 0 || inner_underscore
}

/// Letters and digits in one word, long enough not to be an ordinal: commit ids, `value-8e37eec3`, `sha256:abc01`.
fn id_like(word: &[u8]) -> bool {
    if word.len() < 5 || word.len() > MAX_NAME {
        return false;
    }
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = word.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let lone = !word.iter().any(|b| matches!(b, b'-' | b'.' | b':' | b'@'));
    if digits == 0 || letters == 0 {
        return false;
    }
    if lone { word.len() >= 6 && digits >= 2 } else { digits >= 1 && word.len() >= 6 }
}

/// Whether the last component of a path says enough by itself.
fn identifying(key: &[u8]) -> bool {
    file_like(key) || symbol_like(key) || id_like(key) || key.contains(&b'-') || key.contains(&b'_')
}
