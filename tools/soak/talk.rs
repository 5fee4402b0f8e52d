//! What is said in a session, made from a seed. Every sentence names the session, so that a mixture of two would show.

use crate::plan::{Random, SummaryKind, marker};
use compact_review::event::{Message, Role};
use std::fmt::Write;

/// The shortest and the longest batch of messages.
const FEWEST: u64 = 4;
const MOST: u64 = 9;
/// Lines of tool output.
const OUTPUT_LINES: u64 = 60;

/// The messages of one event. The first is a user's, with a rule, a task and an address: there is always something to
/// save.
pub fn messages(session: usize, event: usize, seed: u64, at: i64) -> Vec<Message> {
    let mut random = Random::new(seed, 0);
    let word = marker(session);
    let count = FEWEST + random.below(MOST - FEWEST);
    let message = |index: u64| {
        let (role, text) = match index {
            0 => (
                Role::User,
                format!(
                    "Never deploy {word} build {event} on Fridays. The database of {word} is \
                     {word}-{event}.example.internal:5432. Next, migrate table {word}_orders_{event}."
                ),
            ),
            _ if index % 3 == 1 => (
                Role::Assistant,
                format!(
                    "We decided to copy {word}_orders_{event} in blocks of {} because {word} is small.",
                    index * 500
                ),
            ),
            _ if index % 3 == 2 => (Role::Tool, tool_output(&mut random, &word, event)),
            _ => (
                Role::User,
                format!("Ticket {}-{event}{index} of {word} must stay open until Dana approves.", word.to_uppercase()),
            ),
        };
        Message {
            id: format!("{word}-e{event}-m{index}"),
            role,
            text,
            tool: (role == Role::Tool).then(|| "bash".to_string()),
            failed: role == Role::Tool && index.is_multiple_of(2),
            at: Some(at - 1_000 * (count - index) as i64),
        }
    };
    (0..count).map(message).collect()
}

fn tool_output(random: &mut Random, word: &str, event: usize) -> String {
    let mut text = String::new();
    for line in 0..random.below(OUTPUT_LINES) {
        let number = random.below(100_000);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{word} worker[{event}] copied block {line}: {number} rows, checksum {:016x}",
            random.number()
        );
    }
    text.push_str(&format!("{word}.log: 41 passed, 1 failed"));
    text
}

/// Two messages that say nothing: what a second compaction at once finds.
pub fn next_to_nothing(session: usize, event: usize) -> Vec<Message> {
    let said = [(Role::User, "Hi"), (Role::Assistant, "Hello.")];
    let message = |(at, (role, text)): (usize, (Role, &str))| Message {
        id: format!("{}-e{event}-n{at}", marker(session)),
        role,
        text: text.to_string(),
        tool: None,
        failed: false,
        at: None,
    };
    said.into_iter().enumerate().map(message).collect()
}

/// What replaces the messages.
pub fn summary(session: usize, event: usize, kind: SummaryKind) -> String {
    let word = marker(session);
    match kind {
        SummaryKind::Lossy => format!(
            "The migration of {word} goes on. The database of {word} is {word}-{event}.example.internal:5432; table \
             {word}_orders_{event} is next."
        ),
        SummaryKind::Empty => String::new(),
        SummaryKind::Placeholder => "## Decisions\nNone.\n## Open TODOs\nNone.\n".to_string(),
    }
}
