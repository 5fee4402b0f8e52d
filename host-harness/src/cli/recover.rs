//! `recover`: what an agent would be told about where the work stood, from the files of a workspace. Changes nothing.

use super::Outcome;
use super::input::now;
use crate::notes::{FolderNotes, NoteStore};
use crate::report::terminal;
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result, bail};
use clap::Args;
use compact_review::budget::estimate::estimate;
use compact_review::checkpoint::{self, Header, Recovered, recovered};
use compact_review::event::LocalTime;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Args)]
pub(super) struct RecoverArgs {
    /// The workspace: the folder that has `memory/` in it.
    #[arg(long, value_name = "DIR")]
    workspace: PathBuf,
    /// The session whose checkpoint is wanted; without it the active one.
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// The length of the text at most, in estimated tokens.
    #[arg(long, value_name = "N", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(100..=20_000))]
    max_tokens: u32,
    /// One JSON object instead of text for people.
    #[arg(long)]
    json: bool,
}

/// A file that the checkpoint names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyFile {
    path: String,
    state: FileState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum FileState {
    Unchanged,
    Changed,
    Missing,
    /// It is there, and the checkpoint does not say when it was taken.
    There,
}

/// A daily note and what it has of the session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NoteSeen {
    date: String,
    bytes: usize,
    headings: Vec<String>,
}

pub(super) fn run(args: &RecoverArgs) -> Result<Outcome> {
    let shown = args.workspace.display();
    let mut notes =
        FolderNotes::open(&args.workspace).with_context(|| format!("the workspace {shown} cannot be used"))?;
    let text = match &args.session {
        None => notes.active_checkpoint()?,
        Some(key) => notes
            .read_checkpoint(key)?
            .filter(|text| checkpoint::parse(text).is_some_and(|header| header.session_key == *key)),
    };
    let Some(text) = text else {
        let whose = args.session.as_ref().map(|key| format!(" of session {key:?}")).unwrap_or_default();
        bail!("{shown}/memory has no checkpoint{whose}: nothing to recover; `compact-review checkpoint` writes one");
    };
    let header = checkpoint::parse(&text);
    let now = now();
    let seen = notes_of(&notes, now)?;
    let mut found = Recovered::of(&text, header.as_ref());
    if let Some(header) = &header {
        found.facts = lost_facts(&notes, now, header)?;
    }
    found = found.with_all_of(&text);
    let recovery = fitting(&found, args.max_tokens).unwrap_or_default();
    let files = key_files(&args.workspace, &text, header.as_ref());
    let mut out = anstream::stdout().lock();
    if args.json {
        let json = serde_json::json!({
            "session": header.as_ref().map(|header| &header.session_key),
            "taken": header.as_ref().map(|header| header.taken.stamp()),
            "messageCount": header.as_ref().map(|header| header.message_count),
            "task": found.task, "status": found.status, "lastAction": found.last, "next": found.next,
            "recovery": {"text": recovery, "tokens": estimate(&recovery)},
            "keyFiles": files, "notes": seen,
        });
        serde_json::to_writer(&mut out, &json)?;
        writeln!(out)?;
    } else {
        print(&mut out, &recovery, header.as_ref(), &files, &seen)?;
    }
    Ok(Outcome::Fine)
}

/// As much of it as fits; a byte is not a token, so it is counted and cut again.
fn fitting(found: &Recovered, most: u32) -> Option<String> {
    let mut bytes = most as usize * 4;
    loop {
        let text = found.text(bytes)?;
        if estimate(&text) <= most {
            return Some(text);
        }
        bytes = bytes * 9 / 10;
    }
}

/// What the last compaction of the session lost, from the notes of today, yesterday and the checkpoint's own day.
fn lost_facts(notes: &FolderNotes, now: LocalTime, header: &Header) -> Result<Vec<String>> {
    for date in dates(now).into_iter().chain([header.taken.date()]) {
        if let Some(note) = notes.note(&date)?
            && let Some((_, facts)) = recovered::last_entry(&note, &header.session_key)
        {
            return Ok(facts);
        }
    }
    Ok(Vec::new())
}

/// Today and yesterday, on the user's clock.
fn dates(now: LocalTime) -> [String; 2] {
    [now.date(), now.at(now.unix_ms - DAY_MS).date()]
}

fn notes_of(notes: &FolderNotes, now: LocalTime) -> Result<Vec<NoteSeen>> {
    const HEADINGS: usize = 8;
    let mut seen = Vec::new();
    for date in dates(now) {
        let Some(note) = notes.note(&date)? else { continue };
        let all: Vec<&str> = note.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let headings = all.iter().skip(all.len().saturating_sub(HEADINGS)).map(|line| terminal::plain(line, 100));
        seen.push(NoteSeen { date, bytes: note.len(), headings: headings.collect() });
    }
    Ok(seen)
}

/// The key files of a checkpoint: are they still there, and did they change since?
fn key_files(workspace: &Path, checkpoint: &str, header: Option<&Header>) -> Vec<KeyFile> {
    let lines = checkpoint.lines().skip_while(|line| *line != "### Key Files").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#')).filter_map(|line| line.strip_prefix("- "));
    lines.map(|path| KeyFile { path: path.to_string(), state: state_of(workspace, path, header) }).collect()
}

/// Looked at and never opened: the name comes from a file that anyone may have edited.
fn state_of(workspace: &Path, path: &str, header: Option<&Header>) -> FileState {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let place = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => workspace.join(path),
    };
    let Ok(data) = std::fs::metadata(place) else { return FileState::Missing };
    let modified = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    match (modified, header) {
        (Some(modified), Some(header)) if modified.as_millis() as i64 > header.taken.unix_ms => FileState::Changed,
        (Some(_), Some(_)) => FileState::Unchanged,
        _ => FileState::There,
    }
}

fn print(
    out: &mut impl Write,
    recovery: &str,
    header: Option<&Header>,
    files: &[KeyFile],
    notes: &[NoteSeen],
) -> Result<()> {
    for line in recovery.lines() {
        writeln!(out, "{}", terminal::plain(line, 800))?;
    }
    if recovery.is_empty() {
        writeln!(out, "the checkpoint has no task, step or fact that could be handed back")?;
    }
    match header {
        Some(header) => writeln!(
            out,
            "\n{DIM}session {} · {} messages · taken {}{DIM:#}",
            terminal::plain(&header.session_key, 100),
            header.message_count,
            header.taken.stamp()
        )?,
        None => writeln!(out, "\n{DIM}written by hand: whose it is and when it was taken is not known{DIM:#}")?,
    }
    if !files.is_empty() {
        writeln!(out, "\n{BOLD}Key files{BOLD:#}")?;
    }
    for file in files {
        let path = terminal::plain(&file.path, 120);
        match file.state {
            FileState::Unchanged => writeln!(out, "  {path} {DIM}unchanged since{DIM:#}")?,
            FileState::There => writeln!(out, "  {path} {DIM}is there{DIM:#}")?,
            FileState::Changed => writeln!(out, "  {path} {YELLOW}changed since{YELLOW:#}")?,
            FileState::Missing => writeln!(out, "  {path} {YELLOW}is not there{YELLOW:#}")?,
        }
    }
    for note in notes {
        writeln!(out, "\n{BOLD}memory/{}.md{BOLD:#} {DIM}{} bytes{DIM:#}", note.date, note.bytes)?;
        for heading in &note.headings {
            writeln!(out, "  {heading}")?;
        }
    }
    Ok(())
}
