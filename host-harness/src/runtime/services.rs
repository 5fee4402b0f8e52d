//! What the host gives a plugin during one call: notes and state, settings, a tokenizer; and what it collects.

use super::limits::Limits;
use crate::notes::NoteStore;
use crate::tokens::TokenCounter;
use compact_review::host::{Host, HostError, LogLevel, NoteEntry, NotePlace, Retention};
use compact_review::report::Alert;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One tokenizer for all calls of a host: what it has counted once, it does not count again.
pub type SharedTokens = Arc<Mutex<TokenCounter>>;

/// One store for all calls of a host, also for those that run on threads of their own.
pub type SharedNotes = Arc<Mutex<dyn NoteStore + Send>>;

/// What a host offers to every call.
#[derive(Clone)]
pub struct Services {
    /// Where notes, checkpoints and state go.
    pub notes: SharedNotes,
    /// The plugin's settings as JSON.
    pub settings: Option<String>,
    /// The model's tokenizer, where there is one.
    pub tokens: Option<SharedTokens>,
}

impl Services {
    /// These notes, no settings, no tokenizer.
    pub fn new(notes: impl NoteStore + Send + 'static) -> Self {
        Services { notes: Arc::new(Mutex::new(notes)), settings: None, tokens: None }
    }
}

/// A line that a plugin logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How important.
    pub level: LogLevel,
    /// What it says, bounded.
    pub message: String,
}

/// What a plugin said beside its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What it logged.
    pub log: Vec<LogLine>,
    /// What it raised.
    pub alerts: Vec<Alert>,
}

/// The host during one call.
pub(super) struct EventHost {
    services: Services,
    limits: Limits,
    said: Said,
    unheard_lines: usize,
    unheard_alerts: usize,
    writes: usize,
    written: usize,
    refused_writes: usize,
    /// When the call must have ended. The engine sees to that in the plugin's code, not while the host works for it.
    until: Instant,
}

impl EventHost {
    pub(super) fn new(services: &Services, limits: Limits) -> Self {
        EventHost {
            services: services.clone(),
            limits,
            said: Said::default(),
            unheard_lines: 0,
            unheard_alerts: 0,
            writes: 0,
            written: 0,
            refused_writes: 0,
            until: Instant::now() + limits.deadline,
        }
    }

    fn notes(&self) -> MutexGuard<'_, dyn NoteStore + Send + 'static> {
        // Every method of a store leaves it whole, so a panic in another thread did no harm to it.
        self.services.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write against what one call may write.
    fn may_write(&mut self, bytes: usize) -> Result<(), HostError> {
        let (writes, written) = (self.limits.writes, self.limits.written);
        if self.writes >= writes || self.written.saturating_add(bytes) > written {
            self.refused_writes += 1;
            return Err(HostError::TooLarge(format!("one call may write {writes} times and {written} bytes in all")));
        }
        self.writes += 1;
        self.written += bytes;
        Ok(())
    }

    /// What was said; what was too much is told as a number.
    pub(super) fn into_said(mut self) -> Said {
        let too_much = [
            (self.unheard_lines, "lines of the log", "dropped", self.limits.log_lines),
            (self.unheard_alerts, "alerts", "dropped", self.limits.alerts),
            (self.refused_writes, "writes", "refused", self.limits.writes),
        ];
        for (count, what, done, limit) in too_much {
            if count > 0 {
                let message = format!("{count} more {what} were {done}: over the limit of one call ({limit})");
                self.said.log.push(LogLine { level: LogLevel::Warn, message });
            }
        }
        self.said
    }
}

impl Host for EventHost {
    fn log(&mut self, level: LogLevel, message: &str) {
        if self.said.log.len() >= self.limits.log_lines {
            self.unheard_lines += 1;
            return;
        }
        self.said.log.push(LogLine { level, message: cut(message, self.limits.log_line) });
    }

    fn alert(&mut self, alert: &Alert) {
        if self.said.alerts.len() >= self.limits.alerts {
            self.unheard_alerts += 1;
            return;
        }
        let (code, text) = (cut(&alert.code, self.limits.log_line), cut(&alert.text, self.limits.log_line));
        self.said.alerts.push(Alert { level: alert.level, code, text });
    }

    fn settings(&mut self) -> Option<String> {
        self.services.settings.clone()
    }

    fn count_tokens(&mut self, texts: &[&str]) -> Option<Vec<u32>> {
        let tokens = self.services.tokens.as_ref()?;
        let counted = tokens.lock().unwrap_or_else(PoisonError::into_inner).count_until(texts, self.until);
        match counted {
            Ok(counts) => Some(counts),
            Err(error) => {
                self.log(LogLevel::Warn, &format!("tokens are estimated: {error}"));
                None
            }
        }
    }

    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        self.notes().load_state(session_key, slot)
    }

    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.may_write(bytes.len())?;
        self.notes().save_state(session_key, slot, bytes)
    }

    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError> {
        self.notes().clear_state(session_key, slot)
    }

    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError> {
        self.notes().read_checkpoint(session_key)
    }

    fn write_checkpoint(&mut self, session_key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        self.may_write(text.len())?;
        self.notes().write_checkpoint(session_key, text, keep)
    }

    fn read_note(&mut self, session_key: &str, date: &str) -> Result<Option<String>, HostError> {
        self.notes().read_note(session_key, date)
    }

    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        self.may_write(entry.text.len())?;
        self.notes().append_note(entry)
    }
}

/// At most that many bytes, ending on a character.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_string();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}
