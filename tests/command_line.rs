//! The command line tool as a person runs it: output, exit codes, and what it says about bad input.

use crate::support::{LOSSY, after, before};
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_compact-review")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn file(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

fn events(summary: Option<&str>) -> serde_json::Value {
    serde_json::json!({"before": before(), "after": after(summary)})
}

#[test]
fn demo_shows_the_whole_story_and_keeps_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["demo", "--workspace", folder.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["The context fills", "score ", "lost, most important first", "memory/checkpoint.md", "HAR-1187"] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let checkpoint = std::fs::read_to_string(folder.path().join("memory/checkpoint.md")).unwrap();
    let note = std::fs::read_dir(folder.path().join("memory"))
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("2026-11-"));
    let note = std::fs::read_to_string(note.unwrap().path()).unwrap();
    for secret in ["vB7qLw2xTz9K", "sk_live_51HqT0pQd9zXcVbNmKjH7gF5dS3aPoIuYtReWq"] {
        assert!(!text.contains(secret) && !checkpoint.contains(secret) && !note.contains(secret), "{secret}");
    }
    assert!(!text.contains('\u{1b}'), "no colour where nobody looks");
}

#[test]
fn audit_json_has_the_keys_that_other_programs_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "events.json", events(Some(LOSSY)).to_string());
    let output = run(&["audit", "--json", &path]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(report["score"].as_f64().is_some_and(|score| (0.0..=100.0).contains(&score)));
    assert_eq!(report["verdict"], "lossy");
    for key in ["categories", "lost", "invented", "alerts"] {
        assert!(report[key].is_array(), "{key}");
    }
    for key in ["kind", "text", "values", "messageId", "salience", "status"] {
        assert!(!report["lost"][0][key].is_null(), "{key}");
    }
    for key in ["category", "score", "preserved", "altered", "dropped"] {
        assert!(!report["categories"][0][key].is_null(), "{key}");
    }
    assert!(report["recovery"]["text"].is_string() && report["recovery"]["tokens"].is_u64());
    assert!(report["summary"]["tokens"].is_u64() && report["summary"]["verdictReason"].is_string());
}

#[test]
fn audit_explains_a_finding_and_names_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "events.json", events(Some(LOSSY)).to_string());
    let report: serde_json::Value = serde_json::from_str(&stdout(&run(&["audit", "--json", &path]))).unwrap();
    let id = report["lost"][0]["id"].as_str().unwrap();
    let explained = stdout(&run(&["audit", &path, "--explain", id]));
    assert!(explained.contains("salience") && explained.contains("  - "), "{explained}");
    let unknown = run(&["audit", &path, "--explain", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains(id), "{}", stderr(&unknown));
}

#[test]
fn the_exit_code_tells_whether_a_limit_was_missed() {
    let folder = tempfile::tempdir().unwrap();
    let lossy = file(folder.path(), "lossy.json", events(Some(LOSSY)).to_string());
    let unknown = file(folder.path(), "unknown.json", events(None).to_string());
    assert_eq!(run(&["audit", &lossy, "--fail-under", "99.9"]).status.code(), Some(1));
    assert_eq!(run(&["audit", &lossy, "--fail-under", "0"]).status.code(), Some(0));
    assert_eq!(run(&["audit", &unknown, "--fail-under", "1"]).status.code(), Some(1));
    assert_eq!(run(&["audit", &unknown]).status.code(), Some(0));
    assert_eq!(run(&["audit", &lossy, "--fail-under", "120"]).status.code(), Some(2));
}

#[test]
fn without_a_summary_or_messages_the_verdict_is_unverifiable() {
    let folder = tempfile::tempdir().unwrap();
    let mut empty = events(Some(LOSSY));
    empty["before"]["messages"] = serde_json::json!([]);
    let mut alone = events(Some(LOSSY));
    alone.as_object_mut().unwrap().remove("before");
    for (name, events) in [("summary.json", events(None)), ("messages.json", empty), ("before.json", alone)] {
        let path = file(folder.path(), name, events.to_string());
        let output = run(&["audit", "--json", &path]);
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!((&report["verdict"], report["score"].is_null()), (&"unverifiable".into(), true), "{name}");
    }
}

#[test]
fn bad_events_are_named_by_file_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let mut role = events(Some(LOSSY));
    role["before"]["messages"][3]["role"] = "robot".into();
    let mut count = events(Some(LOSSY));
    count["after"]["messagesDropped"] = (-7).into();
    let mut keys = events(Some(LOSSY));
    keys["after"]["sessionKey"] = "another".into();
    let mut no_key = events(Some(LOSSY));
    no_key["before"].as_object_mut().unwrap().remove("sessionKey");
    let mut more = events(Some(LOSSY));
    more["before"]["somethingNew"] = 1.into();
    let cases: [(&str, Vec<u8>, &[&str]); 8] = [
        ("role.json", role.to_string().into(), &["before.messages[3].role", "robot", "user", "assistant"]),
        ("count.json", count.to_string().into(), &["after", "-7"]),
        ("keys.json", keys.to_string().into(), &["after.sessionKey", "another"]),
        ("no-key.json", no_key.to_string().into(), &["sessionKey"]),
        ("cut.json", events(Some(LOSSY)).to_string()[..200].into(), &["line 1"]),
        ("latin.json", b"{\n\"before\": \"\xe9\"}".to_vec(), &["line 2", "UTF-8"]),
        ("empty.json", Vec::new(), &["EOF"]),
        ("list.json", b"[]".to_vec(), &["field"]),
    ];
    for (name, bytes, parts) in cases {
        let path = file(folder.path(), name, bytes);
        let output = run(&["audit", &path]);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {error}");
        assert!(error.contains(name), "{error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{name}: {error}");
        assert!(stdout(&output).is_empty(), "{name}");
    }
    let unknown_key = file(folder.path(), "more.json", more.to_string());
    assert_eq!(run(&["audit", &unknown_key]).status.code(), Some(0), "unknown keys are ignored");
}

#[test]
fn a_missing_file_and_a_folder_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for command in ["audit", "probe", "replay"] {
        let missing = run(&[command, &format!("{path}/nowhere.json")]);
        assert_eq!(missing.status.code(), Some(2), "{command}");
        assert!(stderr(&missing).contains("nowhere.json"), "{}", stderr(&missing));
        let a_folder = run(&[command, path]);
        assert_eq!(a_folder.status.code(), Some(2), "{command}");
        assert!(stderr(&a_folder).contains(path), "{}", stderr(&a_folder));
    }
}

#[test]
fn a_failing_audit_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "bad.json", "{\"before\": 5}");
    let workspace = folder.path().join("workspace");
    let output = run(&["audit", &path, "--workspace", workspace.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!workspace.exists());
}

#[test]
fn probe_answers_each_line_with_one_probability_a_fact() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        r#"{"id": 7, "summary": "The port is 5432 on db-1.", "facts": ["The port is 5432.", "Cats like fish."]}"#;
    let path = file(folder.path(), "facts.jsonl", format!("{line}\n\n{line}\n"));
    let output = run(&["probe", "--json", &path]);
    let answers: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["id"], 7);
    let present: Vec<f64> = answers[0]["present"].as_array().unwrap().iter().filter_map(|p| p.as_f64()).collect();
    assert!(present.len() == 2 && present[0] > present[1], "{present:?}");

    let broken = file(folder.path(), "broken.jsonl", format!("{line}\n{{\"id\": 1, \"summary\": 5}}\n"));
    let output = run(&["probe", &broken]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 2") && stderr(&output).contains("summary"), "{}", stderr(&output));
}

#[test]
fn replay_follows_the_active_branch_and_names_broken_lines() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"type":"session","version":4,"id":"s1","timestamp":"2026-11-16T09:00:00.000Z"}"#,
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"Never push to main. Ticket OPS-77 waits for review."}}"#,
        r#"{"type":"message","id":"x","parentId":"a","message":{"role":"assistant","content":"An answer that was edited away."}}"#,
        "this is no JSON",
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"robot","content":"?"}}"#,
        r#"{"type":"message","id":"c","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"Noted."},{"type":"image","data":"AAAA"}]}}"#,
        r#"{"type":"compaction","id":"k","parentId":"c","summary":"The user said hello.","firstKeptEntryId":"d","tokensBefore":100}"#,
        r#"{"type":"message","id":"d","parentId":"k","message":{"role":"user","content":"Go on."}}"#,
    ];
    let path = file(folder.path(), "session.jsonl", lines.join("\n"));
    let output = run(&["replay", "--json", &path]);
    assert!(output.status.success(), "{}", stderr(&output));
    let audit: serde_json::Value = serde_json::from_str(stdout(&output).trim()).unwrap();
    assert_eq!(audit["messagesBefore"], 2, "the other branch does not count: {audit}");
    assert!(audit["audit"]["lost"].to_string().contains("Never push to main"), "{audit}");
    for part in ["line 4", "line 5", "robot"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    let text = stdout(&run(&["replay", &path]));
    assert!(text.contains("2 lines that could not be read") && text.contains("1 parts that are no text"), "{text}");
    assert_eq!(run(&["replay", &path, "--fail-under", "100"]).status.code(), Some(1));

    let empty = file(folder.path(), "empty.jsonl", "");
    assert_eq!(run(&["replay", &empty]).status.code(), Some(2));
}

#[test]
fn help_version_and_completions_are_there() {
    let help = stdout(&run(&["--help"]));
    assert!(help.contains("Examples:") && help.contains("Exit codes"), "{help}");
    assert!(stdout(&run(&["--version"])).contains(env!("CARGO_PKG_VERSION")));
    assert!(stdout(&run(&["completions", "bash"])).contains("compact-review"));
    assert_eq!(run(&["nonsense"]).status.code(), Some(2));
}

#[test]
fn the_component_itself_comes_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("component.wasm");
    assert!(run(&["component", "--output", path.to_str().unwrap()]).status.success());
    assert_eq!(std::fs::read(&path).unwrap(), host_harness::runtime::COMPONENT);
    assert_eq!(run(&["component"]).stdout, host_harness::runtime::COMPONENT);
    let nowhere = run(&["component", "--output", folder.path().join("no/such").to_str().unwrap()]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("cannot write"), "{}", stderr(&nowhere));
}
