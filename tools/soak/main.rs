//! A soak: many simulated sessions in several gateway processes, the plugin as a component in each, and faults of every
//! kind at once. What must hold is checked while it runs and at the end; the exit code is 1 where it did not.
//!
//! `cargo run --release -p host-harness --example soak -- --minutes 20` prints a table; docs/load.md explains it. The plan
//! of the run (`plan`) is drawn from the seed before anything starts; this process keeps the schedule, kills and checks
//! (`watch`, `verify`); the gateways are this program again (`gateway`).

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod disk;
mod gateway;
mod measure;
mod plan;
mod protocol;
mod report;
mod store;
mod talk;
mod verify;
mod watch;

use anyhow::{Context, Result};
use clap::Parser;
use plan::{LONG_LIVED, ON_SMALL_DISK, Plan};
use report::Report;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use watch::Soak;

/// Many sessions, many faults, several gateways, one workspace: what is promised must hold all the time.
#[derive(Debug, Parser)]
pub struct Options {
    /// How long; each session has an event every three seconds.
    #[arg(long, default_value_t = 20.0, value_parser = minutes)]
    minutes: f64,
    /// How many sessions.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(4..=512))]
    sessions: u16,
    /// What the plan is drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// An empty folder to run in, which stays; a temporary one without it.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Nothing new begins while this file stands, and the time does not count: to leave the machine to something else.
    #[arg(long, value_name = "FILE")]
    pause_while: Option<PathBuf>,
    /// Be one of the gateways.
    #[arg(long, hide = true)]
    gateway: Option<usize>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "a number of minutes, such as 0.5".to_string())?;
    if (0.1..=1440.0).contains(&minutes) { Ok(minutes) } else { Err("from 0.1 to 1440".to_string()) }
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let plan = Plan::draw(options.seed, options.minutes, usize::from(options.sessions));
    if let (Some(gateway), Some(base)) = (options.gateway, &options.workspace) {
        gateway::run(base, gateway, &plan)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(code) = disk::again_in_namespace() {
        return Ok(ExitCode::from(u8::try_from(code).unwrap_or(2)));
    }
    let temporary = match &options.workspace {
        Some(_) => None,
        None => Some(tempfile::tempdir()?),
    };
    let base = options.workspace.as_deref().or(temporary.as_ref().map(|folder| folder.path())).context("a folder")?;
    let real_disk = prepare(base)?;
    let held = soak(&options, &plan, base, real_disk)?;
    if real_disk {
        disk::unmount(&gateway::workspace(base, ON_SMALL_DISK))?;
    }
    if !held && let Some(folder) = temporary {
        eprintln!("what was written is left in {}", folder.keep().display());
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The two workspaces; tells whether the second is a disk of its own.
fn prepare(base: &Path) -> Result<bool> {
    let [disk, small] = [LONG_LIVED, ON_SMALL_DISK].map(|gateway| gateway::workspace(base, gateway));
    for folder in [&disk, &small] {
        fs::create_dir_all(folder)?;
        let empty = fs::read_dir(folder)?.next().is_none();
        anyhow::ensure!(empty, "{} is not empty: a run begins with nothing", folder.display());
    }
    let mounted = disk::mount(&small);
    if let Err(why) = &mounted {
        eprintln!("no small disk, its faults are played by the store: {why:#}");
    }
    for folder in [&disk, &small] {
        fs::create_dir_all(folder.join("memory"))?;
        fs::write(folder.join("memory").join(format!("{}.md", verify::OWN_DATE)), verify::OWN)?;
    }
    Ok(mounted.is_ok())
}

/// Runs the plan and reports; tells whether everything held.
fn soak(options: &Options, plan: &Plan, base: &Path, real_disk: bool) -> Result<bool> {
    let mut soak = Soak::new(options, plan, base, real_disk);
    soak.run()?;
    let course = soak.memory.course();
    soak.tally.check(course, &mut soak.wrong);
    let session_outcomes = soak.tally.outcome_hashes();
    let held = soak.wrong.count() == 0;
    let report = Report {
        seed: options.seed,
        sessions: plan.sessions.len(),
        minutes: options.minutes,
        plan: plan.hash(),
        outcome: report::overall(&session_outcomes),
        session_outcomes,
        real_disk,
        tally: &soak.tally,
        memory: course,
        held,
        violations: &soak.wrong,
    };
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        report.print();
    }
    Ok(held)
}
