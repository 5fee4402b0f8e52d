//! Bytes taken for texts and conversations. The form is plain text, so that seeds can be read and mutations stay valid.

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Role, Session};

/// Stands alone on a line between two pieces of an input.
const BREAK: &str = "\n%%\n";
/// Longer inputs are left to the tests that grow them: here they would only make each run slow.
const LONGEST: usize = 64 * 1024;

/// The input as text, whatever the bytes are.
pub fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(&data[..data.len().min(LONGEST)]).into_owned()
}

/// The pieces of an input.
pub fn pieces(text: &str) -> Vec<&str> {
    text.split(BREAK).collect()
}

/// The first byte, to choose by, and the rest.
pub fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}

/// Pieces that begin with `u`, `a`, `t`, `f` (a tool that failed) or anything else (the gateway), taken for messages.
pub fn messages(pieces: &[&str]) -> Vec<Message> {
    let message = |(at, piece): (usize, &&str)| {
        let mut rest = piece.chars();
        let (role, failed) = match rest.next() {
            Some('u') => (Role::User, false),
            Some('a') => (Role::Assistant, false),
            Some('t') => (Role::Tool, false),
            Some('f') => (Role::Tool, true),
            _ => (Role::System, false),
        };
        let text = rest.as_str().trim_start_matches(':').to_string();
        let tool = (role == Role::Tool).then(|| "shell".to_string());
        Message { id: format!("m{at}"), role, text, tool, failed, at: Some(MORNING + at as i64 * 60_000) }
    };
    pieces.iter().enumerate().map(message).collect()
}

const MORNING: i64 = 1_794_933_000_000;

/// A conversation and its summary: the last piece.
pub fn compaction(text: &str) -> (BeforeCompaction, AfterCompaction) {
    let pieces = pieces(text);
    let (summary, said) = pieces.split_last().map_or(("", &[][..]), |(last, said)| (*last, said));
    let session = Session { session_key: "agent:main:main".to_string(), ..Session::default() };
    let now = LocalTime { unix_ms: MORNING, utc_offset_minutes: 480 };
    let messages = messages(said);
    let count = messages.len() as u32;
    let after = AfterCompaction {
        session: session.clone(),
        now,
        messages_retained: Some(count / 4),
        messages_dropped: Some((count - count / 4).max(1)),
        summary_text: Some(summary.to_string()),
        compaction_id: Some("c1".to_string()),
        ..AfterCompaction::default()
    };
    (BeforeCompaction { session, now, messages, ..BeforeCompaction::default() }, after)
}
