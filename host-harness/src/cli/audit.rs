//! `audit`: both hooks on the payloads in a file.

use super::input::{Events, read_events};
use super::{Outcome, PluginArgs, score_limit};
use crate::report::json::AuditJson;
use crate::report::terminal;
use crate::runtime::{ComponentPlugin, LogLine, Plugin, Services};
use anyhow::{Context, Result};
use clap::Args;
use compact_review::host::LogLevel;
use compact_review::report::Report;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// The two payloads: {"before": {sessionKey, messages, …}, "after": {sessionKey, summaryText, …}}.
    events: PathBuf,
    /// One JSON object instead of text for people.
    #[arg(long)]
    json: bool,
    /// Exit code 1 if the score is below this, or not known.
    #[arg(long, value_name = "SCORE", value_parser = score_limit)]
    fail_under: Option<f64>,
    /// How many losses are listed.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Why one finding has its weight and status; its id stands in the report.
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    explain: Option<String>,
    #[command(flatten)]
    plugin: PluginArgs,
}

pub(super) fn run(args: &AuditArgs) -> Result<Outcome> {
    let events = read_events(&args.events)?;
    let plugin = args.plugin.source.load()?;
    let services = args.plugin.services(&plugin)?;
    let report = fire(&plugin, &services, &events)?;
    let mut out = anstream::stdout().lock();
    if let Some(id) = &args.explain {
        explain(&mut out, &report, id)?;
    } else if args.json {
        serde_json::to_writer(&mut out, &AuditJson::new(&report))?;
        writeln!(out)?;
    } else {
        terminal::audit(&mut out, &report, args.top)?;
        if args.plugin.workspace.is_some() {
            terminal::writes(&mut out, &report)?;
        }
    }
    Ok(Outcome::of(report.score, args.fail_under))
}

fn fire(plugin: &ComponentPlugin, services: &Services, events: &Events) -> Result<Report> {
    let mut writes = Vec::new();
    let mut problems = Vec::new();
    let mut notices = Vec::new();
    if let Some(before) = &events.before {
        let call = plugin.before_compaction(services, before);
        tell(&call.said.log);
        let outcome = call.result.context("before_compaction")?;
        writes = outcome.writes;
        problems = outcome.problems;
        notices = outcome.notices;
    }
    let call = plugin.after_compaction(services, &events.after);
    tell(&call.said.log);
    let mut report = call.result.context("after_compaction")?;
    // What the first hook wrote and noticed belongs to the same audit.
    report.writes.splice(0..0, writes);
    report.problems.splice(0..0, problems);
    report.notices.splice(0..0, notices);
    Ok(report)
}

/// What the plugin logged as wrong goes to standard error.
pub(super) fn tell(log: &[LogLine]) {
    for line in log.iter().filter(|line| line.level >= LogLevel::Warn) {
        anstream::eprintln!("plugin: {}", terminal::plain(&line.message, 400));
    }
}

fn explain(out: &mut impl Write, report: &Report, id: &str) -> Result<()> {
    let finding = report.lost.iter().find(|finding| finding.id == id).with_context(|| {
        let known: Vec<&str> = report.lost.iter().take(8).map(|finding| finding.id.as_str()).collect();
        format!("no finding is called {id:?}; there are {}, for example {}", report.lost.len(), known.join(", "))
    })?;
    writeln!(
        out,
        "{} · {} · {:?} · salience {:.3}",
        finding.id,
        finding.kind.name(),
        finding.status,
        finding.salience
    )?;
    writeln!(out, "  {}", terminal::plain(&finding.text, 400))?;
    for reason in &finding.why {
        writeln!(out, "  - {}", terminal::plain(reason, 200))?;
    }
    if let Some(says) = &finding.summary_says {
        writeln!(out, "  the summary says: {}", terminal::plain(says, 400))?;
    }
    Ok(())
}
