//! What a gateway author may rely on: through the component, the simulated gateway and the command line.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod budget;
mod checkpoint_commands;
mod command_line;
mod containment;
mod contract;
mod determinism;
mod hook_shapes;
mod page;
mod recorded;
mod recovery;
mod scan;
mod support;
mod transcript_properties;
mod transcripts;
