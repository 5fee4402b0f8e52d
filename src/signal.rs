//! What a message carries, and how much it matters: extraction, salience, supersession, and the ledger of it all.
//!
//! Three sorts of signals come out of one reading of the messages: **statements** (sentences that state a rule, a
//! decision, a task, a failure …), **lists** (items of one form that carry exact values) and **families** of names
//! (identifiers, files, commands that were used together). The after hook sees only the ledger, so each signal says
//! in which message it stands last, and the ledger knows a hash of every name of the conversation.

use crate::config::Settings;
use crate::event::{BeforeCompaction, LocalTime, Reason, Role};
use crate::report::Kind;

pub mod bonds;
mod calls;
pub mod cues;
pub mod inventory;
mod learned;
mod ledger;
mod lists;
pub mod names;
pub mod prose;
pub mod stance;
pub mod supersession;
mod survey;
pub mod weights;

/// One member of a list or a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// As it stands in the source.
    pub text: String,
    /// The exact values in it; empty where the text is the value.
    pub values: Vec<String>,
    /// The newest message that carries it.
    pub last_index: u32,
    /// Of a name: how surely it will be needed again, from 0 to 1.
    pub weight: f64,
}

/// Something that a summary should keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Names it within its session.
    pub id: String,
    /// What it is about.
    pub kind: Kind,
    /// The words of the source, redacted and bounded; of a family, what its members have in common.
    pub text: String,
    /// The exact values in it.
    pub values: Vec<String>,
    /// The members of a list or a family, most important first.
    pub members: Vec<Member>,
    /// The message that said it.
    pub message_id: String,
    /// Its place in the conversation, from 0.
    pub message_index: u32,
    /// The newest message that carries it too.
    pub last_index: u32,
    /// Its place within the message: signals with following numbers are neighbours.
    pub order: u32,
    /// Who said it.
    pub role: Role,
    /// When.
    pub at: Option<i64>,
    /// How much it matters, from 0 to 1.
    pub salience: f64,
    /// What its phrases hint at, see [`cues::cue`].
    pub cues: u32,
    /// A later message overturned it.
    pub superseded: bool,
    /// Why it has this salience, in short phrases.
    pub why: Vec<String>,
}

#[cfg(test)]
impl Signal {
    /// A signal said by the user in message `m1`, for tests to change with `..`.
    pub fn example(kind: Kind, text: &str) -> Self {
        Signal {
            id: "s".to_string(),
            kind,
            text: text.to_string(),
            values: Vec::new(),
            members: Vec::new(),
            message_id: "m1".to_string(),
            message_index: 0,
            last_index: 0,
            order: 0,
            role: Role::User,
            at: None,
            salience: 0.5,
            cues: 0,
            superseded: false,
            why: Vec::new(),
        }
    }
}

/// What `before-compaction` found, for `after-compaction`: it lives in the host between the two hooks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// When it was taken.
    pub taken: LocalTime,
    /// Why the gateway compacts.
    pub reason: Reason,
    /// How many messages there were.
    pub message_count: u32,
    /// The tokens of the context.
    pub token_count: Option<u64>,
    /// How many bytes of text the messages had.
    pub source_bytes: u64,
    /// A hash of each message's id, in order.
    pub message_hashes: Vec<u32>,
    /// Hashes of all names and numbers of the conversation, sorted.
    pub known: Vec<u32>,
    /// What the messages last said of each word.
    pub stances: stance::Stances,
    /// Which words stood side by side.
    pub bonds: bonds::Bonds,
    /// The signals, most important first.
    pub signals: Vec<Signal>,
    /// What was left out, and by which rule.
    pub cut: Vec<String>,
}

/// A statement or a name that could become a signal, for the trainer in `tools/`.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// As it stands in the source.
    pub text: String,
    /// Which message.
    pub message_index: u32,
    /// Who said it.
    pub role: Role,
    /// What its model reads, by number.
    pub features: Vec<(usize, f64)>,
}

/// All statements and all names with what their models read: the trainer's view of a conversation.
pub fn candidates(event: &BeforeCompaction) -> (Vec<Candidate>, Vec<Candidate>) {
    survey::candidates(event)
}

/// Reads all messages once.
pub fn survey(event: &BeforeCompaction, settings: &Settings) -> Ledger {
    survey::survey(event, settings)
}

impl Ledger {
    /// How many signals it holds.
    pub fn len(&self) -> usize {
        self.signals.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

    /// What a person should know about how it was made.
    pub fn notices(&self) -> Vec<String> {
        self.cut.clone()
    }

    /// Whether some message contained this name or number.
    pub fn knows(&self, key: &[u8]) -> bool {
        self.known.binary_search(&known_hash(key)).is_ok()
    }

    /// The place of a message in the conversation.
    pub fn position(&self, message_id: &str) -> Option<usize> {
        let hash = id_hash(message_id);
        self.message_hashes.iter().position(|known| *known == hash)
    }

    /// For the host to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        ledger::encode(self)
    }

    /// From the host.
    pub fn from_bytes(bytes: &[u8]) -> Result<Ledger, String> {
        ledger::decode(bytes)
    }
}

/// 24 bits: one in a thousand inventions goes unnoticed in a conversation of 16,000 names, at two bytes a name.
pub(crate) fn known_hash(key: &[u8]) -> u32 {
    (names::key_hash(key) & 0x00ff_ffff) as u32
}

pub(crate) fn id_hash(id: &str) -> u32 {
    let hash = crate::text::hash(id.as_bytes());
    (hash ^ (hash >> 32)) as u32
}

/// The longest start of `text` that has at most `limit` bytes and ends on a character.
pub(crate) fn bounded(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or_default()
}
