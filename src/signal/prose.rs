//! Statements: the sentences of a message, what they hint at, what they are about.

use super::cues::{Cues, cue::*, words};
use super::names::{self, NameKind};
use super::weights as w;
use crate::event::Role;
use crate::report::Kind;
use crate::text::{Place, Shape, Token, UnitKind, lexicon, pair, tokens, units};

/// A sentence that may be worth keeping.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its message.
    pub message: u32,
    /// Its place in the message, in bytes.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// What its phrases hint at.
    pub cues: u32,
    /// How many content words it has.
    pub words: usize,
    /// The hash of its words and names, without numbers: who says the same again shares it.
    pub wording: u64,
    /// The hash of its words without names and numbers: sentences of one formula share it.
    pub formula: u64,
    /// How many words the formula has.
    pub formula_words: u32,
    /// The hashes of its rarest words.
    pub rare: [u64; 4],
    /// How many exact values.
    pub values: usize,
    /// It stands behind the first lines of a long message.
    pub pasted: bool,
    /// It is the first of its message.
    pub first: bool,
    /// It has an exclamation mark or a word in capitals.
    pub loud: bool,
    /// It has code in backticks.
    pub code: bool,
    /// Its message is short: spoken, not pasted.
    pub brief: bool,
    /// It ends with a colon: what it announces stands behind it.
    pub announces: bool,
    /// How far behind the begin of its message, from 0 to 1.
    pub depth: f32,
    /// How many lines its message has.
    pub lines: u32,
}

/// What is used again for each sentence.
#[derive(Default)]
pub struct Buffer {
    words: Vec<u64>,
    tokens: Vec<Token>,
}

/// Words that a person speaks stand within so many bytes of the start of a message.
const SPOKEN: usize = 900;

/// A message of at most so many bytes is all speech.
const BRIEF: usize = 300;

/// Where a terminal log shows the agent's thoughts below the user's words.
const THOUGHTS: &str = "\n✻ ";

/// Gives the statements of a message's text, each
/// with its tokens: whoever reads it further need not take it apart again.
pub fn statements(
    text: &str,
    message: u32,
    cues: &Cues,
    buffer: &mut Buffer,
    mut found: impl FnMut(Statement, &[Token]),
) {
    let text = text.split(THOUGHTS).next().unwrap_or(text);
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() as u32;
    let mut first = true;
    units(text, |unit| {
        if matches!(unit.kind, UnitKind::Code | UnitKind::Heading) {
            return;
        }
        let Some(sentence) = text.get(unit.start..unit.end) else { return };
        let look = Look::at(sentence);
        if !is_prose(sentence, &look) {
            return;
        }
        buffer.words.clear();
        words(sentence, |word| buffer.words.push(word));
        let (bits, _) = cues.read(sentence, &buffer.words);
        buffer.tokens.clear();
        tokens(sentence, |token| buffer.tokens.push(token));
        let mut statement = Statement {
            message,
            start: unit.start,
            end: unit.end,
            cues: bits,
            words: 0,
            wording: 0,
            formula: 0,
            formula_words: 0,
            rare: [0; 4],
            values: 0,
            pasted: unit.start > SPOKEN,
            first,
            loud: is_loud(sentence, &look),
            code: look.has(TICK),
            brief: text.len() <= BRIEF,
            announces: sentence.ends_with([':', '：']),
            depth: unit.start as f32 / text.len() as f32,
            lines,
        };
        read_words(&buffer.tokens, &mut statement);
        if statement.words >= 2 {
            first = false;
            found(statement, &buffer.tokens);
        }
    });
}

fn read_words(tokens: &[Token], statement: &mut Statement) {
    let mut rarest = [(0.0f32, 0u64); 4];
    for token in tokens {
        let counts = matches!(token.shape, Shape::Number | Shape::Version | Shape::Date);
        if token.place == Place::Part || !counts && token.place == Place::Alone {
            statement.wording = pair(statement.wording, token.hash);
        }
        if token.is_value() {
            statement.values += 1;
        } else if token.is_word() && token.place != Place::Part {
            statement.formula = pair(statement.formula, token.hash);
            statement.formula_words += 1;
        }
        if token.is_word() {
            let weight = lexicon::weight(token.hash);
            if weight > 0.3 {
                statement.words += 1;
                if weight > rarest[3].0 && !rarest.iter().any(|known| known.1 == token.hash) {
                    rarest[3] = (weight, token.hash);
                    rarest.sort_by(|a, b| b.0.total_cmp(&a.0));
                }
            }
        }
    }
    statement.rare = rarest.map(|(_, hash)| hash);
}

const LETTER: u8 = 1;
const ODD: u8 = 1 << 1;
const SPACE: u8 = 1 << 2;
const HIGH: u8 = 1 << 3;
const SMALL: u8 = 1 << 4;
const CAPITAL: u8 = 1 << 5;
const BANG: u8 = 1 << 6;
const TICK: u8 = 1 << 7;

/// What the bytes of a line are.
static BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LETTER | SMALL,
            b'A'..=b'Z' => LETTER | CAPITAL,
            b' ' => LETTER | SPACE,
            b',' | b'\'' => LETTER,
            0x80.. => LETTER | HIGH,
            b'{' | b'}' | b'=' | b'<' | b'>' | b';' | b'\\' | b'|' | b'$' | b'+' | b'[' | b']' => ODD,
            b'!' => BANG,
            b'`' => TICK,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// One look at all bytes of a line.
struct Look {
    /// How many of them people write, and how many programs.
    letters: usize,
    odd: usize,
    seen: u8,
}

impl Look {
    fn at(line: &str) -> Look {
        let mut look = Look { letters: 0, odd: 0, seen: 0 };
        for byte in line.bytes() {
            let is = BYTES[usize::from(byte)];
            look.letters += usize::from(is & LETTER);
            look.odd += usize::from(is & ODD) / usize::from(ODD);
            look.seen |= is;
        }
        look
    }

    fn has(&self, classes: u8) -> bool {
        self.seen & classes != 0
    }
}

/// Whether a line is speech and not code, a tool call or a log line.
fn is_prose(line: &str, look: &Look) -> bool {
    if line.len() < 8 || line.len() > 4_000 {
        return false;
    }
    if matches!(line.as_bytes()[0], b'{' | b'<' | b'}' | b'/' | b'$' | b'%')
        || line.starts_with("[tool")
        || line.starts_with("⎿")
    {
        return false;
    }
    look.has(SPACE | HIGH) && look.letters * 100 >= line.len() * 72 && look.odd * 100 <= line.len() * 5
}

/// What a statement is about, by its strongest cue.
pub fn kind(statement: &Statement, role: Role) -> Kind {
    let has = |bits: u32| statement.cues & bits != 0;
    let user = matches!(role, Role::User | Role::System);
    if role == Role::Assistant && has(ASK) && has(QUESTION) {
        Kind::Task
    } else if user && has(PROHIBITION | CONCERN | CORRECTION) {
        Kind::Constraint
    } else if has(QUESTION) && !has(TASK | ASK) {
        Kind::Question
    } else if user && has(RULE | EMPHASIS | GOAL) {
        Kind::Constraint
    } else if has(DECISION | REVERSAL) {
        Kind::Decision
    } else if has(FAILURE | CAUSE) {
        Kind::Error
    } else if has(TASK | ASK) || user && has(WISH) {
        Kind::Task
    } else if has(DONE | FINDING | CURRENT) {
        Kind::State
    } else if statement.values > 0 {
        Kind::Infrastructure
    } else if user {
        Kind::Constraint
    } else {
        Kind::State
    }
}

/// Raised voice: an exclamation mark, or a word of capitals among others.
fn is_loud(sentence: &str, look: &Look) -> bool {
    let shouted = |word: &[u8]| word.len() >= 3 && word.iter().all(u8::is_ascii_uppercase);
    look.has(BANG)
        || look.has(HIGH) && sentence.contains('！')
        || look.has(SMALL) && look.has(CAPITAL) && sentence.as_bytes().split(|byte| *byte == b' ').any(shouted)
}

/// What is known of a statement beyond its own words.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Who said it.
    pub role: Role,
    /// 0 for the first message, 1 for the last.
    pub position: f64,
    /// No user spoke after it.
    pub open: bool,
    /// It stands in the first message of a user.
    pub opening: bool,
    /// A user spoke right before its message.
    pub answers: bool,
    /// In how many messages its formula stands, if it is one.
    pub formula_count: u32,
    /// How many later messages take its rare words up.
    pub reuse: usize,
    /// A later statement about the same words says that it is done.
    pub done_later: bool,
    /// A later statement about the same words takes it back.
    pub overturned: bool,
}

/// How many features a statement has: the cues, then [`AROUND`].
pub const FEATURES: usize = COUNT + AROUND.len();

/// The features besides the cues, in order, as a person reads them.
pub const AROUND: [&str; 22] = [
    "who said it",
    "still open at the end",
    "asked, and the talk went on",
    "few words",
    "many words",
    "has exact values",
    "recent",
    "among the last messages",
    "taken up again later",
    "deep inside a long message",
    "a formula that repeats",
    "opens its message",
    "a raised voice",
    "has code in it",
    "a short message",
    "in the first message of the user",
    "a later message says it is done or takes it back",
    "how many words",
    "how far down its message",
    "how many lines its message has",
    "announces what follows",
    "answers the user",
];

/// Gives each feature that is not 0 with its number.
pub fn features(statement: &Statement, around: &Surroundings, mut add: impl FnMut(usize, f64)) {
    for bit in 0..COUNT {
        if statement.cues & (1 << bit) != 0 {
            add(bit, 1.0);
        }
    }
    let asks = statement.cues & (ASK | QUESTION) != 0;
    let user = around.role == Role::User;
    let flag = |set: bool| f64::from(u8::from(set));
    let rest = [
        1.0,
        flag(around.open && (asks || user)),
        flag(asks && !around.open),
        flag(statement.words < w::SHORT_WORDS),
        flag(statement.words > w::MANY_WORDS),
        flag(statement.values > 0),
        around.position,
        flag(around.position > w::LAST_SHARE),
        around.reuse.min(3) as f64 / 3.0,
        flag(statement.pasted),
        flag(around.formula_count > 0),
        flag(statement.first),
        flag(statement.loud),
        flag(statement.code),
        flag(statement.brief),
        flag(around.opening),
        flag(around.done_later || around.overturned),
        libm::log(1.0 + statement.words as f64) / 4.0,
        f64::from(statement.depth),
        libm::log(1.0 + f64::from(statement.lines)) / 4.0,
        flag(statement.announces),
        flag(around.answers),
    ];
    for (at, value) in rest.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
        add(COUNT + at, value);
    }
}

/// How much a statement matters: the evidence summed up, brought to 0 to 1.
pub fn weigh(statement: &Statement, around: &Surroundings) -> f64 {
    let mut sum = 0.0;
    features(statement, around, |feature, value| sum += value * w::of_feature(feature, around.role));
    if around.role == Role::System {
        sum += w::SYSTEM;
    }
    1.0 / (1.0 + libm::exp(-sum))
}

/// The same evidence in words.
pub fn why(statement: &Statement, around: &Surroundings) -> Vec<String> {
    let who = match around.role {
        Role::User => "said by the user",
        Role::System => "stands in a system message",
        Role::Assistant => "said by the agent",
        Role::Tool => "from a tool",
    };
    let mut why = vec![who.to_string()];
    features(statement, around, |feature, value| {
        let weight = value * w::of_feature(feature, around.role);
        if feature != COUNT && weight.abs() >= w::WORTH_SAYING {
            why.push(format!("{} ({weight:+.1})", w::name_of_feature(feature)));
        }
    });
    if around.formula_count > 0 {
        why.push(format!("stands in {} messages", around.formula_count));
    }
    why
}

/// The exact values of a sentence, without repetition.
pub fn values(sentence: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    names::names(sentence, |name| {
        let short = name.kind == NameKind::Number && name.text.len() < 3;
        if !short && values.len() < w::MAX_MEMBERS && !values.iter().any(|known| known == name.text) {
            values.push(name.text.to_string());
        }
    });
    values
}
