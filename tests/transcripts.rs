//! Recorded sessions of every format: what is read of them, and what is said about bad ones.

use crate::recorded::{self, DECISION, OUTPUT, RULE, SUMMARY, TICKET, lines, write};
use compact_review::event::{Message, Role};
use host_harness::transcript::{Control, Entry, ErrorKind, Format, Kept, RecordedCompaction, Recording, Transcripts};
use serde_json::{Value, json};
use std::path::Path;

fn open(path: &Path) -> Transcripts {
    Transcripts::open(path, None, Control::default()).unwrap()
}

fn play(recording: &mut Recording) -> (Vec<Message>, Vec<RecordedCompaction>, Vec<Entry>) {
    let (mut messages, mut compactions, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    recording
        .play(0, |entry| {
            match entry {
                Entry::Message(said) => messages.push(said.message),
                Entry::Compaction(recorded) => compactions.push(recorded),
                other => rest.push(other),
            }
            true
        })
        .unwrap();
    (messages, compactions, rest)
}

fn of(values: &[Value]) -> (Format, Recording) {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "session.jsonl", lines(values));
    let transcripts = open(&path);
    let recording = transcripts.recording(0).unwrap();
    // The file stays open under its name until the recording was played: the folder must outlive this function.
    std::mem::forget(folder);
    (transcripts.format(), recording)
}

fn said(messages: &[Message]) -> Vec<(Role, &str)> {
    messages.iter().map(|message| (message.role, message.text.as_str())).collect()
}

#[test]
fn openclaw_is_followed_along_the_branch_that_was_active() {
    let (format, mut recording) = of(&recorded::openclaw("s1"));
    assert_eq!((format, recording.session.session_id.as_deref()), (Format::Openclaw, Some("s1")));
    let (messages, compactions, _) = play(&mut recording);
    let call = format!("{DECISION}\nbash {{\"command\":\"deploy\"}}");
    let expected = [
        (Role::User, RULE),
        (Role::Assistant, &call),
        (Role::Tool, OUTPUT),
        (Role::User, TICKET),
        (Role::User, "Go on."),
    ];
    assert_eq!(said(&messages), expected);
    assert_eq!(messages[2].tool.as_deref(), Some("bash"));
    assert_eq!(compactions[0].summary.as_deref(), Some(SUMMARY));
    assert_eq!((&compactions[0].kept, compactions[0].tokens_before), (&Kept::From("e".to_string()), Some(900)));
    assert_eq!(
        (recording.stats.parts.images, recording.stats.parts.thinking, recording.stats.other_branches),
        (1, 1, 1)
    );
}

#[test]
fn pi_names_the_first_kept_message_by_its_place() {
    let (format, mut recording) = of(&recorded::pi("p1"));
    assert_eq!(format, Format::Pi);
    let (messages, compactions, _) = play(&mut recording);
    assert_eq!(messages.len(), 5);
    assert_eq!(messages[0].id, "line-2");
    assert_eq!(compactions[0].kept, Kept::FromLine(5));
}

#[test]
fn claude_code_leaves_sidechains_apart_and_keeps_results_side_by_side() {
    let (format, mut recording) = of(&recorded::claude("c1"));
    assert_eq!((format, recording.session.session_id.as_deref()), (Format::ClaudeCode, Some("c1")));
    let (messages, compactions, _) = play(&mut recording);
    let text: String = messages.iter().map(|message| format!("{}\n", message.text)).collect();
    assert!(!text.contains("SIDECHAIN") && !text.contains("HIDDEN"), "{text}");
    let tools: Vec<_> = messages.iter().filter(|message| message.role == Role::Tool).collect();
    assert_eq!(tools.len(), 2, "both results: {text}");
    assert!(tools.iter().all(|message| message.tool.as_deref() == Some("Bash")));
    assert_eq!(messages[1].role, Role::System, "a caveat is not the user's");
    assert_eq!(compactions.len(), 1, "boundary and summary are one compaction");
    assert_eq!((compactions[0].tokens_before, compactions[0].manual), (Some(700), Some(true)));
    assert_eq!(recording.stats.sidechain_lines, 1);
}

#[test]
fn a_claude_boundary_without_a_summary_is_a_compaction_that_nobody_can_judge() {
    let without: Vec<Value> =
        recorded::claude("c2").into_iter().filter(|line| line["isCompactSummary"] != true).collect();
    let (_, mut recording) = of(&without);
    let (_, compactions, _) = play(&mut recording);
    assert_eq!((compactions.len(), compactions[0].summary.as_deref()), (1, None));
}

#[test]
fn codex_takes_turns_back_and_carries_the_users_words_over() {
    let (format, mut recording) = of(&recorded::codex("x1"));
    assert_eq!((format, recording.session.session_id.as_deref()), (Format::Codex, Some("x1")));
    let (messages, compactions, rest) = play(&mut recording);
    assert_eq!(messages[0].role, Role::System, "what Codex puts into the user's mouth");
    assert!(messages.iter().any(|message| message.tool.as_deref() == Some("shell") && message.text == OUTPUT));
    assert!(rest.contains(&Entry::RolledBack(1)));
    assert!(rest.iter().any(|entry| matches!(entry, Entry::Usage(usage) if usage.window == Some(258_400))));
    assert_eq!(compactions[0].kept, Kept::Texts(vec![TICKET.to_string()]));
    assert_eq!(recording.stats.parts.encrypted, 1);
}

#[test]
fn an_encrypted_codex_summary_is_none_and_says_so() {
    let mut session = recorded::codex("x2");
    session[11]["payload"] =
        json!({"message": "", "replacement_history": [{"type": "compaction", "encrypted_content": "gAAAA"}]});
    let (_, mut recording) = of(&session);
    let (_, compactions, _) = play(&mut recording);
    assert!(compactions[0].summary.is_none() && compactions[0].encrypted);
}

#[test]
fn the_first_codex_files_had_bare_items() {
    let bare: Vec<Value> =
        std::iter::once(json!({"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": null}))
            .chain(
                recorded::codex("x3")
                    .into_iter()
                    .filter(|line| line["type"] == "response_item")
                    .map(|line| line["payload"].clone()),
            )
            .collect();
    let (format, mut recording) = of(&bare);
    assert_eq!(format, Format::Codex);
    assert!(play(&mut recording).0.iter().any(|message| message.text == RULE));
}

#[test]
fn plain_lines_need_a_role_and_a_content() {
    let mut session = recorded::plain();
    session.push(json!({"role": "robot", "content": "?"}));
    session.push(json!({"content": "nobody said this"}));
    let (format, mut recording) = of(&session);
    assert_eq!(format, Format::Plain);
    let (messages, compactions, _) = play(&mut recording);
    assert_eq!((messages.len(), compactions.len(), recording.stats.broken_lines), (5, 1, 2));
    assert!(recording.stats.broken[0].why.contains("robot") && recording.stats.broken[0].line == 7);
}

#[test]
fn a_format_can_be_insisted_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", lines(&recorded::plain()));
    let transcripts = Transcripts::open(&path, Some(Format::Pi), Control::default()).unwrap();
    let recording = transcripts.recording(0).unwrap();
    assert_eq!((recording.stats.messages, recording.stats.broken_lines), (0, 6));
    let store = Transcripts::open(&path, Some(Format::OpenclawStore), Control::default()).err().unwrap();
    assert_eq!(store.kind(), ErrorKind::NoStore);
}

#[test]
fn a_store_is_read_with_its_compressed_events_and_archives_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents/kitchen/agent/openclaw-agent.sqlite");
    let store = recorded::store(&path, &[("s1", recorded::openclaw("s1")), ("s2", recorded::openclaw("s2"))]);
    let archived = zstd::encode_all(lines(&recorded::openclaw("s0")).as_bytes(), 3).unwrap();
    store
        .execute(
            "INSERT INTO session_transcript_archives VALUES ('s0', 'g1', 'agent:kitchen:s0', 'zstd', ?1)",
            [archived],
        )
        .unwrap();
    store.close().unwrap();
    let names = || {
        let entries = std::fs::read_dir(path.parent().unwrap()).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap())).collect();
        names.sort();
        names
    };
    let before = names();
    let transcripts = open(&path);
    assert_eq!((transcripts.format(), transcripts.len()), (Format::OpenclawStore, 3));
    for (index, id) in ["s1", "s2", "s0"].into_iter().enumerate() {
        let mut recording = transcripts.recording(index).unwrap();
        assert_eq!(recording.session.session_id.as_deref(), Some(id));
        assert_eq!(recording.session.agent_id.as_deref(), Some("kitchen"));
        let (messages, compactions, _) = play(&mut recording);
        assert_eq!((messages.len(), compactions.len()), (5, 1), "{id}");
    }
    drop(transcripts);
    assert_eq!(names(), before, "nothing was written, and nothing is left beside it");
}

#[test]
fn a_store_can_be_read_while_the_gateway_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let events = recorded::openclaw("s1");
    let store = recorded::store(&path, &[("s1", events[..6].to_vec())]);
    let transcripts = open(&path);
    let mut recording = transcripts.recording(0).unwrap();
    // The gateway goes on; the reader keeps the snapshot that it began with, and never blocks the writer.
    for (seq, event) in events.iter().enumerate().skip(6) {
        recorded::append(&store, "s1", seq, event);
    }
    assert_eq!(play(&mut recording).1.len(), 0);
    let mut again = open(&path).recording(0).unwrap();
    assert_eq!(play(&mut again).1.len(), 1);
}

#[test]
fn stores_that_are_none_or_newer_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    rusqlite::Connection::open(path("other.sqlite")).unwrap().execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    let newer = "PRAGMA user_version = 99; CREATE TABLE transcript_events (session TEXT, position INTEGER, body BLOB)";
    rusqlite::Connection::open(path("newer.sqlite")).unwrap().execute_batch(newer).unwrap();
    let kind = |name: &str| {
        let error = Transcripts::open(&path(name), None, Control::default()).err().unwrap();
        (error.kind(), error.to_string())
    };
    let (other, why) = kind("other.sqlite");
    assert!(other == ErrorKind::NoStore && why.contains("other.sqlite") && why.contains("transcript_events"), "{why}");
    let (newer, why) = kind("newer.sqlite");
    assert!(newer == ErrorKind::NewerStore && why.contains("99") && why.contains("body"), "{why}");
    std::fs::write(path("garbage.sqlite"), [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
    assert_eq!(kind("garbage.sqlite").0, ErrorKind::NoStore);

    let store = recorded::store(&path("later.sqlite"), &[("s1", recorded::openclaw("s1"))]);
    store.execute_batch("PRAGMA user_version = 99").unwrap();
    store.close().unwrap();
    let transcripts = open(&path("later.sqlite"));
    assert!(transcripts.notices()[0].contains("schema 99"), "{:?}", transcripts.notices());
    assert_eq!(play(&mut transcripts.recording(0).unwrap()).1.len(), 1, "the same columns are read all the same");
}

#[test]
fn a_damaged_row_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let store = recorded::store(&path, &[("s1", recorded::openclaw("s1"))]);
    store
        .execute_batch("UPDATE transcript_events SET event_json = NULL, event_zstd = x'00112233' WHERE seq = 2")
        .unwrap();
    store.close().unwrap();
    let mut recording = open(&path).recording(0).unwrap();
    assert_eq!(recording.stats.broken_lines, 1);
    assert!(recording.stats.broken[0].why.contains("event_zstd"), "{:?}", recording.stats.broken);
    assert_eq!(play(&mut recording).1.len(), 1);
}

#[test]
fn message_ids_that_were_there_before_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let twice =
        [json!({"id": "a", "role": "user", "content": "one"}), json!({"id": "a", "role": "user", "content": "two"})];
    let path = write(folder.path(), "s.jsonl", lines(&twice));
    let mut recording = open(&path).recording(0).unwrap();
    let (messages, ..) = play(&mut recording);
    let ids: Vec<&str> = messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["a", "a#line-2"]);
    assert_eq!(recording.stats.oddities.duplicate_ids, 1);
}

#[test]
fn what_is_no_transcript_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], ErrorKind, &str); 4] = [
        ("empty.jsonl", b"", ErrorKind::Empty, "empty"),
        ("text.jsonl", b"just words\n", ErrorKind::Unknown, "line 1"),
        (
            "other.jsonl",
            b"{\"level\":\"info\",\"msg\":\"hi\"}\n",
            ErrorKind::Unknown,
            "OpenClaw, Pi, Claude Code or Codex",
        ),
        ("latin.jsonl", b"\xe9\xe8\n", ErrorKind::Unknown, "UTF-8"),
    ];
    for (name, bytes, kind, part) in cases {
        let path = write(folder.path(), name, bytes);
        let error = Transcripts::open(&path, None, Control::default()).err().unwrap();
        assert!(error.kind() == kind && error.to_string().contains(part), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}
