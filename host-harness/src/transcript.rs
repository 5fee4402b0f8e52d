//! Recorded sessions: JSONL files of OpenClaw and Pi, old and current entries.
//!
//! A line that cannot be read is counted and named, never fatal. Images, hidden reasoning and encrypted parts are
//! counted and never printed. Where entries name their parents, the branch that was really active is followed.

mod branch;
mod entry;

use compact_review::event::{Message, Session};
use entry::Line;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A recorded session.
#[derive(Debug, Default)]
pub struct Transcript {
    /// What it is called.
    pub session: Session,
    /// What happened, in order.
    pub entries: Vec<Entry>,
    /// Lines that could not be read.
    pub broken: Vec<BrokenLine>,
    /// Parts that are no text: images, hidden reasoning, encrypted content.
    pub opaque_parts: usize,
    /// Entries that are not on the branch that was active at the end.
    pub other_branches: usize,
}

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Something was said.
    Message(Message),
    /// A summary replaced messages.
    Compaction(RecordedCompaction),
}

/// A compaction in a recorded session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedCompaction {
    /// Its id in the transcript.
    pub id: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: Option<i64>,
    /// The summary; `None` where the entry has none.
    pub summary: Option<String>,
    /// The id of the first message that was kept.
    pub first_kept_id: Option<String>,
    /// The context before, in tokens.
    pub tokens_before: Option<u64>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLine {
    /// From 1.
    pub line: usize,
    /// What is wrong with it, with the field where there is one.
    pub why: String,
}

/// Why a transcript cannot be read at all.
#[derive(Debug)]
pub struct TranscriptError {
    path: PathBuf,
    why: String,
}

impl std::fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for TranscriptError {}

impl Transcript {
    /// Reads a file line by line.
    pub fn open(path: &Path) -> Result<Transcript, TranscriptError> {
        let failed = |why: String| TranscriptError { path: path.to_path_buf(), why };
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        if file.metadata().is_ok_and(|data| data.is_dir()) {
            return Err(failed("this is a folder; name one transcript file in it".to_string()));
        }
        let transcript = Transcript::read(BufReader::new(file)).map_err(|error| failed(error.to_string()))?;
        if transcript.entries.is_empty() {
            let first = transcript.broken.first();
            let why = first.map(|broken| format!(" (line {}: {})", broken.line, broken.why)).unwrap_or_default();
            return Err(failed(format!("no message in it that an OpenClaw or Pi session would have{why}")));
        }
        Ok(transcript)
    }

    /// Reads lines.
    pub fn read(mut input: impl BufRead) -> std::io::Result<Transcript> {
        let mut transcript = Transcript::default();
        let mut lines = Vec::new();
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            if input.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            match entry::parse(&bytes, number, &mut transcript.opaque_parts) {
                Ok(Some(Line::Header { session_id, .. })) => transcript.session.session_id = session_id,
                Ok(Some(line)) => lines.push(line),
                Ok(None) => {}
                Err(why) => transcript.broken.push(BrokenLine { line: number, why }),
            }
        }
        let (entries, others) = branch::active(lines);
        transcript.entries = entries;
        transcript.other_branches = others;
        let id = transcript.session.session_id.as_deref().unwrap_or("recorded");
        transcript.session.session_key = format!("agent:main:{id}");
        transcript.session.agent_id = Some("main".to_string());
        Ok(transcript)
    }

    /// How many compactions it has.
    pub fn compactions(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::Compaction(_))).count()
    }
}
