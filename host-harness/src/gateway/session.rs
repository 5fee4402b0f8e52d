//! One conversation in the gateway.

use super::prune::{Cut, Stays};
use crate::runtime::SharedTokens;
use compact_review::budget::estimate::estimate;
use compact_review::event::{Message, Session};
use std::sync::PoisonError;

/// What the framing of a message costs beside its text, in tokens: role and separators in the chat formats of the
/// large providers.
const TOKENS_PER_MESSAGE: u64 = 4;

/// What stands in the place of a tool's result whose call is kept: providers refuse a call without its result.
const STUB: &str = "[this result was compacted]";

/// One conversation in the gateway.
#[derive(Clone, Debug, Default)]
pub struct GatewaySession {
    /// What it is called.
    pub session: Session,
    /// What stands in the context now, oldest first.
    pub messages: Vec<Message>,
    /// How often it was compacted.
    pub compactions: usize,
    tokens: u64,
    counter: Option<SharedTokens>,
    /// The prompt of the last request: what its provider has in its cache.
    pub(super) cached: u64,
    /// The plugin has a count to which the next message is to be added.
    pub(super) counted_by_plugin: bool,
    /// The plugin asked for a compaction that has not taken place yet.
    pub(super) compaction_due: bool,
    /// How often the user has spoken.
    pub(super) prompts: u32,
}

impl GatewaySession {
    /// An empty conversation. Its length is estimated.
    pub fn new(session: Session) -> Self {
        GatewaySession { session, ..Default::default() }
    }

    /// An empty conversation. Its length is counted by this tokenizer, where there is one.
    pub fn counted_by(session: Session, counter: Option<SharedTokens>) -> Self {
        GatewaySession { session, counter, ..Default::default() }
    }

    /// Something was said.
    pub fn push(&mut self, message: Message) {
        self.tokens += self.cost(&message);
        self.messages.push(message);
    }

    /// How full the context is, estimated or counted.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The tokens of a message in the context.
    pub(super) fn cost(&self, message: &Message) -> u64 {
        let counted = self.counter.as_ref().and_then(|counter| {
            let mut counter = counter.lock().unwrap_or_else(PoisonError::into_inner);
            counter.count(&[&message.text]).ok()?.first().copied()
        });
        u64::from(counted.unwrap_or_else(|| estimate(&message.text))) + TOKENS_PER_MESSAGE
    }

    /// What an in-run hook knows of the session.
    pub(super) fn key_only(&self) -> Session {
        Session { session_key: self.session.session_key.clone(), ..Default::default() }
    }

    pub(super) fn next_compaction_id(&self) -> String {
        format!("compaction-{}", self.compactions + 1)
    }

    /// The gateway's own limiting.
    pub(super) fn keep_last(&mut self, limit: usize) {
        let surplus = self.messages.len().saturating_sub(limit);
        self.messages.drain(..surplus);
        self.recount();
    }

    /// Puts the summary, where it says anything, in the place of what was cut out.
    pub(super) fn replace(&mut self, cut: &Cut, summary: Message) {
        let mut summary = Some(summary).filter(|summary| !summary.text.is_empty());
        let mut left = Vec::with_capacity(cut.kept_ids.len() + 1);
        for (at, (message, stays)) in std::mem::take(&mut self.messages).into_iter().zip(&cut.stays).enumerate() {
            if at == cut.summary_at {
                left.extend(summary.take());
            }
            match stays {
                Stays::Whole => left.push(message),
                Stays::Stub => left.push(Message { text: STUB.to_string(), ..message }),
                Stays::Not => {}
            }
        }
        left.extend(summary);
        self.messages = left;
        self.compactions += 1;
        // The start of the prompt is another one now, and what the plugin knew is stale.
        (self.cached, self.counted_by_plugin, self.compaction_due) = (0, false, false);
        self.recount();
    }

    fn recount(&mut self) {
        self.tokens = self.messages.iter().map(|message| self.cost(message)).sum();
    }
}
