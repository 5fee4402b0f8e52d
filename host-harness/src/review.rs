//! Audits the compactions of a recorded session: holds the messages of its context, fires both hooks where it was
//! compacted, and puts the summary in the place of what it replaced.

mod excerpt;

pub use excerpt::{Excerpt, excerpt};

use crate::runtime::{Plugin, Services};
use crate::transcript::{Entry, Kept, RecordedCompaction, Said, Usage, cut};
use compact_review::budget::estimate::estimate;
use compact_review::budget::event::UsageEvent;
use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Session};
use compact_review::report::{Report, Verdict};
use std::collections::HashSet;

/// What the framing of a message costs beside its text, as in the simulated gateway.
const TOKENS_PER_MESSAGE: u64 = 4;
/// The text of one context that is held at most; the plugin takes 32 MiB at once. Beyond it the oldest long messages
/// are cut to their beginning and end.
const MAX_CONTEXT_BYTES: usize = 24 * 1024 * 1024;
/// What is left of a message then.
const CUT_TO_BYTES: usize = 4 * 1024;
/// A context of so many times what the transcript holds was not all in it. Estimates are off by far less.
const PART: u64 = 3;
/// What a context has beside its messages: system prompt and tools, seen to be 10,000 to 25,000 tokens.
const SYSTEM_PROMPT_TOKENS: u64 = 25_000;
/// What a summary begins with in the context, as in the simulated gateway.
const SUMMARY_PREFIX: &str = "[CONTEXT SUMMARY — reference only]";

/// The context of a recorded session.
pub struct Reviewer<'a> {
    plugin: &'a dyn Plugin,
    services: Services,
    session: Session,
    clock: LocalTime,
    context: Vec<Held>,
    bytes: usize,
    /// How many messages were cut because the context was too long to be held.
    pub cut_messages: u64,
    /// The newest count of the provider.
    pub usage: Option<Usage>,
    /// How many messages of the context it covers.
    counted: usize,
    compactions: usize,
}

/// A message of the context.
#[derive(Clone, Debug)]
struct Held {
    message: Message,
    line: u64,
    tokens: u64,
}

/// What came of a compaction.
#[derive(Debug)]
pub struct Reviewed {
    /// From 1, in the session.
    pub number: usize,
    /// How many messages the context had.
    pub messages_before: usize,
    /// How many the summary replaced.
    pub dropped: usize,
    /// How many still stand.
    pub retained: usize,
    /// The context before, estimated.
    pub tokens_before: u64,
    /// The context after, estimated.
    pub tokens_after: u64,
    /// What the provider had counted last.
    pub tokens_counted: Option<u64>,
    /// What the first hook was told, with the messages as they were.
    pub before: BeforeCompaction,
    /// What the second hook was told.
    pub after: AfterCompaction,
    /// The ids of the messages that still stand.
    pub kept_ids: Vec<String>,
    /// The audit, where there is one.
    pub report: Option<Report>,
    /// Everything that went wrong, in words for a person.
    pub failures: Vec<String>,
}

impl<'a> Reviewer<'a> {
    /// An empty context. `clock` is the time for compactions that do not tell theirs.
    pub fn new(plugin: &'a dyn Plugin, services: Services, session: Session, clock: LocalTime) -> Self {
        Reviewer {
            plugin,
            services,
            session,
            clock,
            context: Vec::new(),
            bytes: 0,
            cut_messages: 0,
            usage: None,
            counted: 0,
            compactions: 0,
        }
    }

    /// What it is called.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The services that its hooks use.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// How many compactions there were.
    pub fn compactions(&self) -> usize {
        self.compactions
    }

    /// The context now, estimated.
    pub fn tokens(&self) -> u64 {
        self.context.iter().map(|held| held.tokens).sum()
    }

    /// The messages of the context now, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.context.iter().map(|held| &held.message)
    }

    /// The context as a gateway would tell it: what the provider counted last, and what came after that.
    pub fn usage_event(&self) -> UsageEvent {
        let usage = self.usage.as_ref().filter(|usage| usage.counted.prompt() > 0);
        let counted = if usage.is_some() { self.counted } else { self.context.len() };
        UsageEvent {
            session: self.session.clone(),
            now: self.clock,
            model: usage.and_then(|usage| usage.model.clone()),
            context_window: usage.and_then(|usage| usage.window).filter(|window| *window > 0),
            usage: usage.map(|usage| usage.counted),
            messages: self.messages().take(counted).cloned().collect(),
            added: self.messages().skip(counted).cloned().collect(),
            ..UsageEvent::default()
        }
    }

    /// Takes in what happened, and audits it where it was a compaction.
    pub fn take(&mut self, entry: Entry) -> Option<Reviewed> {
        match entry {
            Entry::Compaction(recorded) => return Some(self.compact(&recorded)),
            Entry::Message(said) => self.push(said),
            Entry::Usage(usage) => {
                self.usage = Some(usage);
                self.counted = self.context.len();
            }
            Entry::Reset => self.clear(),
            Entry::RolledBack(turns) => self.roll_back(turns),
        }
        None
    }

    /// Takes in what happened without firing hooks.
    pub fn follow(&mut self, entry: Entry) {
        if let Entry::Compaction(recorded) = entry {
            let kept = self.kept(&recorded.kept);
            self.replace(&recorded, &kept);
        } else {
            self.take(entry);
        }
    }

    fn push(&mut self, said: Said) {
        if said.usage.is_some() {
            self.usage = said.usage;
            self.counted = self.context.len() + 1;
        }
        let tokens = u64::from(estimate(&said.message.text)) + TOKENS_PER_MESSAGE;
        self.bytes += said.message.text.len();
        self.context.push(Held { message: said.message, line: said.line, tokens });
        if self.bytes > MAX_CONTEXT_BYTES {
            self.shrink();
        }
    }

    /// Cuts long messages, oldest first, until a quarter of the room is free again.
    fn shrink(&mut self) {
        for held in &mut self.context {
            if self.bytes <= MAX_CONTEXT_BYTES / 4 * 3 {
                return;
            }
            let text = &held.message.text;
            if text.len() > CUT_TO_BYTES + 100 {
                let shorter = cut(text, CUT_TO_BYTES).into_owned();
                self.bytes -= text.len() - shorter.len();
                held.message.text = shorter;
                self.cut_messages += 1;
            }
        }
    }

    fn clear(&mut self) {
        self.context.clear();
        self.bytes = 0;
        self.usage = None;
    }

    fn roll_back(&mut self, turns: u64) {
        for _ in 0..turns {
            let Some(at) = self.context.iter().rposition(|held| held.message.role == Role::User) else { return };
            self.context.truncate(at);
        }
        self.bytes = self.context.iter().map(|held| held.message.text.len()).sum();
    }

    /// Which messages of the context still stand after a compaction.
    fn kept(&self, kept: &Kept) -> Vec<bool> {
        let from = |first: Option<usize>| {
            let first = first.unwrap_or(self.context.len());
            (0..self.context.len()).map(|index| index >= first).collect()
        };
        match kept {
            Kept::Nothing => from(None),
            Kept::From(id) => from(self.context.iter().position(|held| held.message.id == *id)),
            Kept::FromLine(line) => from(self.context.iter().position(|held| held.line >= *line)),
            Kept::Texts(texts) => {
                let texts: HashSet<&str> = texts.iter().map(String::as_str).collect();
                self.context.iter().map(|held| texts.contains(held.message.text.as_str())).collect()
            }
            Kept::RecentUser(tokens) => {
                let mut room = *tokens;
                let mut kept = vec![false; self.context.len()];
                for (held, kept) in self.context.iter().zip(&mut kept).rev() {
                    if held.message.role == Role::User && held.tokens <= room {
                        room -= held.tokens;
                        *kept = true;
                    }
                }
                kept
            }
        }
    }

    /// Fires both hooks around the recorded compaction.
    fn compact(&mut self, recorded: &RecordedCompaction) -> Reviewed {
        let kept = self.kept(&recorded.kept);
        let now = recorded.at.map_or(self.clock, |at| self.clock.at(at));
        let messages: Vec<Message> = self.context.iter().map(|held| held.message.clone()).collect();
        let kept_ids = messages.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(message, _)| message.id.clone());
        let mut done = Reviewed {
            number: self.compactions + 1,
            messages_before: messages.len(),
            dropped: kept.iter().filter(|kept| !**kept).count(),
            retained: kept.iter().filter(|kept| **kept).count(),
            tokens_before: self.tokens(),
            tokens_after: 0,
            tokens_counted: self.usage.as_ref().map(|usage| usage.counted.context()),
            kept_ids: kept_ids.collect(),
            before: BeforeCompaction::default(),
            after: AfterCompaction::default(),
            report: None,
            failures: Vec::new(),
        };
        let before = self.before_event(recorded, messages, done.tokens_before, now);
        self.replace(recorded, &kept);
        done.tokens_after = self.tokens();
        let after = after_event(&self.session, recorded, &kept, &done, now);
        (done.report, done.failures) = fire(self.plugin, &self.services, &before, &after);
        if let (Some(report), Some(recorded)) = (&mut done.report, recorded.tokens_before) {
            doubt_part(report, done.tokens_before, recorded);
        }
        (done.before, done.after) = (before, after);
        done
    }

    fn before_event(
        &self,
        recorded: &RecordedCompaction,
        messages: Vec<Message>,
        tokens: u64,
        now: LocalTime,
    ) -> BeforeCompaction {
        BeforeCompaction {
            session: self.session.clone(),
            reason: match recorded.manual {
                Some(true) => Reason::Manual,
                Some(false) => Reason::Threshold,
                None => Reason::Unknown,
            },
            now,
            message_count: Some(count(messages.len())),
            message_count_limited: None,
            token_count: Some(tokens),
            context_window: self.usage.as_ref().and_then(|usage| usage.window),
            messages,
        }
    }

    /// Puts the summary in the place of what is not kept.
    fn replace(&mut self, recorded: &RecordedCompaction, kept: &[bool]) {
        let mut keep = kept.iter();
        self.context.retain(|_| keep.next().copied().unwrap_or(false));
        self.compactions += 1;
        self.usage = None;
        if let Some(summary) = recorded.summary.as_deref().filter(|summary| !summary.trim().is_empty()) {
            let text = format!("{SUMMARY_PREFIX}\n\n{summary}");
            let tokens = u64::from(estimate(&text)) + TOKENS_PER_MESSAGE;
            let id = recorded.id.clone().unwrap_or_else(|| format!("compaction-{}", self.compactions));
            let message = Message { id, role: Role::System, text, tool: None, failed: false, at: recorded.at };
            self.context.insert(0, Held { message, line: recorded.line, tokens });
        }
        self.bytes = self.context.iter().map(|held| held.message.text.len()).sum();
    }
}

fn after_event(
    session: &Session,
    recorded: &RecordedCompaction,
    kept: &[bool],
    done: &Reviewed,
    now: LocalTime,
) -> AfterCompaction {
    // Everything from the first kept one on, in most formats; else each is named.
    let tail = kept.iter().skip_while(|kept| !**kept).all(|kept| *kept);
    AfterCompaction {
        session: session.clone(),
        now,
        compaction_id: recorded.id.clone(),
        messages_retained: Some(count(done.retained)),
        messages_dropped: Some(count(done.dropped)),
        summary_text: recorded.summary.clone(),
        summary_tokens: None,
        tokens_before: Some(done.tokens_before),
        tokens_after: Some(done.tokens_after),
        first_kept_entry_id: done.kept_ids.first().cloned().filter(|_| tail),
        kept_message_ids: (!tail).then(|| done.kept_ids.clone()),
    }
}

/// Both hooks, one after the other; the audit, and what went wrong.
pub fn fire(
    plugin: &dyn Plugin,
    services: &Services,
    before: &BeforeCompaction,
    after: &AfterCompaction,
) -> (Option<Report>, Vec<String>) {
    let mut failures = Vec::new();
    let mut notices = Vec::new();
    match plugin.before_compaction(services, before).result {
        Err(error) => failures.push(format!("before_compaction: {error}")),
        Ok(outcome) => {
            failures.extend(outcome.problems.iter().map(|problem| format!("before_compaction: {problem}")));
            notices = outcome.notices;
        }
    }
    match plugin.after_compaction(services, after).result {
        Err(error) => {
            failures.push(format!("after_compaction: {error}"));
            (None, failures)
        }
        Ok(mut report) => {
            failures.extend(report.problems.iter().map(|problem| format!("after_compaction: {problem}")));
            notices.retain(|notice| !report.notices.contains(notice));
            report.notices.splice(0..0, notices);
            (Some(report), failures)
        }
    }
}

/// A file that begins in the middle of a session holds a part of what was compacted. Its summary then looks larger than
/// its source, and what it says looks invented: that is no failure of the summary.
fn doubt_part(report: &mut Report, held: u64, recorded: u64) {
    if recorded < held.saturating_mul(PART).saturating_add(SYSTEM_PROMPT_TOKENS) {
        return;
    }
    let share = held * 100 / recorded.max(1);
    let notice = format!("the transcript holds about {share}% of the {recorded} tokens that were compacted");
    if report.verdict == Verdict::Failed && report.verdict_reason.contains("larger than what it replaced") {
        (report.verdict, report.score) = (Verdict::Unverifiable, None);
        report.verdict_reason = notice;
        report.alerts.clear();
    } else {
        report.notices.push(notice);
    }
}

fn count(messages: usize) -> u32 {
    u32::try_from(messages).unwrap_or(u32::MAX)
}
