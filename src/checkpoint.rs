//! What is written: the active checkpoint, the entry of the daily note, the recovery text.
//!
//! All of it quotes the conversation, and all quotes go through one place ([`quote`]): one line each, redacted,
//! bounded, and unable to forge a heading, a fence, a comment or an entry of ours.

mod active;
pub mod carried;
mod header;
mod memory_files;
mod note;
mod own;
pub mod quote;
pub mod reading;
mod record;
pub mod recovered;
pub mod recovery;
pub mod trigger;
mod truncation;

pub use active::active;
pub use header::{Header, parse};
pub(crate) use note::entry_id;
pub use note::note_entry;
pub(crate) use record::other_transcript;
pub use record::{Baseline, Record, Written};
pub use recovered::Recovered;
pub use truncation::{History, Truncation, truncation};
