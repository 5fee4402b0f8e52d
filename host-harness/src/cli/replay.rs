//! `replay`: a recorded session through the simulated gateway.

use super::input::now;
use super::{Outcome, PluginArgs, StrategyArg, plugin, score_limit};
use crate::gateway::{Compaction, Endpoint, Gateway, GatewayConfig, GatewaySession, Recorded, Strategy, Summarizer};
use crate::report::json::AuditJson;
use crate::report::terminal::{self, thousands};
use crate::transcript::{Entry, RecordedCompaction, Transcript};
use anyhow::Result;
use clap::Args;
use compact_review::event::{LocalTime, Reason};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// A session file of OpenClaw or Pi (JSONL).
    transcript: PathBuf,
    /// One JSON object for each compaction.
    #[arg(long)]
    json: bool,
    /// Exit code 1 if any score is below this, or not known.
    #[arg(long, value_name = "SCORE", value_parser = score_limit)]
    fail_under: Option<f64>,
    /// What happens where the session was compacted.
    #[arg(long, value_enum, default_value_t = StrategyArg::Summarize)]
    strategy: StrategyArg,
    /// An OpenAI-compatible endpoint that writes the summaries, such as http://127.0.0.1:8082/v1.
    #[arg(long, value_name = "URL")]
    summarizer_url: Option<String>,
    /// The model that is asked for there.
    #[arg(long, value_name = "NAME", default_value = "default", requires = "summarizer_url")]
    summarizer_model: String,
    /// How long an answer is awaited, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "summarizer_url")]
    summarizer_timeout: u64,
    /// How many losses are listed for each compaction.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    plugin: PluginArgs,
}

pub(super) fn run(args: &ReplayArgs) -> Result<Outcome> {
    let transcript = Transcript::open(&args.transcript)?;
    for broken in transcript.broken.iter().take(10) {
        anstream::eprintln!("{}: line {}: {}", args.transcript.display(), broken.line, broken.why);
    }
    let strategy = match args.strategy {
        StrategyArg::Summarize => Strategy::Summarize,
        StrategyArg::Truncate => Strategy::Truncate,
        StrategyArg::Discard => Strategy::Discard,
    };
    let config = GatewayConfig { strategy, ..Default::default() };
    let gateway = Gateway::new(Arc::new(plugin()?), args.plugin.services()?, config);
    let endpoint = args
        .summarizer_url
        .as_ref()
        .map(|url| Endpoint::new(url, &args.summarizer_model, Duration::from_secs(args.summarizer_timeout)));
    let mut out = anstream::stdout().lock();
    let mut outcome = Outcome::Fine;
    let mut number = 0;
    play(&gateway, &transcript, endpoint.as_ref(), |recorded, compaction| {
        number += 1;
        if Outcome::of(compaction.report().and_then(|report| report.score), args.fail_under) == Outcome::BelowLimit {
            outcome = Outcome::BelowLimit;
        }
        if args.json {
            print_json(&mut out, recorded, compaction)
        } else {
            print(&mut out, number, compaction, args.top)
        }
    })?;
    if !args.json {
        closing(&mut out, &transcript)?;
    }
    Ok(outcome)
}

/// Plays a session; `seen` is called after each compaction.
pub(super) fn play(
    gateway: &Gateway,
    transcript: &Transcript,
    endpoint: Option<&Endpoint>,
    mut seen: impl FnMut(&RecordedCompaction, &Compaction) -> Result<()>,
) -> Result<GatewaySession> {
    let clock = now();
    let mut session = GatewaySession::new(transcript.session.clone());
    for entry in &transcript.entries {
        match entry {
            Entry::Message(message) => session.push(message.clone()),
            Entry::Compaction(recorded) => {
                let compaction = compact(gateway, &mut session, recorded, endpoint, clock);
                seen(recorded, &compaction)?;
            }
        }
    }
    Ok(session)
}

fn compact(
    gateway: &Gateway,
    session: &mut GatewaySession,
    recorded: &RecordedCompaction,
    endpoint: Option<&Endpoint>,
    clock: LocalTime,
) -> Compaction {
    let recorded_summary = Recorded(recorded.summary.clone().unwrap_or_default());
    let summarizer: &dyn Summarizer = match endpoint {
        Some(endpoint) => endpoint,
        None => &recorded_summary,
    };
    let kept = recorded.first_kept_id.as_ref();
    let place = kept.and_then(|id| session.messages.iter().position(|message| message.id == *id));
    let first_kept = place.unwrap_or(session.messages.len());
    let now = recorded.at.map_or(clock, |at| clock.at(at));
    gateway.compact_at(session, Reason::Unknown, now, summarizer, first_kept, recorded.id.clone())
}

fn print_json(out: &mut impl Write, recorded: &RecordedCompaction, compaction: &Compaction) -> Result<()> {
    let line = json!({
        "compactionId": recorded.id,
        "at": recorded.at,
        "messagesBefore": compaction.messages_before,
        "messagesDropped": compaction.dropped,
        "messagesRetained": compaction.retained,
        "tokensBefore": compaction.tokens_before,
        "tokensAfter": compaction.tokens_after,
        "failures": compaction.failures,
        "audit": compaction.report().map(AuditJson::new),
    });
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)?;
    Ok(())
}

fn print(out: &mut impl Write, number: usize, compaction: &Compaction, top: usize) -> Result<()> {
    let (before, after) = (thousands(compaction.tokens_before), thousands(compaction.tokens_after));
    writeln!(
        out,
        "compaction {number}: {} messages, {} dropped, {} kept · ~{before} → ~{after} tokens",
        compaction.messages_before, compaction.dropped, compaction.retained
    )?;
    if let Some(report) = compaction.report() {
        terminal::audit(out, report, top)?;
    }
    for failure in &compaction.failures {
        writeln!(out, "  problem {}", terminal::plain(failure, 300))?;
    }
    writeln!(out)?;
    Ok(())
}

fn closing(out: &mut impl Write, transcript: &Transcript) -> Result<()> {
    let messages = transcript.entries.len() - transcript.compactions();
    write!(out, "{messages} messages, {} compactions", transcript.compactions())?;
    for (count, what) in [
        (transcript.broken.len(), "lines that could not be read"),
        (transcript.opaque_parts, "parts that are no text"),
        (transcript.other_branches, "entries on other branches"),
    ] {
        if count > 0 {
            write!(out, " · {count} {what}")?;
        }
    }
    writeln!(out)?;
    Ok(())
}
