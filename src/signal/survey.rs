//! The reading of all messages: collects statements, lists, names and commands, weighs them, makes the ledger.

use super::bonds;
use super::calls::{command_of, is_call};
use super::cues::Cues;
use super::cues::cue::{ASK, CORRECTION, COURTESY, DECISION, DEFER, FOLLOWED, PROHIBITION, QUESTION, RULE, TASK, WISH};
use super::inventory::{HashedMap, Inventory};
use super::lists::{List, Lists};
use super::names::{self, Name};
use super::prose::{self, Buffer, Statement, Surroundings};
use super::stance::Collector;
use super::supersession::{self, Fate};
use super::weights as w;
use super::{Candidate, Ledger, Member, Signal, bounded, id_hash};
use crate::config::Settings;
use crate::event::{BeforeCompaction, Message, Role};
use crate::redact::redact;
use crate::report::Kind;
use crate::text;

/// What is said with one of these is a fact of its own, however often it was said in the same form.
const BINDING: u32 = PROHIBITION | RULE | WISH | DEFER | DECISION | TASK | ASK;

/// Reads all messages once.
pub fn survey(event: &BeforeCompaction, _settings: &Settings) -> Ledger {
    let messages = &event.messages;
    let mut ledger = Ledger {
        taken: event.now,
        reason: event.reason,
        message_count: messages.len() as u32,
        token_count: event.token_count,
        source_bytes: messages.iter().map(|message| message.text.len() as u64).sum(),
        message_hashes: messages.iter().map(|message| id_hash(&message.id)).collect(),
        ..Ledger::default()
    };
    let mut reading = Reading::new(messages);
    for (index, message) in messages.iter().enumerate() {
        reading.message(message, index as u32);
    }
    reading.finish(&mut ledger);
    ledger
}

/// What the models read of each statement and name.
pub fn candidates(event: &BeforeCompaction) -> (Vec<Candidate>, Vec<Candidate>) {
    let mut reading = Reading::new(&event.messages);
    for (index, message) in event.messages.iter().enumerate() {
        reading.message(message, index as u32);
    }
    let mut statements = Vec::new();
    for (order, around, _) in reading.surroundings() {
        let Some(statement) = reading.statements.get(order) else { continue };
        let Some(message) = event.messages.get(statement.message as usize) else { continue };
        let mut features = Vec::new();
        prose::features(statement, &around, |feature, value| features.push((feature, value)));
        let text = collapse(message.text.get(statement.start..statement.end).unwrap_or_default());
        statements.push(Candidate { text, message_index: statement.message, role: message.role, features });
    }
    (statements, reading.inventory.candidates(&event.messages))
}

/// Where something stands again and again.
#[derive(Clone, Copy, Default)]
struct Repeats {
    /// In how many messages.
    messages: u32,
    /// The newest of them.
    message: u32,
    /// The newest statement.
    order: usize,
}

impl Repeats {
    fn add(&mut self, message: u32, order: usize) {
        self.messages += u32::from(self.messages == 0 || self.message != message);
        (self.message, self.order) = (message, order);
    }
}

struct Reading<'a> {
    messages: &'a [Message],
    cues: Cues,
    buffer: Buffer,
    /// The names in the message that is being read.
    names: Vec<Name<'a>>,
    statements: Vec<Statement>,
    results: Vec<Statement>,
    /// How often each wording and each formula stands.
    wordings: HashedMap<Repeats>,
    formulas: HashedMap<Repeats>,
    /// For each rare word of a statement the messages that carry it, newest last.
    inventory: Inventory,
    lists: Lists,
    stances: Collector,
    bonds: bonds::Collector,
    /// What the agent asked last: message, first byte, behind the last byte.
    asked: Vec<(u32, usize, usize)>,
    /// The message that is being read.
    read: usize,
    commands: HashedMap<usize>,
    command_list: Vec<(String, u32, u32)>,
    sampled: usize,
    sampled_bytes: usize,
    first_user: u32,
    last_user: u32,
}

impl<'a> Reading<'a> {
    fn new(messages: &'a [Message]) -> Reading<'a> {
        let last_user = messages.iter().rposition(|message| message.role == Role::User).unwrap_or(0) as u32;
        let first_user = messages.iter().position(|message| message.role == Role::User).unwrap_or(0) as u32;
        Reading {
            messages,
            cues: Cues::new(),
            buffer: Buffer::default(),
            names: Vec::new(),
            statements: Vec::new(),
            results: Vec::new(),
            wordings: HashedMap::default(),
            formulas: HashedMap::default(),
            inventory: Inventory::new(messages.len()),
            lists: Lists::default(),
            stances: Collector::default(),
            bonds: bonds::Collector::default(),
            asked: Vec::new(),
            read: 0,
            commands: HashedMap::default(),
            command_list: Vec::new(),
            sampled: 0,
            sampled_bytes: 0,
            first_user,
            last_user,
        }
    }

    fn find_names(&mut self, text: &'a str) {
        self.names.clear();
        names::names(text, |name| self.names.push(name));
    }

    fn message(&mut self, message: &'a Message, index: u32) {
        self.read = index as usize;
        let text = message.text.as_str();
        if message.role == Role::Tool && text.len() > w::TOOL_SAMPLE {
            let head = bounded(text, w::TOOL_SAMPLE * 2 / 3);
            let tail_start = text.ceil_char_boundary(text.len() - w::TOOL_SAMPLE / 3);
            let tail = text.get(tail_start..).unwrap_or_default();
            self.sampled += 1;
            self.sampled_bytes += tail_start - head.len();
            for (part, base) in [(head, 0), (tail, tail_start)] {
                self.find_names(part);
                self.inventory.read(message, index, part, &self.names, base);
            }
            self.result_lines(tail, tail_start, index);
        } else {
            self.find_names(text);
            self.inventory.read(message, index, text, &self.names, 0);
            self.lists.read(message, index, &self.names);
            if message.role == Role::Tool {
                self.result_lines(text, 0, index);
            }
        }
        if message.role == Role::Assistant {
            self.command(text, index);
        }
        if message.role != Role::Tool && !is_call(text) {
            let from = self.statements.len();
            let Reading { cues, buffer, statements, wordings, formulas, stances, bonds, .. } = self;
            prose::statements(text, index, cues, buffer, |statement, tokens| {
                let order = statements.len();
                wordings.entry(statement.wording).or_default().add(index, order);
                formulas.entry(statement.formula).or_default().add(index, order);
                let sentence = text.get(statement.start..statement.end).unwrap_or_default();
                stances.read(sentence, tokens);
                bonds.read(tokens);
                statements.push(statement);
            });
            self.consent(message.role, from);
        }
    }

    /// A user who says yes right behind an agent's question approves what it asks.
    fn consent(&mut self, role: Role, from: usize) {
        let asks = |statement: &&Statement| statement.cues & (ASK | QUESTION) != 0;
        if role == Role::Assistant {
            self.asked.clear();
            let asked = self.statements.iter().skip(from).filter(asks);
            self.asked.extend(asked.map(|statement| (statement.message, statement.start, statement.end)));
        } else if role == Role::User {
            let said = self.statements.iter().skip(from).fold(0, |cues, statement| cues | statement.cues);
            // An answer of one word is no statement.
            let message = self.messages.get(self.read).map(|message| message.text.as_str()).unwrap_or_default();
            let mut words = Vec::new();
            super::cues::words(bounded(message, 200), |word| words.push(word));
            let first = self.cues.read("", words.get(..words.len().min(3)).unwrap_or_default()).0;
            let agrees = first & COURTESY != 0 && (said | first) & (PROHIBITION | CORRECTION) == 0;
            for (message, start, end) in std::mem::take(&mut self.asked) {
                let text = self.messages.get(message as usize).and_then(|message| message.text.get(start..end));
                if let Some(text) = text.filter(|_| agrees) {
                    self.stances.approve(text);
                }
            }
        }
    }

    /// Lines of tool output that tell how something ended.
    fn result_lines(&mut self, text: &str, base: usize, index: u32) {
        let mut kept = 0;
        let start = text.ceil_char_boundary(text.len().saturating_sub(4_000));
        let mut at = start;
        for line in text.get(start..).unwrap_or_default().split_inclusive('\n') {
            let trimmed = line.trim();
            if kept < 2 && (12..240).contains(&trimmed.len()) && tells_result(trimmed) {
                let lead = line.len() - line.trim_start().len();
                self.results.push(Statement {
                    message: index,
                    start: base + at + lead,
                    end: base + at + lead + trimmed.len(),
                    cues: 0,
                    words: 6,
                    wording: 0,
                    formula: text::hash(trimmed.trim_matches(|c: char| !c.is_alphabetic()).as_bytes()),
                    formula_words: 0,
                    rare: [0; 4],
                    values: 0,
                    pasted: false,
                    first: false,
                    loud: false,
                    code: false,
                    brief: false,
                    announces: false,
                    depth: 0.0,
                    lines: 0,
                });
                kept += 1;
            }
            at += line.len();
        }
    }

    fn command(&mut self, text: &str, index: u32) {
        let Some(command) = command_of(text) else { return };
        let next = self.command_list.len();
        let place = *self.commands.entry(text::hash(command.as_bytes())).or_insert(next);
        if place == next {
            self.command_list.push((command, 0, index));
        }
        if let Some(known) = self.command_list.get_mut(place) {
            known.1 += 1;
            known.2 = index;
        }
    }

    fn finish(mut self, ledger: &mut Ledger) {
        let known = &mut self.inventory.known;
        known.sort_unstable();
        known.dedup();
        ledger.known = std::mem::take(known);
        ledger.stances = std::mem::take(&mut self.stances).finish();
        ledger.bonds = std::mem::take(&mut self.bonds).finish();
        let mut signals = self.weigh_statements(&mut ledger.cut);
        let lists = std::mem::take(&mut self.lists).finish(self.messages);
        signals.extend(lists.iter().take(w::MAX_LISTS).map(|list| self.list_signal(list)));
        let (families, left) = self.inventory.families(self.messages);
        if left > 0 {
            ledger.cut.push(format!("{left} names that were used least are counted but not followed"));
        }
        let top = families.first().map_or(1.0, |family| family.score.max(0.1));
        for family in families {
            let salience = w::NAMES_TOP * (family.score / top).min(1.0);
            let mut signal = self.signal(Kind::Infrastructure, String::new(), family.message, salience);
            signal.members = family.members;
            let place = if family.label.is_empty() { "together" } else { family.label.as_str() };
            signal.why.push(format!("names used in {place}, by how often and how lately"));
            signals.push(signal);
        }
        signals.extend(self.command_signal());
        if self.sampled > 0 {
            let (count, bytes) = (self.sampled, self.sampled_bytes);
            ledger
                .cut
                .push(format!("{count} long tool outputs were sampled (head and tail); {bytes} bytes were not read"));
        }
        signals.sort_by(|a, b| b.salience.total_cmp(&a.salience).then(a.message_index.cmp(&b.message_index)));
        self.bound(ledger, &mut signals);
        for (number, signal) in signals.iter_mut().enumerate() {
            signal.id = format!("s{}", number + 1);
        }
        ledger.signals = signals;
    }

    /// A ledger is small beside its source.
    fn bound(&self, ledger: &mut Ledger, signals: &mut Vec<Signal>) {
        let budget = (ledger.source_bytes as usize / 6).clamp(128_000, 400_000);
        let mut used = 2 * ledger.known.len() + 4 * ledger.message_hashes.len();
        let before = signals.len();
        signals.retain(|signal| {
            let members: usize = signal.members.iter().map(|member| member.text.len() + 4).sum();
            let why: usize = signal.why.iter().map(|why| why.len() + 1).sum();
            let values: usize = signal.values.iter().map(|value| value.len() + 1).sum();
            let size = signal.text.len() + members + why + values + 24;
            let fits = used + size <= budget;
            used += if fits { size } else { 0 };
            fits
        });
        if signals.len() < before {
            ledger
                .cut
                .push(format!("the ledger is full: {} signals of least weight are left out", before - signals.len()));
        }
    }

    /// Each statement with what is known around it; equal statements only once, at their newest place.
    fn surroundings(&self) -> Vec<(usize, Surroundings, Fate)> {
        let listed = self.lists.places();
        let mut carriers: HashedMap<Vec<u32>> = HashedMap::default();
        for statement in &self.statements {
            for rare in statement.rare.iter().filter(|hash| **hash != 0) {
                let list = carriers.entry(*rare).or_default();
                if list.last() != Some(&statement.message) {
                    list.push(statement.message);
                }
            }
        }
        let fates = supersession::fates(&self.statements, self.messages);
        let span = self.messages.len().max(2) as f64 - 1.0;
        let mut all = Vec::with_capacity(self.statements.len());
        for (order, (statement, fate)) in self.statements.iter().zip(fates).enumerate() {
            let Some(message) = self.messages.get(statement.message as usize) else { continue };
            let newest = |repeats: Option<&Repeats>| repeats.is_none_or(|repeats| repeats.order == order);
            let formula = self.formulas.get(&statement.formula).filter(|repeats| is_formula(statement, repeats));
            // Only the newest of equal statements speaks for them.
            if !newest(self.wordings.get(&statement.wording)) || !newest(formula) {
                continue;
            }
            // What a list holds is followed there, unless it is more than data.
            if statement.cues & BINDING == 0 && listed.cover(statement.message, statement.start, statement.end) {
                continue;
            }
            let around = Surroundings {
                role: message.role,
                position: f64::from(statement.message) / span,
                open: statement.message >= self.last_user,
                opening: statement.message == self.first_user,
                answers: (statement.message as usize)
                    .checked_sub(1)
                    .and_then(|before| self.messages.get(before))
                    .is_some_and(|before| before.role == Role::User),
                formula_count: formula.map_or(0, |repeats| repeats.messages),
                reuse: reuse(statement, &carriers),
                done_later: fate.done,
                overturned: fate.doubted || fate.overturned_by.is_some(),
            };
            all.push((order, around, fate));
        }
        all
    }

    fn weigh_statements(&self, cut: &mut Vec<String>) -> Vec<Signal> {
        let mut ranked: Vec<(f64, usize, Surroundings, Fate)> = Vec::with_capacity(self.statements.len());
        for (order, around, fate) in self.surroundings() {
            let Some(statement) = self.statements.get(order) else { continue };
            ranked.push((prose::weigh(statement, &around), order, around, fate));
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let found = ranked.len();
        ranked.truncate(w::MAX_STATEMENTS);
        let mut signals: Vec<Signal> = Vec::with_capacity(ranked.len());
        for (salience, order, around, fate) in &ranked {
            let Some(mut signal) = self.statement_signal(*salience, *order, around) else { continue };
            if let Some(newer) = fate.overturned_by.and_then(|newer| self.statements.get(newer)) {
                signal.superseded = true;
                let id = self.messages.get(newer.message as usize).map(|message| message.id.as_str()).unwrap_or("");
                signal.why.push(format!("overturned in message {id}"));
            }
            signals.push(signal);
        }
        if found > signals.len() {
            cut.push(format!("{} of {found} statements are followed, the most salient", signals.len()));
        }
        self.results_into(&mut signals);
        signals
    }

    fn statement_signal(&self, salience: f64, order: usize, around: &Surroundings) -> Option<Signal> {
        let statement = self.statements.get(order)?;
        let message = self.messages.get(statement.message as usize)?;
        let text = message.text.get(statement.start..statement.end)?;
        let kind = prose::kind(statement, message.role);
        let mut signal = self.signal(kind, collapse(bounded(text, w::MAX_TEXT)), statement.message, salience);
        signal.cues = statement.cues | if around.reuse > 0 { FOLLOWED } else { 0 };
        signal.order = order as u32 + 1;
        signal.values = prose::values(text);
        signal.why = prose::why(statement, around);
        Some(signal)
    }

    fn results_into(&self, signals: &mut Vec<Signal>) {
        let mut newest: HashedMap<u32> = HashedMap::default();
        for result in &self.results {
            newest.insert(result.formula, result.message);
        }
        let span = self.messages.len().max(2) as f64 - 1.0;
        for result in &self.results {
            if newest.get(&result.formula) != Some(&result.message) {
                continue;
            }
            let Some(message) = self.messages.get(result.message as usize) else { continue };
            let Some(text) = message.text.get(result.start..result.end) else { continue };
            let salience = 0.10 + 0.10 * f64::from(result.message) / span + if message.failed { 0.08 } else { 0.0 };
            let kind = if failure(text) { Kind::Error } else { Kind::State };
            let mut signal = self.signal(kind, collapse(text), result.message, salience);
            signal.values = prose::values(text);
            signal.why.push("how a tool run ended".to_string());
            signals.push(signal);
        }
    }

    fn list_signal(&self, list: &List) -> Signal {
        let role = self.messages.get(list.message as usize).map_or(Role::Tool, |message| message.role);
        let mut salience = if role == Role::User { w::LIST_USER } else { w::LIST_OTHER };
        // Values that are most of the item are data; a sentence with a value in it that repeats is a formula.
        if list.words > 5.0 {
            salience -= if list.messages > 3 { 0.45 } else { 0.30 };
        }
        if role == Role::Assistant || role == Role::Tool && list.words > 2.0 {
            salience -= 0.16;
        }
        let disclaimed = |text: &str| {
            let mut hashes = Vec::new();
            super::cues::words(text, |word| hashes.push(word));
            self.cues.read(text, &hashes).0 & super::cues::cue::DISCLAIMED != 0
        };
        if disclaimed(&list.label) || list.members.iter().take(3).any(|member| disclaimed(&member.text)) {
            salience -= 0.45;
        }
        let mut signal = self.signal(Kind::Infrastructure, list.label.clone(), list.message, salience.max(0.02));
        signal.members = list.members.clone();
        signal.why.push(format!("a list of {} items of one form", list.members.len()));
        signal
    }

    fn command_signal(&self) -> Option<Signal> {
        let mut commands: Vec<&(String, u32, u32)> = self.command_list.iter().filter(|known| known.1 >= 2).collect();
        commands.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.cmp(&a.2)));
        let last = commands.first()?.2;
        let mut signal = self.signal(Kind::Infrastructure, "commands run".to_string(), last, w::COMMANDS);
        signal.members = commands
            .iter()
            .take(12)
            .map(|(text, _, last)| Member {
                text: redact(text).into_owned(),
                values: Vec::new(),
                last_index: *last,
                weight: 0.0,
            })
            .collect();
        signal.why.push("commands that were run more than once".to_string());
        Some(signal)
    }

    fn signal(&self, kind: Kind, text: String, message: u32, salience: f64) -> Signal {
        let source = self.messages.get(message as usize);
        Signal {
            id: String::new(),
            kind,
            text: redact(&text).into_owned(),
            values: Vec::new(),
            members: Vec::new(),
            message_id: source.map(|message| message.id.clone()).unwrap_or_default(),
            message_index: message,
            last_index: message,
            order: 0,
            role: source.map_or(Role::Tool, |message| message.role),
            at: source.and_then(|message| message.at),
            salience,
            cues: 0,
            superseded: false,
            why: Vec::new(),
        }
    }
}

/// Few words around a name are a formula only where they stand very often: "`a` calls `b`" and "`c` calls `d`" are two
/// things.
fn is_formula(statement: &Statement, repeats: &Repeats) -> bool {
    let often = if statement.formula_words >= w::FORMULA_WORDS { w::FORMULA } else { w::SHORT_FORMULA };
    statement.formula_words > 0 && repeats.messages >= often
}

/// How many later messages take all rare words of a statement up.
fn reuse(statement: &Statement, carriers: &HashedMap<Vec<u32>>) -> usize {
    let later = |list: &Vec<u32>| list.len() - list.partition_point(|at| *at <= statement.message);
    statement.rare.iter().filter_map(|rare| carriers.get(rare)).map(later).min().unwrap_or(0)
}

/// Newlines and runs of spaces as one space.
pub(super) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn tells_result(line: &str) -> bool {
    // One look at each three bytes finds the lines that may have one of the words below.
    let may = |begin: &[u8]| {
        matches!(begin, b"pas" | b"fai" | b"err" | b"Err" | b"ERR" | b"FAI" | b"war" | b"not" | b"den" | b"fat")
    };
    line.as_bytes().windows(3).any(may)
        && contains_word(
            line,
            &["passed", "failed", "error", "Error", "ERROR", "FAIL", "warning", "not found", "denied", "fatal"],
        )
        && !line.contains('{')
}

fn failure(line: &str) -> bool {
    contains_word(line, &["failed", "error", "Error", "ERROR", "FAIL", "not found", "denied", "fatal"])
}

fn contains_word(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}
