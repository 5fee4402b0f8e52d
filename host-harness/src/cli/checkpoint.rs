//! `checkpoint`: writes a checkpoint by hand, from a recorded session.

use super::audit::tell;
use super::input::{now, read_text};
use super::{Outcome, PluginArgs, recorded};
use crate::notes::MemoryNotes;
use crate::report::terminal;
use crate::review::Reviewer;
use crate::runtime::{Plugin, Services};
use anyhow::{Context, Result, bail};
use clap::Args;
use compact_review::event::{CheckpointRequest, Trigger};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// A session file, as `replay` reads it.
    transcript: PathBuf,
    /// The name of the session; without it the transcript's own.
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// What a model wrote about the state of the work: a text file. It is quoted in the checkpoint.
    #[arg(long, value_name = "FILE")]
    prose: Option<PathBuf>,
    /// Show the checkpoint and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// One JSON object instead of text for people.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plugin: PluginArgs,
}

pub(super) fn run(args: &CheckpointArgs) -> Result<Outcome> {
    if args.plugin.workspace.is_none() && !args.dry_run {
        bail!("nowhere to write it: name a folder with --workspace DIR, or look at it with --dry-run");
    }
    let mut recording = recorded::open(&args.transcript)?;
    let plugin = args.plugin.source.load()?;
    let mut services = args.plugin.services(&plugin)?;
    if args.dry_run {
        services = Services { notes: Arc::new(Mutex::new(MemoryNotes::default())), ..services };
    }
    let mut session = recording.session.clone();
    if let Some(key) = &args.session {
        session.session_key.clone_from(key);
    }
    let prose = args.prose.as_deref().map(read_text).transpose()?;
    // What stands in the context at the end: no hook is fired for what happened before.
    let mut context = Reviewer::new(&plugin, services.clone(), session.clone(), now());
    recording.play(0, |entry| {
        context.follow(entry);
        true
    })?;
    let messages: Vec<_> = context.messages().cloned().collect();
    let message_count = u32::try_from(messages.len()).ok();
    let trigger = Trigger::Manual;
    let request =
        CheckpointRequest { session, now: now(), trigger, message_count, messages, prose, ..Default::default() };
    let call = plugin.checkpoint(&services, &request);
    tell(&call.said.log);
    let outcome = call.result.context("checkpoint")?;
    let mut out = anstream::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &outcome)?;
        writeln!(out)?;
    } else {
        for write in &outcome.writes {
            if args.dry_run {
                write!(out, "{}", write.text)?;
            } else if let Some(place) = &write.place {
                writeln!(out, "{place} ({} signals)", outcome.signals)?;
            }
        }
        for notice in &outcome.notices {
            anstream::eprintln!("note: {}", terminal::plain(notice, 300));
        }
    }
    if !outcome.problems.is_empty() {
        bail!("{}", outcome.problems.join("; "));
    }
    Ok(Outcome::Fine)
}
