//! A recorded session of any format, for the commands that look at one.

use crate::report::terminal;
use crate::transcript::{Control, Recording, Transcripts};
use anyhow::Result;
use std::path::Path;

/// How many broken lines are named.
const NAMED_LINES: usize = 10;

/// Opens a session file, or the session of a store that was written to last. What cannot be read goes to standard error.
pub(super) fn open(path: &Path) -> Result<Recording> {
    let transcripts = Transcripts::open(path, None, Control::default())?;
    for notice in transcripts.notices() {
        anstream::eprintln!("{}: {}", path.display(), terminal::plain(notice, 300));
    }
    let recording = transcripts.recording(transcripts.newest(None)?)?;
    for broken in recording.stats.broken.iter().take(NAMED_LINES) {
        anstream::eprintln!("{}: line {}: {}", path.display(), broken.line, terminal::plain(&broken.why, 300));
    }
    Ok(recording)
}
