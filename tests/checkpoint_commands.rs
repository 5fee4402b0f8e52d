//! `checkpoint`, `checkpoints`, `recover` and `doctor` as a person runs them.

use crate::support::{KEY, LOSSY, after, before};
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_compact-review")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn failed(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_str(&stdout(output)).unwrap()
}

/// A session file with one rule, a file and a step.
fn transcript(folder: &Path, last: &str) -> String {
    let line = |id: &str, role: &str, text: &str| {
        serde_json::json!({"type": "message", "id": id, "message": {"role": role, "content": text}}).to_string()
    };
    let lines = [
        serde_json::json!({"type": "session", "id": "s1"}).to_string(),
        line("a", "user", "Never push to main. The entry point is src/entry.rs and the settings are in src/gone.toml."),
        line("b", "assistant", "We decided to keep src/entry.rs small because it is read often."),
        line("c", "user", last),
    ];
    let path = folder.join("session.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn a_checkpoint_by_hand_is_written_listed_compared_and_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().to_str().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/entry.rs"), "fn main() {}").unwrap();
    let path = transcript(folder.path(), "Next, write the parser for invoices.");

    let dry = stdout(&run(&["checkpoint", &path, "--dry-run"]));
    assert!(dry.contains("# Active Checkpoint") && dry.contains("Never push to main"), "{dry}");
    assert!(!folder.path().join("memory").exists(), "a dry run writes nothing");
    assert!(failed(&run(&["checkpoint", &path]), 2).contains("--workspace"));

    let prose = folder.path().join("prose.txt");
    std::fs::write(&prose, "The parser is half done.\n# Not a heading").unwrap();
    let written = run(&["checkpoint", &path, "--workspace", workspace, "--prose", prose.to_str().unwrap()]);
    assert!(stdout(&written).contains("memory/checkpoint.md"));
    let path = transcript(folder.path(), "Next, write the parser for receipts.");
    stdout(&run(&["checkpoint", &path, "--workspace", workspace]));

    let list = json(&run(&["checkpoints", "list", "--workspace", workspace, "--json"]));
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    assert_eq!((&list[1]["name"], &list[0]["messageCount"]), (&"active".into(), &3.into()), "{list}");
    let earlier = list[0]["name"].as_str().unwrap();
    let shown = stdout(&run(&["checkpoints", "show", &earlier[..12], "--workspace", workspace]));
    assert!(shown.contains("> The parser is half done.") && shown.contains("> \\# Not a heading"), "{shown}");
    let diff = stdout(&run(&["checkpoints", "diff", earlier, "--workspace", workspace]));
    assert!(diff.lines().any(|line| line.starts_with("- ") && line.contains("invoices")), "{diff}");
    assert!(diff.lines().any(|line| line.starts_with("+ ") && line.contains("receipts")), "{diff}");
    assert!(!diff.contains("Never push to main"), "{diff}");
    assert!(failed(&run(&["checkpoints", "show", "nothing", "--workspace", workspace]), 2).contains("list"));

    let recover = json(&run(&["recover", "--workspace", workspace, "--json"]));
    assert!(recover["recovery"]["text"].as_str().unwrap().contains("Never push to main"), "{recover}");
    let files: Vec<(&str, &str)> = recover["keyFiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["state"].as_str().unwrap()))
        .collect();
    assert!(
        files.contains(&("src/entry.rs", "unchanged")) && files.contains(&("src/gone.toml", "missing")),
        "{files:?}"
    );
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let entry = std::fs::File::options().write(true).open(folder.path().join("src/entry.rs")).unwrap();
    entry.set_modified(now).unwrap();
    let text = stdout(&run(&["recover", "--workspace", workspace]));
    assert!(text.starts_with("Recovered from checkpoint"), "{text}");
    assert!(text.contains("src/entry.rs changed since") && text.contains("src/gone.toml is not there"), "{text}");
}

#[test]
fn export_and_purge_have_a_dry_run() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().to_str().unwrap();
    for step in ["one", "two", "three"] {
        let path = transcript(folder.path(), &format!("Next, write part {step} of the parser."));
        stdout(&run(&["checkpoint", &path, "--workspace", workspace]));
    }
    let out = folder.path().join("export.json");
    let export = ["checkpoints", "export", "--workspace", workspace, "--output", out.to_str().unwrap()];
    assert!(stdout(&run(&[&export[..], &["--dry-run"]].concat())).contains("would write 3 checkpoints"));
    assert!(!out.exists());
    stdout(&run(&export));
    let exported: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(exported.as_array().unwrap().len(), 3);
    assert!(exported[0]["text"].as_str().unwrap().contains("# Active Checkpoint"));
    assert!(failed(&run(&export), 2).contains("export.json"), "an export overwrites nothing");

    let purge = ["checkpoints", "purge", "--workspace", workspace, "--json"];
    let dry = json(&run(&[&purge[..], &["--active", "--state", "--dry-run"]].concat()));
    assert!(dry["removed"].as_array().unwrap().len() >= 4, "{dry}");
    assert_eq!(json(&run(&[&purge[..], &["--keep", "1"]].concat()))["removed"].as_array().unwrap().len(), 1);
    assert_eq!(json(&run(&["checkpoints", "list", "--workspace", workspace, "--json"])).as_array().unwrap().len(), 2);
    stdout(&run(&[&purge[..], &["--active", "--state"]].concat()));
    assert_eq!(json(&run(&["checkpoints", "list", "--workspace", workspace, "--json"])), serde_json::json!([]));
    assert!(failed(&run(&["recover", "--workspace", workspace]), 2).contains("no checkpoint"));
}

#[test]
fn recover_tells_what_the_last_compaction_lost_and_takes_nothing_away() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().to_str().unwrap();
    let mut events = serde_json::json!({"before": before(), "after": after(Some(LOSSY))});
    for event in ["before", "after"] {
        events[event].as_object_mut().unwrap().remove("now");
    }
    let path = folder.path().join("events.json");
    std::fs::write(&path, events.to_string()).unwrap();
    stdout(&run(&["audit", path.to_str().unwrap(), "--workspace", workspace]));
    for _ in 0..2 {
        let recover = json(&run(&["recover", "--workspace", workspace, "--session", KEY, "--json"]));
        assert!(recover["recovery"]["text"].as_str().unwrap().contains("HER-1001"), "{recover}");
        assert_eq!(recover["notes"].as_array().unwrap().len(), 1, "{recover}");
    }
    assert!(failed(&run(&["recover", "--workspace", workspace, "--session", "other"]), 2).contains("\"other\""));
}

#[test]
fn the_date_of_a_note_follows_tz_and_works_without_it() {
    let mut events = serde_json::json!({"before": before(), "after": after(Some(LOSSY))});
    for event in ["before", "after"] {
        events[event].as_object_mut().unwrap().remove("now");
    }
    // POSIX names: east of Greenwich is negative.
    for (zone, hours) in
        [(Some("XXX-14"), Some(14)), (Some("XXX+12"), Some(-12)), (Some("UTC0"), Some(0)), (None, None)]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.json");
        std::fs::write(&path, events.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_compact-review"));
        command
            .args(["audit", path.to_str().unwrap(), "--workspace", folder.path().to_str().unwrap()])
            .env_remove("TZ");
        if let Some(zone) = zone {
            command.env("TZ", zone);
        }
        let date = || {
            let now = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours.unwrap_or(0));
            now.strftime("%Y-%m-%d").to_string()
        };
        let (first, output, second) = (date(), command.output().unwrap(), date());
        assert!(output.status.success());
        let notes: Vec<String> = std::fs::read_dir(folder.path().join("memory"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.starts_with("20"))
            .collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        if hours.is_some() {
            let expected = [format!("{first}.md"), format!("{second}.md")];
            assert!(expected.contains(&notes[0]), "{zone:?}: {notes:?}, not {expected:?}");
        }
    }
}

#[test]
fn the_doctor_plants_a_loss_and_finds_it_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().to_str().unwrap();
    let report = json(&run(&["doctor", "--workspace", workspace, "--json"]));
    assert_eq!(report["ok"], true, "{report}");
    let names: Vec<&str> =
        report["checks"].as_array().unwrap().iter().filter_map(|check| check["name"].as_str()).collect();
    assert_eq!(names, ["component", "settings", "canary", "secrets", "cache", "workspace", "checkpoint"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves nothing behind");
}

#[test]
fn the_doctor_fails_where_notes_cannot_be_kept_or_settings_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("memory"), "a file").unwrap();
    let settings = folder.path().join("settings.json");
    std::fs::write(&settings, r#"{"recovery":{"maxToken":5}}"#).unwrap();
    let arguments =
        ["doctor", "--workspace", folder.path().to_str().unwrap(), "--settings", settings.to_str().unwrap(), "--json"];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let failed: Vec<(&str, String)> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["ok"] == false)
        .map(|check| (check["name"].as_str().unwrap(), check["detail"].to_string()))
        .collect();
    assert_eq!(failed.iter().map(|check| check.0).collect::<Vec<_>>(), ["settings", "workspace", "checkpoint"]);
    assert!(failed[0].1.contains("maxToken") && failed[1].1.contains("not a folder"), "{failed:?}");
}
