//! `doctor`: is it really working? Every check does what it speaks of, and leaves nothing behind.

use super::input::{now, read_text};
use super::{Outcome, PluginSource};
use crate::notes::{FolderNotes, MemoryNotes};
use crate::report::terminal::plain;
use crate::runtime::{ComponentPlugin, Plugin, Services, cache_directory};
use anstyle::{AnsiColor, Style};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use compact_review::checkpoint;
use compact_review::event::{AfterCompaction, BeforeCompaction, Message, Role, Session};
use compact_review::report::{Report, Verdict};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const SESSION: &str = "compact-review:doctor";

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// The workspace whose `memory/` folder is to be checked.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The plugin's settings: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// One JSON object instead of text for people.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: PluginSource,
}

/// One check and what came of it.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
}

impl Check {
    fn of(name: &'static str, done: Result<String>) -> Check {
        match done {
            Ok(detail) => Check { name, ok: true, detail },
            Err(error) => Check { name, ok: false, detail: format!("{error:#}") },
        }
    }
}

pub(super) fn run(args: &DoctorArgs) -> Result<Outcome> {
    let mut checks = Vec::new();
    match args.source.load() {
        Err(error) => checks.push(Check::of("component", Err(error))),
        Ok(plugin) => {
            // Loading refuses every import that the contract does not have.
            let detail = format!("SHA-256 {}, imports only compact-review:plugin/host", plugin.sha256());
            checks.push(Check::of("component", Ok(detail)));
            checks.push(Check::of("settings", settings(&plugin, args.settings.as_deref())));
            checks.push(Check::of("canary", canary(&plugin)));
            checks.push(Check::of("secrets", secrets(&plugin)));
        }
    }
    checks.push(Check::of("cache", cache()));
    if let Some(folder) = &args.workspace {
        checks.push(Check::of("workspace", workspace(folder)));
        checks.push(Check::of("checkpoint", standing_checkpoint(folder)));
    }
    print(&checks, args.json)?;
    Ok(if checks.iter().all(|check| check.ok) { Outcome::Fine } else { Outcome::BelowLimit })
}

fn print(checks: &[Check], json: bool) -> Result<()> {
    let mut out = anstream::stdout().lock();
    if json {
        let ok = checks.iter().all(|check| check.ok);
        serde_json::to_writer(&mut out, &serde_json::json!({"ok": ok, "checks": checks}))?;
        writeln!(out)?;
        return Ok(());
    }
    for check in checks {
        let detail = plain(&check.detail, 300);
        match check.ok {
            true => writeln!(out, "{GREEN}ok{GREEN:#}      {:<11} {DIM}{detail}{DIM:#}", check.name)?,
            false => writeln!(out, "{RED}failed{RED:#}  {:<11} {detail}", check.name)?,
        }
    }
    Ok(())
}

fn settings(plugin: &ComponentPlugin, path: Option<&Path>) -> Result<String> {
    let json = path.map(read_text).transpose()?;
    let services = Services::new(MemoryNotes::default());
    let effective = plugin.configure(&services, json.as_deref().unwrap_or("{}")).result?;
    let keys = serde_json::from_str::<serde_json::Value>(&effective)?.as_object().map_or(0, serde_json::Map::len);
    Ok(format!("{}, {keys} sections", path.map_or("the defaults".to_string(), |path| path.display().to_string())))
}

const RULE: &str = "Never restart the turbine controller before Ingrid has signed form TC-4471.";
const FAITHFUL: &str = "Rule of the user: never restart the turbine controller before Ingrid has signed form TC-4471. The \
    pressure log of unit seven is being read; the next step is a table of its hourly means.";
const FORGETFUL: &str = "The pressure log of unit seven is being read; the next step is a table of its hourly means.";

/// A made-up conversation: a rule, and work that goes on.
fn conversation() -> Vec<Message> {
    let said = [
        (Role::User, RULE),
        (Role::Assistant, "Understood."),
        (Role::User, "Now read the pressure log of unit seven."),
        (Role::Assistant, "I read the pressure log; next I make a table of its hourly means."),
    ];
    let message = |(at, (role, text)): (usize, (Role, &str))| Message {
        id: format!("canary-{at}"),
        role,
        text: text.to_string(),
        tool: None,
        failed: false,
        at: None,
    };
    said.into_iter().enumerate().map(message).collect()
}

fn compaction(plugin: &ComponentPlugin, messages: Vec<Message>, summary: &str) -> Result<(String, Report)> {
    let services = Services::new(MemoryNotes::default());
    let session = Session { session_key: SESSION.to_string(), ..Default::default() };
    let before = BeforeCompaction { session: session.clone(), now: now(), messages, ..Default::default() };
    let outcome = plugin.before_compaction(&services, &before).result?;
    let Some(write) = outcome.writes.first().filter(|write| write.error.is_none()) else {
        bail!("before_compaction wrote no checkpoint: {}", outcome.problems.join("; "));
    };
    let after = AfterCompaction { session, now: now(), summary_text: Some(summary.to_string()), ..Default::default() };
    let report = plugin.after_compaction(&services, &after).result?;
    if !report.problems.is_empty() {
        bail!("after_compaction: {}", report.problems.join("; "));
    }
    Ok((write.text.clone(), report))
}

/// A loss that was planted must be found, and only where it was planted.
fn canary(plugin: &ComponentPlugin) -> Result<String> {
    let (_, forgetful) = compaction(plugin, conversation(), FORGETFUL)?;
    let (_, faithful) = compaction(plugin, conversation(), FAITHFUL)?;
    let finds = |report: &Report| report.lost.iter().any(|finding| finding.text.contains("TC-4471"));
    if forgetful.verdict != Verdict::Lossy || !finds(&forgetful) {
        bail!("a rule that a summary lost was not found: the verdict is {}", forgetful.verdict.name());
    }
    if finds(&faithful) {
        bail!("a rule that a summary kept was reported as lost");
    }
    let score = |report: &Report| report.score.unwrap_or_default();
    Ok(format!(
        "a planted loss is found: {:.1} of 100 without the rule, {:.1} with it",
        score(&forgetful),
        score(&faithful)
    ))
}

/// A planted secret must stand in nothing that is written or reported.
fn secrets(plugin: &ComponentPlugin) -> Result<String> {
    // Joined here, so that no scanner takes this file for a leak.
    let secret = ["ghp", "_", "a8F3kQ9zL2mX7cV5bN1jH4gT6rY0wE8uP3sD"].concat();
    let mut messages = conversation();
    if let Some(first) = messages.first_mut() {
        first.text = format!("{} The deploy token is {secret}.", first.text);
    }
    let (checkpoint, report) = compaction(plugin, messages, FORGETFUL)?;
    let all = format!("{checkpoint}{}", serde_json::to_string(&report)?);
    if all.contains(&secret) {
        bail!("a planted token was written or reported");
    }
    Ok("a planted token is in no checkpoint, note, finding or recovery text".to_string())
}

/// Compiled code is kept, so that a start takes no seconds.
fn cache() -> Result<String> {
    let folder = cache_directory().map_err(|error| anyhow!("every start compiles the plugin anew: {error}"))?;
    let entries = std::fs::read_dir(&folder).map(Iterator::count).unwrap_or_default();
    if entries == 0 {
        bail!("{} keeps no compiled code: every start compiles the plugin anew; make it writable", folder.display());
    }
    Ok(folder.display().to_string())
}

/// Notes can be written under the lock, and read back.
fn workspace(folder: &Path) -> Result<String> {
    let notes = FolderNotes::open(folder)?;
    notes.check()?;
    Ok(format!("{}/memory can be written, and its lock is free", folder.display()))
}

fn standing_checkpoint(folder: &Path) -> Result<String> {
    let notes = FolderNotes::open(folder)?;
    let earlier = notes.earlier_checkpoints()?.len();
    Ok(match notes.active_checkpoint()? {
        None => "none yet".to_string(),
        Some(text) => match checkpoint::parse(&text) {
            Some(header) => {
                format!("of {}, taken {}, {earlier} earlier ones", header.session_key, header.taken.stamp())
            }
            None => format!("written by hand, {earlier} earlier ones; the next compaction replaces and keeps it"),
        },
    })
}
