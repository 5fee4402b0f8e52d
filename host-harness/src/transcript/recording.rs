//! One file or store, the sessions in it, and what happened in each.

use super::classify::{LineKind, classify, parts};
use super::entry::{Entry, EntryReader};
use super::format::{Format, SQLITE_MAGIC};
use super::lines::{Lines, MAX_LINE_BYTES, RawLine};
use super::peek::{Parts, Peek};
use super::store::{Rows, Store, StoredSession};
use super::tree::{Branch, Oddities, Tree};
use super::{BrokenLine, Control, ErrorKind, TranscriptError};
use compact_review::event::Session;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many lines are looked at before a file counts as no transcript.
const DETECT_LINES: usize = 200;
/// How many broken lines are named; the others are counted.
const NAMED_LINES: usize = 100;
/// How many branches that were left are looked at for compactions.
const MAX_OTHER_BRANCHES: usize = 16;

/// A file with one session, or a store with many.
pub struct Transcripts {
    path: PathBuf,
    format: Format,
    control: Control,
    store: Option<(Store, Vec<StoredSession>)>,
}

/// One recorded session.
pub struct Recording {
    /// What it is called.
    pub session: Session,
    /// Where it was worked in, as the transcript says.
    pub cwd: Option<String>,
    /// Which tool wrote it.
    pub format: Format,
    /// What was found in it.
    pub stats: Stats,
    path: PathBuf,
    source: Source,
    /// The active branch, then others with compactions of their own.
    branches: Vec<Branch>,
    last_number: u64,
    last_id: Option<String>,
    whole_without_end: bool,
}

/// What was found in a session.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Lines, or rows.
    pub lines: u64,
    /// Messages, on all branches.
    pub messages: u64,
    /// Compactions, on all branches.
    pub compactions: u64,
    /// How many lines could not be read.
    pub broken_lines: u64,
    /// The first of them.
    pub broken: Vec<BrokenLine>,
    /// The last line has no end: somebody may be writing it.
    pub unfinished: bool,
    /// Parts that are no text.
    pub parts: Parts,
    /// Lines of subagents, left apart.
    pub sidechain_lines: u64,
    /// Lines that are not on the branch that was active at the end.
    pub other_branches: u64,
    /// What was odd about ids and parents.
    pub oddities: Oddities,
}

enum Source {
    Lines(Lines),
    Rows(Rows),
}

impl Source {
    fn rewind(&mut self) -> Result<(), TranscriptError> {
        match self {
            Source::Lines(lines) => Ok(lines.rewind()?),
            Source::Rows(rows) => {
                rows.rewind();
                Ok(())
            }
        }
    }

    fn next(&mut self) -> Result<Option<RawLine<'_>>, TranscriptError> {
        match self {
            Source::Lines(lines) => lines.next(),
            Source::Rows(rows) => rows.next(),
        }
    }

    fn unfinished(&self) -> bool {
        matches!(self, Source::Lines(lines) if lines.unfinished)
    }
}

impl Transcripts {
    /// Opens a file and tells its format by its content, unless `insist` names it.
    pub fn open(path: &Path, insist: Option<Format>, control: Control) -> Result<Transcripts, TranscriptError> {
        Self::open_inner(path, insist, control).map_err(|error| error.at(path))
    }

    fn open_inner(path: &Path, insist: Option<Format>, control: Control) -> Result<Transcripts, TranscriptError> {
        let refuse = |kind, why: &str| Err(TranscriptError::new(path, kind, why.to_string()));
        let mut file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return refuse(ErrorKind::Unreadable, "this is a folder; name one transcript file in it, or scan it");
        }
        let mut start = [0; SQLITE_MAGIC.len()];
        let length = read_start(&mut file, &mut start)?;
        if length == 0 {
            return refuse(ErrorKind::Empty, "the file is empty");
        }
        if start == SQLITE_MAGIC && insist.is_none_or(|format| format == Format::OpenclawStore) {
            let store = Store::open(path)?;
            let sessions = store.sessions()?;
            let store = Some((store, sessions));
            return Ok(Transcripts { path: path.to_path_buf(), format: Format::OpenclawStore, control, store });
        }
        let format = match insist {
            Some(Format::OpenclawStore) => return refuse(ErrorKind::NoStore, "this is no SQLite file"),
            Some(format) => format,
            None => detect(path, &control)?,
        };
        Ok(Transcripts { path: path.to_path_buf(), format, control, store: None })
    }

    /// Which tool wrote it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.store.as_ref().map_or(1, |(_, sessions)| sessions.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a person should know about the store.
    pub fn notices(&self) -> &[String] {
        self.store.as_ref().map(|(store, _)| store.notices.as_slice()).unwrap_or_default()
    }

    /// The number of the session with this id, or of the one that was written to last.
    pub fn newest(&self, wanted: Option<&str>) -> Result<usize, TranscriptError> {
        let Some((store, sessions)) = &self.store else { return Ok(0) };
        let id = match wanted {
            Some(id) => Some(id.to_string()),
            None => store.newest()?,
        };
        let live = |session: &StoredSession| session.archive.is_none() && Some(&session.id) == id.as_ref();
        sessions.iter().position(live).ok_or_else(|| {
            let why = format!("no session {:?} in this store", id.as_deref().unwrap_or("at all"));
            TranscriptError::new(&self.path, ErrorKind::Unreadable, why)
        })
    }

    /// Looks through the session with this number, from 0.
    pub fn recording(&self, index: usize) -> Result<Recording, TranscriptError> {
        self.recording_inner(index).map_err(|error| error.at(&self.path))
    }

    fn recording_inner(&self, index: usize) -> Result<Recording, TranscriptError> {
        let Some((store, sessions)) = &self.store else {
            let mut recording = Recording::new(&self.path, self.format, Source::Lines(self.file_lines()?));
            recording.survey()?;
            recording.name();
            return Ok(recording);
        };
        let Some(stored) = sessions.get(index) else {
            let why = format!("there is no session number {index}");
            return Err(TranscriptError::new(&self.path, ErrorKind::Unreadable, why));
        };
        let source = match &stored.archive {
            None => Source::Rows(store.rows(&stored.id, self.control.clone())),
            Some(generation) => {
                Source::Lines(Lines::open(store.archive(&stored.id, generation)?, self.control.clone())?)
            }
        };
        let mut recording = Recording::new(&self.path, self.format, source);
        recording.session.session_id = Some(stored.id.clone());
        recording.session.session_key = stored.key.clone().unwrap_or_default();
        recording.survey()?;
        recording.name();
        Ok(recording)
    }

    fn file_lines(&self) -> std::io::Result<Lines> {
        let path = self.path.clone();
        Lines::open(Box::new(move || Ok(Box::new(File::open(&path)?))), self.control.clone())
    }
}

/// A session that is part of the program, whole.
#[derive(Debug)]
pub struct Embedded {
    /// What it is called.
    pub session: Session,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

impl Embedded {
    /// Reads OpenClaw's lines.
    pub fn read(bytes: &'static [u8]) -> Result<Embedded, TranscriptError> {
        let lines = Lines::open(Box::new(move || Ok(Box::new(bytes))), Control::default())?;
        let mut recording = Recording::new(Path::new("embedded"), Format::Openclaw, Source::Lines(lines));
        recording.survey()?;
        recording.name();
        let mut entries = Vec::new();
        recording.play(0, |entry| {
            entries.push(entry);
            true
        })?;
        Ok(Embedded { session: recording.session, entries })
    }

    /// How many compactions it has.
    pub fn compactions(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::Compaction(_))).count()
    }
}

impl Recording {
    fn new(path: &Path, format: Format, source: Source) -> Recording {
        let session = Session { session_file: Some(path.display().to_string()), ..Session::default() };
        let (path, stats) = (path.to_path_buf(), Stats::default());
        Recording {
            session,
            cwd: None,
            format,
            stats,
            path,
            source,
            branches: Vec::new(),
            last_number: 0,
            last_id: None,
            whole_without_end: false,
        }
    }

    /// The first pass: what the lines are and how they hang together.
    fn survey(&mut self) -> Result<(), TranscriptError> {
        let mut tree = Tree::default();
        let Recording { session, cwd, format, stats, source, last_number, last_id, .. } = self;
        let mut found = Found { session, cwd, stats, last_id };
        let mut whole = false;
        while let Some(line) = source.next()? {
            found.stats.lines += 1;
            whole = false;
            let (number, looked) = match line {
                RawLine::Whole { bytes, .. } if bytes.trim_ascii().is_empty() => continue,
                RawLine::Whole { number, bytes } => {
                    (number, look(bytes).and_then(|peek| found.take(*format, &peek, number, &mut tree)))
                }
                RawLine::Oversize { number, length, peek } => {
                    let placed = peek.and_then(|peek| found.take(*format, &peek, number, &mut tree));
                    let what = placed.err().unwrap_or_else(|| "its text is left out".to_string());
                    (number, Err(format!("{length} bytes, at most {MAX_LINE_BYTES} are read at once: {what}")))
                }
            };
            *last_number = number;
            whole = looked.is_ok();
            if let Err(why) = looked {
                found.broken(number, why);
            }
        }
        self.stats.unfinished = self.source.unfinished();
        self.whole_without_end = self.stats.unfinished && whole;
        if self.stats.unfinished
            && let Some(last) = self.stats.broken.last_mut().filter(|last| last.line == self.stats.lines)
        {
            last.why = format!("the last line is cut off; it may be being written ({})", last.why);
        }
        tree.finish();
        let active = tree.active();
        self.stats.other_branches = tree.lines_beside(&active);
        self.stats.compactions = tree.compactions() as u64;
        let others = tree.others(&active, MAX_OTHER_BRANCHES);
        self.branches = std::iter::once(active).chain(others).collect();
        self.stats.oddities = tree.oddities;
        Ok(())
    }

    /// What the session is called where neither its header nor its store says so.
    fn name(&mut self) {
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let id = self.session.session_id.get_or_insert_with(|| stem.unwrap_or_else(|| "recorded".to_string()));
        let from_key = self.session.session_key.strip_prefix("agent:").and_then(|rest| rest.split(':').next());
        let agent = match self.format {
            Format::Openclaw | Format::OpenclawStore => {
                from_key.map(str::to_string).or_else(|| agent_of(&self.path)).unwrap_or_else(|| "main".to_string())
            }
            other => other.name().to_string(),
        };
        if self.session.session_key.is_empty() {
            self.session.session_key = format!("agent:{agent}:{id}");
        }
        self.session.agent_id = Some(agent);
    }

    /// The number of the last line that had an end, or of the last row.
    pub(super) fn last_line(&self) -> u64 {
        match &self.source {
            Source::Rows(_) => self.last_number,
            Source::Lines(_) => self.stats.lines - u64::from(self.stats.unfinished),
        }
    }

    /// The last line has no end and is whole all the same: it is told, and stands behind [`Recording::last_line`].
    pub(super) fn whole_without_end(&self) -> bool {
        self.whole_without_end
    }

    /// The id of the last line of the conversation.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How many branches have compactions of their own, the active one first; at least one.
    pub fn branches(&self) -> usize {
        self.branches.len()
    }

    /// The second pass: tells what happened on a branch, in order; `seen` ends it by giving false. Lines that are not
    /// as the first look promised are told as broken.
    pub fn play(
        &mut self,
        branch: usize,
        mut seen: impl FnMut(Entry) -> bool,
    ) -> Result<Vec<BrokenLine>, TranscriptError> {
        let Some(branch) = self.branches.get(branch) else { return Ok(Vec::new()) };
        let mut wanted = branch.lines().iter().copied().filter(|(_, kind)| kind.happened()).peekable();
        let mut reader = EntryReader::new(self.format);
        let mut names = Names::default();
        let (mut entries, mut broken) = (Vec::new(), Vec::new());
        self.source.rewind()?;
        while let Some((line, kind)) = wanted.peek().copied() {
            let Some(RawLine::Whole { number, bytes }) = (match self.source.next()? {
                None => break,
                Some(RawLine::Oversize { number, .. }) if number >= u64::from(line) => {
                    wanted.next();
                    continue;
                }
                some => some,
            }) else {
                continue;
            };
            if number < u64::from(line) {
                continue;
            }
            wanted.next();
            let read = match std::str::from_utf8(bytes) {
                Ok(text) => reader.read(kind, number, text, &mut entries),
                Err(_) => Err("not UTF-8".to_string()),
            };
            if let Err(why) = read {
                broken.push(BrokenLine { line: number, why });
            }
            for entry in entries.drain(..) {
                if !seen(names.unique(entry)) {
                    return Ok(broken);
                }
            }
        }
        if let Some(entry) = reader.end_boundary() {
            seen(entry);
        }
        Ok(broken)
    }

    /// The line of the last compaction on a branch: nothing behind it needs to be audited.
    pub fn last_compaction(&self, branch: usize) -> Option<u64> {
        let lines = self.branches.get(branch)?.lines();
        let compacts = |kind: LineKind| matches!(kind, LineKind::Compaction | LineKind::Boundary);
        lines.iter().rev().find(|(_, kind)| compacts(*kind)).map(|(line, _)| u64::from(*line))
    }
}

/// Message ids that were there already get their line behind them: the plugin needs them unique.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn unique(&mut self, mut entry: Entry) -> Entry {
        if let Entry::Message(said) = &mut entry
            && !self.0.insert(said.message.id.clone())
        {
            said.message.id = format!("{}#line-{}", said.message.id, said.line);
        }
        entry
    }
}

fn look(bytes: &[u8]) -> Result<Peek<'_>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 after byte {}", error.valid_up_to()))?;
    if !text.trim_start().starts_with('{') {
        return Err("not a JSON object".to_string());
    }
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

/// What the first pass finds out.
struct Found<'a> {
    session: &'a mut Session,
    cwd: &'a mut Option<String>,
    stats: &'a mut Stats,
    last_id: &'a mut Option<String>,
}

impl Found<'_> {
    /// Puts a line into the tree and counts it.
    fn take(&mut self, format: Format, peek: &Peek<'_>, line: u64, tree: &mut Tree) -> Result<(), String> {
        let kind = classify(format, peek)?;
        self.stats.parts.add(&parts(peek));
        match kind {
            LineKind::Sidechain => self.stats.sidechain_lines += 1,
            LineKind::Message | LineKind::ToolResult => self.stats.messages += 1,
            _ => {}
        }
        if self.session.session_id.is_none() {
            let header = peek.payload.as_ref().and_then(|payload| payload.id.as_deref()).or(peek.id.as_deref());
            let id = if kind == LineKind::Header { header } else { peek.session_id.as_deref() };
            self.session.session_id = id.map(str::to_string);
        }
        if self.cwd.is_none() {
            let inner = peek.payload.as_ref().and_then(|payload| payload.cwd.as_deref());
            *self.cwd = peek.cwd.as_deref().or(inner).map(str::to_string);
        }
        if kind.in_tree() {
            let id = peek.uuid.as_deref().or(peek.id.as_deref());
            let parent = match (kind, &peek.logical_parent) {
                // The summary starts a new chain; what it replaced is named beside it.
                (LineKind::Boundary, Some(logical)) => Some(Some(logical.as_ref())),
                _ => peek.parent.as_ref().map(Option::as_deref),
            };
            tree.add(kind, line, id, parent);
            if let Some(id) = id {
                self.last_id.get_or_insert_default().replace_range(.., id);
            }
        }
        Ok(())
    }

    fn broken(&mut self, line: u64, why: String) {
        self.stats.broken_lines += 1;
        if self.stats.broken.len() < NAMED_LINES {
            self.stats.broken.push(BrokenLine { line, why });
        }
    }
}

fn read_start(file: &mut File, start: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < start.len() {
        match file.read(&mut start[length..])? {
            0 => break,
            count => length += count,
        }
    }
    Ok(length)
}

fn detect(path: &Path, control: &Control) -> Result<Format, TranscriptError> {
    let name = path.to_path_buf();
    let mut lines = Lines::open(Box::new(move || Ok(Box::new(File::open(&name)?))), control.clone())?;
    let mut first_fault = None;
    for _ in 0..DETECT_LINES {
        let looked = match lines.next()? {
            None => break,
            Some(RawLine::Whole { bytes, .. }) if bytes.trim_ascii().is_empty() => continue,
            Some(RawLine::Whole { number, bytes }) => {
                look(bytes).map(|peek| Format::of(&peek)).map_err(|why| (number, why))
            }
            Some(RawLine::Oversize { number, peek, .. }) => {
                peek.map(|peek| Format::of(&peek)).map_err(|why| (number, why))
            }
        };
        match looked {
            Ok(Some(Format::Pi)) if agent_of(path).is_some() => return Ok(Format::Openclaw),
            Ok(Some(format)) => return Ok(format),
            Ok(None) => {}
            Err(fault) => drop(first_fault.get_or_insert(fault)),
        }
    }
    let fault = first_fault.map(|(line, why)| format!(" (line {line}: {why})")).unwrap_or_default();
    let why = format!("no line that a session of OpenClaw, Pi, Claude Code or Codex would have{fault}");
    Err(TranscriptError::new(path, ErrorKind::Unknown, why))
}

/// OpenClaw keeps its files below `agents/<id>/`.
fn agent_of(path: &Path) -> Option<String> {
    let mut parts = path.components().map(|part| part.as_os_str().to_string_lossy());
    parts.find(|part| part == "agents")?;
    let agent = parts.next()?;
    let inside = parts.next()?;
    (inside == "sessions" || inside == "agent").then(|| agent.into_owned())
}
