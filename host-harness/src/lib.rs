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
//! | [`user_cache`] | the user's cache folder, closed to others |
//! | [`report`] | an audit for people and for programs |
//! | [`cli`] | the command line |

// Unsafe code stands in one place, the generated bindings of `runtime`.
#[forbid(unsafe_code)]
pub mod cli;
#[forbid(unsafe_code)]
pub mod gateway;
#[forbid(unsafe_code)]
pub mod notes;
#[forbid(unsafe_code)]
pub mod report;
#[forbid(unsafe_code)]
pub mod review;
pub mod runtime;
#[forbid(unsafe_code)]
pub mod scan;
#[forbid(unsafe_code)]
pub mod tokens;
#[forbid(unsafe_code)]
pub mod transcript;
#[forbid(unsafe_code)]
pub mod user_cache;
