//! What must be known from one hook to the next about checkpoints: when the last one was written, how long the
//! conversation should be by now, and what the agent was handed already. It lives in a slot of the host's.

use crate::event::{AfterCompaction, BeforeCompaction, LocalTime, Session, Trigger};
use crate::host::{Host, HostError, LogLevel, slot};
use serde::{Deserialize, Serialize};

/// The state of one session's checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Which transcript, where the gateway tells: a reset begins another one, and nothing of the old one holds for it.
    pub session_id: Option<String>,
    /// From when on the minutes are counted: the last checkpoint, or the first event.
    pub since: Option<i64>,
    /// How many prompts the session had then.
    pub exchanges: Option<u32>,
    /// A checkpoint is due, and nobody has written it yet.
    pub pending: Option<Trigger>,
    /// The task was complex at the last checkpoint.
    pub complex: bool,
    /// How many signals the last checkpoint had, and when it was taken.
    pub written: Option<Written>,
    /// Why the checkpoint of the compaction under way was not written.
    pub not_written: Option<String>,
    /// How long the conversation must be at least, as far as anyone told.
    pub baseline: Option<Baseline>,
    /// A compaction was announced and its end was not told yet.
    pub compacting: Option<LocalTime>,
    /// The last compaction lost something that waits in the slot [`slot::CARRIED`].
    pub carried: bool,
    /// What the agent was handed last: ids of compactions and checkpoints.
    pub handed: Vec<String>,
}

/// A checkpoint that stands on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Written {
    /// When it was taken.
    pub unix_ms: i64,
    /// How many signals it was made from.
    pub signals: u32,
}

/// What a whole conversation has at least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Baseline {
    /// Which transcript.
    pub session_id: Option<String>,
    /// How many messages; 0 where that is not known.
    pub message_count: u32,
    /// The gateway told that number. Otherwise the messages were counted, and only such counts compare with it.
    pub told: bool,
    /// Its first message, where that is known.
    pub first_message_id: Option<String>,
    /// A message that must still be there, where one is known.
    pub last_message_id: Option<String>,
}

impl Baseline {
    /// The conversation as an event shows it; `None` where it shows nothing.
    pub fn of(event: &BeforeCompaction) -> Option<Baseline> {
        let given = event.messages.len() as u32;
        let message_count = event.message_count.unwrap_or(given);
        // The ids of a part of the messages tell nothing about where the whole begins.
        let all = given > 0 && given >= message_count;
        (message_count > 0).then(|| Baseline {
            session_id: event.session.session_id.clone(),
            message_count,
            told: event.message_count.is_some(),
            first_message_id: event.messages.first().filter(|_| all).map(|message| message.id.clone()),
            last_message_id: event.messages.last().filter(|_| all).map(|message| message.id.clone()),
        })
    }

    /// What must still be there after a compaction that was told of.
    pub fn after(event: &AfterCompaction) -> Option<Baseline> {
        let message_count = event.messages_retained.filter(|kept| *kept > 0)?;
        let session_id = event.session.session_id.clone();
        Some(Baseline { session_id, message_count, told: true, ..Baseline::default() })
    }
}

impl Record {
    /// Whether the agent was handed this compaction or checkpoint already.
    pub fn was_handed(&self, id: &str) -> bool {
        self.handed.iter().any(|handed| handed == id)
    }

    /// Remembers what the agent was handed; the newest few are enough.
    pub fn hand(&mut self, ids: &[String]) {
        const MOST: usize = 8;
        self.handed.extend_from_slice(ids);
        self.handed.drain(..self.handed.len().saturating_sub(MOST));
    }

    /// The record of a session. One that cannot be read begins anew, and that is logged: it can cost one false or missing
    /// alarm, never a hook. One of another transcript begins anew too.
    pub fn load(host: &mut dyn Host, session: &Session) -> Result<Record, HostError> {
        let Some(bytes) = host.load_state(&session.session_key, slot::CHECKPOINTS)? else {
            return Ok(Record::default());
        };
        let record: Record = serde_json::from_slice(&bytes).unwrap_or_else(|why| {
            let what = format!("what was known of the checkpoints is not readable and begins anew: {why}");
            host.log(LogLevel::Warn, &what);
            Record::default()
        });
        Ok(if other_transcript(&record.session_id, session) { Record::default() } else { record })
    }

    /// Saves it.
    pub fn save(&self, host: &mut dyn Host, session: &Session) -> Result<(), HostError> {
        let session_id = session.session_id.clone().or_else(|| self.session_id.clone());
        let record = Record { session_id, ..self.clone() };
        let bytes = serde_json::to_vec(&record).map_err(|why| HostError::Failed(why.to_string()))?;
        host.save_state(&session.session_key, slot::CHECKPOINTS, &bytes)
    }
}

/// Whether both are known and differ: the conversation was reset in between.
pub(crate) fn other_transcript(session_id: &Option<String>, session: &Session) -> bool {
    session_id.is_some() && session.session_id.is_some() && *session_id != session.session_id
}
