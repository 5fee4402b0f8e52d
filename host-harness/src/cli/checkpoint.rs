//! `checkpoint`: writes a checkpoint by hand, from a recorded session.

use super::audit::tell;
use super::input::{now, read_text};
use super::{Outcome, PluginArgs, plugin};
use crate::notes::MemoryNotes;
use crate::report::terminal;
use crate::runtime::{Plugin, Services};
use crate::transcript::{Entry, Transcript};
use anyhow::{Context, Result, bail};
use clap::Args;
use compact_review::event::{CheckpointRequest, Message, Role, Trigger};
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
    let transcript = Transcript::open(&args.transcript)?;
    let mut services = args.plugin.services()?;
    if args.dry_run {
        services = Services { notes: Arc::new(Mutex::new(MemoryNotes::default())), ..services };
    }
    let mut session = transcript.session.clone();
    if let Some(key) = &args.session {
        session.session_key.clone_from(key);
    }
    let prose = args.prose.as_deref().map(read_text).transpose()?;
    let messages = context(transcript.entries);
    let message_count = u32::try_from(messages.len()).ok();
    let trigger = Trigger::Manual;
    let request =
        CheckpointRequest { session, now: now(), trigger, message_count, messages, prose, ..Default::default() };
    let call = plugin()?.checkpoint(&services, &request);
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

/// What stands in the context at the end: from the last compaction its summary and what it kept, and all that came after.
fn context(entries: Vec<Entry>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for (number, entry) in entries.into_iter().enumerate() {
        match entry {
            Entry::Message(message) => messages.push(message),
            Entry::Compaction(compaction) => {
                let kept = compaction.first_kept_id.as_deref();
                let from = kept.and_then(|id| messages.iter().position(|message| message.id == id));
                messages.drain(..from.unwrap_or(messages.len()));
                let id = compaction.id.unwrap_or_else(|| format!("compaction-{number}"));
                let text = compaction.summary.unwrap_or_default();
                let summary = Message { id, role: Role::System, text, tool: None, failed: false, at: compaction.at };
                messages.insert(0, summary);
            }
        }
    }
    messages
}
