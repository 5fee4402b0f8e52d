//! Reading what a person names: errors say which file, line and field, and what to do.

use anyhow::{Context, Result, anyhow, bail};
use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime};
use serde::Deserialize;
use std::path::Path;

/// Larger files are refused: an events file holds one conversation.
const MAX_EVENTS_BYTES: u64 = 512 * 1024 * 1024;

/// The two payloads of one compaction.
#[derive(Debug, Deserialize)]
pub(super) struct Events {
    /// Absent for a gateway that never fired it.
    #[serde(default)]
    pub before: Option<BeforeCompaction>,
    /// What the gateway says afterwards.
    pub after: AfterCompaction,
}

/// A text file, whole.
pub(super) fn read_text(path: &Path) -> Result<String> {
    let shown = path.display();
    let data = std::fs::metadata(path).with_context(|| format!("{shown}"))?;
    if data.is_dir() {
        bail!("{shown}: this is a folder; name a file in it");
    }
    if data.len() > MAX_EVENTS_BYTES {
        bail!("{shown}: {} MB; at most {} MB are read", data.len() >> 20, MAX_EVENTS_BYTES >> 20);
    }
    let bytes = std::fs::read(path).with_context(|| format!("{shown}"))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("{shown}: line {line}: not UTF-8 (byte {at}); save the file as UTF-8")
    })
}

/// Reads and checks an events file; a time that is missing becomes now.
pub(super) fn read_events(path: &Path) -> Result<Events> {
    let text = read_text(path)?;
    let mut json = serde_json::Deserializer::from_str(&text);
    let mut events: Events = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| anyhow!("{}: field `{}`: {}", path.display(), error.path(), error.inner()))?;
    json.end().with_context(|| format!("{}: after the end of the events", path.display()))?;
    let now = now();
    for time in events.before.iter_mut().map(|before| &mut before.now).chain([&mut events.after.now]) {
        if *time == LocalTime::default() {
            *time = now;
        }
    }
    if let Some(before) = &events.before {
        let (first, second) = (&before.session.session_key, &events.after.session.session_key);
        if first != second {
            bail!(
                "{}: field `after.sessionKey` is {second:?}, `before.sessionKey` is {first:?}: they must be the same",
                path.display()
            );
        }
    }
    Ok(events)
}

/// The clock of this machine, with the offset of the user's time zone.
pub(super) fn now() -> LocalTime {
    let now = jiff::Zoned::now();
    let minutes = now.offset().seconds() / 60;
    LocalTime {
        unix_ms: now.timestamp().as_millisecond(),
        utc_offset_minutes: i16::try_from(minutes).unwrap_or_default(),
    }
}
