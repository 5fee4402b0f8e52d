//! What is read of a conversation before anything is made of it: no secrets, nothing of ours read twice; and what is
//! added to the signals that were found: writes to memory files, and what an earlier compaction lost.
//!
//! Secrets go here, at the door. So they reach neither findings nor ledger, checkpoint, note, alert or recovery text,
//! whatever those are made from; what is written is redacted again, as a second lock.

use super::{carried, memory_files, own};
use crate::config::Settings;
use crate::event::{AfterCompaction, BeforeCompaction, Message};
use crate::redact::redact;
use crate::signal::{self, Ledger, Signal, known_hash, names};
use std::borrow::Cow;

/// An event that may be read.
pub struct Reading<'a> {
    /// The event without secrets and without texts of ours.
    pub event: Cow<'a, BeforeCompaction>,
    /// Hashes of the names in our texts: a summary that repeats them made nothing up.
    known: Vec<u32>,
    /// The last message in which a text of ours stood.
    ours_at: Option<u32>,
}

impl<'a> Reading<'a> {
    /// Takes secrets and our own texts out; borrows where there were none.
    pub fn of(event: &'a BeforeCompaction) -> Reading<'a> {
        let mut reading = Reading { event: Cow::Borrowed(event), known: Vec::new(), ours_at: None };
        for (index, message) in event.messages.iter().enumerate() {
            let ours = own::ours(&message.text);
            for range in &ours {
                reading.learn(message.text.get(range.clone()).unwrap_or_default());
                reading.ours_at = Some(index as u32);
            }
            let rest = own::without(&message.text, &ours);
            let clean = match redact(&rest) {
                Cow::Owned(clean) => clean,
                Cow::Borrowed(_) if ours.is_empty() => continue,
                Cow::Borrowed(_) => rest.into_owned(),
            };
            if let Some(message) = reading.event.to_mut().messages.get_mut(index) {
                message.text = clean;
            }
        }
        reading
    }

    /// Its signals, with those that the messages alone do not tell.
    pub fn ledger(&self, settings: &Settings, carried: Vec<Signal>) -> Ledger {
        let mut ledger = signal::survey(&self.event, settings);
        if !self.known.is_empty() {
            ledger.known.extend_from_slice(&self.known);
            ledger.known.sort_unstable();
            ledger.known.dedup();
        }
        let found = ledger.signals.len();
        memory_files::add(&mut ledger, &self.event.messages);
        let place = self.ours_at.unwrap_or(self.event.messages.len() as u32 / 2);
        // Where the gateway gave no messages, an audit would judge by the carried facts alone.
        if !self.event.messages.is_empty() {
            carried::add(&mut ledger, carried, place);
        }
        if ledger.signals.len() > found {
            let order =
                |a: &Signal, b: &Signal| b.salience.total_cmp(&a.salience).then(a.message_index.cmp(&b.message_index));
            ledger.signals.sort_by(order);
        }
        ledger.cut.extend(missing(&self.event));
        ledger
    }

    fn learn(&mut self, text: &str) {
        names::names(text, |name| {
            self.known.extend([known_hash(name.key.as_bytes()), known_hash(name.text.as_bytes())]);
        });
    }
}

/// The gateway counts more messages than it handed over, and does not say that it limits.
fn missing(event: &BeforeCompaction) -> Option<String> {
    let (counted, given) = (event.message_count?, event.messages.len() as u32);
    (given > 0 && counted > given && event.message_count_limited.is_none()).then(|| {
        format!("the gateway counts {counted} messages and handed over {given}: the others are not in the audit")
    })
}

/// The second event without secrets in its summary.
pub fn summary_without_secrets(event: &AfterCompaction) -> Cow<'_, AfterCompaction> {
    match event.summary_text.as_deref().map(redact) {
        Some(Cow::Owned(clean)) => Cow::Owned(AfterCompaction { summary_text: Some(clean), ..event.clone() }),
        _ => Cow::Borrowed(event),
    }
}

/// Messages for a plan, without secrets and without texts of ours.
pub fn messages(messages: &[Message]) -> Vec<Message> {
    let event = BeforeCompaction { messages: messages.to_vec(), ..BeforeCompaction::default() };
    Reading::of(&event).event.into_owned().messages
}
