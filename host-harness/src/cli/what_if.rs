//! `what-if`: what recorded compactions would have kept with another plan.

use super::input::now;
use super::{Outcome, PluginSource};
use crate::notes::MemoryNotes;
use crate::report::terminal::{self, thousands};
use crate::review::{Reviewed, Reviewer, fire};
use crate::runtime::{Plugin, Services};
use crate::scan::walk;
use crate::transcript::{Control, Entry, Format, Transcripts};
use anstyle::Style;
use anyhow::{Result, bail};
use clap::Args;
use compact_review::budget::estimate::estimate;
use compact_review::budget::event::{Choice, PlanRow};
use compact_review::budget::plan::{Room, plan};
use compact_review::budget::track::Counted;
use compact_review::config::{PlanSettings, Settings, Strategy};
use compact_review::event::AfterCompaction;
use compact_review::signal;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
/// What stands in the place of messages that were dropped without a summary. An empty summary would be `failed`.
const MARKER: &str = "Older messages were removed from this conversation to make room; no summary of them was written.";

#[derive(Debug, Args)]
pub(super) struct WhatIfArgs {
    /// Files and folders; without any, the places where OpenClaw, Pi, Claude Code and Codex keep their sessions.
    paths: Vec<PathBuf>,
    /// Insist on a format instead of telling it by the content.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The context window in tokens; without it, what the context had when it was compacted.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1_000..=100_000_000))]
    window: Option<u64>,
    /// Keep the last N messages, whatever they are.
    #[arg(long, value_name = "N", default_value_t = PlanSettings::default().head_protection)]
    head_protection: u32,
    /// Keep the first N messages, whatever they are.
    #[arg(long, value_name = "N", default_value_t = PlanSettings::default().tail_protection)]
    tail_protection: u32,
    /// One JSON object for each compaction.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: PluginSource,
}

/// What could have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Way {
    /// What was done.
    Real,
    /// The real summary, and the plugin's recovery text behind it.
    Recovery,
    /// The real summary, and the messages that the plan keeps.
    Keep,
    /// No summary: the oldest go, as many as needed.
    Truncate,
    /// No summary: all go that the plan does not keep.
    Discard,
}

const WAYS: [(Way, &str); 5] = [
    (Way::Real, "as it was"),
    (Way::Recovery, "+ recovery text"),
    (Way::Keep, "+ kept messages"),
    (Way::Truncate, "truncate"),
    (Way::Discard, "discard"),
];

/// What came of one way.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Came {
    way: Way,
    score: Option<f64>,
    tokens_after: u64,
    messages_kept: usize,
}

/// All ways for one compaction.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Compared {
    file: String,
    session_id: String,
    number: usize,
    tokens_before: u64,
    ways: Vec<Came>,
}

pub(super) fn run(args: &WhatIfArgs) -> Result<Outcome> {
    let paths = if args.paths.is_empty() { walk::default_places() } else { args.paths.clone() };
    if paths.is_empty() {
        bail!("no sessions of OpenClaw, Pi, Claude Code or Codex in the usual places; name a file or a folder");
    }
    let plugin = args.source.load()?;
    let found = walk::walk(&paths);
    let mut problems: Vec<String> =
        found.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.why)).collect();
    let results: Vec<_> = found.files.par_iter().with_max_len(1).map(|file| one(args, &plugin, &file.path)).collect();
    let mut compared = Vec::new();
    for (result, file) in results.into_iter().zip(&found.files) {
        match result {
            Ok(list) => compared.extend(list),
            Err(error) if file.named => problems.push(error.to_string()),
            Err(_) => {}
        }
    }
    let mut out = anstream::stdout().lock();
    if args.json {
        for line in &compared {
            serde_json::to_writer(&mut out, line)?;
            writeln!(out)?;
        }
    } else {
        show(&mut out, &compared)?;
    }
    for problem in &problems {
        anstream::eprintln!("{}", terminal::plain(problem, 400));
    }
    Ok(if problems.is_empty() { Outcome::Fine } else { Outcome::BadInput })
}

fn one(args: &WhatIfArgs, plugin: &dyn Plugin, path: &Path) -> Result<Vec<Compared>> {
    let transcripts = Transcripts::open(path, args.format, Control::default())?;
    let mut compared = Vec::new();
    for index in 0..transcripts.len() {
        let mut recording = transcripts.recording(index)?;
        let Some(last) = recording.last_compaction(0) else { continue };
        let services = Services::new(MemoryNotes::default());
        let mut reviewer = Reviewer::new(plugin, services, recording.session.clone(), now());
        let session_id = recording.session.session_id.clone().unwrap_or_default();
        recording.play(0, |entry| {
            let line = if let Entry::Compaction(recorded) = &entry { recorded.line } else { 0 };
            if let Some(reviewed) = reviewer.take(entry) {
                compared.push(Compared {
                    file: path.display().to_string(),
                    session_id: session_id.clone(),
                    number: reviewed.number,
                    tokens_before: reviewed.tokens_before,
                    ways: WAYS.iter().map(|(way, _)| try_way(args, plugin, &reviewed, *way)).collect(),
                });
            }
            line < last
        })?;
    }
    Ok(compared)
}

/// Audits the same messages with what this way would have left.
fn try_way(args: &WhatIfArgs, plugin: &dyn Plugin, reviewed: &Reviewed, way: Way) -> Came {
    let real = &reviewed.after;
    let report = reviewed.report.as_ref();
    let recovery = report.and_then(|report| report.recovery.as_ref());
    let summary = real.summary_text.clone();
    let (summary, kept) = match way {
        Way::Real => {
            let score = report.and_then(|report| report.score);
            let (tokens_after, messages_kept) = (reviewed.tokens_after, reviewed.retained);
            return Came { way, score, tokens_after, messages_kept };
        }
        Way::Recovery => {
            let text = recovery.map(|recovery| format!("\n\n{}", recovery.text)).unwrap_or_default();
            (summary.map(|summary| summary + &text), reviewed.kept_ids.clone())
        }
        Way::Keep => (summary, planned(args, reviewed, Strategy::Summarize)),
        Way::Truncate => (Some(MARKER.to_string()), planned(args, reviewed, Strategy::Truncate)),
        Way::Discard => (Some(MARKER.to_string()), planned(args, reviewed, Strategy::Discard)),
    };
    let held: std::collections::HashSet<&str> = kept.iter().map(String::as_str).collect();
    let texts = reviewed.before.messages.iter().filter(|message| held.contains(message.id.as_str()));
    let tokens_after = texts.map(|message| u64::from(estimate(&message.text)) + 4).sum::<u64>()
        + summary.as_deref().map_or(0, |summary| u64::from(estimate(summary)) + 4);
    let count = |messages: usize| u32::try_from(messages).ok();
    let after = AfterCompaction {
        messages_retained: count(kept.len()),
        messages_dropped: count(reviewed.before.messages.len() - kept.len()),
        summary_text: summary,
        tokens_after: Some(tokens_after),
        first_kept_entry_id: None,
        kept_message_ids: Some(kept.clone()),
        ..real.clone()
    };
    let (report, _) = fire(plugin, &Services::new(MemoryNotes::default()), &reviewed.before, &after);
    // Where the real one cannot be judged, nothing can be compared to it.
    let known = reviewed.report.as_ref().is_some_and(|report| report.score.is_some());
    let score = report.and_then(|report| report.score).filter(|_| known);
    Came { way, score, tokens_after, messages_kept: kept.len() }
}

/// The messages that the plan of the budget keeps, and with a summary those that the real compaction kept too.
fn planned(args: &WhatIfArgs, reviewed: &Reviewed, strategy: Strategy) -> Vec<String> {
    let messages = &reviewed.before.messages;
    let settings = PlanSettings {
        strategy,
        head_protection: args.head_protection,
        tail_protection: args.tail_protection,
        ..PlanSettings::default()
    };
    let tokens: Vec<Counted> = messages
        .iter()
        .map(|message| Counted { tokens: u64::from(estimate(&message.text)) + 4, by_host: false })
        .collect();
    let signals = signal::survey(&reviewed.before, &Settings::default()).signals;
    let limit = args.window.unwrap_or(reviewed.tokens_before);
    let room = Room { limit: Some(limit), pct: Some(100.0), manual: true };
    let made = plan(messages, &tokens, &signals, room, &settings);
    let real = strategy == Strategy::Summarize;
    let stays = |row: &PlanRow| row.choice == Choice::Keep || (real && reviewed.kept_ids.contains(&row.message_id));
    made.rows.into_iter().filter(stays).map(|row| row.message_id).collect()
}

fn show(out: &mut impl Write, compared: &[Compared]) -> Result<()> {
    write!(out, "{BOLD}{:<44}", "session")?;
    for (_, name) in WAYS {
        write!(out, " {name:>18}")?;
    }
    writeln!(out, "{BOLD:#}")?;
    let mut sessions: Vec<(&str, &str)> =
        compared.iter().map(|line| (line.file.as_str(), line.session_id.as_str())).collect();
    sessions.dedup();
    for session in &sessions {
        let of: Vec<&Compared> =
            compared.iter().filter(|line| (line.file.as_str(), line.session_id.as_str()) == *session).collect();
        row(out, &format!("{} ({})", terminal::plain(session.1, 36), of.len()), &of)?;
    }
    if sessions.len() != 1 {
        row(out, &format!("all ({})", compared.len()), &compared.iter().collect::<Vec<_>>())?;
    }
    writeln!(out, "{DIM}mean score, and mean tokens after; in brackets the number of compactions{DIM:#}")?;
    Ok(())
}

fn row(out: &mut impl Write, name: &str, of: &[&Compared]) -> Result<()> {
    write!(out, "{name:<44}")?;
    for (index, _) in WAYS.iter().enumerate() {
        let came: Vec<&Came> = of.iter().filter_map(|line| line.ways.get(index)).collect();
        let scores: Vec<f64> = came.iter().filter_map(|came| came.score).collect();
        let tokens = came.iter().map(|came| came.tokens_after).sum::<u64>() / came.len().max(1) as u64;
        let score = if scores.is_empty() {
            "–".to_string()
        } else {
            format!("{:.1}", scores.iter().sum::<f64>() / scores.len() as f64)
        };
        write!(out, " {:>18}", format!("{score} ~{}", thousands(tokens)))?;
    }
    writeln!(out)?;
    Ok(())
}
