//! Reads a workspace as a person would find it, and compares it with the plan and with what was reported as written.
//!
//! It knows the form of an entry and nothing of how it is written; dates come from jiff and not from the plugin.

use crate::plan::{Kind, Plan, at_once, marker, session_key, short_hash};
use crate::protocol::{Entry, entry_id};
use compact_review::checkpoint;
use compact_review::event::LocalTime;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What a person wrote, before anything else stood in the note.
pub const OWN: &str = "# Written by a person\n";
pub const OWN_DATE: &str = "2026-10-20";
const CHECKPOINT_END: &str = "<!-- compact-review:end of checkpoint -->\n";
const LOCK: &str = ".compact-review/lock";
/// As many as the settings of a fresh installation keep.
const KEPT_CHECKPOINTS: usize = 50;
const SLOTS: [&str; 5] = ["signals", "recovery", "budget", "checkpoints", "carried"];

/// The local date, by another library than the plugin's own arithmetic.
pub fn date_of(now: LocalTime) -> String {
    let offset = jiff::tz::Offset::from_seconds(i32::from(now.utc_offset_minutes) * 60);
    let moment = jiff::Timestamp::from_millisecond(now.unix_ms);
    match (offset, moment) {
        (Ok(offset), Ok(moment)) => offset.to_datetime(moment).date().to_string(),
        _ => format!("no date: {now:?}"),
    }
}

/// Where each planned entry belongs.
struct Expected {
    event: usize,
    date: String,
}

/// One workspace, read again and again.
pub struct Reader {
    memory: PathBuf,
    /// By session and the name of the compaction.
    expected: HashMap<(usize, String), Expected>,
    sessions: HashMap<String, usize>,
    /// How far each note was read; its text up to there never changes.
    read: BTreeMap<String, u64>,
    entries: HashMap<String, Entry>,
    /// The event of the last entry of each session in each note.
    last: HashMap<(String, usize), usize>,
    had_checkpoint: bool,
    /// Checkpoints that were read and found whole.
    pub checkpoints_read: u64,
}

impl Reader {
    pub fn new(workspace: &Path, plan: &Plan) -> Reader {
        let mut expected = HashMap::new();
        for (session, events) in plan.sessions.iter().enumerate() {
            for (event, planned) in events.iter().enumerate() {
                let mut expect = |name: String, now: LocalTime| {
                    expected.insert((session, name), Expected { event, date: date_of(now) });
                };
                match planned.kind {
                    Kind::Compact { .. } => {
                        expect(format!("c{event}"), planned.now);
                        expect(format!("at{}", planned.now.unix_ms), planned.now);
                    }
                    Kind::CompactTwice => {
                        expect(format!("c{event}"), planned.now);
                        expect(format!("c{event}-again"), at_once(planned.now));
                    }
                    Kind::Turn | Kind::Checkpoint | Kind::Start | Kind::Ask => {}
                }
            }
        }
        let sessions = (0..plan.sessions.len()).map(|session| (session_key(session), session)).collect();
        Reader {
            memory: workspace.join("memory"),
            expected,
            sessions,
            read: BTreeMap::new(),
            entries: HashMap::new(),
            last: HashMap::new(),
            had_checkpoint: false,
            checkpoints_read: 0,
        }
    }

    /// How many whole entries stand there.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// How many notes there are.
    pub fn notes(&self) -> usize {
        self.read.len()
    }

    /// An entry that was reported as written stands there, in its note, as it was reported. One whose first writer was
    /// killed may stand there in the first writer's words.
    pub fn missing(&self, told: &Entry, written_again: bool) -> Option<String> {
        match self.entries.get(&told.id) {
            None => Some(format!("entry {} was reported as written in {} and is not there", told.id, told.date)),
            Some(found) if found.date != told.date => {
                Some(format!("entry {} stands in {} and was reported in {}", told.id, found.date, told.date))
            }
            Some(found) if found.text != told.text && !written_again => {
                Some(format!("entry {} has another text than was reported", told.id))
            }
            Some(_) => None,
        }
    }

    /// What was added to the notes, with no writer at it.
    pub fn read_notes(&mut self) -> Vec<String> {
        // Without a folder nothing was written yet.
        let Ok(lock) = File::open(self.memory.join(LOCK)) else { return Vec::new() };
        if let Err(error) = lock.lock() {
            return vec![format!("the lock of the notes cannot be taken: {error}")];
        }
        let Ok(files) = fs::read_dir(&self.memory) else { return vec!["memory/ cannot be listed".to_string()] };
        let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
        let dates: BTreeSet<String> = names
            .filter_map(|name| Some(name.strip_suffix(".md").filter(|name| *name != "checkpoint")?.to_string()))
            .collect();
        let gone =
            self.read.keys().filter(|date| !dates.contains(*date)).map(|date| format!("the note of {date} is gone"));
        let mut wrong: Vec<String> = gone.collect();
        for date in dates {
            wrong.extend(self.read_note(&date));
        }
        wrong
    }

    fn read_note(&mut self, date: &str) -> Vec<String> {
        let from = self.read.get(date).copied().unwrap_or_default();
        let text = match read_from(&self.memory.join(format!("{date}.md")), from) {
            Ok(text) => text,
            Err(error) => return vec![format!("the note of {date}: {error}")],
        };
        let mut wrong = Vec::new();
        let mut rest = text.as_str();
        if from == 0 && date == OWN_DATE {
            match rest.strip_prefix(OWN) {
                Some(behind) => rest = behind,
                None => wrong.push(format!("what a person wrote in the note of {date} has changed")),
            }
        }
        while let Some((entry, behind)) = cut_entry(rest) {
            if let Err(why) = self.take_in(date, entry) {
                wrong.push(format!("the note of {date}: {why}"));
            }
            rest = behind;
        }
        if !rest.trim().is_empty() {
            wrong.push(format!("the note of {date} ends with half an entry: {:?}", shown(rest)));
        }
        self.read.insert(date.to_string(), from + text.len() as u64);
        wrong
    }

    /// One entry: whole, planned, in its note, once, behind those before it.
    fn take_in(&mut self, date: &str, text: &str) -> Result<(), String> {
        let body = text.trim_matches('\n');
        let headings = body.lines().filter(|line| line.starts_with("## ")).count();
        let id = body.lines().next_back().and_then(entry_id).unwrap_or_default();
        if headings != 1 || !body.starts_with("## ") {
            return Err(format!("entry {id} is not whole: {:?}", shown(body)));
        }
        let checkpoint_line = body.lines().rev().nth(1).is_some_and(|line| line.starts_with("- Checkpoint: "));
        let key = body.lines().find_map(|line| line.strip_prefix("- Session: "));
        let (true, Some(session)) = (checkpoint_line, key.and_then(|key| self.sessions.get(key)).copied()) else {
            return Err(format!("entry {id} is not whole: {:?}", shown(body)));
        };
        if let Some(other) = other_session(body, session) {
            return Err(format!("entry {id} of {} speaks of {other}", marker(session)));
        }
        let name = id.split_once('.').map(|(_, name)| name.to_string()).unwrap_or_default();
        let Some(expected) = self.expected.get(&(session, name)) else {
            return Err(format!("entry {id} of {} was never planned", marker(session)));
        };
        if expected.date != date {
            return Err(format!("entry {id} of {} belongs to {}", marker(session), expected.date));
        }
        let event = expected.event;
        let last = self.last.insert((date.to_string(), session), event);
        if last.is_some_and(|last| last > event) {
            return Err(format!("entry {id} of {} stands behind one of event {last:?}", marker(session)));
        }
        let entry = Entry { id: id.to_string(), date: date.to_string(), text: short_hash(body.as_bytes()) };
        match self.entries.insert(id.to_string(), entry) {
            Some(before) => Err(format!("entry {id} stands there twice: before in {}", before.date)),
            None => Ok(()),
        }
    }

    /// The active checkpoint is one whole checkpoint of one session, from the first one on and at every moment.
    pub fn read_checkpoint(&mut self) -> Option<String> {
        let text = match fs::read_to_string(self.memory.join("checkpoint.md")) {
            Ok(text) => text,
            Err(_) if !self.had_checkpoint => return None,
            Err(error) => return Some(format!("the checkpoint cannot be read any more: {error}")),
        };
        self.had_checkpoint = true;
        self.checkpoints_read += 1;
        let Some(header) = checkpoint::parse(&text) else {
            return Some(format!("the checkpoint has no header: {:?}", shown(&text)));
        };
        let Some(&session) = self.sessions.get(&header.session_key) else {
            return Some(format!("the checkpoint is of {:?}, which nobody planned", header.session_key));
        };
        let word = marker(session);
        if !text.ends_with(CHECKPOINT_END) {
            return Some(format!("the checkpoint of {word} is cut off"));
        }
        if !text.contains(&format!("Never deploy {word}")) {
            return Some(format!("the checkpoint of {word} lacks its rules: garbage stands in its place"));
        }
        other_session(&text, session).map(|other| format!("the checkpoint of {word} speaks of {other}"))
    }

    /// At the end: no file that does not belong there, and nobody holds the lock.
    pub fn read_folder(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        match File::open(self.memory.join(LOCK)).map(|lock| lock.try_lock()) {
            Ok(Ok(())) => {}
            other => wrong.push(format!("the lock is held at the end: {other:?}")),
        }
        let mut folders = vec![(self.memory.clone(), String::new())];
        let mut earlier = 0;
        while let Some((folder, label)) = folders.pop() {
            let Ok(files) = fs::read_dir(&folder) else {
                wrong.push(format!("memory/{label} cannot be listed"));
                continue;
            };
            for file in files.flatten() {
                let name = format!("{label}{}", file.file_name().to_string_lossy());
                earlier += usize::from(name.starts_with("checkpoints/"));
                if matches!(name.as_str(), "checkpoints" | ".compact-review") {
                    folders.push((file.path(), format!("{name}/")));
                } else if !self.belongs(&name) {
                    wrong.push(format!("memory/{name} was left behind"));
                }
            }
        }
        if earlier > KEPT_CHECKPOINTS {
            wrong.push(format!("{earlier} earlier checkpoints are kept, {KEPT_CHECKPOINTS} should be"));
        }
        wrong
    }

    fn belongs(&self, name: &str) -> bool {
        if let Some(state) = name.strip_prefix(".compact-review/") {
            let of_session = state.rsplit_once('.').is_some_and(|(_, slot)| SLOTS.contains(&slot));
            return name.ends_with("/lock") || (of_session && state.starts_with("agent-main-soak-"));
        }
        let note = name.strip_suffix(".md").is_some_and(|date| self.read.contains_key(date));
        note || name == "checkpoint.md" || (name.starts_with("checkpoints/2026-") && name.ends_with(".md"))
    }
}

/// Up to the first last line of an entry, and what stands behind it.
fn cut_entry(text: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if line.ends_with('\n') && entry_id(line.trim_end()).is_some() {
            return Some(text.split_at(end));
        }
    }
    None
}

/// A word that names another session.
fn other_session(text: &str, session: usize) -> Option<String> {
    let own = marker(session);
    let names = |word: &&str| {
        word.len() == own.len() && word.starts_with('s') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(names);
    words.find(|word| *word != own).map(str::to_string)
}

fn read_from(path: &Path, from: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length < from {
        return Err(std::io::Error::other(format!("it had {from} bytes and has {length} now")));
    }
    file.seek(SeekFrom::Start(from))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(160)]
}
