//! How full is it: the token budget of a session, and what to do before it overflows.
//!
//! | module | answers |
//! |---|---|
//! | [`estimate`] | how many tokens a text has, where nobody counts them |
//! | [`event`] | what a gateway tells after each step and asks before a compaction; what it gets back |
//! | [`track`] | the state of one session: usage, thresholds, loop guard |
//! | [`status`] | the same for people, programs and the agent |
//! | [`plan`] | which messages to keep, and what a summary of the others must say |
//! | [`summary`] | how long a summary really is |
//! | [`hooks`] | the order of things, through which imports |

pub mod estimate;
pub mod event;
pub mod hooks;
pub mod plan;
pub mod status;
pub mod summary;
pub mod track;
