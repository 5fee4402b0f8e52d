//! compact-review: a flight recorder for context compaction.
//!
//! A gateway replaces old messages by a summary. This plugin sees the messages before, reads the summary after,
//! and says what was lost. Data flows one way:
//!
//! ```text
//! messages ──signal──▶ ledger ──audit(summary)──▶ findings, score, verdict ──checkpoint──▶ notes, recovery text
//! ```
//!
//! | module | answers |
//! |---|---|
//! | [`event`] | what happened: sessions, messages, the two compaction events |
//! | [`hooks`] | the order of things: what each hook does, through which imports |
//! | [`signal`] | what a message carries, and how much it matters; the ledger that lives between the hooks |
//! | [`audit`] | is it still there: matching, score, verdict |
//! | [`checkpoint`] | what is written: checkpoint, daily note entry, recovery text |
//! | [`text`] | words, names, numbers and sentences in any script |
//! | [`budget`] | how full the context is, and what a compaction should keep |
//! | [`redact`] | what must never be written |
//! | [`report`] | what the hooks give back |
//! | [`config`] | every setting, its default and its range |
//! | [`host`] | what is asked of whoever runs this |
//!
//! Nothing here does I/O or knows a clock: every effect goes through [`host::Host`] and the time comes in with the
//! event. The same event gives the same bytes, natively and as a component. `plugin.rs` is the only file that
//! knows the generated WIT types, and exists only in the component.

// The generated bindings of the component need unsafe code; nothing else does.
#![cfg_attr(not(target_family = "wasm"), forbid(unsafe_code))]

pub mod audit;
pub mod budget;
pub mod checkpoint;
pub mod config;
pub mod event;
pub mod hooks;
pub mod host;
mod mapping;
#[cfg(target_family = "wasm")]
mod plugin;
pub mod redact;
pub mod report;
pub mod signal;
pub mod text;
pub mod time;
