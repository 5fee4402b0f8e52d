//! Words, numbers and identifiers of a text in one pass over its bytes: ranges and hashes, nothing allocated.
//!
//! An identifier comes twice: whole (`src/text/token.rs`, `maxRetries`, `v1.2.3`), and in the parts that are words
//! (`src`, `text`, `token`, `max`, `retry`). Whole forms hash without what people leave out: a leading `/`, `./`,
//! `~/`, `--`, `$`, `#`, the `v` of a version, thousands separators, case. Han comes as overlapping pairs, as the
//! words in it are not marked; kana and Hangul likewise, with the whole run where it can be a word.

use super::fold::{self, Class};
use super::{Hasher, stem};

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// A word of a language with spaces, stemmed.
    Word,
    /// Digits, with separators, currency, percent or a unit: `1,234.5`, `$500`, `15KB`, `12:30`, `18th`.
    Number,
    /// `v1.2.3`, `1.2.3-rc.1`, `v2`.
    Version,
    /// `2024-01-31`, `2024/1/31`, `2024-01-31T10:00:00Z`.
    Date,
    /// A commit id, UUID or another run of hexadecimal digits.
    Id,
    /// `maxRetries`, `max_retries`, `JOB42`, `std::fmt`, `end-to-end`, `user@host`, `host:8080`.
    Name,
    /// `MAX_RETRIES`, `$HOME`.
    Env,
    /// `--dry-run`, `-v`.
    Flag,
    /// `src/a.rs`, `/etc/hosts`, `a.rs`, `.env`, `a.rs:12`.
    Path,
    /// `https://example.org/x?y=z`.
    Url,
    /// Two Han characters, or one that stands alone.
    Han,
    /// Two hiragana, or a run of katakana.
    Kana,
    /// A Hangul word, or two syllables of it.
    Hangul,
}

impl Shape {
    /// Whether a text that lacks it lacks an exact value: everything but words and CJK.
    pub fn is_value(self) -> bool {
        !matches!(self, Shape::Word | Shape::Han | Shape::Kana | Shape::Hangul)
    }
}

/// How a token stands to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It has no parts and is part of nothing.
    Alone,
    /// Its parts follow it.
    Whole,
    /// A part of the last whole one.
    Part,
}

/// One token: where it stands, and what it hashes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// First byte, with what decorates it (`--`, `$`, `/`).
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// Of the normalised, stemmed form.
    pub hash: u64,
    /// What it looks like.
    pub shape: Shape,
    /// Whole or part.
    pub place: Place,
}

impl Token {
    /// Whether to count it as a word: each word once, identifiers by their parts.
    #[inline]
    pub fn is_word(&self) -> bool {
        self.place != Place::Whole
    }

    /// Whether to count it as a value: each identifier once, as a whole.
    #[inline]
    pub fn is_value(&self) -> bool {
        self.place != Place::Part && self.shape.is_value()
    }
}

const SPACE: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 3;
const UNDERSCORE: u8 = 4;
const JOINER: u8 = 5;
const HIGH: u8 = 6;

/// The class of each byte.
static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [SPACE; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'/' | b':' | b'@' | b'-' | b'\'' | b',' | b'\\' | b'?' | b'=' | b'&' | b'%' | b'+' | b'#'
            | b'~' => JOINER,
            0x80.. => HIGH,
            _ => SPACE,
        };
        byte += 1;
    }
    table
}

#[inline]
fn class_at(bytes: &[u8], index: usize) -> u8 {
    bytes.get(index).map_or(SPACE, |byte| CLASS[*byte as usize])
}

#[inline]
fn byte_at(bytes: &[u8], index: usize) -> u8 {
    bytes.get(index).copied().unwrap_or(0)
}

#[inline]
fn is_core(class: u8) -> bool {
    (LOWER..=UNDERSCORE).contains(&class)
}

/// The longest word that is stemmed; longer ones are hashed as they are.
const WORD_MAX: usize = 48;

/// What a run of word characters and joiners holds.
#[derive(Clone, Copy, Default)]
struct Run {
    /// Start of the first core byte.
    start: usize,
    end: usize,
    letters: usize,
    digits: usize,
    uppers: usize,
    underscores: usize,
    /// A lower-case letter before an upper-case one.
    humps: usize,
    high: bool,
    dots: usize,
    slashes: usize,
    colons: usize,
    dashes: usize,
    commas: usize,
    apostrophes: usize,
    others: usize,
    url: bool,
}

impl Run {
    fn joiners(&self) -> usize {
        self.dots + self.slashes + self.colons + self.dashes + self.commas + self.apostrophes + self.others
    }
}

/// Calls `emit` for each token of `text`, in the order of the text; a whole identifier before its parts.
pub fn tokens(text: &str, mut emit: impl FnMut(Token)) {
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        match class_at(bytes, position) {
            SPACE | JOINER => position += 1,
            HIGH => match text.get(position..).and_then(|rest| rest.chars().next()) {
                Some(c) => match fold::class(c) {
                    Class::Letter => position = word_run(text, position, &mut emit),
                    Class::Han | Class::Hiragana | Class::Katakana | Class::Hangul => {
                        position = cjk_run(text, position, &mut emit);
                    }
                    Class::Mark | Class::Apostrophe | Class::Other => position += c.len_utf8(),
                },
                None => position += 1,
            },
            _ => {
                position = plain_word(bytes, position, &mut emit).unwrap_or_else(|| word_run(text, position, &mut emit))
            }
        }
    }
}

/// The tokens of `text` for more than one reader.
pub fn all(text: &str) -> Vec<Token> {
    // A word in six bytes, mostly.
    let mut all = Vec::with_capacity(text.len() / 6 + 4);
    tokens(text, |token| all.push(token));
    all
}

/// The fast path: ASCII letters up to a space or punctuation that joins nothing. `None` where it is more than that.
#[inline]
fn plain_word(bytes: &[u8], start: usize, emit: &mut impl FnMut(Token)) -> Option<usize> {
    let mut buffer = [0u8; WORD_MAX];
    let mut end = start;
    let mut previous = SPACE;
    while let Some(byte) = bytes.get(end) {
        let class = CLASS[*byte as usize];
        match class {
            LOWER => {}
            UPPER if previous != LOWER => {}
            SPACE => break,
            JOINER
                if !is_core(class_at(bytes, end + 1))
                    && !matches!(byte, b':' | b'/' | b'.')
                    && class_at(bytes, end + 1) != HIGH =>
            {
                break;
            }
            JOINER if matches!(byte, b':' | b'.') && matches!(class_at(bytes, end + 1), SPACE) => break,
            _ => return None,
        }
        *buffer.get_mut(end - start)? = byte | 0x20;
        previous = class;
        end += 1;
    }
    if start > 0 && (class_at(bytes, start - 1) == JOINER || byte_at(bytes, start - 1) == b'$') {
        return None;
    }
    let word = buffer.get_mut(..end - start)?;
    // "HTTPServer" has two parts, "HTTP" and "Server" one each.
    if word.len() > 2 && class_at(bytes, end - 1) == LOWER && class_at(bytes, start + 1) == UPPER {
        return None;
    }
    let hash = stemmed_hash(word);
    emit(Token { start, end, hash, shape: Shape::Word, place: Place::Alone });
    Some(end)
}

/// Reads one run of word characters with the joiners inside it, emits it, and gives the position behind it.
fn word_run(text: &str, start: usize, emit: &mut impl FnMut(Token)) -> usize {
    let run = scan(text, start);
    emit_run(text, &run, emit);
    run.end.max(start + 1)
}

/// Finds where the run that starts here ends, and counts what it is made of.
fn scan(text: &str, start: usize) -> Run {
    let bytes = text.as_bytes();
    let mut run = Run { start, end: start, ..Default::default() };
    let mut position = start;
    let mut previous = SPACE;
    while position < bytes.len() {
        let class = class_at(bytes, position);
        let step = match class {
            LOWER | UPPER | DIGIT | UNDERSCORE => {
                let core = core(&mut run, bytes.get(position..).unwrap_or_default(), previous);
                position += core;
                run.end = position;
                previous = class_at(bytes, position - 1);
                continue;
            }
            HIGH => {
                let Some(c) = text.get(position..).and_then(|rest| rest.chars().next()) else { break };
                match fold::class(c) {
                    Class::Letter => run.letters += 1,
                    Class::Mark if position > start => {}
                    Class::Apostrophe if joins_letters(text, position, c.len_utf8()) => run.apostrophes += 1,
                    _ => break,
                }
                run.high = true;
                c.len_utf8()
            }
            JOINER => match join(text, position, &mut run) {
                0 => break,
                step => step,
            },
            _ => break,
        };
        position += step;
        run.end = position;
        previous = class;
    }
    run
}

/// Counts the letters, digits and underscores at the begin of `rest`, and gives how many there are.
#[inline]
fn core(run: &mut Run, rest: &[u8], mut previous: u8) -> usize {
    let (mut len, mut uppers, mut humps, mut digits, mut underscores) = (0, 0, 0, 0, 0);
    for byte in rest {
        let class = CLASS[usize::from(*byte)];
        if !is_core(class) {
            break;
        }
        uppers += usize::from(class == UPPER);
        humps += usize::from(class == UPPER && previous == LOWER);
        digits += usize::from(class == DIGIT);
        underscores += usize::from(class == UNDERSCORE);
        previous = class;
        len += 1;
    }
    run.letters += len - digits - underscores;
    run.uppers += uppers;
    run.humps += humps;
    run.digits += digits;
    run.underscores += underscores;
    len
}

/// Whether the apostrophe at `position` stands between two letters.
fn joins_letters(text: &str, position: usize, len: usize) -> bool {
    let letter = |c: char| c.is_alphabetic() && (c.is_ascii() || fold::class(c) == Class::Letter);
    text.get(..position).and_then(|head| head.chars().next_back()).is_some_and(letter)
        && text.get(position + len..).and_then(|rest| rest.chars().next()).is_some_and(letter)
}

/// How many bytes of joiner belong to the run at `position`; 0 ends it there.
fn join(text: &str, position: usize, run: &mut Run) -> usize {
    let bytes = text.as_bytes();
    let byte = byte_at(bytes, position);
    let next = class_at(bytes, position + 1);
    let letter_next = is_core(next)
        || next == HIGH
            && text
                .get(position + 1..)
                .and_then(|rest| rest.chars().next())
                .is_some_and(|c| fold::class(c) == Class::Letter);
    let digits_around = position > 0 && class_at(bytes, position - 1) == DIGIT && next == DIGIT;
    match byte {
        b'.' if letter_next => run.dots += 1,
        b'/' if letter_next => run.slashes += 1,
        b'/' if byte_at(bytes, position + 1) == b'.' && is_core(class_at(bytes, position + 2)) => {
            run.slashes += 1;
            run.dots += 1;
            return 2;
        }
        b'/' if run.slashes > 0 && run.url => run.others += 1,
        b'\\' if letter_next && run.letters > 0 => run.slashes += 1,
        b':' if bytes.get(position..position + 3) == Some(b"://") => {
            run.url = true;
            run.colons += 1;
            return 3;
        }
        b':' if byte_at(bytes, position + 1) == b':' && is_core(class_at(bytes, position + 2)) => {
            run.colons += 2;
            return 2;
        }
        b':' if letter_next && next != HIGH => run.colons += 1,
        b'-' if letter_next => run.dashes += 1,
        b'@' if letter_next => run.others += 1,
        b'\'' if joins_letters(text, position, 1) => run.apostrophes += 1,
        b',' if digits_around && thousands(bytes, position) => run.commas += 1,
        b'+' if letter_next && run.dots > 1 && run.digits > 0 => run.others += 1,
        b'?' | b'=' | b'&' | b'%' | b'#' | b'~' if run.url && letter_next => run.others += 1,
        _ => return 0,
    }
    1
}

/// Whether exactly three digits follow the separator at `position`.
fn thousands(bytes: &[u8], position: usize) -> bool {
    (1..=3).all(|offset| class_at(bytes, position + offset) == DIGIT) && class_at(bytes, position + 4) != DIGIT
}

/// The start of the run with what decorates it, and which decoration that is.
fn decoration(bytes: &[u8], start: usize) -> (usize, u8) {
    let before = |distance: usize| if start >= distance { byte_at(bytes, start - distance) } else { b' ' };
    let free = |distance: usize| !is_core(if start >= distance { class_at(bytes, start - distance) } else { SPACE });
    match before(1) {
        b'-' if before(2) == b'-' && free(3) => (start - 2, b'-'),
        b'-' if matches!(before(2), b' ' | b'`' | b'\n' | b'(' | b'[' | b'"' | b'\'' | b'\t') => (start - 1, b'-'),
        b'/' if before(2) == b'.' && before(3) == b'.' => (start - 3, b'/'),
        b'/' if matches!(before(2), b'.' | b'~') => (start - 2, b'/'),
        b'/' if free(2) => (start - 1, b'/'),
        b'.' if free(2) && before(2) != b'.' => (start - 1, b'.'),
        b'$' => (start - 1, b'$'),
        b'#' if free(2) && before(2) != b'#' => (start - 1, b'#'),
        b'@' if free(2) => (start - 1, b'@'),
        _ => (start, 0),
    }
}

fn emit_run(text: &str, run: &Run, emit: &mut impl FnMut(Token)) {
    let bytes = text.as_bytes();
    if run.letters + run.digits == 0 {
        return;
    }
    let (start, mark) = decoration(bytes, run.start);
    if run.letters > 0 && run.digits + run.underscores + run.humps == 0 && run.joiners() == run.apostrophes {
        let mixed = run.uppers > 1 && run.uppers < run.letters && class_at(bytes, run.start + 1) == UPPER;
        if mark == 0 && !mixed {
            return emit_word(text, run.start, run.end, Place::Alone, emit);
        }
    }
    let shape = shape(bytes, run, mark);
    let parts = match shape {
        Shape::Version | Shape::Date | Shape::Id => false,
        Shape::Number => run.letters > 0 && run.joiners() == 0,
        _ => true,
    };
    let hash = whole_hash(text, run, shape);
    let place = if parts { Place::Whole } else { Place::Alone };
    emit(Token { start, end: run.end, hash, shape, place });
    if parts {
        emit_parts(text, run, shape, emit);
    }
}

/// What the run looks like.
fn shape(bytes: &[u8], run: &Run, mark: u8) -> Shape {
    let core = bytes.get(run.start..run.end).unwrap_or_default();
    if run.url {
        return Shape::Url;
    }
    if is_date(core) {
        return Shape::Date;
    }
    if is_version(core) {
        return Shape::Version;
    }
    if is_number(core, run) && mark != b'#' {
        return Shape::Number;
    }
    if is_id(core, run) {
        return Shape::Id;
    }
    if mark == b'-' {
        return Shape::Flag;
    }
    if mark == b'$' {
        return Shape::Env;
    }
    let is_upper = run.uppers == run.letters && run.letters > 1;
    if is_upper && run.underscores > 0 && run.joiners() == 0 {
        return Shape::Env;
    }
    if (mark == b'/' || mark == b'.' || run.slashes > 0 || has_extension(core)) && run.letters > 0 {
        return Shape::Path;
    }
    Shape::Name
}

/// Whether the last dot is followed by one to five letters or digits that begin with a letter: `a.rs`, `a.tar.gz`, `a.rs:12`.
fn has_extension(core: &[u8]) -> bool {
    let end = core.iter().position(|byte| *byte == b':').unwrap_or(core.len());
    let head = core.get(..end).unwrap_or_default();
    let Some(dot) = head.iter().rposition(|byte| *byte == b'.') else { return false };
    let extension = head.get(dot + 1..).unwrap_or_default();
    (1..=5).contains(&extension.len())
        && extension.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && extension.first().is_some_and(u8::is_ascii_lowercase)
}

fn is_number(core: &[u8], run: &Run) -> bool {
    if run.digits == 0 || run.high || run.slashes + run.dashes + run.apostrophes + run.others > 0 {
        return false;
    }
    if !core.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    if run.letters == 0 {
        return run.dots <= 1 || run.colons > 0;
    }
    // Digits, then a unit of letters: "15KB", "2.5ms", "18th". Anything mixed further is a name.
    let unit = core.iter().position(u8::is_ascii_alphabetic).unwrap_or(core.len());
    let unit = core.get(unit..).unwrap_or_default();
    unit.len() <= 8 && unit.iter().all(u8::is_ascii_alphabetic) && run.dots <= 1
}

fn is_date(core: &[u8]) -> bool {
    let digit = |index: usize| byte_at(core, index).is_ascii_digit();
    let separator = byte_at(core, 4);
    (0..4).all(digit)
        && matches!(separator, b'-' | b'/')
        && digit(5)
        && (byte_at(core, 7) == separator && digit(8) || byte_at(core, 6) == separator && digit(7))
        && matches!(byte_at(core, 0), b'1' | b'2')
}

fn is_version(core: &[u8]) -> bool {
    let (marked, body) = match core.first() {
        Some(b'v' | b'V') => (true, core.get(1..).unwrap_or_default()),
        _ => (false, core),
    };
    if !body.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let numeric = body.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let dots = body.iter().take(numeric).filter(|byte| **byte == b'.').count();
    let tail = byte_at(body, numeric);
    let tail_fits = numeric == body.len() || matches!(tail, b'-' | b'+') || (dots >= 2 && tail.is_ascii_alphabetic());
    tail_fits && (dots >= 2 || marked && dots <= 1) && !body.contains(&b'/') && !body.contains(&b':')
}

fn is_id(core: &[u8], run: &Run) -> bool {
    if run.high || run.digits == 0 || run.underscores + run.dots + run.slashes + run.colons + run.others > 0 {
        return false;
    }
    let hex = core.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    if run.dashes == 4 && core.len() == 36 {
        return hex;
    }
    hex && run.dashes == 0
        && run.letters > 0
        && (7..=64).contains(&core.len())
        && (run.uppers == 0 || run.uppers == run.letters)
}

/// The hash of the whole run without what people leave out.
fn whole_hash(text: &str, run: &Run, shape: Shape) -> u64 {
    let core = text.get(run.start..run.end).unwrap_or_default();
    let core = match shape {
        Shape::Version => core.trim_start_matches(['v', 'V']),
        Shape::Number => ordinal_digits(core),
        _ => core,
    };
    let skip_separators = shape == Shape::Number;
    let mut hasher = Hasher::new();
    if !run.high {
        for byte in core.bytes() {
            if skip_separators && matches!(byte, b',' | b'_') {
                continue;
            }
            let byte = if shape == Shape::Date && byte == b'/' || byte == b'\\' { b'-' } else { byte };
            hasher = hasher.push(byte.to_ascii_lowercase());
        }
        return hasher.finish();
    }
    for c in core.chars().filter(|c| fold::class(*c) != Class::Mark || c.is_ascii()) {
        fold::fold(c, |folded| hasher = push_char(hasher, folded));
    }
    hasher.finish()
}

fn push_char(mut hasher: Hasher, c: char) -> Hasher {
    let mut encoded = [0u8; 4];
    for byte in c.encode_utf8(&mut encoded).bytes() {
        hasher = hasher.push(byte);
    }
    hasher
}

/// "18th" → "18".
fn ordinal_digits(core: &str) -> &str {
    for suffix in ["st", "nd", "rd", "th"] {
        if let Some(digits) = core.strip_suffix(suffix)
            && digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            return digits;
        }
    }
    core
}

/// The parts of a run: split at joiners, underscores and humps, and between a number and its unit.
fn emit_parts(text: &str, run: &Run, shape: Shape, emit: &mut impl FnMut(Token)) {
    let bytes = text.as_bytes();
    let mut start = run.start;
    let mut position = run.start;
    while position < run.end {
        let class = class_at(bytes, position);
        let joiner = class == JOINER && byte_at(bytes, position) != b'\'' || class == UNDERSCORE;
        if joiner {
            emit_part(text, start, position, emit);
            start = position + 1;
        } else if position > start && is_part_start(bytes, position, shape) {
            emit_part(text, start, position, emit);
            start = position;
        }
        position += 1;
    }
    emit_part(text, start, run.end, emit);
}

/// Whether a new part begins at `position`, inside a run without joiner here.
fn is_part_start(bytes: &[u8], position: usize, shape: Shape) -> bool {
    let before = class_at(bytes, position - 1);
    match class_at(bytes, position) {
        UPPER => before == LOWER || before == UPPER && class_at(bytes, position + 1) == LOWER,
        LOWER => shape == Shape::Number && before == DIGIT,
        _ => false,
    }
}

fn emit_part(text: &str, start: usize, end: usize, emit: &mut impl FnMut(Token)) {
    let Some(part) = text.get(start..end) else { return };
    if part.is_empty() {
        return;
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    if digits == part.len() {
        return emit(Token {
            start,
            end,
            hash: super::hash(part.as_bytes()),
            shape: Shape::Number,
            place: Place::Part,
        });
    }
    if digits > 0 {
        let mut hasher = Hasher::new();
        for byte in part.bytes() {
            hasher = hasher.push(byte.to_ascii_lowercase());
        }
        return emit(Token { start, end, hash: hasher.finish(), shape: Shape::Name, place: Place::Part });
    }
    emit_word(text, start, end, Place::Part, emit);
}

/// Folds, stems and emits one word.
fn emit_word(text: &str, start: usize, end: usize, place: Place, emit: &mut impl FnMut(Token)) {
    let Some(word) = text.get(start..end) else { return };
    let word = strip_possessive(word);
    let mut buffer = [0u8; WORD_MAX];
    let mut len = 0;
    if word.len() <= WORD_MAX && word.is_ascii() {
        for (byte, place) in word.bytes().filter(|byte| *byte != b'\'').zip(&mut buffer) {
            *place = byte.to_ascii_lowercase();
            len += 1;
        }
        let hash = stemmed_hash(buffer.get_mut(..len).unwrap_or_default());
        return emit(Token { start, end, hash, shape: Shape::Word, place });
    }
    let mut long = Hasher::new();
    for c in word.chars() {
        if c == '\'' || !c.is_ascii() && matches!(fold::class(c), Class::Mark | Class::Apostrophe) {
            continue;
        }
        fold::fold(c, |folded| {
            let mut encoded = [0u8; 4];
            for byte in folded.encode_utf8(&mut encoded).bytes() {
                long = long.push(byte);
                if let Some(place) = buffer.get_mut(len) {
                    *place = byte;
                }
                len += 1;
            }
        });
    }
    let hash = match buffer.get_mut(..len) {
        Some(folded) => stemmed_hash(folded),
        None => long.finish(),
    };
    emit(Token { start, end, hash, shape: Shape::Word, place });
}

fn stemmed_hash(folded: &mut [u8]) -> u64 {
    let len = stem::stem(folded);
    super::hash(folded.get(..len).unwrap_or_default())
}

/// "user's" → "user"; "don't" stays.
fn strip_possessive(word: &str) -> &str {
    if !word.ends_with(['s', 'S']) {
        return word;
    }
    for suffix in ["'s", "’s", "'S", "’S"] {
        if let Some(head) = word.strip_suffix(suffix) {
            return head;
        }
    }
    word
}

/// Reads one run of one CJK script, emits it, and gives the position behind it.
fn cjk_run(text: &str, start: usize, emit: &mut impl FnMut(Token)) -> usize {
    let Some(rest) = text.get(start..) else { return start + 1 };
    let Some(script) = rest.chars().next().map(fold::class) else { return start + 1 };
    let len: usize = rest.chars().take_while(|c| !c.is_ascii() && fold::class(*c) == script).map(char::len_utf8).sum();
    let run = rest.get(..len).unwrap_or_default();
    let end = start + len;
    let count = run.chars().count();
    let shape = match script {
        Class::Han => Shape::Han,
        Class::Hangul => Shape::Hangul,
        _ => Shape::Kana,
    };
    let has_whole = matches!(script, Class::Katakana | Class::Hangul);
    if has_whole || count <= 1 {
        let place = if has_whole && count > 2 { Place::Whole } else { Place::Alone };
        emit(Token { start, end, hash: super::hash(run.as_bytes()), shape, place });
        if place == Place::Alone {
            return end;
        }
    }
    let place = if has_whole { Place::Part } else { Place::Alone };
    for (offset, c) in run.char_indices() {
        let first = c.len_utf8();
        let Some(second) = run.get(offset + first..).and_then(|rest| rest.chars().next()) else { break };
        let stop = offset + first + second.len_utf8();
        let hash = super::hash(run.get(offset..stop).unwrap_or_default().as_bytes());
        emit(Token { start: start + offset, end: start + stop, hash, shape, place });
    }
    end
}
