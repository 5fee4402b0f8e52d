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
    /// Words in backticks that begin like a command: `git mv`, `npm run check`.
    Command,
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

const LOWER: u8 = 1;
const UPPER: u8 = 1 << 1;
const DIGIT: u8 = 1 << 2;
const UNDERSCORE: u8 = 1 << 3;
const SLASH: u8 = 1 << 4;
const COLON: u8 = 1 << 5;
const DOT: u8 = 1 << 6;
/// `-`, `@`, `~`, `#`.
const JOINER: u8 = 1 << 7;
const WORD: u8 = LOWER | UPPER | DIGIT | UNDERSCORE;

/// What each byte is; one that has no class belongs to no name. What a run of bytes holds is the classes of its bytes
/// together, so that most questions about a run need no second look at its bytes.
static CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'/' => SLASH,
            b':' => COLON,
            b'.' => DOT,
            b'-' | b'@' | b'~' | b'#' => JOINER,
            _ => 0,
        };
        byte += 1;
    }
    table
};

#[inline]
fn class(byte: u8) -> u8 {
    CLASS[byte as usize]
}

/// The length above which a name is no name but data (base64, minified code).
const MAX_NAME: usize = 120;

/// Gives all names of a text in order.
pub fn names<'a>(text: &'a str, mut found: impl FnMut(Name<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Where the backtick stands that closes what was opened last.
    let mut closing = 0;
    while let Some(first) = bytes.get(at) {
        let start = at;
        at += 1;
        if *first == b'`' && start > closing {
            closing = closing_tick(bytes, start).unwrap_or(start);
            if is_command(bytes.get(at..closing).unwrap_or_default()) {
                let command = text.get(at..closing).unwrap_or_default();
                found(Name { text: command, key: command, kind: NameKind::Command, start: at });
            }
            continue;
        }
        let first = class(*first);
        if first == 0 {
            continue;
        }
        // What stands behind the first byte and not behind the last letter or digit.
        let (mut seen, mut inner) = (if first & WORD == 0 { first } else { 0 }, 0u8);
        while let Some(byte) = bytes.get(at) {
            let class = class(*byte);
            if class == 0 {
                break;
            }
            seen |= class;
            inner = if class & WORD != 0 { seen } else { inner };
            at += 1;
        }
        let seen = seen | first;
        if seen & WORD == 0 || at - start < 3 {
            continue;
        }
        // Most runs are words of a language, and need no second look.
        let plain = inner & !LOWER == 0 && first & (LOWER | UPPER) != 0;
        if bytes.get(at) == Some(&b'`') && quoted_word(bytes, start, at) {
            let name = text.get(start..at).unwrap_or_default();
            found(Name { text: name, key: name, kind: NameKind::Symbol, start });
            continue;
        }
        if plain {
            continue;
        }
        // `\n` and `\t` inside quoted code: the letter belongs to the escape.
        let escaped = start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b't' | b'r');
        let start = if escaped { start + 1 } else { start };
        run(text, start, at, seen, &mut found);
    }
}

/// A plain word in backticks, or several joined by hyphens: whoever wrote it means the name, not the word.
fn quoted_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let plain = |word: &[u8]| {
        word.first().is_some_and(u8::is_ascii_alphabetic)
            && word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
            && !symbol_like(word)
    };
    start > 0
        && bytes.get(start - 1) == Some(&b'`')
        && bytes.get(end) == Some(&b'`')
        && (3..=32).contains(&(end - start))
        && bytes.get(start..end).is_some_and(plain)
}

/// The backtick that closes the one at `open`, on the same line; none for a fence.
fn closing_tick(bytes: &[u8], open: usize) -> Option<usize> {
    let rest = bytes.get(open + 1..(open + 2 + MAX_NAME).min(bytes.len()))?;
    let end = rest.iter().position(|byte| matches!(byte, b'`' | b'\n'))?;
    (end > 0 && rest.get(end) == Some(&b'`')).then_some(open + 1 + end)
}

/// The longest command that is followed as a whole, and how many words it has at most.
const MAX_COMMAND: (usize, usize) = (60, 8);

/// Several words of which the first could be a program: no sentence, and no code.
fn is_command(quoted: &[u8]) -> bool {
    let mut words = quoted.split(|byte| *byte == b' ');
    let program = words.next().unwrap_or_default();
    let of_program = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"./_-".contains(byte);
    let of_words = |byte: &u8| byte.is_ascii_alphanumeric() || b" ./_-:@=+~,\"'*".contains(byte);
    (5..=MAX_COMMAND.0).contains(&quoted.len())
        && program.len() >= 2
        && program.iter().all(of_program)
        && quoted.iter().all(of_words)
        && (1..MAX_COMMAND.1).contains(&words.filter(|word| !word.is_empty()).count())
}

/// Takes apart what may be a name; `seen` are the classes of its bytes.
fn run<'a>(text: &'a str, mut start: usize, mut end: usize, seen: u8, found: &mut impl FnMut(Name<'a>)) {
    let has = |classes: u8| seen & classes != 0;
    let bytes = text.as_bytes();
    while end > start && class(bytes[end - 1]) & WORD == 0 {
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
    if is_moment(run) || has(DOT) && !run.contains(&b'/') && find(run, b"..").is_some_and(|at| at > 0) {
        return;
    }
    let slice = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    if has(COLON) && run.starts_with(b"http") && find(run, b"://").is_some() {
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
    while let Some(colon) = has(COLON).then(|| last(&bytes[start..stem_end], b':')).flatten() {
        let tail = &bytes[start + colon + 1..stem_end];
        if tail.is_empty() || !tail.iter().all(|b| b.is_ascii_digit() || *b == b'-') || colon == 0 {
            break;
        }
        stem_end = start + colon;
    }
    if let Some(slash) = has(SLASH).then(|| last(&bytes[start..stem_end], b'/')).flatten() {
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
    if has(DOT) && (file_like(word) || hidden_file(word) && stands_alone(bytes, start, stem_end)) {
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
    if has(DIGIT) && id_like(word) {
        let id = slice(start, stem_end);
        return found(Name { text: id, key: id, kind: NameKind::Id, start });
    }
    // Words of a language with hyphens between them have none of these.
    if !has(UPPER | UNDERSCORE | DIGIT) {
        return;
    }
    let mut from = start;
    while from < stem_end {
        while from < stem_end && class(bytes[from]) & WORD == 0 {
            from += 1;
        }
        let begin = from;
        while from < stem_end && class(bytes[from]) & WORD != 0 {
            from += 1;
        }
        let atom = &bytes[begin..from];
        if symbol_like(atom) {
            let name = slice(begin, from);
            found(Name { text: name, key: name, kind: NameKind::Symbol, start: begin });
        } else if has(DIGIT) && id_like(atom) {
            let name = slice(begin, from);
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
        if class(bytes[at]) == 0 {
            at += 1;
            continue;
        }
        let mut start = at;
        while at < bytes.len() && class(bytes[at]) != 0 {
            at += 1;
        }
        let mut end = at;
        while end > start && class(bytes[end - 1]) & WORD == 0 {
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

/// What names of one series have in common: everything but the numbers in them.
pub fn series(name: &str) -> u64 {
    let mut state = crate::text::Hasher::new();
    let mut before = 0;
    for byte in name.bytes() {
        let byte = if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_lowercase() };
        if byte != b'0' || byte != before {
            state = state.push(byte);
        }
        before = byte;
    }
    state.finish()
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

fn last(bytes: &[u8], byte: u8) -> Option<usize> {
    bytes.iter().rposition(|known| *known == byte)
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// A name with a short lower-case ending after its last dot: `main.rs`; `e.g` is none.
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

/// `.env`, `.zshrc`.
fn hidden_file(word: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.');
    word.len() >= 4 && word[0] == b'.' && word[1].is_ascii_lowercase() && word[1..].iter().all(plain)
}

/// Whether it is no part of a chain of calls: `list().map(f)`.
fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    before.is_none_or(|byte| matches!(byte, b' ' | b'`' | b'"' | b'\'' | b'(' | b'\n')) && bytes.get(end) != Some(&b'(')
}

/// Inner capitals, underscores: what a programmer writes and a person does not.
fn symbol_like(atom: &[u8]) -> bool {
    let (Some(first), Some(last)) = (atom.first(), atom.last()) else { return false };
    if atom.len() < 5 || atom.len() > 80 || first.is_ascii_digit() {
        return false;
    }
    let (mut seen, mut before) = (0, 0);
    let mut underscores = 0usize;
    for byte in atom {
        let class = class(*byte);
        if class == UPPER && before == LOWER {
            return true;
        }
        underscores += usize::from(class == UNDERSCORE);
        seen |= class;
        before = class;
    }
    let outer = usize::from(*first == b'_') + usize::from(*last == b'_');
    underscores > outer && seen & (LOWER | UPPER) != 0
}

/// Letters and digits in one word, long enough not to be an ordinal: commit ids, `value-8e37eec3`, `sha256:abc01`.
fn id_like(word: &[u8]) -> bool {
    if word.len() < 6 || word.len() > MAX_NAME {
        return false;
    }
    let (mut seen, mut digits) = (0, 0usize);
    for byte in word {
        let class = class(*byte);
        seen |= class;
        digits += usize::from(class == DIGIT);
    }
    // A `~`, `#` or `/` is no part of an id, and does not make one of two words.
    let lone = seen & (COLON | DOT) == 0 && !(seen & JOINER != 0 && word.iter().any(|b| matches!(b, b'-' | b'@')));
    digits > 0 && seen & (LOWER | UPPER) != 0 && (!lone || digits >= 2)
}

/// Whether the last component of a path says enough by itself.
fn identifying(key: &[u8]) -> bool {
    file_like(key) || symbol_like(key) || id_like(key) || key.contains(&b'-') || key.contains(&b'_')
}
