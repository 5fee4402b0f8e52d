//! The made-up compactions of the benchmarks as files, for contestants that are not written in Rust.
//!
//! `cargo run --release -p host-harness --example write_conversation DIR` writes one events.json for each size, as
//! `compact-review audit` reads it, and prints its path.

#![forbid(unsafe_code)]
#![allow(clippy::expect_used, missing_docs)]

#[path = "../benches/conversation.rs"]
mod conversation;

use conversation::{Compaction, SIZES};
use std::path::PathBuf;

fn main() {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("write_conversation DIR");
        std::process::exit(2);
    };
    for (size, messages) in SIZES {
        let Compaction { before, after } = Compaction::of(messages);
        let path = folder.join(format!("{}.json", size.replace(' ', "-")));
        let events = serde_json::json!({"before": before, "after": after});
        std::fs::write(&path, events.to_string()).expect("the folder can be written to");
        println!("{}", path.display());
    }
}
