//! What redaction takes for a secret in texts of your own.
//!
//! `cargo run --release -p host-harness --example redaction_findings FILE…`: each FILE is JSON; every string in it is read
//! as the text of a conversation, and every secret that is found there is shown with its kind and what stands around it
//! (the secret itself is not), so that false alarms can be counted by eye.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use compact_review::redact::redact;
use std::time::{Duration, Instant};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("redaction_findings FILE…");
        std::process::exit(2);
    }
    false_alarms(&files);
}

/// Every string of the files through `redact`; what was taken for a secret is listed.
fn false_alarms(files: &[String]) {
    let (mut bytes, mut took, mut found) = (0, Duration::ZERO, 0);
    for file in files {
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect(file)).expect(file);
        let mut texts = Vec::new();
        strings(&json, &mut texts);
        for text in texts {
            let started = Instant::now();
            let clean = redact(text);
            took += started.elapsed();
            bytes += text.len();
            for (at, mark) in clean.match_indices("[redacted: ").filter(|_| *clean != *text) {
                found += 1;
                let from = clean.floor_char_boundary(at.saturating_sub(70));
                let to = clean.floor_char_boundary((at + mark.len() + 60).min(clean.len()));
                println!("{file}: {:?}", &clean[from..to]);
            }
        }
    }
    println!(
        "{} files, {:.1} MB: {found} secrets found, {:.0} MB/s",
        files.len(),
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / took.as_secs_f64()
    );
}

fn strings<'a>(json: &'a serde_json::Value, out: &mut Vec<&'a str>) {
    match json {
        serde_json::Value::String(text) => out.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|item| strings(item, out)),
        _ => {}
    }
}
