//! The names of a conversation: who used each of them, how often, how lately; grouped by the file they were used with.

use super::names::{self, Name, NameKind};
use super::weights as w;
use super::{Member, bounded};
use crate::event::{Message, Role};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are hashes already.
#[derive(Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A map whose keys are hashes.
pub type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<AsIs>>;
/// A set of hashes.
pub type HashedSet = HashSet<u64, BuildHasherDefault<AsIs>>;

struct Entry {
    /// Where it stands last in the words of the agent or the user, else where it stands last.
    message: u32,
    start: u32,
    length: u32,
    /// The file that was at hand there.
    context: u32,
    kind: NameKind,
    last: u32,
    seen: u32,
    by_user: u16,
    by_agent: u16,
    by_tool: u16,
    /// In how many of the last messages.
    late: u16,
    /// The agent wrote it in a call: it edits or asks for it.
    called: u16,
    /// Uses that fade: half of it is left after so many messages.
    fading: [f32; 2],
}

/// All names, in the order of their first mention.
#[derive(Default)]
pub struct Inventory {
    places: HashedMap<u32>,
    entries: Vec<Entry>,
    /// Labels of contexts; 0 is none.
    contexts: Vec<String>,
    context_places: HashedMap<u32>,
    context: u32,
    late_from: u32,
    /// Hashes for [`super::Ledger::known`].
    pub known: Vec<u32>,
}

/// A family of names that were used together.
pub struct Family {
    /// The file.
    pub label: String,
    /// Most important first.
    pub members: Vec<Member>,
    /// The message in which the best one stands.
    pub message: u32,
    /// Who used it there.
    pub score: f64,
}

impl Inventory {
    /// For a conversation of so many messages.
    pub fn new(messages: usize) -> Inventory {
        Inventory { late_from: (messages as f64 * w::NAME_LATE) as u32, ..Inventory::default() }
    }

    /// Takes the names of a message in.
    pub fn read(&mut self, message: &Message, index: u32, text: &str, names: &[Name<'_>], base: usize) {
        let call = message.role == Role::Assistant && text.starts_with("[tool");
        let mut context = if message.role == Role::Tool { self.context } else { 0 };
        let mut first_file = true;
        for name in names {
            if call && is_argument(text, name) {
                self.known.push(super::known_hash(name.key.as_bytes()));
                continue;
            }
            if call && first_file && name.kind == NameKind::File && name.text.len() > 3 {
                first_file = false;
                context = self.context_of(name.key);
            }
            self.take(message.role, index, *name, base, context, call);
        }
        if message.role != Role::Tool {
            self.context = context;
        }
    }

    fn context_of(&mut self, label: &str) -> u32 {
        let next = self.contexts.len() as u32 + 1;
        let place = *self.context_places.entry(names::key_hash(label.as_bytes())).or_insert(next);
        if place == next {
            self.contexts.push(bounded(label, 60).to_string());
        }
        place
    }

    fn take(&mut self, role: Role, index: u32, name: names::Name<'_>, base: usize, context: u32, call: bool) {
        let hash = names::key_hash(name.key.as_bytes());
        let next = self.entries.len() as u32;
        let place = *self.places.entry(hash).or_insert(next);
        if place == next {
            self.known.push((hash & 0x00ff_ffff) as u32);
            if name.key.len() != name.text.len() {
                self.known.push(super::known_hash(name.text.as_bytes()));
            }
            self.entries.push(Entry {
                message: index,
                start: (base + name.start) as u32,
                length: name.text.len() as u32,
                context,
                kind: name.kind,
                last: index,
                seen: u32::MAX,
                by_user: 0,
                by_agent: 0,
                by_tool: 0,
                late: 0,
                called: 0,
                fading: [0.0; 2],
            });
        }
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        if entry.seen == index {
            return;
        }
        let uses = match role {
            Role::User => w::NAME_USES[0],
            Role::Assistant => w::NAME_USES[1],
            _ => w::NAME_USES[2],
        };
        for (fading, half) in entry.fading.iter_mut().zip(w::NAME_HALF_LIVES) {
            *fading = *fading * libm::exp2f(-((index - entry.last) as f32) / half) + uses;
        }
        entry.seen = index;
        entry.last = index;
        entry.late += u16::from(index >= self.late_from);
        entry.called += u16::from(call);
        match role {
            Role::User => entry.by_user = entry.by_user.saturating_add(1),
            Role::Assistant => entry.by_agent = entry.by_agent.saturating_add(1),
            _ => entry.by_tool = entry.by_tool.saturating_add(1),
        }
        if role != Role::Tool || entry.by_user + entry.by_agent == 0 {
            (entry.message, entry.start, entry.length) = (index, (base + name.start) as u32, name.text.len() as u32);
            entry.context = if context != 0 { context } else { entry.context };
        }
    }

    /// What the model reads of each name.
    pub fn candidates(&self, messages: &[Message]) -> Vec<super::Candidate> {
        let span = messages.len().max(1) as f64;
        let mut all = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.kind != NameKind::Number) {
            let Some(text) = slice(messages, entry) else { continue };
            all.push(super::Candidate {
                text: text.to_string(),
                message_index: entry.last,
                role: messages.get(entry.message as usize).map_or(Role::Tool, |message| message.role),
                features: features(entry, span).into_iter().enumerate().collect(),
            });
        }
        all
    }

    /// The families, most important first, and how many names did not fit in.
    pub fn families(&self, messages: &[Message]) -> (Vec<Family>, usize) {
        let span = messages.len().max(1) as f64;
        let mut ranked: Vec<(f64, usize)> = Vec::with_capacity(self.entries.len());
        for (place, entry) in self.entries.iter().enumerate() {
            if entry.kind != NameKind::Number {
                ranked.push((score(entry, span), place));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let all = ranked.len();
        ranked.truncate(4 * w::MAX_NAMES);
        // Where there is room for all, each is followed.
        if ranked.len() > w::MAX_NAMES {
            self.collapse_series(&mut ranked, messages);
        }
        ranked.truncate(w::MAX_NAMES);
        let left = all - ranked.len();
        let mut families: Vec<Family> = Vec::new();
        let mut from = 0;
        for band in w::NAME_BANDS {
            let Some(names) = ranked.get(from..(from + band).min(ranked.len())) else { break };
            self.band(names, messages, &mut families);
            from += band;
        }
        families.truncate(w::MAX_FAMILIES);
        families.sort_by(|a, b| b.score.total_cmp(&a.score));
        (families, left)
    }

    /// Of names that differ only in their numbers (`batch-1`, `batch-2`, …) the best few stand for all.
    fn collapse_series(&self, ranked: &mut Vec<(f64, usize)>, messages: &[Message]) {
        let mut sizes: HashedMap<usize> = HashedMap::default();
        let series = |place: usize| {
            let entry = self.entries.get(place)?;
            slice(messages, entry).filter(|text| text.bytes().any(|byte| byte.is_ascii_digit())).map(names::series)
        };
        let found: Vec<Option<u64>> = ranked.iter().map(|(_, place)| series(*place)).collect();
        found.iter().flatten().for_each(|series| *sizes.entry(*series).or_default() += 1);
        sizes.retain(|_, size| *size >= w::SERIES);
        let mut found = found.iter();
        ranked.retain(|_| {
            let series = found.next().copied().flatten().and_then(|series| sizes.get_mut(&series));
            // From here on the number counts down those that may still be taken.
            series.is_none_or(|left| {
                *left = if *left >= w::SERIES { w::SERIES_KEPT } else { *left };
                let taken = *left > 0;
                *left = left.saturating_sub(1);
                taken
            })
        });
    }

    /// Packs names of about the same rank into lines: those of one file together, the others by rank.
    fn band(&self, names: &[(f64, usize)], messages: &[Message], families: &mut Vec<Family>) {
        let mut counts: HashedMap<usize> = HashedMap::default();
        let context = |place: usize| self.entries.get(place).map_or(0, |entry| u64::from(entry.context));
        for (_, place) in names {
            *counts.entry(context(*place)).or_default() += 1;
        }
        let mut open: HashedMap<usize> = HashedMap::default();
        for (score, place) in names {
            let Some(entry) = self.entries.get(*place) else { continue };
            let Some(text) = slice(messages, entry) else { continue };
            let own = counts.get(&context(*place)).is_some_and(|count| *count >= w::OWN_LINE);
            let key = if own { context(*place) } else { 0 };
            let length = |family: &Family| family.members.iter().map(|member| member.text.len() + 2).sum::<usize>();
            let fits = |family: &Family| {
                family.members.len() < w::FAMILY && length(family) + text.len() <= w::NAME_LINE.max(text.len())
            };
            if open.get(&key).and_then(|at| families.get(*at)).is_none_or(|family| !fits(family)) {
                open.insert(key, families.len());
                let label = self.contexts.get((key as usize).wrapping_sub(1)).cloned().unwrap_or_default();
                families.push(Family { label, members: Vec::new(), message: entry.message, score: 0.0 });
            }
            let Some(family) = open.get(&key).and_then(|at| families.get_mut(*at)) else { continue };
            family.score += score;
            let (text, last_index, weight) = (text.to_string(), entry.last, *score);
            family.members.push(Member { text, values: Vec::new(), last_index, weight });
        }
    }
}

/// `"file_path":` in a call is how tools are called, not what the conversation is about.
fn is_argument(text: &str, name: &Name<'_>) -> bool {
    let bytes = text.as_bytes();
    name.start.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'"')
        && bytes.get(name.start + name.text.len()..).is_some_and(|rest| rest.starts_with(b"\":"))
}

fn slice<'a>(messages: &'a [Message], entry: &Entry) -> Option<&'a str> {
    let text =
        messages.get(entry.message as usize)?.text.get(entry.start as usize..(entry.start + entry.length) as usize)?;
    // The folders before a file are the same for all its neighbours.
    if text.len() > 48 && entry.kind == NameKind::File { text.rsplit('/').next() } else { Some(text) }
}

/// How many features a name has.
pub const FEATURES: usize = 16;

/// What the model of names reads.
fn features(entry: &Entry, span: f64) -> [f64; FEATURES] {
    let count = |uses: u16| libm::log(1.0 + f64::from(uses));
    let recency = f64::from(entry.last) / span;
    let fading = |at: usize| {
        let half = w::NAME_HALF_LIVES.get(at).copied().unwrap_or(1.0);
        let left = entry.fading.get(at).copied().unwrap_or(0.0) * libm::exp2f((entry.last as f32 - span as f32) / half);
        libm::log(1.0 + f64::from(left))
    };
    let is = |kind: NameKind| f64::from(u8::from(entry.kind == kind));
    [
        1.0,
        count(entry.by_user),
        count(entry.by_agent),
        count(entry.by_tool),
        count(entry.late),
        count(entry.called),
        recency,
        recency * recency * recency,
        is(NameKind::File),
        is(NameKind::Symbol),
        is(NameKind::Flag),
        is(NameKind::Id),
        is(NameKind::Url),
        f64::from(entry.length.min(40)) / 40.0,
        fading(0),
        fading(1),
    ]
}

/// How surely a name will be needed again, from 0 to 1.
fn score(entry: &Entry, span: f64) -> f64 {
    let sum: f64 = features(entry, span).iter().zip(w::NAME).map(|(feature, weight)| feature * weight).sum();
    1.0 / (1.0 + libm::exp(-sum))
}
