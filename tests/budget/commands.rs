//! `status`, `plan` and `simulate` as a person runs them.

use serde_json::{Value, json};
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

fn said(id: &str, role: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "message": {"role": role, "content": text}})
}

fn answer(id: &str, usage: Value) -> Value {
    json!({"type": "message", "id": id, "message": {"role": "assistant", "content": "Done.", "usage": usage}})
}

/// Writes a session file and gives its path.
fn transcript(folder: &Path, entries: &[Value]) -> String {
    let path = folder.join("session.jsonl");
    let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    path.to_str().unwrap().to_string()
}

fn status(arguments: &[&str]) -> Value {
    let output = run(&[&["status", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn status_takes_what_the_provider_counted_and_adds_what_came_after() {
    let folder = tempfile::tempdir().unwrap();
    let counted = answer("b", json!({"input": 10, "output": 31, "cacheRead": 45_000, "cacheWrite": 190}));
    let path = transcript(folder.path(), &[said("a", "user", "Hello."), counted.clone()]);
    let found = status(&[&path, "--window", "131072"]);
    let expected = json!({
        "used": 45_231, "budget": 131_072, "remaining": 85_841, "pct": 34.5, "source": "provider", "compactions": 0
    });
    assert_eq!(found, expected);
    let line = stdout(&run(&["status", &path, "--window", "131072"]));
    assert_eq!(line, "📚 Context: 45,231/131,072 (34%) · 🧹 Compactions: 0 (provider)\n");

    let broken_off = answer("d", json!({"input": 0, "output": 0}));
    let path = transcript(folder.path(), &[said("a", "user", "Hi."), counted, said("c", "user", "Go on."), broken_off]);
    let found = status(&[&path, "--window", "131072", "--reserve", "31072"]);
    assert_eq!((&found["budget"], &found["source"]), (&json!(100_000), &json!("mixed")));
    assert!(found["used"].as_u64().unwrap() > 45_231, "{found}");
}

#[test]
fn status_counts_what_stands_after_a_compaction_and_marks_an_estimate() {
    let folder = tempfile::tempdir().unwrap();
    let long = "many words that are gone ".repeat(2_000);
    let path = transcript(
        folder.path(),
        &[
            said("a", "user", &long),
            answer("b", json!({"input": 60_000, "output": 10})),
            said("c", "user", "This one is kept."),
            json!({"type": "compaction", "id": "k", "summary": "They talked.", "firstKeptEntryId": "c"}),
        ],
    );
    let found = status(&[&path, "--window", "100000"]);
    assert_eq!((&found["source"], &found["compactions"]), (&json!("estimate"), &json!(1)));
    assert!(found["used"].as_u64().unwrap() < 30, "the count from before is stale: {found}");
    let counted = status(&[&path, "--window", "100000", "--tokenizer", "o200k"]);
    assert_eq!(counted["source"], "counted");
    let line = stdout(&run(&["status", &path]));
    assert!(line.starts_with("📚 Context: ~") && line.contains("/? (?%) · 🧹 Compactions: 1"), "{line}");
}

#[test]
fn bad_windows_counts_and_tokenizers_are_errors_or_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = transcript(folder.path(), &[said("a", "user", "Hi."), answer("b", json!({"input": -5, "output": 1}))]);
    for (arguments, says) in [
        (vec!["--window", "0"], "--window"),
        (vec!["--window", "-5"], "-5"),
        (vec!["--window", "8000", "--reserve", "8000"], "the context window (8000) must be above the reserve (8000)"),
        (vec!["--tokenizer", "nowhere/tokenizer.json"], "no tokenizer can be read from nowhere/tokenizer.json"),
        (vec!["--tokenizer", &path], "no tokenizer can be read from"),
    ] {
        for command in ["status", "plan"] {
            let output = run(&[&[command, path.as_str()], arguments.as_slice()].concat());
            assert_eq!(output.status.code(), Some(2), "{command} {arguments:?}");
            assert!(stderr(&output).contains(says), "{}", stderr(&output));
            assert!(stdout(&output).is_empty());
        }
    }
    let negative = run(&["status", &path, "--window", "1000"]);
    assert!(negative.status.success());
    // A count that cannot be is none: what is said instead is marked as an estimate.
    assert!(stdout(&negative).contains("(estimate)"), "{}", stdout(&negative));

    let sum = transcript(folder.path(), &[said("a", "user", "Hi."), answer("b", json!({"input": 228_000}))]);
    let output = run(&["status", &sum, "--window", "100000"]);
    assert!(stderr(&output).contains("a sum over several requests"), "{}", stderr(&output));
    assert!(stdout(&output).contains("(estimate)"), "{}", stdout(&output));
}

#[test]
fn plan_says_what_becomes_of_each_message_and_what_a_summary_must_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = vec![said("rule", "user", "Never push to main. The ticket is OPS-77.")];
    for number in 0..30 {
        entries.push(said(&format!("u{number}"), "user", &format!("Is the host web-{number}.example.internal up?")));
        entries.push(said(&format!("a{number}"), "assistant", &format!("Yes, web-{number}.example.internal is up.")));
    }
    let path = transcript(folder.path(), &entries);
    let output = run(&["plan", &path, "--json", "--window", "1000"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let plan: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&plan["due"], plan["rows"].as_array().unwrap().len()), (&json!(true), 61));
    assert_eq!(plan["rows"][0]["why"], "one of the first");
    assert_eq!(plan["rows"][60]["why"], "one of the last");
    assert!(plan["instructions"].as_str().unwrap().contains("example.internal"), "{plan}");
    let text = stdout(&run(&["plan", &path, "--window", "1000"]));
    for part in ["due now", "summarize", "for the summarizer", "one of the last"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn simulate_compacts_in_time_and_without_proactive_compaction_when_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = Vec::new();
    for number in 0..60 {
        entries.push(said(&format!("u{number}"), "user", &format!("Look at shard {number}. {}", "word ".repeat(200))));
        entries.push(said(&format!("a{number}"), "assistant", &format!("Shard {number} is fine.")));
    }
    let path = transcript(folder.path(), &entries);
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let reasons = |arguments: &[&str]| {
        let base = ["simulate", path.as_str(), "--json", "--window", "6000"];
        let output = run(&[base.as_slice(), arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let compactions = lines.iter().filter_map(|line| line["compactions"].as_array()).flatten();
        let reasons: Vec<String> = compactions.map(|done| done["reason"].as_str().unwrap().to_string()).collect();
        let status = &lines.last().unwrap()["status"];
        assert_eq!(status["compactions"].as_u64().unwrap() as usize, reasons.len());
        reasons
    };
    let proactive = reasons(&["--workspace", workspace.to_str().unwrap()]);
    assert!(!proactive.is_empty() && proactive.iter().all(|reason| reason == "threshold"), "{proactive:?}");
    assert!(workspace.join("memory/checkpoint.md").exists());
    let refused = reasons(&["--no-proactive", "--provider", "nothing"]);
    assert!(!refused.is_empty() && refused.iter().all(|reason| reason == "overflow"), "{refused:?}");
    let small = run(&["simulate", &path, "--window", "100", "--reserve", "100"]);
    assert_eq!(small.status.code(), Some(2));
    assert!(stderr(&small).contains("--window (100) must be above --reserve (100)"), "{}", stderr(&small));
}
