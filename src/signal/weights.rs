//! Every tuned number of extraction and ranking, in one place.
//!
//! Set by hand and not learned, while looking at a few labelled compactions of real coding sessions: the order (user over
//! agent over tool, prohibition over wish over question) is what those sessions lose, the sizes are guesses that were
//! changed a few times. No cross-validation was done. They are sums of evidence on a scale where 0 is nothing and 1 a
//! rule that a user states with emphasis.

pub use super::learned::{NAME, STATEMENT};
use crate::event::Role;

/// The cues as a person reads them, in the order of their bits.
const CUES: [&str; super::cues::cue::COUNT] = [
    "a prohibition",
    "a rule",
    "a wish",
    "something to wait for",
    "a decision",
    "one thing instead of another",
    "a task",
    "asks for an answer",
    "a failure",
    "a cause",
    "a result",
    "a finding",
    "a concern",
    "a goal",
    "emphasis",
    "a correction of the agent",
    "courtesy",
    "the agent announcing its next move",
    "overturns something",
    "declared not to matter",
    "how things stand",
    "a question",
    "speaks of themself",
    "speaks of us",
];

/// What a feature of a statement adds to its evidence.
pub fn of_feature(feature: usize, role: Role) -> f64 {
    let (user, agent) = STATEMENT.get(feature).copied().unwrap_or_default();
    if role == Role::User { user } else { agent }
}

/// What a feature is, in words.
pub fn name_of_feature(feature: usize) -> &'static str {
    CUES.get(feature).or_else(|| super::prose::AROUND.get(feature.wrapping_sub(CUES.len()))).copied().unwrap_or("")
}

/// What the words of a system message lose: they are there again after the compaction.
pub const SYSTEM: f64 = -1.5;
/// Evidence of less weight is not told.
pub const WORTH_SAYING: f64 = 0.3;
/// Fewer content words than this say too little.
pub const SHORT_WORDS: usize = 4;
/// More content words than this are more than one thing.
pub const MANY_WORDS: usize = 24;
/// The last messages: behind this share of all.
pub const LAST_SHARE: f64 = 0.93;
/// Sentences of so many words that are equal but for their names and numbers are a formula where they stand in so many
/// messages; shorter ones in so many.
pub const FORMULA_WORDS: u32 = 5;
/// See [`FORMULA_WORDS`].
pub const FORMULA: u32 = 4;
/// See [`FORMULA_WORDS`].
pub const SHORT_FORMULA: u32 = 8;

/// Lists of values: in a user's words, and in anyone else's.
pub const LIST_USER: f64 = 0.62;
/// See [`LIST_USER`].
pub const LIST_OTHER: f64 = 0.34;
/// Families of names: the best one, and how fast they fall.
pub const NAMES_TOP: f64 = 0.6;
/// Commands that were run more than once.
pub const COMMANDS: f64 = 0.40;

/// The last messages, as far as names go: behind this share of all.
pub const NAME_LATE: f64 = 0.85;
/// Uses of a name fade by half over so many messages.
pub const NAME_HALF_LIVES: [f32; 2] = [12.0, 60.0];
/// What one use by the user, the agent or a tool counts before it fades.
pub const NAME_USES: [f32; 3] = [1.5, 1.0, 0.5];

/// How many statements, lists, families and names a ledger holds at most.
pub const MAX_STATEMENTS: usize = 420;
/// See [`MAX_STATEMENTS`].
pub const MAX_LISTS: usize = 80;
/// See [`MAX_STATEMENTS`].
pub const MAX_FAMILIES: usize = 140;
/// How many names stand in one family: what a person reads of one line.
pub const FAMILY: usize = 12;
/// See [`MAX_STATEMENTS`].
pub const MAX_NAMES: usize = 900;
/// So many names that differ only in their numbers are a series, and so many of them stand for it where there are more
/// names than [`MAX_NAMES`].
pub const SERIES: usize = 12;
/// See [`SERIES`].
pub const SERIES_KEPT: usize = 4;
/// Names are taken by rank in such bands: within a band those of one file stand together.
pub const NAME_BANDS: [usize; 4] = [60, 120, 240, 480];
/// So many names of one file in a band have a line of their own.
pub const OWN_LINE: usize = 4;
/// A line of names has at most so many bytes.
pub const NAME_LINE: usize = 156;
/// How many members one family holds at most.
pub const MAX_MEMBERS: usize = 40;
/// How many bytes of one statement are kept.
pub const MAX_TEXT: usize = 400;
/// Tool output longer than this is sampled: so much of its head, half as much of its tail.
pub const TOOL_SAMPLE: usize = 24_000;
