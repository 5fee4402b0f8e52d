//! Every tuned number of extraction and ranking, in one place.
//!
//! Set by hand and not learned, while looking at a few labelled compactions of real coding sessions: the order (user over
//! agent over tool, prohibition over wish over question) is what those sessions lose, the sizes are guesses that were
//! changed a few times. No cross-validation was done. They are sums of evidence on a scale where 0 is nothing and 1 a
//! rule that a user states with emphasis.

use super::cues::cue::*;
use crate::event::Role;

/// What each role's words weigh before anything is known of them.
pub fn role(role: Role) -> f64 {
    match role {
        Role::User => 0.40,
        Role::System => 0.12,
        Role::Assistant => 0.10,
        Role::Tool => 0.04,
    }
}

/// What each cue adds: in the words of a user, and in the words of anyone else.
pub const CUES: &[(u32, f64, f64, &str)] = &[
    (PROHIBITION, 0.24, 0.06, "a prohibition"),
    (RULE, 0.13, 0.05, "a rule"),
    (WISH, 0.10, 0.00, "a wish"),
    (DEFER, 0.06, 0.02, "something to wait for"),
    (DECISION, 0.06, 0.06, "a decision"),
    (CONTRAST, 0.04, 0.04, "one thing instead of another"),
    (TASK, 0.02, 0.05, "a task"),
    (FAILURE, 0.02, 0.07, "a failure"),
    (CAUSE, 0.03, 0.05, "a cause"),
    (DONE, -0.03, 0.02, "a result"),
    (FINDING, 0.03, 0.08, "a finding"),
    (CONCERN, 0.14, 0.02, "a concern"),
    (GOAL, 0.14, 0.04, "a goal"),
    (EMPHASIS, 0.10, 0.05, "emphasis"),
    (CORRECTION, 0.12, 0.00, "a correction of the agent"),
    (COURTESY, -0.12, -0.08, "courtesy"),
    (NARRATION, -0.06, -0.14, "the agent announcing its next move"),
    (DISCLAIMED, -0.30, -0.20, "declared not to matter"),
    (QUESTION, -0.12, -0.02, "a question"),
];

/// A question or request that is still open weighs this much more.
pub const OPEN: f64 = 0.40;
/// An agent's ask that a later user message answered weighs this much less.
pub const ANSWERED: f64 = -0.20;
/// Fewer content words than this say too little.
pub const SHORT_WORDS: usize = 4;
/// What a short sentence loses.
pub const SHORT: f64 = -0.18;
/// What exact values add.
pub const SPECIFIC: f64 = 0.05;
/// What the newest message gains over the oldest.
pub const RECENT: f64 = 0.10;
/// What each later message that takes it up adds, at most three times.
pub const REUSE: f64 = 0.03;
/// What the words behind the first lines of a long message lose: pasted text, not speech.
pub const PASTED: f64 = -0.22;
/// A statement that repeats in this many messages is a formula.
pub const FORMULA: usize = 4;
/// What a formula loses.
pub const FORMULAIC: f64 = -0.25;

/// Lists of values: in a user's words, and in anyone else's.
pub const LIST_USER: f64 = 0.62;
/// See [`LIST_USER`].
pub const LIST_OTHER: f64 = 0.34;
/// Families of names: the best one, and how fast they fall.
pub const NAMES_TOP: f64 = 0.50;
/// Commands that were run more than once.
pub const COMMANDS: f64 = 0.40;

/// Of a name's score: mentions by the user, in the agent's words and calls, in tool output; recency.
pub const NAME_USER: f64 = 1.6;
/// See [`NAME_USER`].
pub const NAME_AGENT: f64 = 1.0;
/// See [`NAME_USER`].
pub const NAME_TOOL: f64 = 0.30;
/// See [`NAME_USER`].
pub const NAME_RECENT: f64 = 1.4;

/// How many statements, lists, families and names a ledger holds at most.
pub const MAX_STATEMENTS: usize = 420;
/// See [`MAX_STATEMENTS`].
pub const MAX_LISTS: usize = 80;
/// See [`MAX_STATEMENTS`].
pub const MAX_FAMILIES: usize = 100;
/// How many names stand in one family: what a person reads of one line.
pub const FAMILY: usize = 12;
/// See [`MAX_STATEMENTS`].
pub const MAX_NAMES: usize = 900;
/// How many members one family holds at most.
pub const MAX_MEMBERS: usize = 40;
/// How many bytes of one statement are kept.
pub const MAX_TEXT: usize = 400;
/// Tool output longer than this is sampled: so much of its head, half as much of its tail.
pub const TOOL_SAMPLE: usize = 24_000;
