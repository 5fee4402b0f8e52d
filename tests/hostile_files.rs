//! Files that were made to hang, to crash or to fool whoever reads them: each is named or read, and the rest is read too.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Long enough for a busy machine, and far from for ever.
const SOON: Duration = Duration::from_secs(120);
const GOOD: &str = "{\"role\":\"user\",\"content\":\"Never deploy on Fridays.\"}\n{\"role\":\"assistant\",\"content\":\"Understood.\"}\n";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let started = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_compact-review"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    let shown = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(!shown.iter().any(|byte| matches!(byte, 0..=8 | 11..=31 | 127)), "control characters reach the terminal");
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn lines_of_every_hostile_shape_are_named_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let deep = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nested-arrays", deep("[", "]").into_bytes()),
        ("nested-objects", deep("{\"a\":", "}").into_bytes()),
        ("nested-content", format!("{{\"role\":\"user\",\"content\":{}}}", deep("[", "]")).into_bytes()),
        ("long-line", format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "x".repeat(20 << 20)).into_bytes()),
        ("no-text", vec![0xff; 100_000]),
        ("zeros", vec![0; 100_000]),
        ("numbers", b"{\"role\":\"user\",\"content\":1e999999,\"at\":-1e999}".to_vec()),
        (
            "control",
            b"{\"role\":\"user\",\"content\":\"\\u001b]0;owned\\u0007\\u001b[2J\",\"id\":\"\\u001b[31m\"}".to_vec(),
        ),
        (
            "own-parent",
            b"{\"type\":\"message\",\"id\":\"a\",\"parentId\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}"
                .to_vec(),
        ),
    ];
    for (name, line) in &cases {
        std::fs::write(
            folder.path().join(format!("{name}.jsonl")),
            [GOOD.as_bytes(), line, b"\n", GOOD.as_bytes()].concat(),
        )
        .unwrap();
    }
    for (name, _) in &cases {
        let output = run(folder.path(), &["replay", &format!("{name}.jsonl")]);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{name}: {:?} {}", output.status, text(&output));
    }
    let output = run(folder.path(), &["scan", "--no-cache", "."]);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{:?} {}", output.status, text(&output));
    assert!(text(&output).contains("9 files"), "{}", text(&output));
}

#[test]
fn an_events_file_that_is_nested_without_end_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("events.json"), format!("{{\"before\":{}", "[".repeat(1_000_000))).unwrap();
    let output = run(folder.path(), &["audit", "events.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

#[test]
fn a_store_whose_table_is_a_view_that_never_ends_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = rusqlite::Connection::open(folder.path().join("store.sqlite")).unwrap();
    let view = "CREATE VIEW transcript_events AS WITH RECURSIVE n(session_id, seq, event_json) AS
        (SELECT 's', 1, '{}' UNION ALL SELECT 's', seq + 1, '{}' FROM n) SELECT * FROM n";
    store.execute_batch(view).unwrap();
    drop(store);
    for command in [&["replay", "store.sqlite"][..], &["scan", "--no-cache", "store.sqlite"]] {
        let output = run(folder.path(), command);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("no OpenClaw store"), "{}", text(&output));
    }
}

#[cfg(unix)]
#[test]
fn a_folder_with_pipes_and_loops_is_scanned_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.jsonl"), GOOD).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe.jsonl")).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.jsonl")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    let output = run(folder.path(), &["scan", "--no-cache", "."]);
    assert!(text(&output).contains("this folder contains itself"), "{}", text(&output));
    assert!(text(&output).contains("1 file"), "{}", text(&output));
}
