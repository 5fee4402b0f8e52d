//! The names of a conversation: who used each of them, how often, how lately; grouped by the file they were used with.

use super::names::{self, NameKind};
use super::weights as w;
use super::{Member, bounded};
use crate::event::{Message, Role};
use std::collections::HashMap;
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
    /// Takes the names of a message in.
    pub fn read(&mut self, message: &Message, index: u32, text: &str, base: usize) {
        let call = message.role == Role::Assistant && text.starts_with("[tool");
        let mut context = if message.role == Role::Tool { self.context } else { 0 };
        let mut first_file = true;
        names::names(text, |name| {
            if call && first_file && name.kind == NameKind::File && name.text.len() > 3 {
                first_file = false;
                context = self.context_of(name.key);
            }
            self.take(message.role, index, name, base, context);
        });
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

    fn take(&mut self, role: Role, index: u32, name: names::Name<'_>, base: usize, context: u32) {
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
            });
        }
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        if entry.seen == index {
            return;
        }
        entry.seen = index;
        entry.last = index;
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
        let left = ranked.len().saturating_sub(w::MAX_NAMES);
        ranked.truncate(w::MAX_NAMES);
        let mut families: Vec<Family> = Vec::new();
        let mut open: HashedMap<usize> = HashedMap::default();
        for (score, place) in ranked {
            let Some(entry) = self.entries.get(place) else { continue };
            let Some(text) = slice(messages, entry) else { continue };
            let key =
                if entry.context != 0 { u64::from(entry.context) } else { (1 << 40) | u64::from(entry.message / 8) };
            let full = open.get(&key).and_then(|at| families.get(*at)).is_none_or(|f| f.members.len() >= w::FAMILY);
            if full {
                if families.len() >= w::MAX_FAMILIES {
                    continue;
                }
                open.insert(key, families.len());
                let label = self.contexts.get((entry.context as usize).wrapping_sub(1)).cloned().unwrap_or_default();
                families.push(Family { label, members: Vec::new(), message: entry.message, score: 0.0 });
            }
            let Some(family) = open.get(&key).and_then(|at| families.get_mut(*at)) else { continue };
            // What a person reads of a line: its first names.
            if family.members.len() < w::FAMILY {
                family.score += score;
            }
            family.members.push(Member { text: text.to_string(), values: Vec::new(), last_index: entry.last });
        }
        families.sort_by(|a, b| b.score.total_cmp(&a.score));
        (families, left)
    }
}

fn slice<'a>(messages: &'a [Message], entry: &Entry) -> Option<&'a str> {
    let text =
        messages.get(entry.message as usize)?.text.get(entry.start as usize..(entry.start + entry.length) as usize)?;
    // The folders before a file are the same for all its neighbours.
    if text.len() > 48 && entry.kind == NameKind::File { text.rsplit('/').next() } else { Some(text) }
}

fn score(entry: &Entry, span: f64) -> f64 {
    let uses = w::NAME_USER * f64::from(entry.by_user)
        + w::NAME_AGENT * f64::from(entry.by_agent)
        + w::NAME_TOOL * f64::from(entry.by_tool);
    let recency = f64::from(entry.last) / span;
    libm::log(1.0 + uses) + w::NAME_RECENT * recency * recency
}
