//! Prints what the probe's model reads, for its trainer: `probe_features FACTS.jsonl` with lines
//! `{"id", "summary", "facts": […]}` gives lines `{"id", "features": [[…], …]}`.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

use compact_review::audit::matching::{Index, Scratch};
use compact_review::audit::probe;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: probe_features FACTS.jsonl")?;
    for line in std::fs::read_to_string(path)?.lines() {
        let item: Value = serde_json::from_str(line)?;
        let index = Index::new(item["summary"].as_str().unwrap_or_default());
        let mut scratch = Scratch::default();
        let facts = item["facts"].as_array().ok_or("facts is no list")?;
        let facts = probe::read(facts.iter().map(|fact| fact.as_str().unwrap_or_default()));
        let features: Vec<_> = facts.iter().map(|fact| probe::features(&index, fact, &mut scratch)).collect();
        println!("{}", json!({ "id": item["id"], "features": features }));
    }
    Ok(())
}
