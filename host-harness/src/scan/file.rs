//! One file: its sessions are read one after the other, and each compaction in them is audited.

use super::Scan;
use super::record::{CompactionRecord, FileRecord, Problem, SessionRecord};
use super::walk::FoundFile;
use crate::notes::MemoryNotes;
use crate::review::Reviewer;
use crate::runtime::Services;
use crate::transcript::{Entry, ErrorKind, Recording, TranscriptError, Transcripts};
use std::collections::HashSet;

/// Why there is no record of a file.
#[derive(Debug)]
pub enum Fault {
    /// It is no transcript, and nobody said so.
    NoTranscript,
    /// It cannot be read.
    Problem(Problem),
    /// A person stopped the scan.
    Stopped,
}

impl Fault {
    fn of(error: &TranscriptError, file: &FoundFile) -> Fault {
        let sort = match error.kind() {
            ErrorKind::Stopped => return Fault::Stopped,
            // In a folder there may be any file; an OpenClaw agent has other SQLite files beside its store.
            ErrorKind::Unknown if !file.named => return Fault::NoTranscript,
            ErrorKind::Unknown => "unknown-format",
            ErrorKind::Unreadable => "unreadable",
            ErrorKind::Empty => "empty",
            ErrorKind::NoStore => "no-store",
            ErrorKind::NewerStore => "newer-store",
        };
        Fault::Problem(Problem::new(&file.path, sort, error.why().to_string()))
    }
}

/// Reads a file and audits every compaction in it.
pub fn read(scan: &Scan<'_>, file: &FoundFile) -> Result<FileRecord, Fault> {
    let failed = |error: TranscriptError| Fault::of(&error, file);
    let transcripts = Transcripts::open(&file.path, scan.format, scan.control.clone()).map_err(failed)?;
    let mut record = FileRecord {
        path: file.path.display().to_string(),
        cached: false,
        format: transcripts.format(),
        bytes: file.bytes,
        sessions: Vec::new(),
        compactions: Vec::new(),
        notices: transcripts.notices().to_vec(),
    };
    for index in 0..transcripts.len() {
        let mut recording = match transcripts.recording(index) {
            Ok(recording) => recording,
            Err(error) if error.kind() == ErrorKind::Stopped => return Err(Fault::Stopped),
            // One session of a store that cannot be read does not hide the others.
            Err(error) if transcripts.len() > 1 => {
                record.notices.push(error.why().to_string());
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        audit(scan, &mut recording, &mut record).map_err(failed)?;
    }
    Ok(record)
}

fn audit(scan: &Scan<'_>, recording: &mut Recording, record: &mut FileRecord) -> Result<(), TranscriptError> {
    let id = recording.session.session_id.clone().unwrap_or_default();
    let agent = recording.session.agent_id.clone().unwrap_or_default();
    let mut done = HashSet::new();
    for branch in 0..recording.branches() {
        let Some(last) = recording.last_compaction(branch) else { continue };
        let mut services = Services::new(MemoryNotes::default());
        services.settings.clone_from(&scan.settings);
        let mut reviewer = Reviewer::new(scan.plugin, services, recording.session.clone(), scan.clock);
        let mut over = false;
        let broken = recording.play(branch, |entry| {
            let Entry::Compaction(recorded) = &entry else {
                // A boundary without a summary is told with what follows it.
                over = over || entry_line(&entry).is_some_and(|line| line > last);
                reviewer.follow(entry);
                return !over;
            };
            let recorded = recorded.clone();
            over = recorded.line >= last;
            if !done.insert(recorded.line) {
                // Audited on the branch before; here it only tells what the context was.
                reviewer.follow(entry);
            } else if let Some(reviewed) = reviewer.take(entry) {
                let earlier = &record.compactions;
                let found = CompactionRecord::new((&id, &agent), &recorded, &reviewed, branch == 0, earlier);
                record.compactions.push(found);
            }
            !over
        })?;
        recording.stats.broken_lines += broken.len() as u64;
        recording.stats.broken.extend(broken);
        if reviewer.cut_messages > 0 {
            record
                .notices
                .push(format!("{} long messages were cut: the context was too long to be held", reviewer.cut_messages));
        }
    }
    record.sessions.push(SessionRecord { session_id: id, agent, stats: recording.stats.clone() });
    Ok(())
}

fn entry_line(entry: &Entry) -> Option<u64> {
    match entry {
        Entry::Message(said) => Some(said.line),
        Entry::Compaction(recorded) => Some(recorded.line),
        _ => None,
    }
}
