//! What a gateway author may rely on: through the component, the simulated gateway and the command line.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod budget;
mod checkpoint_commands;
mod command_line;
mod compatibility;
mod containment;
mod contract;
mod dependencies;
mod determinism;
mod documentation;
mod foreign_plugin;
mod guest;
mod hook_shapes;
mod hostile_files;
mod page;
mod recorded;
mod recovery;
mod scan;
mod support;
mod transcript_properties;
mod transcripts;
