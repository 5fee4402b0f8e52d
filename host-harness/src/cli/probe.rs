//! `probe`: is each stated fact in the summary?

use super::Outcome;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    /// Lines {"id": "…", "summary": "…", "facts": ["…", …]}.
    facts: PathBuf,
    /// One JSON object a line, {"id", "present": [p, …]}, instead of text for people.
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Question {
    id: serde_json::Value,
    summary: String,
    facts: Vec<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a serde_json::Value,
    present: &'a [f64],
}

pub(super) fn run(args: &ProbeArgs) -> Result<Outcome> {
    let shown = args.facts.display();
    let file = File::open(&args.facts).with_context(|| format!("{shown}"))?;
    let mut out = anstream::stdout().lock();
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let number = index + 1;
        let line = line.with_context(|| format!("{shown}: line {number}"))?;
        if line.trim().is_empty() {
            continue;
        }
        let mut json = serde_json::Deserializer::from_str(&line);
        let question: Question = serde_path_to_error::deserialize(&mut json)
            .map_err(|error| anyhow!("{shown}: line {number}: field `{}`: {}", error.path(), error.inner()))?;
        let present = compact_review::audit::probe(&question.summary, &question.facts);
        if args.json {
            serde_json::to_writer(&mut out, &Answer { id: &question.id, present: &present })?;
            writeln!(out)?;
        } else {
            for (fact, present) in question.facts.iter().zip(&present) {
                writeln!(out, "{present:.2}  {}", crate::report::terminal::plain(fact, 120))?;
            }
        }
    }
    Ok(Outcome::Fine)
}
