//! Lists: items of one form that carry exact values (`key=value; key=value`), within one message or over many.

use super::inventory::HashedMap;
use super::names::{Name, NameKind};
use super::weights as w;
use super::{Member, bounded};
use crate::event::{Message, Role};

/// Items longer than this are text, not entries of a list.
const MAX_ITEM: usize = 220;
/// So many items of one form make a list.
const MIN_ITEMS: usize = 3;

/// A line of a list has about so many bytes.
const LINE: usize = 1_000;

struct Item {
    message: u32,
    start: usize,
    end: usize,
    words: u32,
}

/// Items by their form.
#[derive(Default)]
pub struct Lists {
    forms: HashedMap<usize>,
    groups: Vec<Vec<Item>>,
}

/// Where the items of lists stand: message, first byte, behind the last; sorted.
pub struct Places(Vec<(u32, usize, usize)>);

impl Places {
    /// Whether an item of a list is most of what stands here.
    pub fn cover(&self, message: u32, start: usize, end: usize) -> bool {
        let at = self.0.partition_point(|place| (place.0, place.2) <= (message, start));
        let next = self.0.get(at).filter(|place| place.0 == message && place.1 < end);
        next.is_some_and(|(_, from, to)| 4 * to.min(&end).saturating_sub(*from.max(&start)) >= 3 * (end - start))
    }
}

/// A list that is worth a signal.
pub struct List {
    /// What the items have in common, where the source says it.
    pub label: String,
    /// In the order of the source.
    pub members: Vec<Member>,
    /// The message of the first one.
    pub message: u32,
    /// In how many messages they stand.
    pub messages: usize,
    /// How many words an item has besides its values.
    pub words: f64,
}

impl Lists {
    /// Takes the items of a message in, whose names are known.
    pub fn read(&mut self, message: &Message, index: u32, names: &[Name<'_>]) {
        let text = message.text.as_str();
        let limit = if message.role == Role::Tool { 1_200 } else { 24_000 };
        if text.len() > limit {
            return;
        }
        let mut start = 0;
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut names = names;
        while at <= bytes.len() {
            let stop = match bytes.get(at) {
                None | Some(b'\n' | b';') => true,
                Some(b'.') => bytes.get(at + 1).is_none_or(|b| *b == b' '),
                _ => false,
            };
            if stop {
                let count = names.iter().take_while(|name| name.start < at).count();
                let (own, later) = names.split_at(count);
                self.item(text, start, at, index, own);
                names = later;
                start = at + 1;
            }
            at += 1;
        }
    }

    /// The text from `start` to `end`; `names` are those in it. A name never reaches over the marks between items.
    fn item(&mut self, text: &str, start: usize, end: usize, message: u32, names: &[Name<'_>]) {
        if names.is_empty() {
            return;
        }
        let Some(raw) = text.get(start..end) else { return };
        // A label before the first item: "Parameters of the project: a=1".
        let lead = raw.rfind(": ").map_or(0, |at| at + 2);
        let item = raw.get(lead..).unwrap_or_default();
        let item_start = start + lead + (item.len() - item.trim_start().len());
        let item = item.trim();
        if item.len() < 6 || item.len() > MAX_ITEM {
            return;
        }
        let (mut values, mut exact) = (0, 0);
        let mut form = 0xcbf2_9ce4_8422_2325u64;
        let mut words = 0;
        let mut from = 0;
        for name in names.iter().filter(|name| name.start >= item_start && name.kind != NameKind::Command) {
            let begin = name.start - item_start;
            (form, words) = skeleton(item.get(from..begin).unwrap_or_default(), form, words);
            form = (form ^ 0x23).wrapping_mul(0x0000_0100_0000_01b3);
            from = begin + name.text.len();
            values += 1;
            exact += (name.kind != NameKind::Symbol && name.kind != NameKind::Flag) as u32;
        }
        (form, words) = skeleton(item.get(from..).unwrap_or_default(), form, words);
        if values == 0 || exact == 0 || words > 14 || !item.contains(['=', ':', '>', ' ']) {
            return;
        }
        let next = self.groups.len();
        let place = *self.forms.entry(form).or_insert(next);
        if place == next {
            self.groups.push(Vec::new());
        }
        if let Some(group) = self.groups.get_mut(place) {
            group.push(Item { message, start: item_start, end: item_start + item.len(), words });
        }
    }

    /// The places of all items of lists.
    pub fn places(&self) -> Places {
        let listed = self.groups.iter().filter(|group| group.len() >= MIN_ITEMS).flatten();
        let mut places: Vec<(u32, usize, usize)> = listed.map(|item| (item.message, item.start, item.end)).collect();
        places.sort_unstable();
        Places(places)
    }

    /// The lists, by how many items they have.
    pub fn finish(self, messages: &[Message]) -> Vec<List> {
        let mut lists = Vec::new();
        for group in self.groups.iter().filter(|group| group.len() >= MIN_ITEMS) {
            let size = group.iter().map(|item| item.end - item.start).sum::<usize>() / group.len();
            let line = (LINE / size.max(1)).clamp(6, 20);
            // A message that lists them itself is a list of its own; the others belong together over all messages.
            let runs: Vec<&[Item]> = group.chunk_by(|a, b| a.message == b.message).collect();
            let (own, single): (Vec<&[Item]>, Vec<&[Item]>) = runs.into_iter().partition(|run| run.len() >= MIN_ITEMS);
            let single: Vec<&Item> = single.into_iter().flatten().collect();
            let own = own.into_iter().map(|run| run.iter().collect::<Vec<&Item>>());
            for chunk in own.chain([single]).flat_map(|run| run.chunks(line).map(<[&Item]>::to_vec).collect::<Vec<_>>())
            {
                let mut list = List { label: String::new(), members: Vec::new(), message: 0, messages: 0, words: 0.0 };
                let mut last = u32::MAX;
                for item in &chunk {
                    let Some(message) = messages.get(item.message as usize) else { continue };
                    let Some(text) = message.text.get(item.start..item.end) else { continue };
                    if list.members.is_empty() {
                        list.message = item.message;
                        list.label = label(&message.text, item.start);
                    }
                    list.messages += (last != item.message) as usize;
                    last = item.message;
                    list.words += f64::from(item.words) / chunk.len() as f64;
                    if list.members.iter().any(|known| known.text == text) {
                        continue;
                    }
                    let values = super::prose::values(text);
                    list.members.push(Member { text: text.to_string(), values, last_index: item.message, weight: 0.0 });
                }
                lists.push(list);
            }
        }
        lists.sort_by(|a, b| b.members.len().cmp(&a.members.len()).then(a.message.cmp(&b.message)));
        lists.truncate(w::MAX_LISTS * 4);
        lists
    }
}

/// What stands before the items, if it reads as a label.
fn label(text: &str, start: usize) -> String {
    let before = text.get(..start).unwrap_or_default().trim_end();
    let Some(head) = before.strip_suffix(':') else { return String::new() };
    let from = head.rfind(['\n', ';', '.']).map_or(0, |at| at + 1);
    bounded(head.get(from..).unwrap_or_default().trim(), 80).to_string()
}

fn skeleton(text: &str, mut form: u64, mut words: u32) -> (u64, u32) {
    let mut inside = false;
    for byte in text.bytes() {
        let letter = byte.is_ascii_alphabetic() || byte >= 0x80;
        words += (letter && !inside) as u32;
        inside = letter;
        if !byte.is_ascii_digit() {
            form = (form ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    (form, words)
}
