//! Sentences, bullets, headings, table rows and code lines: the pieces of text that state one thing.

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// A sentence of running text.
    Sentence,
    /// A sentence of a list item.
    Bullet,
    /// A heading.
    Heading,
    /// A row of a table.
    Row,
    /// A line within a code fence.
    Code,
}

/// One unit: a trimmed range of the text, without the marks of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// What it is.
    pub kind: UnitKind,
    /// Depth of a heading (1-6); indentation of a bullet in bytes.
    pub level: u8,
    /// Whether it continues the unit before it: a further sentence of the same line or paragraph.
    pub continues: bool,
}

/// Calls `emit` for each unit of `text`, in order.
pub fn units(text: &str, mut emit: impl FnMut(Unit)) {
    let mut fence: Option<(u8, usize)> = None;
    let mut lines = Lines { text, position: 0 };
    while let Some((start, end)) = lines.next() {
        let line = text.get(start..end).unwrap_or_default();
        let trimmed = line.trim();
        let lead = line.len() - line.trim_start().len();
        if let Some(mark) = fence_mark(trimmed) {
            fence = match fence {
                None => Some(mark),
                Some((byte, len)) if mark.0 == byte && mark.1 >= len => None,
                open => open,
            };
            continue;
        }
        if fence.is_some() {
            push(text, start, end, UnitKind::Code, 0, false, &mut emit);
            continue;
        }
        if trimmed.is_empty() || is_rule(trimmed) {
            continue;
        }
        let body = start + lead;
        if let Some(level) = heading(trimmed) {
            push(text, body + level, end, UnitKind::Heading, level as u8, false, &mut emit);
        } else if trimmed.starts_with('|') {
            push(text, body, end, UnitKind::Row, 0, false, &mut emit);
        } else {
            let quote = quote_len(trimmed);
            let mark = bullet_len(trimmed.get(quote..).unwrap_or_default());
            let kind = if mark > 0 { UnitKind::Bullet } else { UnitKind::Sentence };
            let end = lines.paragraph_end(start, end);
            sentences(text, body + quote + mark, end, kind, lead.min(255) as u8, &mut emit);
        }
    }
}

/// Walks the lines of a text.
struct Lines<'a> {
    text: &'a str,
    position: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<(usize, usize)> {
        let rest = self.text.get(self.position..).filter(|rest| !rest.is_empty())?;
        let start = self.position;
        let len = rest.bytes().position(|byte| byte == b'\n').unwrap_or(rest.len());
        self.position = start + len + 1;
        Some((start, start + len))
    }

    /// Takes the following lines in while they are the same sentence, wrapped.
    fn paragraph_end(&mut self, mut start: usize, mut end: usize) -> usize {
        loop {
            let line = self.text.get(start..end).unwrap_or_default().trim_end();
            let open = line.len() >= WRAP_MIN && !line.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '|', '`']);
            let Some(next) = self.text.get(self.position..).filter(|_| open) else { return end };
            let wrapped = next.trim_start_matches([' ', '\t']);
            if !wrapped.chars().next().is_some_and(|c| c.is_lowercase() || c == '(') || bullet_len(wrapped) > 0 {
                return end;
            }
            let Some(line) = self.next() else { return end };
            (start, end) = line;
        }
    }
}

/// A line shorter than this was not broken for its length.
const WRAP_MIN: usize = 60;

/// The byte and count of a code fence.
fn fence_mark(trimmed: &str) -> Option<(u8, usize)> {
    let byte = *trimmed.as_bytes().first()?;
    let count = trimmed.bytes().take_while(|other| *other == byte).count();
    (matches!(byte, b'`' | b'~') && count >= 3 && !trimmed.get(count..).unwrap_or_default().contains('`'))
        .then_some((byte, count))
}

/// A line of nothing but marks: `---`, `***`, `|---|---|`, `====`.
fn is_rule(trimmed: &str) -> bool {
    trimmed.bytes().all(|byte| matches!(byte, b'-' | b'*' | b'_' | b'=' | b'|' | b':' | b' ' | b'+' | b'#' | b'~'))
}

fn heading(trimmed: &str) -> Option<usize> {
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && trimmed.as_bytes().get(level) == Some(&b' ')).then_some(level)
}

fn quote_len(trimmed: &str) -> usize {
    trimmed.bytes().take_while(|byte| matches!(byte, b'>' | b' ')).count()
}

/// How many bytes the mark of a list item takes: `- `, `* `, `• `, `1. `, `2) `, `a. `, `[x] `, `①`.
pub fn bullet_len(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut len = match line.chars().next() {
        Some('-' | '*' | '+') if bytes.get(1) == Some(&b' ') => 2,
        Some(c @ ('•' | '‣' | '◦' | '·' | '●' | '▪' | '–' | '—' | '・')) => c.len_utf8(),
        Some('0'..='9') => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let marked = matches!(bytes.get(digits), Some(b'.' | b')')) && bytes.get(digits + 1) == Some(&b' ');
            if digits <= 3 && marked { digits + 2 } else { 0 }
        }
        Some('a'..='z' | 'A'..='Z') if bytes.get(1) == Some(&b')') && bytes.get(2) == Some(&b' ') => 3,
        _ => 0,
    };
    while len > 0 && bytes.get(len) == Some(&b' ') {
        len += 1;
    }
    len
}

/// Splits a range into sentences.
fn sentences(text: &str, start: usize, end: usize, kind: UnitKind, level: u8, emit: &mut impl FnMut(Unit)) {
    let bytes = text.as_bytes();
    let mut from = start;
    let mut position = start;
    let mut continues = false;
    while position < end {
        let byte = bytes.get(position).copied().unwrap_or(0);
        let stop = match byte {
            b'.' | b'!' | b'?' => ascii_stop(text, from, position, end),
            b';' if bytes.get(position + 1) == Some(&b' ') => position + 1 - from > CLAUSE_MIN,
            0x80.. => {
                let c = text.get(position..).and_then(|rest| rest.chars().next());
                if matches!(c, Some('。' | '！' | '？' | '；' | '…' | '।' | '؟' | '۔')) {
                    position += c.map_or(1, char::len_utf8) - 1;
                    true
                } else {
                    false
                }
            }
            _ => false,
        };
        position += 1;
        if stop {
            while position < end
                && matches!(bytes.get(position), Some(b'.' | b'!' | b'?' | b'"' | b')' | b'*' | b'`' | b'\''))
            {
                position += 1;
            }
            push(text, from, position, kind, level, continues, emit);
            continues = true;
            from = position;
        }
    }
    push(text, from, end, kind, level, continues, emit);
}

/// A clause before a semicolon shorter than this is no statement.
const CLAUSE_MIN: usize = 40;

/// Whether the mark at `position` ends a sentence: a space or the end follows, and what stands before it is no abbreviation.
fn ascii_stop(text: &str, from: usize, position: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let mut next = position + 1;
    while next < end && matches!(bytes.get(next), Some(b'"' | b')' | b'*' | b'`' | b'\'' | b'.' | b'!' | b'?')) {
        next += 1;
    }
    if next < end && !bytes.get(next).is_some_and(u8::is_ascii_whitespace) {
        return false;
    }
    if bytes.get(position) != Some(&b'.') || next >= end {
        return true;
    }
    let head = text.get(from..position).unwrap_or_default();
    let word_start = head.rfind(|c: char| c.is_whitespace() || c == '(' || c == '"').map_or(0, |at| at + 1);
    let word = head.get(word_start..).unwrap_or_default();
    if word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    // "e.g." and "U.S." have a dot within; a lower-case word after a known abbreviation continues the sentence.
    let dotted = word.len() <= 5
        && word.bytes().filter(|byte| *byte == b'.').count() > 0
        && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'.');
    !dotted && !ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Words that a dot follows within a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "approx", "no", "fig", "eq", "sec", "ca", "cf", "al", "jr",
    "sr", "inc", "ltd", "co", "corp", "dept", "est", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept",
    "oct", "nov", "dec", "bzw", "nr", "usw", "ggf", "evtl", "resp", "incl", "min", "max", "ex", "pp", "vol", "rev",
];

fn push(text: &str, start: usize, end: usize, kind: UnitKind, level: u8, continues: bool, emit: &mut impl FnMut(Unit)) {
    let Some(range) = text.get(start..end) else { return };
    let head = range.len() - range.trim_start().len();
    let trimmed = range.trim();
    if trimmed.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80) {
        emit(Unit { start: start + head, end: start + head + trimmed.len(), kind, level, continues });
    }
}
