//! What the fuzz targets do with their bytes. Each target is a function here; the files in `targets/` only hand it over.
//!
//! | module | targets |
//! |---|---|
//! | [`hooks`] | `events`, `conversation`, `settings`, `tokens` |
//! | [`transcripts`] | `transcript_openclaw`, `transcript_claude_code`, `transcript_codex`, `transcript_plain`, `transcript_store` |
//! | [`audit`] | `extraction`, `matching`, `ledger` |
//! | [`redaction`] | `redaction` |
//! | [`written`] | `checkpoint`; what holds for every text that is written |
//! | [`notes_on_disk`] | `note_store` |
//! | [`input`] | bytes taken for conversations |
//! | [`host`] | what the hooks ask for, in memory |
//!
//! A find is a panic: the code's own, or that of an assertion about what it promises.

pub mod audit;
pub mod hooks;
pub mod host;
pub mod input;
pub mod notes_on_disk;
pub mod redaction;
pub mod transcripts;
pub mod written;

pub use audit::{extraction, ledger, matching};
pub use hooks::{conversation, events, settings, tokens};
pub use notes_on_disk::note_store;
pub use redaction::redaction;
pub use transcripts::{
    transcript_claude_code, transcript_codex, transcript_openclaw, transcript_plain, transcript_store,
};
pub use written::checkpoint;

/// The two modules of host-harness that read what others wrote, compiled here from their sources: the package itself
/// brings wasmtime along, which would take minutes to instrument and finds nothing.
#[path = "../../host-harness/src"]
#[allow(dead_code, unused_imports)]
mod harness {
    pub mod notes;
    pub mod transcript;
}
pub use harness::{notes, transcript};
