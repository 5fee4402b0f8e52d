//! Follows a session while it is written: only what is new is read, as long as it continues the branch that was
//! followed. Where it does not (an edited prompt, a file that was replaced) the session is read again from its start.

use super::classify::{LineKind, classify};
use super::entry::{Entry, EntryReader};
use super::format::Format;
use super::lines::{Lines, RawLine};
use super::peek::Peek;
use super::store::Store;
use super::{Control, Recording, TranscriptError, Transcripts};
use compact_review::event::Session;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What is new.
#[derive(Debug)]
pub enum News {
    /// The session is told from its start.
    Start(Session),
    /// This happened, before anybody watched or since the start was told again.
    Past(Entry),
    /// This happened just now.
    Now(Entry),
}

/// Follows one session.
pub struct Follower {
    path: PathBuf,
    insist: Option<Format>,
    wanted: Option<String>,
    at: Option<Place>,
}

/// How far it was read.
struct Place {
    format: Format,
    session: String,
    /// Behind the last line that had an end.
    offset: u64,
    /// The number of the last line or row.
    number: u64,
    /// The line that comes next was told when it had no end yet.
    told: bool,
    last_id: Option<String>,
    reader: EntryReader,
    seen: Fingerprint,
}

/// Tells whether a file was written to. SQLite writes beside its file first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fingerprint(Vec<Option<(u64, std::time::SystemTime)>>);

impl Fingerprint {
    fn of(path: &Path) -> Fingerprint {
        let mut log = path.as_os_str().to_os_string();
        log.push("-wal");
        let data = |path: &Path| {
            let data = std::fs::metadata(path).ok()?;
            Some((data.len(), data.modified().ok()?))
        };
        Fingerprint(vec![data(path), data(Path::new(&log))])
    }
}

impl Follower {
    /// Of a store with many sessions, `session` or else the one that was written to last.
    pub fn new(path: &Path, insist: Option<Format>, session: Option<String>) -> Follower {
        Follower { path: path.to_path_buf(), insist, wanted: session, at: None }
    }

    /// Tells what is new; gives whether anything was.
    pub fn poll(&mut self, seen: &mut dyn FnMut(News)) -> Result<bool, TranscriptError> {
        let now = Fingerprint::of(&self.path);
        let Some(place) = &mut self.at else {
            self.start(now, seen)?;
            return Ok(true);
        };
        if place.seen == now {
            return Ok(false);
        }
        let continued = if place.format == Format::OpenclawStore {
            place.rows(&self.path, seen)
        } else {
            place.lines(&self.path, seen)
        };
        match continued.map_err(|error| error.at(&self.path))? {
            Some(any) => {
                place.seen = now;
                Ok(any)
            }
            None => {
                self.start(now, seen)?;
                Ok(true)
            }
        }
    }

    fn start(&mut self, now: Fingerprint, seen: &mut dyn FnMut(News)) -> Result<(), TranscriptError> {
        let transcripts = Transcripts::open(&self.path, self.insist, Control::default())?;
        let index = transcripts.newest(self.wanted.as_deref())?;
        let mut recording = transcripts.recording(index)?;
        seen(News::Start(recording.session.clone()));
        recording.play(0, |entry| {
            seen(News::Past(entry));
            true
        })?;
        self.at = Some(Place {
            format: recording.format,
            session: recording.session.session_id.clone().unwrap_or_default(),
            offset: complete_bytes(&self.path, &recording)?,
            number: recording.last_line(),
            told: recording.whole_without_end(),
            last_id: recording.last_id().map(str::to_string),
            reader: EntryReader::new(recording.format),
            seen: now,
        });
        Ok(())
    }
}

/// Where the last line that was read and has an end ends: what was written since is not skipped. A store has no half rows.
fn complete_bytes(path: &Path, recording: &Recording) -> Result<u64, TranscriptError> {
    let mut lines = recording.last_line();
    if recording.format == Format::OpenclawStore || lines == 0 {
        return Ok(0);
    }
    let mut file = File::open(path)?;
    let mut block = vec![0; 64 * 1024];
    let mut start = 0;
    loop {
        let count = file.read(&mut block)?;
        for at in memchr::memchr_iter(b'\n', &block[..count]) {
            lines -= 1;
            if lines == 0 {
                return Ok(start + at as u64 + 1);
            }
        }
        start += count as u64;
        if count == 0 {
            return Ok(start);
        }
    }
}

impl Place {
    /// `None` where the file no longer continues what was read.
    fn lines(&mut self, path: &Path, seen: &mut dyn FnMut(News)) -> Result<Option<bool>, TranscriptError> {
        let length = std::fs::metadata(path)?.len();
        if length < self.offset {
            return Ok(None);
        }
        let (name, offset) = (path.to_path_buf(), self.offset);
        let reopen = move || {
            let mut file = File::open(&name)?;
            file.seek(SeekFrom::Start(offset))?;
            Ok(Box::new(file) as Box<dyn Read>)
        };
        let mut lines = Lines::open(Box::new(reopen), Control::default())?;
        let mut news = Vec::new();
        while let Some(line) = lines.next()? {
            let (length, text) = match line {
                RawLine::Whole { bytes, .. } => {
                    (bytes.len() as u64, std::str::from_utf8(bytes).unwrap_or_default().to_string())
                }
                RawLine::Oversize { length, .. } => (length, String::new()),
            };
            // A line without its end is being written: it is read next time.
            if lines.unfinished {
                break;
            }
            self.offset += length + 1;
            self.number += 1;
            if std::mem::take(&mut self.told) {
                continue;
            }
            if !self.take(&text, &mut news) {
                return Ok(None);
            }
        }
        Ok(Some(tell(news, seen)))
    }

    fn rows(&mut self, path: &Path, seen: &mut dyn FnMut(News)) -> Result<Option<bool>, TranscriptError> {
        let store = Store::open(path)?;
        let mut rows = store.rows(&self.session, Control::default());
        rows.skip_to(self.number);
        let mut news = Vec::new();
        while let Some(line) = rows.next()? {
            let (number, text) = match line {
                RawLine::Whole { number, bytes } => {
                    (number, std::str::from_utf8(bytes).unwrap_or_default().to_string())
                }
                RawLine::Oversize { number, .. } => (number, String::new()),
            };
            self.number = number;
            if !self.take(&text, &mut news) {
                return Ok(None);
            }
        }
        Ok(Some(tell(news, seen)))
    }

    /// Reads one new line; false where it does not continue the branch.
    fn take(&mut self, text: &str, news: &mut Vec<Entry>) -> bool {
        let Ok(peek) = serde_json::from_str::<Peek<'_>>(text) else { return true };
        let Ok(kind) = classify(self.format, &peek) else { return true };
        if !kind.in_tree() {
            return true;
        }
        let id = peek.uuid.as_deref().or(peek.id.as_deref());
        let parent = match (kind, &peek.logical_parent) {
            (LineKind::Boundary, Some(logical)) => Some(logical.as_ref()),
            _ => peek.parent.as_ref().and_then(Option::as_deref),
        };
        let continues = match (parent, &self.last_id) {
            // The results of calls that were made at the same time hang side by side.
            _ if kind == LineKind::ToolResult => true,
            (Some(parent), Some(last)) => parent == last,
            _ => true,
        };
        if !continues {
            return false;
        }
        if id.is_some() {
            self.last_id = id.map(str::to_string);
        }
        if kind.happened() {
            // What cannot be read is left out here; a scan names it.
            drop(self.reader.read(kind, self.number, text, news));
        }
        true
    }
}

fn tell(news: Vec<Entry>, seen: &mut dyn FnMut(News)) -> bool {
    let any = !news.is_empty();
    for entry in news {
        seen(News::Now(entry));
    }
    any
}
