//! One conversation in the gateway.

use super::prune::Cut;
use compact_review::budget::estimate::estimate;
use compact_review::event::{Message, Session};

/// What the framing of a message costs beside its text, in tokens: role and separators in the chat formats of the
/// large providers.
const TOKENS_PER_MESSAGE: u64 = 4;

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
}

impl GatewaySession {
    /// An empty conversation.
    pub fn new(session: Session) -> Self {
        GatewaySession { session, ..Default::default() }
    }

    /// Something was said.
    pub fn push(&mut self, message: Message) {
        self.tokens += cost(&message);
        self.messages.push(message);
    }

    /// How full the context is, estimated.
    pub fn tokens(&self) -> u64 {
        self.tokens
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
        let tail = self.messages.split_off(cut.last_dropped.min(self.messages.len()));
        self.messages.truncate(cut.first_dropped);
        if !summary.text.is_empty() {
            self.messages.push(summary);
        }
        self.messages.extend(tail);
        self.compactions += 1;
        self.recount();
    }

    fn recount(&mut self) {
        self.tokens = self.messages.iter().map(cost).sum();
    }
}

/// The tokens of a message in the context.
pub(super) fn cost(message: &Message) -> u64 {
    u64::from(estimate(&message.text)) + TOKENS_PER_MESSAGE
}
