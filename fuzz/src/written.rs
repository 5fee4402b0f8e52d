//! What holds for every text that is written or handed to an agent, whatever the conversation says; and reading such
//! texts back, our own and those that somebody else wrote.

use crate::host::TestHost;
use crate::input;
use compact_review::checkpoint::quote::quote;
use compact_review::checkpoint::{Recovered, parse, recovered};
use compact_review::event::{LocalTime, Session, SessionStart};
use compact_review::hooks;
use compact_review::host::slot;
use compact_review::redact::redact;
use compact_review::report::{WriteOutcome, WriteTarget};

const FENCE: &str = "~~~~~~";
/// What a model or a program would take for the begin of an order, in the middle of a line too.
const ORDERS: [&str; 8] = ["<|", "[INST]", "[/INST]", "</", "<system>", "<system ", "<!--", "```"];

/// A checkpoint or an entry of a daily note: the structure is ours, everything else is quoted.
pub fn check_write(write: &WriteOutcome) {
    match write.target {
        WriteTarget::Checkpoint => check_checkpoint(&write.text),
        WriteTarget::DailyNote => check_note(&write.text),
    }
}

/// A checkpoint: a header for machines, one title, one task, known sections, a last line.
fn check_checkpoint(text: &str) {
    let header = parse(text).expect("a checkpoint has a header");
    assert!(!header.session_key.is_empty());
    let lines: Vec<&str> = text.lines().collect();
    let [first, body @ .., last] = lines.as_slice() else { panic!("{text:?}") };
    assert!(first.starts_with("<!-- compact-review:checkpoint {") && first.ends_with("} -->"), "{first:?}");
    assert_eq!(*last, "<!-- compact-review:end of checkpoint -->");
    const SECTIONS: [&str; 10] = [
        "Context",
        "In a Model's Words",
        "Decisions Made",
        "Current State",
        "Next Steps",
        "Open Questions",
        "Key Files",
        "Constraints",
        "Exact Values",
        "",
    ];
    let (mut titles, mut tasks) = (0, 0);
    for line in body {
        check_line(line);
        if let Some(section) = line.strip_prefix("### ") {
            assert!(SECTIONS.contains(&section), "{line:?}");
        } else if line.starts_with("## ") {
            tasks += 1;
        } else if *line == "# Active Checkpoint" {
            titles += 1;
        } else {
            let known = ["**Status:** ", "**Message count:** ", "**Token estimate:** "];
            let item = line.starts_with("- ") || line.split_once(". ").is_some_and(|(at, _)| at.parse::<u8>().is_ok());
            assert!(line.is_empty() || item || known.iter().any(|known| line.starts_with(known)), "{line:?}");
        }
    }
    assert_eq!((titles, tasks), (1, 1), "{text}");
}

/// An entry: one heading, items, and its id as the last line.
fn check_note(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let [first, body @ .., last] = lines.as_slice() else { panic!("{text:?}") };
    assert!(first.starts_with("## "), "{first:?}");
    assert!(last.starts_with("<!-- compact-review:entry ") && last.ends_with(" -->"), "{last:?}");
    for line in body {
        check_line(line);
        assert!(line.starts_with("- ") || line.starts_with("  - "), "{line:?}");
    }
}

/// A line with quotes in it: no orders, no secrets, no control characters.
fn check_line(line: &str) {
    for order in ORDERS {
        assert!(!line.contains(order), "{order} in {line:?}");
    }
    assert!(!line.contains("~~~"), "{line:?}");
    assert!(!line.chars().any(char::is_control), "{line:?}");
    check_no_secret(line);
}

/// Whatever would be hidden was hidden. What was cut may look like something else.
pub fn check_no_secret(text: &str) {
    if text.contains('…') {
        return;
    }
    let clean = redact(text);
    assert_eq!(clean, text, "a secret was written");
}

/// Text that is handed on as data: one fence around it, which nothing in it can end.
pub fn check_fenced(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let [_, open, body @ .., close] = lines.as_slice() else { panic!("{text:?}") };
    assert_eq!((*open, *close), ("~~~~~~text", FENCE), "{text}");
    assert!(text.ends_with("~~~~~~\n"), "{text:?}");
    for line in body {
        assert!(!line.contains("~~~"), "{line:?}");
        check_no_secret(line);
    }
}

/// The text that an agent gets before its next prompt.
pub fn check_recovery(text: &str) {
    check_fenced(text);
    let lines: Vec<&str> = text.lines().collect();
    let [head, _, body @ .., _] = lines.as_slice() else { panic!("{text:?}") };
    assert!(head.starts_with("Recovered from checkpoint (compact-review)."), "{head:?}");
    check_line(head);
    for line in body {
        check_line(line);
        let known = ["Task: ", "Status: ", "Last action: ", "Next: ", "Then: ", "- "];
        assert!(known.iter().any(|known| line.starts_with(known)), "{line:?}");
    }
}

/// One quote: a line that starts nothing.
fn check_quote(text: &str) {
    for most in [40, 320] {
        let line = quote(text, most);
        assert!(line.len() <= most, "{} of {most}", line.len());
        check_line(&line);
        assert!(!line.starts_with(['#', '>', '-', '*', '+', '=', '|', '_']), "{line:?}");
    }
}

/// Checkpoints, notes and states that anyone may have edited, read back: the last piece is the note, the others are the
/// checkpoint; the first byte says which slots hold those bytes too.
pub fn checkpoint(data: &[u8]) {
    let (slots, rest) = input::choice(data);
    let text = input::text(rest);
    let pieces = input::pieces(&text);
    pieces.iter().for_each(|piece| check_quote(piece));
    let (note, checkpoint) = pieces.split_last().map_or(("", String::new()), |(last, all)| (*last, all.join("\n")));
    if let Some(recovered) = Recovered::of(&checkpoint, parse(&checkpoint).as_ref()).with_all_of(&checkpoint).text(6000)
    {
        assert!(recovered.len() <= 6000);
        check_recovery(&recovered);
    }
    let key = parse(&checkpoint).map_or("agent:main:main".to_string(), |header| header.session_key);
    drop(recovered::last_entry(note, &key));
    let mut host = TestHost { checkpoint: Some(checkpoint), note: Some(note.to_string()), ..TestHost::default() };
    for (bit, name) in
        [slot::CHECKPOINTS, slot::RECOVERY, slot::CARRIED, slot::BUDGET, slot::SIGNALS].iter().enumerate()
    {
        if slots & (1 << bit) != 0 {
            host.planted.insert(name.to_string(), note.as_bytes().to_vec());
        }
    }
    start(&mut host, key);
}

/// A session starts over what was left, and is compacted.
fn start(host: &mut TestHost, session_key: String) {
    let session = Session { session_key, ..Session::default() };
    let now = LocalTime { unix_ms: 1_794_933_000_000, utc_offset_minutes: -480 };
    let start =
        SessionStart { session: session.clone(), now, message_count: Some(1), message_ids: vec!["m0".to_string()] };
    let waiting = host.planted.contains_key(slot::RECOVERY);
    if let Ok(outcome) = hooks::session_start(host, &start)
        && let Some(recovery) = outcome.recovery
        && !waiting
    {
        check_recovery(&recovery.text);
    }
    let (before, after) =
        input::compaction("u:Never deploy on Fridays.\n%%\na:Next step: fix the build.\n%%\nIt went on.");
    let before = compact_review::event::BeforeCompaction { session: session.clone(), ..before };
    let after = compact_review::event::AfterCompaction { session, ..after };
    if let Ok(outcome) = hooks::before_compaction(host, &before) {
        outcome.writes.iter().for_each(check_write);
    }
    if let Ok(report) = hooks::after_compaction(host, &after) {
        report.writes.iter().for_each(check_write);
    }
}
