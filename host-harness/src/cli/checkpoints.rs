//! `checkpoints`: the active checkpoint and the earlier ones: list, show, compare, export, remove.

use super::Outcome;
use crate::notes::FolderNotes;
use crate::report::terminal::{plain, thousands};
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use compact_review::checkpoint::{self, Recovered};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
/// What the active checkpoint is called.
const ACTIVE: &str = "active";

#[derive(Debug, Args)]
pub(super) struct CheckpointsArgs {
    /// The workspace: the folder that has `memory/` in it.
    #[arg(long, value_name = "DIR", global = true, default_value = ".")]
    workspace: PathBuf,
    /// JSON instead of text for people.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// All checkpoints, oldest first; the active one is the last.
    List,
    /// The text of one: `active`, or a name as `list` shows it, or the begin of one.
    Show {
        /// Which.
        name: String,
    },
    /// What is in one and not in the other, section by section.
    Diff {
        /// The older one.
        a: String,
        /// The newer one; without it the active one.
        #[arg(default_value = ACTIVE)]
        b: String,
    },
    /// All checkpoints as one JSON file.
    Export {
        /// Where to; it must not exist yet. Without it, standard output.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Say what would be written.
        #[arg(long, requires = "output")]
        dry_run: bool,
    },
    /// Removes earlier checkpoints; the active one only if asked.
    Purge {
        /// Keep the newest so many earlier ones.
        #[arg(long, value_name = "N", default_value_t = 0)]
        keep: usize,
        /// Remove the active checkpoint too.
        #[arg(long)]
        active: bool,
        /// Remove what is kept between two hooks too: ledgers, budgets, recovery texts that wait.
        #[arg(long)]
        state: bool,
        /// Say what would be removed and remove nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// One checkpoint in a list or an export.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    bytes: u64,
    /// When it was taken; absent where it does not say.
    taken: Option<String>,
    session: Option<String>,
    message_count: Option<u32>,
    status: Option<String>,
    task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Listed {
    fn of(name: &str, text: &str) -> Listed {
        let header = checkpoint::parse(text);
        let found = Recovered::of(text, header.as_ref());
        Listed {
            name: name.to_string(),
            bytes: text.len() as u64,
            taken: header.as_ref().map(|header| header.taken.stamp()),
            message_count: header.as_ref().map(|header| header.message_count),
            session: header.map(|header| header.session_key),
            status: found.status,
            task: found.task,
            text: None,
        }
    }
}

pub(super) fn run(args: &CheckpointsArgs) -> Result<Outcome> {
    let shown = args.workspace.display();
    let notes = FolderNotes::open(&args.workspace).with_context(|| format!("the workspace {shown} cannot be used"))?;
    let mut out = anstream::stdout().lock();
    match &args.action {
        Action::List => list(&mut out, &notes, args.json)?,
        Action::Show { name } => show(&mut out, &notes, name, args.json)?,
        Action::Diff { a, b } => diff(&mut out, &notes, a, b, args.json)?,
        Action::Export { output, dry_run } => export(&mut out, &notes, output.as_ref(), *dry_run)?,
        Action::Purge { keep, active, state, dry_run } => {
            purge(
                &mut out,
                &notes,
                &Purge { keep: *keep, active: *active, state: *state, dry_run: *dry_run },
                args.json,
            )?;
        }
    }
    Ok(Outcome::Fine)
}

/// All of them with their texts, oldest first.
fn all(notes: &FolderNotes) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for earlier in notes.earlier_checkpoints()? {
        // One may be removed by its gateway meanwhile.
        if let Some(text) = notes.earlier_checkpoint(&earlier.name)? {
            found.push((earlier.name, text));
        }
    }
    found.extend(notes.active_checkpoint()?.map(|text| (ACTIVE.to_string(), text)));
    Ok(found)
}

fn list(out: &mut impl Write, notes: &FolderNotes, json: bool) -> Result<()> {
    let listed: Vec<Listed> = all(notes)?.iter().map(|(name, text)| Listed::of(name, text)).collect();
    if json {
        serde_json::to_writer(&mut *out, &listed)?;
        writeln!(out)?;
        return Ok(());
    }
    for one in &listed {
        let taken = one.taken.as_deref().unwrap_or("time not known");
        let task = plain(one.task.as_deref().unwrap_or("no task"), 60);
        let status = plain(one.status.as_deref().unwrap_or("?"), 10);
        let session = plain(one.session.as_deref().unwrap_or("by hand"), 40);
        writeln!(
            out,
            "{:<34} {taken}  {status:<8} {task} {DIM}{session}, {} bytes{DIM:#}",
            one.name,
            thousands(one.bytes)
        )?;
    }
    if listed.is_empty() {
        writeln!(out, "no checkpoints")?;
    }
    Ok(())
}

/// The one that is called so, or the only one whose name begins so.
fn find(notes: &FolderNotes, name: &str) -> Result<(String, String)> {
    let mut found = all(notes)?;
    if let Some(at) = found.iter().position(|(known, _)| known == name) {
        return Ok(found.swap_remove(at));
    }
    found.retain(|(known, _)| !name.is_empty() && known.starts_with(name));
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => bail!("no checkpoint is called {name:?}; `checkpoints list` shows their names"),
        many => bail!("{many} checkpoints begin with {name:?}; name one of them in full"),
    }
}

fn show(out: &mut impl Write, notes: &FolderNotes, name: &str, json: bool) -> Result<()> {
    let (name, text) = find(notes, name)?;
    if json {
        serde_json::to_writer(&mut *out, &Listed { text: Some(text.clone()), ..Listed::of(&name, &text) })?;
        writeln!(out)?;
        return Ok(());
    }
    for line in text.lines() {
        writeln!(out, "{}", plain(line, 2000))?;
    }
    Ok(())
}

/// The lines of a section that only one of two checkpoints has.
#[derive(Debug, Serialize)]
struct Changed {
    section: String,
    removed: Vec<String>,
    added: Vec<String>,
}

fn diff(out: &mut impl Write, notes: &FolderNotes, a: &str, b: &str, json: bool) -> Result<()> {
    let ((a, before), (b, after)) = (find(notes, a)?, find(notes, b)?);
    let changed = changes(&before, &after);
    if json {
        serde_json::to_writer(&mut *out, &serde_json::json!({"a": a, "b": b, "sections": changed}))?;
        writeln!(out)?;
        return Ok(());
    }
    for section in &changed {
        writeln!(out, "### {}", plain(&section.section, 100))?;
        for line in &section.removed {
            writeln!(out, "{RED}- {}{RED:#}", plain(line, 400))?;
        }
        for line in &section.added {
            writeln!(out, "{GREEN}+ {}{GREEN:#}", plain(line, 400))?;
        }
    }
    if changed.is_empty() {
        writeln!(out, "no difference")?;
    }
    Ok(())
}

/// Section by section, whatever the order of the lines: a step that moved up is no change.
fn changes(before: &str, after: &str) -> Vec<Changed> {
    let (before, after) = (sections(before), sections(after));
    let mut names: Vec<&String> = before.iter().chain(&after).map(|(name, _)| name).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let lines = |of: &[(String, Vec<String>)], name: &str| -> Vec<String> {
        of.iter().filter(|(known, _)| known == name).flat_map(|(_, lines)| lines.clone()).collect()
    };
    let mut changed = Vec::new();
    for name in names {
        let (old, new) = (lines(&before, name), lines(&after, name));
        let removed: Vec<String> = old.iter().filter(|line| !new.contains(line)).cloned().collect();
        let added: Vec<String> = new.iter().filter(|line| !old.contains(line)).cloned().collect();
        if !(removed.is_empty() && added.is_empty()) {
            changed.push(Changed { section: name.clone(), removed, added });
        }
    }
    changed
}

fn sections(text: &str) -> Vec<(String, Vec<String>)> {
    let mut sections = vec![("Head".to_string(), Vec::new())];
    for line in text.lines().filter(|line| !line.starts_with("<!--") && !line.trim().is_empty()) {
        match (line.strip_prefix("### "), sections.last_mut()) {
            (Some(name), _) => sections.push((name.to_string(), Vec::new())),
            (None, Some((_, lines))) => {
                // The number of a step changes when one above it is done.
                let item = line.trim_start_matches(|c: char| c.is_ascii_digit());
                let line = item.strip_prefix(". ").filter(|_| item.len() < line.len()).unwrap_or(line);
                lines.push(line.trim_start_matches("- ").to_string());
            }
            (None, None) => {}
        }
    }
    sections
}

fn export(out: &mut impl Write, notes: &FolderNotes, output: Option<&PathBuf>, dry_run: bool) -> Result<()> {
    let all = all(notes)?;
    let listed: Vec<Listed> =
        all.into_iter().map(|(name, text)| Listed { text: Some(text.clone()), ..Listed::of(&name, &text) }).collect();
    let Some(path) = output else {
        serde_json::to_writer_pretty(&mut *out, &listed)?;
        writeln!(out)?;
        return Ok(());
    };
    let bytes: u64 = listed.iter().map(|one| one.bytes).sum();
    let what = format!("{} checkpoints, {} bytes of text, to {}", listed.len(), thousands(bytes), path.display());
    if dry_run {
        writeln!(out, "would write {what}")?;
        return Ok(());
    }
    let mut new = std::fs::OpenOptions::new();
    new.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    let file = new.open(path).with_context(|| format!("{}", path.display()))?;
    serde_json::to_writer_pretty(&file, &listed)?;
    file.sync_all().with_context(|| format!("{}", path.display()))?;
    writeln!(out, "wrote {what}")?;
    Ok(())
}

struct Purge {
    keep: usize,
    active: bool,
    state: bool,
    dry_run: bool,
}

fn purge(out: &mut impl Write, notes: &FolderNotes, what: &Purge, json: bool) -> Result<()> {
    let removed = notes.purge_checkpoints(what.keep, what.dry_run)?;
    let bytes: u64 = removed.iter().map(|one| one.bytes).sum();
    let mut names: Vec<String> = removed.into_iter().map(|one| format!("checkpoints/{}", one.name)).collect();
    if what.active && notes.purge_active(what.dry_run)? {
        names.push("checkpoint.md".to_string());
    }
    if what.state {
        names.extend(notes.purge_state(what.dry_run)?.into_iter().map(|name| format!(".compact-review/{name}")));
    }
    if json {
        let json = serde_json::json!({"dryRun": what.dry_run, "removed": names});
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)?;
        return Ok(());
    }
    for name in &names {
        writeln!(out, "memory/{name}")?;
    }
    let word = if what.dry_run { "would be removed" } else { "removed" };
    writeln!(out, "{} {word}, {} bytes of earlier checkpoints", names.len(), thousands(bytes))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_moved_up_is_no_change_and_a_new_rule_is() {
        let before = "<!-- x -->\n## T - 2026-11-18 00:30\n### Next Steps\n1. a\n2. b\n### Constraints\n- never\n";
        let after = "<!-- y -->\n## T - 2026-11-18 00:40\n### Next Steps\n1. b\n### Constraints\n- never\n- always\n";
        let changed = changes(before, after);
        let shown: Vec<(&str, &[String], &[String])> =
            changed.iter().map(|one| (one.section.as_str(), one.removed.as_slice(), one.added.as_slice())).collect();
        assert_eq!(shown[0].0, "Head");
        assert_eq!(shown[1], ("Next Steps", &["a".to_string()][..], &[][..]));
        assert_eq!(shown[2], ("Constraints", &[][..], &["always".to_string()][..]));
    }
}
