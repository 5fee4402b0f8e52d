//! Prints what the models of salience read, for their trainer: `salience_features CASE.json` with a case
//! `{"messages": […]}` gives one object with the lists `statements` and `names`.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

use compact_review::event::BeforeCompaction;
use compact_review::signal::{Candidate, candidates};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: salience_features CASE.json")?;
    let mut case: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let event = BeforeCompaction { messages: serde_json::from_value(case["messages"].take())?, ..Default::default() };
    let (statements, names) = candidates(&event);
    let list = |all: Vec<Candidate>| {
        all.iter()
            .map(|one| {
                json!({
                    "text": one.text, "message": one.message_index, "role": one.role, "features": one.features,
                })
            })
            .collect::<Vec<Value>>()
    };
    println!("{}", json!({ "statements": list(statements), "names": list(names) }));
    Ok(())
}
