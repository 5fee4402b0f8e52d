//! Which files there are: below folders that a person names, or where the tools keep their sessions.

use super::record::Problem;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Files that may be transcripts.
    pub files: Vec<FoundFile>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// A file that may be a transcript.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// A person named it, so it should be one.
    pub named: bool,
}

/// Where OpenClaw, Pi, Claude Code and Codex keep their sessions, as far as these folders exist.
pub fn default_places() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let folder = |variable: &str, inside: &str| {
        let set = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        set.or_else(|| home.as_ref().map(|home| home.join(inside)))
    };
    let places = [
        folder("OPENCLAW_STATE_DIR", ".openclaw").map(|folder| folder.join("agents")),
        folder("PI_CODING_AGENT_DIR", ".pi/agent").map(|folder| folder.join("sessions")),
        folder("CLAUDE_CONFIG_DIR", ".claude").map(|folder| folder.join("projects")),
        folder("CODEX_HOME", ".codex").map(|folder| folder.join("sessions")),
        folder("CODEX_HOME", ".codex").map(|folder| folder.join("archived_sessions")),
    ];
    places.into_iter().flatten().filter(|place| place.is_dir()).collect()
}

/// Looks below each path. Links are followed; a folder that contains itself is reported once and left.
pub fn walk(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        match std::fs::metadata(path) {
            Err(error) => found.problems.push(Problem::new(path, "unreadable", error.to_string())),
            Ok(data) if data.is_dir() => below(path, &mut found),
            Ok(data) => found.files.push(FoundFile { path: path.clone(), bytes: data.len(), named: true }),
        }
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path).then(b.named.cmp(&a.named)));
    found.files.dedup_by(|a, b| a.path == b.path);
    found
}

fn below(folder: &Path, found: &mut Found) {
    for entry in WalkDir::new(folder).follow_links(true).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_file() && looks_like_one(entry.path()) => {
                let bytes = entry.metadata().map_or(0, |data| data.len());
                found.files.push(FoundFile { path: entry.into_path(), bytes, named: false });
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_path_buf();
                let (sort, why) = match error.loop_ancestor() {
                    Some(ancestor) => {
                        ("loop", format!("this folder contains itself: it leads to {}", ancestor.display()))
                    }
                    None => {
                        let io = error.io_error().map(ToString::to_string);
                        ("unreadable", io.unwrap_or_else(|| error.to_string()))
                    }
                };
                found.problems.push(Problem::new(&path, sort, why));
            }
        }
    }
}

/// By its name: `….jsonl`, also with what OpenClaw puts behind it when a session is reset or deleted; a store.
fn looks_like_one(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.to_ascii_lowercase();
    let archived = name.contains(".jsonl.reset.") || name.contains(".jsonl.deleted.");
    name.ends_with(".jsonl") || archived || name.ends_with(".sqlite") || name.ends_with(".db")
}
