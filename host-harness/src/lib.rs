//! A simulated agent gateway that runs the compact-review plugin, and the pieces of its command line tool.
//!
//! | module | is |
//! |---|---|
//! | [`runtime`] | wasmtime: the component, its limits, what the host gives it |
//! | [`gateway`] | sessions that fill up, compactions, hooks in every shape that real gateways emit, faults |
//! | [`transcript`] | readers for recorded sessions |
//! | [`review`] | audits the compactions of a recorded session |
//! | [`scan`] | every transcript below some folders |
//! | [`notes`] | the workspace's `memory/` folder |
//! | [`tokens`] | real tokenizers |
//! | [`report`] | an audit for people and for programs |
//! | [`cli`] | the command line |

pub mod cli;
pub mod gateway;
pub mod notes;
pub mod report;
pub mod review;
pub mod runtime;
pub mod scan;
pub mod tokens;
pub mod transcript;
