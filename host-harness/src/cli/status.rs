//! `status` and `plan`: how full the context of a recorded session is, and what a compaction of it would keep.

use super::input::now;
use super::{Outcome, PluginArgs, PluginSource, recorded};
use crate::report::terminal::{self, thousands};
use crate::review::Reviewer;
use crate::runtime::{ComponentPlugin, Plugin, Services};
use crate::transcript::Entry;
use anstyle::Style;
use anyhow::{Context, Result};
use clap::Args;
use compact_review::budget::event::{Choice, Plan, PlanRequest};
use compact_review::event::{AfterCompaction, Message, Session};
use std::io::Write;
use std::path::PathBuf;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// One JSON object: used, budget, remaining, pct, source, compactions.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// One JSON object with a row for each message.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct SessionArgs {
    /// A session file, or an OpenClaw store: then the session that was written to last.
    transcript: PathBuf,
    /// The model's context window in tokens; without it that of the settings, or no percentage.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    window: Option<u64>,
    /// What is kept free for the answer, in tokens.
    #[arg(long, value_name = "TOKENS")]
    reserve: Option<u64>,
    /// The plugin's settings: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// How tokens are counted: `estimate`, `o200k`, `cl100k`, or the path of a tokenizer.json.
    #[arg(long, value_name = "NAME|FILE", default_value = "estimate")]
    tokenizer: String,
    #[command(flatten)]
    source: PluginSource,
}

/// A session that the plugin was told of.
struct Told {
    plugin: ComponentPlugin,
    services: Services,
    session: Session,
    messages: Vec<Message>,
}

impl SessionArgs {
    /// Reads the session and tells the plugin of it, as its gateway would have.
    fn tell(&self) -> Result<Told> {
        let mut recording = recorded::open(&self.transcript)?;
        // Nothing is written for a question: no workspace.
        let plugin_args = PluginArgs {
            workspace: None,
            settings: self.settings.clone(),
            tokenizer: self.tokenizer.clone(),
            source: self.source.clone(),
        };
        let plugin = plugin_args.source.load()?;
        let services = plugin_args.services(&plugin)?;
        let session = recording.session.clone();
        let mut context = Reviewer::new(&plugin, services.clone(), session.clone(), now());
        let mut compactions = Vec::new();
        recording.play(0, |entry| {
            if let Entry::Compaction(compaction) = &entry {
                compactions.push((compaction.at, compaction.id.clone()));
            }
            context.follow(entry);
            true
        })?;
        for (at, compaction_id) in compactions {
            let now = at.map_or_else(now, |at| now().at(at));
            let event = AfterCompaction { session: session.clone(), now, compaction_id, ..Default::default() };
            plugin.after_compaction(&services, &event).result.context("after_compaction")?;
        }
        let mut event = context.usage_event();
        event.context_window = self.window.or(event.context_window);
        event.reserve_tokens = self.reserve;
        let usage = plugin.usage(&services, &event).result.context("usage")?;
        for notice in &usage.notices {
            anstream::eprintln!("note: {}", terminal::plain(notice, 400));
        }
        let messages = event.messages.into_iter().chain(event.added).collect();
        Ok(Told { plugin, services, session, messages })
    }
}

pub(super) fn run(args: &StatusArgs) -> Result<Outcome> {
    let Told { plugin, services, session, .. } = args.session.tell()?;
    let report = plugin.status(&services, &session).result.context("status")?;
    let mut out = anstream::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &report.status)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{} {DIM}({}){DIM:#}", report.line, report.status.source.name())?;
    }
    Ok(Outcome::Fine)
}

pub(super) fn run_plan(args: &PlanArgs) -> Result<Outcome> {
    let Told { plugin, services, session, messages } = args.session.tell()?;
    let request = PlanRequest { session, now: now(), messages, manual: false };
    let plan = plugin.plan(&services, &request).result.context("plan")?;
    let mut out = anstream::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &plan)?;
        writeln!(out)?;
    } else {
        print(&mut out, &plan)?;
    }
    Ok(Outcome::Fine)
}

fn print(out: &mut impl Write, plan: &Plan) -> Result<()> {
    let due = match plan.due {
        Some(true) => "due now",
        Some(false) => "not due yet",
        None => "due or not: unknown without a window",
    };
    writeln!(out, "{BOLD}{due}{BOLD:#} {DIM}({:?}, tokens: {}){DIM:#}", plan.strategy, plan.source.name())?;
    for (choice, tokens) in [
        (Choice::Keep, plan.tokens_kept),
        (Choice::Summarize, plan.tokens_summarized),
        (Choice::Drop, plan.tokens_dropped),
    ] {
        let count = plan.rows.iter().filter(|row| row.choice == choice).count();
        writeln!(out, "  {:<9} {count:>5} messages {:>10} tokens", word(choice), thousands(tokens))?;
    }
    writeln!(out)?;
    for row in &plan.rows {
        let id = terminal::plain(&row.message_id, 20);
        writeln!(out, "  {:<9} {:>8}  {id:<20} {DIM}{}{DIM:#}", word(row.choice), thousands(row.tokens), row.why)?;
    }
    if !plan.instructions.is_empty() {
        writeln!(out, "\n{BOLD}for the summarizer{BOLD:#}")?;
        terminal::quoted(out, &plan.instructions, usize::MAX)?;
        if plan.facts_left_out > 0 {
            writeln!(out, "  {DIM}{} facts did not fit{DIM:#}", plan.facts_left_out)?;
        }
    }
    Ok(())
}

fn word(choice: Choice) -> &'static str {
    match choice {
        Choice::Keep => "keep",
        Choice::Summarize => "summarize",
        Choice::Drop => "drop",
    }
}
