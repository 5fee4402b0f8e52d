//! Statements: the sentences of a message, what they hint at, what they are about.

use super::cues::{Cues, cue::*, words};
use super::names::{self, NameKind};
use super::weights as w;
use crate::event::Role;
use crate::report::Kind;
use crate::text::{UnitKind, lexicon, tokens, units};

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
    /// The hash of all its words with values left out: sentences of one formula share it.
    pub formula: u64,
    /// The hashes of its rarest words.
    pub rare: [u64; 4],
    /// How many exact values.
    pub values: usize,
    /// It stands behind the first lines of a long message.
    pub pasted: bool,
}

/// Words that a person speaks stand within so many bytes of the start of a message.
const SPOKEN: usize = 900;

/// Where a terminal log shows the agent's thoughts below the user's words.
const THOUGHTS: &str = "\n✻ ";

/// Gives the statements of a message's text.
pub fn statements(text: &str, message: u32, cues: &Cues, buffer: &mut Vec<u64>, mut found: impl FnMut(Statement)) {
    let text = text.split(THOUGHTS).next().unwrap_or(text);
    units(text, |unit| {
        if matches!(unit.kind, UnitKind::Code | UnitKind::Heading) {
            return;
        }
        let Some(sentence) = text.get(unit.start..unit.end) else { return };
        if !is_prose(sentence) {
            return;
        }
        buffer.clear();
        words(sentence, |word| buffer.push(word));
        let (bits, _) = cues.read(sentence, buffer);
        let mut statement = Statement {
            message,
            start: unit.start,
            end: unit.end,
            cues: bits,
            words: 0,
            formula: 0,
            rare: [0; 4],
            values: 0,
            pasted: unit.start > SPOKEN,
        };
        read_words(sentence, &mut statement);
        if statement.words >= 2 {
            found(statement);
        }
    });
}

fn read_words(sentence: &str, statement: &mut Statement) {
    let mut rarest = [(0.0f32, 0u64); 4];
    tokens(sentence, |token| {
        if token.is_value() {
            statement.values += 1;
        } else if token.is_word() {
            statement.formula = crate::text::pair(statement.formula, token.hash);
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
    });
    statement.rare = rarest.map(|(_, hash)| hash);
}

/// Whether a line is speech and not code, a tool call or a log line.
fn is_prose(line: &str) -> bool {
    if line.len() < 8 || line.len() > 4_000 {
        return false;
    }
    let bytes = line.as_bytes();
    if matches!(bytes[0], b'{' | b'<' | b'}' | b'/' | b'$' | b'%') || line.starts_with("[tool") || line.starts_with("⎿")
    {
        return false;
    }
    let (mut letters, mut odd) = (0usize, 0usize);
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b' ' | b',' | b'\'' | 0x80.. => letters += 1,
            b'{' | b'}' | b'=' | b'<' | b'>' | b';' | b'\\' | b'|' | b'$' | b'+' | b'[' | b']' => odd += 1,
            _ => {}
        }
    }
    let spaced = bytes.contains(&b' ') || !line.is_ascii();
    spaced && letters * 100 >= bytes.len() * 72 && odd * 100 <= bytes.len() * 5
}

/// What a statement is about, by its strongest cue.
pub fn kind(statement: &Statement, role: Role) -> Kind {
    let has = |bits: u32| statement.cues & bits != 0;
    let user = matches!(role, Role::User | Role::System);
    if role == Role::Assistant && has(ASK) && has(QUESTION) {
        Kind::Task
    } else if has(PROHIBITION) && (user || has(RULE)) || user && has(CONCERN | CORRECTION) {
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

/// What is known of a statement beyond its own words.
pub struct Surroundings {
    /// Who said it.
    pub role: Role,
    /// 0 for the first message, 1 for the last.
    pub position: f64,
    /// Nobody has answered it yet.
    pub open: bool,
    /// A user spoke after it.
    pub answered: bool,
    /// In how many messages the same formula stands.
    pub formula_count: usize,
    /// How many later messages take its rare words up.
    pub reuse: usize,
}

/// How much a statement matters: the sum of the evidence.
pub fn weigh(statement: &Statement, around: &Surroundings) -> f64 {
    let mut salience = 0.0;
    evidence(statement, around, |weight, _| salience += weight);
    salience.clamp(0.0, 1.0)
}

/// The same evidence in words.
pub fn why(statement: &Statement, around: &Surroundings) -> Vec<String> {
    let mut why = Vec::new();
    evidence(statement, around, |weight, name| {
        if weight.abs() >= 0.03 {
            why.push(name.to_string());
        }
    });
    if around.formula_count >= w::FORMULA {
        why.push(format!("stands in {} messages", around.formula_count));
    }
    why
}

fn evidence(statement: &Statement, around: &Surroundings, mut add: impl FnMut(f64, &'static str)) {
    let user = around.role == Role::User;
    let name = match around.role {
        Role::User => "said by the user",
        Role::System => "stands in a system message",
        Role::Assistant => "said by the agent",
        Role::Tool => "from a tool",
    };
    add(w::role(around.role), name);
    for (bit, in_user, in_other, name) in w::CUES {
        if statement.cues & bit != 0 {
            add(if user { *in_user } else { *in_other }, name);
        }
    }
    let asks = statement.cues & (ASK | QUESTION) != 0;
    if around.open && (asks || user) {
        add(w::OPEN, "still open at the end");
    } else if asks && around.answered && !user {
        add(w::ANSWERED, "answered later");
    }
    if statement.words < w::SHORT_WORDS {
        add(w::SHORT, "few words");
    }
    if statement.values > 0 {
        add(w::SPECIFIC, "has exact values");
    }
    add(w::RECENT * around.position, "recent");
    add(w::REUSE * around.reuse.min(3) as f64, "taken up again later");
    if statement.pasted {
        add(w::PASTED, "deep inside a long message");
    }
    if around.formula_count >= w::FORMULA {
        add(w::FORMULAIC, "a formula");
    }
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
