//! The command line: what can be asked, and how an answer becomes an exit code.
//!
//! 0 is fine, 1 means that an audit found loss beyond the limit that was asked for, 2 is bad input or usage.

mod audit;
mod checkpoint;
mod checkpoints;
mod component;
mod demo;
mod doctor;
mod input;
mod live;
mod plugin_source;
mod probe;
mod recorded;
mod recover;
mod replay;
mod scan;
mod simulate;
mod status;
mod watch;
mod what_if;

use crate::notes::MemoryNotes;
use crate::runtime::{Plugin, Services, SharedTokens};
use plugin_source::PluginSource;
pub(crate) use scan::Row;

use crate::tokens::TokenCounter;
use anyhow::{Context, Result};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// Audits what an agent's memory loses when its context is compacted.
#[derive(Debug, Parser)]
#[command(name = "compact-review", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  compact-review demo                          what it does, on an embedded session
  compact-review audit events.json             the two hook payloads of one compaction
  compact-review audit --fail-under 70 e.json  exit code 1 if the score is below 70
  compact-review replay session.jsonl          every compaction of a recorded session
  compact-review scan --html report.html       every session on this machine, as a page
  compact-review recover --workspace DIR       where the work stood, from checkpoint and notes
  compact-review doctor --workspace DIR        is it really working?
  compact-review status session.jsonl          how full the context is
  compact-review simulate session.jsonl        the same session, compacted as the plugin plans it
  compact-review completions bash              completions for the shell

Exit codes: 0 fine, 1 loss beyond --fail-under or a failed check of doctor, 2 bad input or usage.";

#[derive(Debug, Subcommand)]
enum Command {
    /// The main job on an embedded session: context fills, compaction, audit, notes, recovery.
    Demo(demo::DemoArgs),
    /// Fires both hooks with the payloads in a file, {"before": {…}, "after": {…}}, and prints the audit.
    Audit(audit::AuditArgs),
    /// Is each stated fact in the summary? Reads lines {"id", "summary", "facts": […]}.
    Probe(probe::ProbeArgs),
    /// Plays a recorded session of any format and audits its compactions; with --speed, message by message.
    Replay(replay::ReplayArgs),
    /// Audits every compaction in the transcripts below some folders.
    Scan(scan::ScanArgs),
    /// Writes a checkpoint by hand, from a recorded session.
    Checkpoint(checkpoint::CheckpointArgs),
    /// The checkpoints of a workspace: list, show, diff, export, purge.
    Checkpoints(checkpoints::CheckpointsArgs),
    /// Where the work stood: the recovery text from checkpoint and notes, and what became of the key files.
    Recover(recover::RecoverArgs),
    /// Is it really working? Loads the plugin, plants a loss and finds it, checks the workspace.
    Doctor(doctor::DoctorArgs),
    /// How full the context of a recorded session is.
    Status(status::StatusArgs),
    /// What a compaction of a recorded session would keep, and what its summary must say.
    Plan(status::PlanArgs),
    /// Runs the messages of a recorded session through the simulated gateway, which compacts as the plugin plans it.
    Simulate(simulate::SimulateArgs),
    /// Follows a session while it is written: the budget line, and an audit of each compaction.
    Watch(watch::WatchArgs),
    /// What recorded compactions would have kept with another plan.
    WhatIf(what_if::WhatIfArgs),
    /// Writes the WebAssembly component itself to a file, for gateways that load or transpile it.
    Component(component::ComponentArgs),
    /// Prints completions for a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// What every command that runs the plugin takes.
#[derive(Debug, Args)]
struct PluginArgs {
    /// Write checkpoint and daily note below DIR/memory; without it they are kept in memory.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The plugin's settings: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// How tokens are counted: `estimate`, `o200k`, `cl100k`, or the path of a tokenizer.json.
    #[arg(long, value_name = "NAME|FILE", default_value = "estimate")]
    tokenizer: String,
    #[command(flatten)]
    source: PluginSource,
}

/// What the simulated gateway puts in place of old messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyArg {
    /// The recorded summary, or the one of --summarizer-url.
    Summarize,
    /// Drop the oldest messages; no summary.
    Truncate,
    /// Drop all unprotected messages; no summary.
    Discard,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Scan(args) => scan::run(&args),
        Command::Checkpoint(args) => checkpoint::run(&args),
        Command::Checkpoints(args) => checkpoints::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Plan(args) => status::run_plan(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::WhatIf(args) => what_if::run(&args),
        Command::Component(args) => component::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "compact-review", &mut std::io::stdout());
            Ok(Outcome::Fine)
        }
    };
    match done {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::BelowLimit) => ExitCode::from(1),
        Ok(Outcome::BadInput) => ExitCode::from(2),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{RED}error{RED:#}: {error:#}");
            ExitCode::from(2)
        }
    }
}

const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Fine,
    BelowLimit,
    /// Something that could not be read was named; the rest was done.
    BadInput,
    /// A person stopped it.
    Interrupted,
}

impl Outcome {
    /// A score that is unknown misses every limit: it cannot be shown to hold.
    fn of(score: Option<f64>, fail_under: Option<f64>) -> Outcome {
        match fail_under {
            Some(limit) if score.is_none_or(|score| score < limit) => Outcome::BelowLimit,
            _ => Outcome::Fine,
        }
    }
}

/// `compact-review … | head` is no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

impl PluginArgs {
    fn services(&self, plugin: &dyn Plugin) -> Result<Services> {
        let mut services = services_in(self.workspace.as_deref())?;
        services.tokens = self.tokens()?;
        services.settings = self.settings.as_deref().map(|path| read_settings(plugin, path)).transpose()?;
        Ok(services)
    }

    fn tokens(&self) -> Result<Option<SharedTokens>> {
        if self.tokenizer == "estimate" {
            return Ok(None);
        }
        let counter = TokenCounter::open(&self.tokenizer)?;
        Ok(Some(Arc::new(Mutex::new(counter))))
    }
}

/// The settings in a file, as the plugin that will get them accepts them.
fn read_settings(plugin: &dyn Plugin, path: &Path) -> Result<String> {
    let json = input::read_text(path)?;
    let checked = plugin.configure(&Services::new(MemoryNotes::default()), &json).result;
    checked.with_context(|| path.display().to_string())?;
    Ok(json)
}

/// A folder that keeps notes, or memory that does not.
fn services_in(workspace: Option<&Path>) -> Result<Services> {
    match workspace {
        None => Ok(Services::new(MemoryNotes::default())),
        Some(folder) => {
            let notes = crate::notes::FolderNotes::open(folder)
                .with_context(|| format!("the workspace {} cannot be used", folder.display()))?;
            Ok(Services::new(notes))
        }
    }
}

fn score_limit(text: &str) -> Result<f64, String> {
    let limit: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..=100.0).contains(&limit) { Ok(limit) } else { Err("a score is from 0 to 100".to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_score_that_is_not_known_misses_every_limit() {
        assert_eq!(Outcome::of(None, Some(0.0)), Outcome::BelowLimit);
        assert_eq!(Outcome::of(None, None), Outcome::Fine);
        assert_eq!(Outcome::of(Some(70.0), Some(70.0)), Outcome::Fine);
        assert_eq!(Outcome::of(Some(69.9), Some(70.0)), Outcome::BelowLimit);
    }
}
