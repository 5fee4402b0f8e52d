//! `replay`: a recorded session goes by once more, and each compaction in it is audited.
//!
//! With the recorded summaries the hooks are fired as they would have been then. With another strategy or another
//! summarizer the simulated gateway compacts where the session was compacted.

use super::input::now;
use super::live::{self, Live};
use super::{Outcome, PluginArgs, StrategyArg, score_limit};
use crate::gateway::{Compaction, Endpoint, Gateway, GatewayConfig, GatewaySession, Recorded, Strategy, Summarizer};
use crate::report::json::AuditJson;
use crate::report::terminal::{self, thousands};
use crate::review::{Reviewed, Reviewer};
use crate::runtime::{ComponentPlugin, Plugin};
use crate::transcript::{BrokenLine, Control, Entry, Format, Kept, RecordedCompaction, Recording, Transcripts};
use anyhow::{Result, bail};
use clap::Args;
use compact_review::event::{LocalTime, Reason, Session};
use compact_review::report::Report;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A pause in the recorded session is shown for at most so long.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// A session of OpenClaw (JSONL or SQLite), Pi, Claude Code or Codex, or lines {"role", "content"}.
    transcript: PathBuf,
    /// Insist on a format instead of telling it by the content.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Only the session with this id, of a store with many.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show every message as it came, so many times as fast; 0 is without waiting.
    #[arg(long, value_name = "TIMES", value_parser = speed, conflicts_with_all = ["json", "strategy", "summarizer_url"])]
    speed: Option<f64>,
    /// The context window in tokens, for the budget line of --speed.
    #[arg(long, value_name = "TOKENS", requires = "speed")]
    window: Option<u64>,
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

fn speed(text: &str) -> Result<f64, String> {
    let times: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..=1e6).contains(&times) { Ok(times) } else { Err("a speed is from 0 to 1000000".to_string()) }
}

pub(super) fn run(args: &ReplayArgs) -> Result<Outcome> {
    let transcripts = Transcripts::open(&args.transcript, args.format, Control::default())?;
    let plugin = Arc::new(args.plugin.source.load()?);
    let mut out = anstream::stdout().lock();
    let mut outcome = Outcome::Fine;
    let mut found = false;
    for index in 0..transcripts.len() {
        let mut recording = transcripts.recording(index)?;
        if args.session.is_some() && recording.session.session_id != args.session {
            continue;
        }
        found = true;
        for broken in recording.stats.broken.iter().take(10) {
            tell(&args.transcript, broken);
        }
        if transcripts.len() > 1 && !args.json {
            writeln!(out, "session {}", terminal::plain(&recording.session.session_key, 120))?;
        }
        if replay(args, &plugin, &mut recording, &mut out)? == Outcome::BelowLimit {
            outcome = Outcome::BelowLimit;
        }
        if !args.json {
            closing(&mut out, &recording)?;
        }
    }
    if !found {
        bail!("{}: no session {:?} in it", args.transcript.display(), args.session.as_deref().unwrap_or("at all"));
    }
    Ok(outcome)
}

fn tell(path: &Path, broken: &BrokenLine) {
    anstream::eprintln!("{}: line {}: {}", path.display(), broken.line, terminal::plain(&broken.why, 300));
}

fn replay(
    args: &ReplayArgs,
    plugin: &Arc<ComponentPlugin>,
    recording: &mut Recording,
    out: &mut impl Write,
) -> Result<Outcome> {
    let strategy = match args.strategy {
        StrategyArg::Summarize => Strategy::Summarize,
        StrategyArg::Truncate => Strategy::Truncate,
        StrategyArg::Discard => Strategy::Discard,
    };
    if strategy != Strategy::Summarize || args.summarizer_url.is_some() {
        return otherwise(args, plugin.clone(), strategy, recording, out);
    }
    let mut reviewer = Reviewer::new(&**plugin, args.plugin.services(&**plugin)?, recording.session.clone(), now());
    let mut live = Live::new(args.window);
    let mut outcome = Outcome::Fine;
    let mut failed = None;
    let mut last = None;
    let broken = recording.play(0, |entry| {
        let shown = match args.speed {
            Some(times) => {
                wait(&mut last, &entry, times);
                live::step(out, &mut live, &mut reviewer, entry, args.top).and_then(|done| match done {
                    Some((_, reviewed)) => recovery(out, &**plugin, &reviewer).map(|()| Some(reviewed)),
                    None => Ok(None),
                })
            }
            None => quietly(args, &mut reviewer, entry, out),
        };
        match shown {
            Ok(Some(reviewed)) if live::outcome(&reviewed, args.fail_under) == Outcome::BelowLimit => {
                outcome = Outcome::BelowLimit;
            }
            Ok(_) => {}
            Err(error) => failed = Some(error),
        }
        failed.is_none()
    })?;
    for broken in broken.iter().take(10) {
        tell(&args.transcript, broken);
    }
    failed.map_or(Ok(outcome), Err)
}

/// Only compactions are shown.
fn quietly(
    args: &ReplayArgs,
    reviewer: &mut Reviewer<'_>,
    entry: Entry,
    out: &mut impl Write,
) -> Result<Option<Reviewed>> {
    let recorded =
        if let Entry::Compaction(recorded) = &entry { recorded.clone() } else { RecordedCompaction::default() };
    let Some(reviewed) = reviewer.take(entry) else { return Ok(None) };
    if args.json {
        let numbers = Numbers::of_review(&reviewed);
        print_json(out, reviewer.session(), &recorded, &numbers, reviewed.report.as_ref(), &reviewed.failures)?;
    } else {
        live::compaction(out, &reviewed, args.top)?;
    }
    Ok(Some(reviewed))
}

/// Waits as long as the session did, in its time.
fn wait(last: &mut Option<i64>, entry: &Entry, times: f64) {
    let at = match entry {
        Entry::Message(said) => said.message.at,
        Entry::Compaction(recorded) => recorded.at,
        _ => None,
    };
    let Some(at) = at else { return };
    let before = last.replace(at).unwrap_or(at);
    if times > 0.0 && at > before {
        let pause = Duration::from_millis(at.abs_diff(before)).div_f64(times);
        std::thread::sleep(pause.min(LONGEST_PAUSE));
    }
}

/// What the agent would have been told before its next prompt.
fn recovery(out: &mut impl Write, plugin: &dyn Plugin, reviewer: &Reviewer<'_>) -> Result<()> {
    if let Some(recovery) = plugin.before_prompt(reviewer.services(), reviewer.session(), now()).result? {
        writeln!(out, "with the next prompt, {} tokens:", recovery.tokens)?;
        terminal::quoted(out, &recovery.text, 6)?;
    }
    Ok(())
}

/// The simulated gateway compacts where the session was compacted, in its own way.
fn otherwise(
    args: &ReplayArgs,
    plugin: Arc<ComponentPlugin>,
    strategy: Strategy,
    recording: &mut Recording,
    out: &mut impl Write,
) -> Result<Outcome> {
    let config = GatewayConfig { strategy, ..Default::default() };
    let services = args.plugin.services(&*plugin)?;
    let gateway = Gateway::new(plugin, services, config);
    let timeout = Duration::from_secs(args.summarizer_timeout);
    let endpoint = args.summarizer_url.as_ref().map(|url| Endpoint::new(url, &args.summarizer_model, timeout));
    let mut player = Player::new(&gateway, recording.session.clone(), endpoint.as_ref());
    let session = recording.session.clone();
    let (mut number, mut outcome, mut failed) = (0, Outcome::Fine, None);
    recording.play(0, |entry| {
        let Some((recorded, compaction)) = player.take(entry) else { return true };
        number += 1;
        if Outcome::of(compaction.report().and_then(|report| report.score), args.fail_under) == Outcome::BelowLimit {
            outcome = Outcome::BelowLimit;
        }
        let shown = if args.json {
            let numbers = Numbers::of_gateway(&compaction);
            print_json(out, &session, &recorded, &numbers, compaction.report(), &compaction.failures)
        } else {
            print(out, number, &compaction, args.top)
        };
        failed = shown.err();
        failed.is_none()
    })?;
    failed.map_or(Ok(outcome), Err)
}

/// Plays a session in the simulated gateway.
pub(super) struct Player<'a> {
    gateway: &'a Gateway,
    endpoint: Option<&'a Endpoint>,
    clock: LocalTime,
    /// The conversation as the gateway has it now.
    pub session: GatewaySession,
}

impl<'a> Player<'a> {
    pub(super) fn new(gateway: &'a Gateway, session: Session, endpoint: Option<&'a Endpoint>) -> Self {
        Player { gateway, endpoint, clock: now(), session: GatewaySession::new(session) }
    }

    /// Takes in what happened; gives what came of a compaction.
    pub(super) fn take(&mut self, entry: Entry) -> Option<(RecordedCompaction, Compaction)> {
        match entry {
            Entry::Message(said) => self.session.push(said.message),
            Entry::Compaction(recorded) => {
                let compaction = self.compact(&recorded);
                return Some((recorded, compaction));
            }
            Entry::Reset => self.session = GatewaySession::new(self.session.session.clone()),
            // The gateway counts for itself, and has no way to take messages back.
            Entry::Usage(_) | Entry::RolledBack(_) => {}
        }
        None
    }

    fn compact(&mut self, recorded: &RecordedCompaction) -> Compaction {
        let recorded_summary = Recorded(recorded.summary.clone().unwrap_or_default());
        let summarizer: &dyn Summarizer = match self.endpoint {
            Some(endpoint) => endpoint,
            None => &recorded_summary,
        };
        let messages = &self.session.messages;
        let place = match &recorded.kept {
            Kept::From(id) => messages.iter().position(|message| message.id == *id),
            _ => None,
        };
        let first_kept = place.unwrap_or(messages.len());
        let now = recorded.at.map_or(self.clock, |at| self.clock.at(at));
        let id = recorded.id.clone();
        self.gateway.compact_at(&mut self.session, Reason::Unknown, now, summarizer, first_kept, id)
    }
}

/// The numbers of a compaction, however it came about.
struct Numbers {
    before: usize,
    dropped: usize,
    retained: usize,
    tokens_before: u64,
    tokens_after: u64,
}

impl Numbers {
    fn of_review(reviewed: &Reviewed) -> Numbers {
        Numbers {
            before: reviewed.messages_before,
            dropped: reviewed.dropped,
            retained: reviewed.retained,
            tokens_before: reviewed.tokens_before,
            tokens_after: reviewed.tokens_after,
        }
    }

    fn of_gateway(compaction: &Compaction) -> Numbers {
        Numbers {
            before: compaction.messages_before,
            dropped: compaction.dropped,
            retained: compaction.retained,
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
        }
    }
}

fn print_json(
    out: &mut impl Write,
    session: &Session,
    recorded: &RecordedCompaction,
    numbers: &Numbers,
    report: Option<&Report>,
    failures: &[String],
) -> Result<()> {
    let line = json!({
        "sessionId": session.session_id,
        "compactionId": recorded.id,
        "at": recorded.at,
        "messagesBefore": numbers.before,
        "messagesDropped": numbers.dropped,
        "messagesRetained": numbers.retained,
        "tokensBefore": numbers.tokens_before,
        "tokensAfter": numbers.tokens_after,
        "failures": failures,
        "audit": report.map(AuditJson::new),
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

fn closing(out: &mut impl Write, recording: &Recording) -> Result<()> {
    let stats = &recording.stats;
    write!(out, "{}: {} messages, {} compactions", recording.format, stats.messages, stats.compactions)?;
    for (count, what) in [
        (stats.broken_lines, "lines that could not be read"),
        (stats.parts.total(), "parts that are no text"),
        (stats.other_branches, "entries on other branches"),
        (stats.sidechain_lines, "lines of subagents"),
        (stats.oddities.duplicate_ids, "ids that were there before"),
        (stats.oddities.cycles, "circles of parents"),
    ] {
        if count > 0 {
            write!(out, " · {count} {what}")?;
        }
    }
    writeln!(out)?;
    Ok(())
}
