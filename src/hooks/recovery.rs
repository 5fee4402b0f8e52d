//! The recovery text: made after a compaction, handed out once with the next prompt or at the start of a session.

use super::{check_session, keep_or_tell, load_settings};
use crate::audit;
use crate::checkpoint::{self as notes, Header, Record, Recovered, recovered};
use crate::config::Settings;
use crate::event::{AfterCompaction, LocalTime, Session};
use crate::host::{Host, HostError, LogLevel, slot};
use crate::report::{HookError, Recovery, Report};
use crate::signal::Ledger;
use serde::{Deserialize, Serialize};

/// What waits for the next prompt.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    /// The compaction and the checkpoint that it is about.
    ids: Vec<String>,
    text: String,
    /// Which transcript it is for.
    session_id: Option<String>,
}

impl Waiting {
    pub(super) fn new(ids: Vec<String>, text: String) -> Waiting {
        Waiting { ids, text, session_id: None }
    }
}

/// Before a prompt is sent: the recovery text of the last compaction, once.
pub fn before_prompt(host: &mut dyn Host, session: &Session, _now: LocalTime) -> Result<Option<Recovery>, HookError> {
    check_session(session)?;
    let settings = load_settings(host)?;
    if !settings.recovery.enabled {
        return Ok(None);
    }
    take_waiting(host, session)
}

/// After a compaction: where the work stood and what the summary lost, kept for the next prompt.
pub(super) fn keep(
    host: &mut dyn Host,
    settings: &Settings,
    ledger: Option<&Ledger>,
    event: &AfterCompaction,
    record: &Record,
    checkpoint: Option<&(String, Header)>,
    report: &mut Report,
) {
    let id = notes::entry_id(event);
    if !settings.recovery.enabled || record.was_handed(&id) {
        return;
    }
    let mut recovered = checkpoint.map(|(text, header)| Recovered::of(text, Some(header))).unwrap_or_default();
    let retained = recovered::retained(ledger, event);
    recovered = recovered.without_what_stands(event.summary_text.as_deref(), &retained);
    recovered.facts = report.recovery.as_ref().map(|facts| recovered::facts_of(&facts.text)).unwrap_or_default();
    if let Some(recovery) = bounded(host, settings, &recovered) {
        let kept = wait(host, &event.session, Waiting::new(vec![id, recovered.id], recovery.text));
        keep_or_tell(host, &mut report.problems, "the recovery text was not kept for the next prompt", kept);
    }
}

/// Puts a text where the next prompt or start will find it.
pub(super) fn wait(host: &mut dyn Host, session: &Session, waiting: Waiting) -> Result<(), HostError> {
    let waiting = Waiting { session_id: session.session_id.clone(), ..waiting };
    let bytes = serde_json::to_vec(&waiting).map_err(|why| HostError::Failed(why.to_string()))?;
    host.save_state(&session.session_key, slot::RECOVERY, &bytes)
}

/// Takes what waits: cleared before it is handed out, so at most once, even if the gateway dies in between.
pub(super) fn take_waiting(host: &mut dyn Host, session: &Session) -> Result<Option<Recovery>, HookError> {
    let key = &session.session_key;
    let storage = |error: HostError| HookError::Storage(format!("the recovery text: {error}"));
    let Some(bytes) = host.load_state(key, slot::RECOVERY).map_err(storage)? else { return Ok(None) };
    host.clear_state(key, slot::RECOVERY).map_err(storage)?;
    let waiting: Waiting = serde_json::from_slice(&bytes)
        .map_err(|why| HookError::Storage(format!("the recovery text is not readable and was dropped: {why}")))?;
    if notes::other_transcript(&waiting.session_id, session) {
        return Ok(None);
    }
    handed(host, session, &waiting.ids);
    let tokens = audit::count_tokens(host, &waiting.text);
    Ok(Some(Recovery { text: waiting.text, tokens }))
}

/// Remembers what was handed out. If that fails, the worst is that it is told twice.
pub(super) fn handed(host: &mut dyn Host, session: &Session, ids: &[String]) {
    let saved = Record::load(host, session).and_then(|mut record| {
        record.hand(ids);
        record.save(host, session)
    });
    if let Err(error) = saved {
        host.log(LogLevel::Warn, &format!("that the recovery text was handed out was not saved: {error}"));
    }
}

/// The checkpoint of this very conversation; that of another one is none.
pub(super) fn own_checkpoint(host: &mut dyn Host, session: &Session) -> Result<Option<(String, Header)>, HostError> {
    let Some(text) = host.read_checkpoint(&session.session_key)? else { return Ok(None) };
    let header = notes::parse(&text).filter(|header| header.session_key == session.session_key);
    Ok(header.map(|header| (text, header)))
}

/// The text within its limit of tokens: what a byte costs differs by text, so it is counted and cut again.
pub(super) fn bounded(host: &mut dyn Host, settings: &Settings, recovered: &Recovered) -> Option<Recovery> {
    let most = settings.recovery.max_tokens;
    let mut bytes = most as usize * notes::recovery::BYTES_PER_TOKEN;
    loop {
        let text = recovered.text(bytes)?;
        let tokens = audit::count_tokens(host, &text);
        if tokens <= most {
            return Some(Recovery { text, tokens });
        }
        // At least a tenth less each time, so this ends.
        bytes = (text.len() * most as usize / tokens.max(1) as usize).min(bytes * 9 / 10);
    }
}
