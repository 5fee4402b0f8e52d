//! What is written: the active checkpoint, the entry of the daily note, the recovery text.
//!
//! All of it quotes the conversation, and all quotes go through one place ([`quote`]): one line each, redacted,
//! bounded, and unable to forge a heading, a fence, a comment or an entry of ours.

mod active;
mod header;
mod note;
pub mod quote;
pub mod recovery;
mod truncation;

pub use active::active;
pub use header::{Header, parse};
pub use note::note_entry;
pub use truncation::{History, Truncation, truncation};
