//! `demo`: the main job on an embedded session, on one screen.

use super::replay::Player;
use super::{Outcome, PluginSource, services_in};
use crate::gateway::{Compaction, Gateway, GatewayConfig, GatewaySession};
use crate::report::terminal::{self, bar, thousands};
use crate::transcript::{Embedded, Entry};
use anstyle::Style;
use anyhow::{Context, Result};
use clap::Args;
use compact_review::report::{WriteOutcome, WriteTarget};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Written for this demonstration: three days of an agent that moves a billing service.
const SESSION: &[u8] = include_bytes!("../../assets/demo-session.jsonl");
/// So small that the session nearly fills it.
const WINDOW: u64 = 16_000;
/// How much is shown of each text: the whole story fits on one screen.
const SHOWN_LINES: usize = 9;
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Write checkpoint and daily note below DIR/memory; without it into a temporary folder that is removed.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// How many losses are listed.
    #[arg(long, value_name = "N", default_value_t = 6)]
    top: usize,
    #[command(flatten)]
    source: PluginSource,
}

pub(super) fn run(args: &DemoArgs) -> Result<Outcome> {
    let temporary = match &args.workspace {
        Some(_) => None,
        None => Some(tempfile::tempdir().context("no temporary folder")?),
    };
    let folder = args.workspace.as_deref().or(temporary.as_ref().map(tempfile::TempDir::path));
    let transcript = Embedded::read(SESSION).context("the embedded session")?;
    let config = GatewayConfig { context_window: WINDOW, ..Default::default() };
    let gateway = Gateway::new(Arc::new(args.source.load()?), services_in(folder)?, config);

    let mut out = anstream::stdout().lock();
    filling(&mut out, &transcript)?;
    let mut player = Player::new(&gateway, transcript.session.clone(), None);
    for entry in &transcript.entries {
        if let Some((_, compaction)) = player.take(entry.clone()) {
            show(&mut out, &compaction, folder, args.top)?;
        }
    }
    let session = player.session;
    recovery(&mut out, &gateway, &session)?;
    if args.workspace.is_none() {
        writeln!(out, "{DIM}The folder was temporary; --workspace DIR keeps it.{DIM:#}")?;
    }
    Ok(Outcome::Fine)
}

fn filling(out: &mut impl Write, transcript: &Embedded) -> Result<()> {
    let messages = transcript.entries.len() - transcript.compactions();
    writeln!(out, "{BOLD}1. The context fills{BOLD:#} {DIM}(an embedded session of {messages} messages){DIM:#}")?;
    let mut session = GatewaySession::default();
    let before: Vec<_> = transcript.entries.iter().take_while(|entry| matches!(entry, Entry::Message(_))).collect();
    for (index, entry) in before.iter().enumerate() {
        if let Entry::Message(message) = entry {
            session.push(message.message.clone());
        }
        if (index + 1) % before.len().div_ceil(4) == 0 || index + 1 == before.len() {
            let used = session.tokens();
            let share = used as f64 / WINDOW as f64;
            let (used, window) = (thousands(used), thousands(WINDOW));
            writeln!(out, "  {:>2} messages {} ~{used}/{window} ({:.0}%)", index + 1, bar(share), share * 100.0)?;
        }
    }
    Ok(())
}

fn show(out: &mut impl Write, compaction: &Compaction, folder: Option<&Path>, top: usize) -> Result<()> {
    let (before, after) = (thousands(compaction.tokens_before), thousands(compaction.tokens_after));
    writeln!(out, "\n{BOLD}2. The gateway compacts{BOLD:#}")?;
    writeln!(
        out,
        "  {} messages become one summary, {} stays · ~{before} → ~{after} tokens",
        compaction.dropped, compaction.retained
    )?;
    for failure in &compaction.failures {
        writeln!(out, "  problem {}", terminal::plain(failure, 300))?;
    }
    writeln!(out, "\n{BOLD}3. compact-review audits the summary{BOLD:#}")?;
    let report = compaction.report().context("the plugin gave no audit")?;
    terminal::audit(out, report, top)?;
    writeln!(out, "\n{BOLD}4. What it wrote{BOLD:#}")?;
    let earlier = compaction.before.answer().map(|outcome| outcome.writes.as_slice()).unwrap_or_default();
    for write in earlier.iter().chain(&report.writes) {
        written(out, write, folder)?;
    }
    Ok(())
}

fn written(out: &mut impl Write, write: &WriteOutcome, folder: Option<&Path>) -> Result<()> {
    let place = write.place.as_deref().or(write.error.as_deref()).unwrap_or("nowhere");
    let folder = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
    let when = match write.target {
        WriteTarget::Checkpoint => "before the compaction",
        WriteTarget::DailyNote => "after it",
    };
    writeln!(out, "  {} {DIM}({when}, below {folder}){DIM:#}", terminal::plain(place, 120))?;
    // The first line of a checkpoint is for machines.
    let shown =
        write.text.strip_prefix("<!--").and_then(|text| text.split_once('\n')).map_or(&*write.text, |(_, text)| text);
    terminal::quoted(out, shown, SHOWN_LINES)?;
    Ok(())
}

fn recovery(out: &mut impl Write, gateway: &Gateway, session: &GatewaySession) -> Result<()> {
    writeln!(out, "\n{BOLD}5. What the agent gets back with its next prompt, once{BOLD:#}")?;
    let call = gateway.before_prompt(session, super::input::now());
    match call.result? {
        None => writeln!(out, "  nothing")?,
        Some(recovery) => {
            terminal::quoted(out, &recovery.text, SHOWN_LINES)?;
            writeln!(out, "  {DIM}{} tokens{DIM:#}", recovery.tokens)?;
        }
    }
    Ok(())
}
