//! `scan`, `watch`, `what-if` and `replay --speed` as a person runs them.

use crate::recorded::{self, RULE, lines, write};
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Place {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_compact-review"));
        command.args(arguments).current_dir(self.path()).env("TZ", "UTC");
        if arguments[0] == "scan" && !arguments.contains(&"--no-cache") {
            command.arg("--cache").arg(self.cache.path());
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// One session of each format.
    fn sessions(&self) {
        write(self.path(), "agents/main/sessions/s1.jsonl", lines(&recorded::openclaw("s1")));
        write(self.path(), "pi/p1.jsonl", lines(&recorded::pi("p1")));
        write(self.path(), "claude/c1.jsonl", lines(&recorded::claude("c1")));
        write(self.path(), "codex/x1.jsonl", lines(&recorded::codex("x1")));
        write(self.path(), "plain.jsonl", lines(&recorded::plain()));
        let store = self.path().join("agents/kitchen/agent/openclaw-agent.sqlite");
        recorded::store(&store, &[("s9", recorded::openclaw("s9"))]).close().unwrap();
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_format_is_found_audited_and_listed_worst_first() {
    let place = Place::new();
    place.sessions();
    let output = place.run(&["scan", "--json", "."]);
    assert!(output.status.success(), "{}", stderr(&output));
    let found = json_lines(&output);
    let mut formats: Vec<&str> = found.iter().map(|line| line["format"].as_str().unwrap()).collect();
    let scores: Vec<f64> = found.iter().map(|line| line["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] <= pair[1]), "{scores:?}");
    formats.sort_unstable();
    assert_eq!(formats, ["claude-code", "codex", "openclaw", "openclaw-store", "pi", "plain"]);
    for line in &found {
        let lost = line["lost"].to_string();
        assert!(lost.contains("Never deploy the billing service"), "{line}");
        assert!(!line.to_string().contains("ZEBRA-99"), "another branch: {line}");
        let first = &line["lost"][0];
        assert!(line["sources"][first["source"].as_u64().unwrap() as usize]["id"].is_string());
        assert!(RULE.contains(first["excerpt"]["fact"].as_str().unwrap()), "{first}");
    }
    let table = stdout(&place.run(&["scan", "."]));
    for part in
        ["score", "critical", "lossy", "6 compactions in 6 sessions", "openclaw-store 1", "parts that are no text"]
    {
        assert!(table.contains(part), "{part}:\n{table}");
    }
}

#[test]
fn scan_agrees_with_replay() {
    let place = Place::new();
    let path = write(place.path(), "c1.jsonl", lines(&recorded::claude("c1")));
    let scanned = &json_lines(&place.run(&["scan", "--json", "."]))[0];
    let replayed = &json_lines(&place.run(&["replay", "--json", path.to_str().unwrap()]))[0];
    assert_eq!(scanned["score"], replayed["audit"]["score"]);
    assert_eq!(scanned["tokensBefore"], replayed["tokensBefore"]);
    assert_eq!(scanned["lost"][0]["text"], replayed["audit"]["lost"][0]["text"]);
}

#[test]
fn filters_and_limits_choose_what_counts() {
    let place = Place::new();
    place.sessions();
    let count = |arguments: &[&str]| json_lines(&place.run(&[&["scan", "--json", "."], arguments].concat())).len();
    assert_eq!(count(&["--agent", "kitchen"]), 1);
    assert_eq!(count(&["--agent", "codex"]), 1);
    assert_eq!(count(&["--min-score", "100"]), 0);
    assert_eq!(count(&["--since", "2026-03-05"]), 5, "plain lines have no time");
    assert_eq!(count(&["--since", "2026-03-06"]), 0);
    assert_eq!(count(&["--format", "codex"]), 1);
    let code = |arguments: &[&str]| place.run(&[&["scan", "."], arguments].concat()).status.code();
    assert_eq!(code(&["--fail-under", "99.9"]), Some(1));
    assert_eq!(code(&["--fail-under", "0"]), Some(0));
    assert_eq!(code(&["--since", "yesterday"]), Some(2));
}

#[test]
fn csv_has_names_first_and_no_formulas() {
    let place = Place::new();
    write(place.path(), "s.jsonl", lines(&recorded::openclaw("=cmd|calc,\"x\"")));
    let output = place.run(&["scan", "--csv", "."]);
    let mut csv = csv::Reader::from_reader(output.stdout.as_slice());
    let session = csv.headers().unwrap().iter().position(|name| name == "session").unwrap();
    let row = csv.records().next().unwrap().unwrap();
    assert_eq!(&row[session], "'=cmd|calc,\"x\"");
}

#[test]
fn a_second_scan_takes_all_from_the_cache_and_reads_what_grew() {
    let place = Place::new();
    place.sessions();
    let first = place.run(&["scan", "--json", "."]);
    assert!(stdout(&place.run(&["scan", "."])).contains("6 of them from the cache"));
    assert_eq!(stdout(&place.run(&["scan", "--json", "."])), stdout(&first));
    let mut more = recorded::openclaw("s1");
    more.push(json!({"type": "compaction", "id": "k2", "parentId": "e", "summary": "Nothing much happened after that, only a word to go on."}));
    write(place.path(), "agents/main/sessions/s1.jsonl", lines(&more));
    let table = stdout(&place.run(&["scan", "."]));
    assert!(table.contains("5 of them from the cache") && table.contains("7 compactions"), "{table}");
    assert!(stdout(&place.run(&["scan", "--no-cache", "."])).contains("0 of them from the cache"));
}

#[test]
fn a_session_that_two_files_record_counts_once_and_the_store_is_the_one() {
    let place = Place::new();
    write(place.path(), "agents/main/sessions/s1.jsonl", lines(&recorded::openclaw("s1")));
    let store = place.path().join("agents/main/agent/openclaw-agent.sqlite");
    recorded::store(&store, &[("s1", recorded::openclaw("s1"))]).close().unwrap();
    let output = place.run(&["scan", "--json", "."]);
    let found = json_lines(&output);
    assert_eq!((found.len(), &found[0]["format"]), (1, &json!("openclaw-store")));
    assert!(stdout(&place.run(&["scan", "."])).contains("1 copies in second files"));
}

/// Each sort of bad input beside a good session: named, and the scan goes on.
#[test]
fn bad_input_is_named_and_the_rest_is_scanned() {
    let place = Place::new();
    write(place.path(), "good.jsonl", lines(&recorded::openclaw("good")));
    write(place.path(), "empty.jsonl", "");
    let text = lines(&recorded::claude("cut"));
    write(place.path(), "cut.jsonl", &text[..text.len() - 40]);
    let mut twice = recorded::openclaw("twice");
    twice.insert(2, twice[1].clone());
    write(place.path(), "twice.jsonl", lines(&twice));
    let mut circle = recorded::openclaw("circle");
    circle[1]["parentId"] = "d".into();
    write(place.path(), "circle.jsonl", lines(&circle));
    rusqlite::Connection::open(place.path().join("songs.sqlite"))
        .unwrap()
        .execute_batch("CREATE TABLE songs (t TEXT)")
        .unwrap();
    let newer = "PRAGMA user_version = 99; CREATE TABLE transcript_events (body BLOB)";
    rusqlite::Connection::open(place.path().join("newer.sqlite")).unwrap().execute_batch(newer).unwrap();
    let mut broken = lines(&recorded::openclaw("broken"));
    broken.push_str("this is no JSON\n");
    write(place.path(), "broken.jsonl", broken);
    std::fs::create_dir(place.path().join("inside")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path(), place.path().join("inside/loop")).unwrap();

    let output = place.run(&["scan", "--json", "."]);
    let (error, found) = (stderr(&output), json_lines(&output));
    assert_eq!(output.status.code(), Some(2), "{error}");
    for (name, part) in [
        ("empty.jsonl", "empty"),
        ("cut.jsonl", "cut off"),
        ("twice.jsonl", "the first in line 3"),
        ("circle.jsonl", "lead back to itself"),
        ("songs.sqlite", "no OpenClaw store"),
        ("newer.sqlite", "schema 99"),
        ("broken.jsonl", "line 9: not a JSON object"),
        ("inside/loop", "contains itself"),
    ] {
        let named = error.lines().any(|line| line.contains(name) && line.contains(part));
        assert!(named || (cfg!(not(unix)) && name == "inside/loop"), "{name}: {part}\n{error}");
    }
    let mut sessions: Vec<&str> = found.iter().map(|line| line["sessionId"].as_str().unwrap()).collect();
    sessions.sort_unstable();
    assert_eq!(sessions, ["broken", "circle", "cut", "good", "twice"]);
    let good = found.iter().find(|line| line["sessionId"] == "good").unwrap();
    let circle = found.iter().find(|line| line["sessionId"] == "circle").unwrap();
    assert_eq!(good["score"], circle["score"], "a circle does not hide what was said");
}

#[test]
#[cfg(unix)]
fn files_without_permission_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    write(place.path(), "good.jsonl", lines(&recorded::openclaw("good")));
    let path = write(place.path(), "locked.jsonl", lines(&recorded::openclaw("locked")));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        eprintln!("not tested: this user may read everything");
        return;
    }
    let output = place.run(&["scan", "--json", "."]);
    assert_eq!((output.status.code(), json_lines(&output).len()), (Some(2), 1));
    assert!(stderr(&output).contains("locked.jsonl") && stderr(&output).contains("ermission"), "{}", stderr(&output));
}

#[test]
fn a_line_of_100_mb_is_passed_by_and_keeps_its_place() {
    let place = Place::new();
    let mut session: Vec<String> = recorded::openclaw("long").iter().map(Value::to_string).collect();
    let long = format!(
        r#"{{"type":"message","id":"big","parentId":"d","message":{{"role":"toolResult","content":"{}"}}}}"#,
        "x".repeat(100_000_000)
    );
    session[6] = session[6].replace("\"parentId\":\"d\"", "\"parentId\":\"big\"");
    session.insert(6, long);
    write(place.path(), "long.jsonl", session.join("\n") + "\n");
    let output = place.run(&["scan", "--json", "--no-cache", "."]);
    let error = stderr(&output);
    assert!(error.contains("long.jsonl: line 7") && error.contains("its text is left out"), "{error}");
    assert_eq!(output.status.code(), Some(2));
    let found = json_lines(&output);
    assert_eq!(found[0]["messagesBefore"], 4, "the branch goes on through it: {}", found[0]);
}

#[test]
fn a_file_that_begins_in_the_middle_is_not_called_a_failure() {
    let place = Place::new();
    let mut session = recorded::claude("part");
    session[9]["compactMetadata"]["preTokens"] = 155_000.into();
    session[10]["message"]["content"] = recorded::SUMMARY.repeat(30).into();
    write(place.path(), "part.jsonl", lines(&session));
    let found = json_lines(&place.run(&["scan", "--json", "."]));
    assert_eq!(
        (&found[0]["verdict"], found[0]["score"].is_null()),
        (&json!("unverifiable"), true),
        "{}",
        found[0]["reason"]
    );
    assert!(found[0]["reason"].as_str().unwrap().contains("155000"));
}

#[test]
fn nothing_that_is_shown_has_secrets_or_hidden_parts() {
    let place = Place::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let mut session = recorded::openclaw("secret");
    session[1]["message"]["content"] = format!("{RULE} Use the token {secret} for it.").into();
    session[6]["summary"] = format!("The token is {secret}, as before, and all the rest was about the ledger.").into();
    write(place.path(), "s.jsonl", lines(&session));
    let output = place.run(&["scan", "--json", "--html", "page.html", "."]);
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    let mut cached = String::new();
    for entry in std::fs::read_dir(place.cache.path()).unwrap().flatten() {
        cached.push_str(
            &String::from_utf8(zstd::decode_all(std::fs::File::open(entry.path()).unwrap()).unwrap()).unwrap(),
        );
    }
    assert!(cached.contains("Never deploy"));
    for text in [stdout(&output), stderr(&output), page, cached] {
        for hidden in ["16C7e42F", "HIDDEN", "SECRETIMAGE"] {
            assert!(!text.contains(hidden), "{hidden}");
        }
    }
}

#[test]
fn the_page_is_written_whole_or_not_at_all() {
    let place = Place::new();
    place.sessions();
    assert!(place.run(&["scan", "--html", "page.html", "."]).status.success());
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    let missing = place.run(&["scan", "--html", "nowhere/page.html", "."]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("nowhere/page.html"), "{}", stderr(&missing));
}

#[test]
#[cfg(unix)]
fn an_interrupted_scan_leaves_nothing_behind() {
    let place = Place::new();
    for number in 0..60 {
        let mut session = recorded::openclaw(&format!("s{number}"));
        session[4]["message"]["content"] =
            format!("{number} {}", "word after word on a long line\n".repeat(20_000)).into();
        write(place.path(), &format!("in/s{number}.jsonl"), lines(&session));
    }
    let mut child = place
        .command(&["scan", "--no-cache", "--jobs", "1", "--html", "page.html", "in"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    // On a fast machine it may be done already; then the page is whole.
    match code {
        Some(130) => assert_eq!(left, ["in"]),
        Some(0) => assert!(left.iter().any(|name| name == "page.html")),
        // Before the handler was set the signal ends the process at once.
        other => assert!(other.is_none() && left == ["in"], "{other:?} {left:?}"),
    }
}

#[test]
fn replay_at_a_speed_shows_messages_the_budget_and_the_recovery_text() {
    let place = Place::new();
    let path = write(place.path(), "s.jsonl", lines(&recorded::openclaw("s1")));
    let text = stdout(&place.run(&["replay", "--speed", "0", "--window", "1000", path.to_str().unwrap()]));
    for part in
        ["user Never deploy", "📚 Context: ~", "🧹 Compaction complete", "with the next prompt", "Compactions: 1"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn replay_takes_one_session_of_a_store() {
    let place = Place::new();
    let path = place.path().join("agent.sqlite");
    recorded::store(&path, &[("s1", recorded::openclaw("s1")), ("s2", recorded::openclaw("s2"))]).close().unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(json_lines(&place.run(&["replay", "--json", path])).len(), 2);
    let one = json_lines(&place.run(&["replay", "--json", "--session", "s2", path]));
    assert_eq!((one.len(), &one[0]["sessionId"]), (1, &json!("s2")));
    assert_eq!(place.run(&["replay", "--session", "s3", path]).status.code(), Some(2));
}

/// Starts `watch`, writes, and gives what it said.
fn watched(place: &Place, path: &Path, write: impl FnOnce()) -> String {
    let mut child = place
        .command(&["watch", "--interval", "20", "--until-idle", "2", "--window", "1000", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("Context:") && out.read_line(&mut text).unwrap() > 0 {}
    write();
    out.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    text
}

#[test]
fn watch_audits_a_compaction_when_it_happens_in_a_file() {
    let place = Place::new();
    let session = recorded::openclaw("s1");
    let path = write(place.path(), "s.jsonl", lines(&session[..6]));
    let text = watched(&place, &path, || {
        // In two pieces: a line without its end is not read yet.
        let rest = lines(&session[6..]);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, &rest.as_bytes()[..50]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(200));
        std::io::Write::write_all(&mut file, &rest.as_bytes()[50..]).unwrap();
    });
    assert_eq!(text.matches("Compaction complete").count(), 1, "{text}");
    assert!(text.contains("Never deploy") && text.contains("Compactions: 1") && text.contains("user Go on."), "{text}");
    assert!(!text.contains("ZEBRA-99"), "{text}");
}

#[test]
fn watch_audits_a_compaction_when_it_happens_in_a_store() {
    let place = Place::new();
    let session = recorded::openclaw("s1");
    let path = place.path().join("agent.sqlite");
    let store = recorded::store(&path, &[("s1", session[..6].to_vec())]);
    let text = watched(&place, &path, || {
        for (seq, event) in session.iter().enumerate().skip(6) {
            recorded::append(&store, "s1", seq, event);
        }
    });
    assert_eq!(text.matches("Compaction complete").count(), 1, "{text}");
    assert!(text.contains("Never deploy") && text.contains("agent:kitchen:s1"), "{text}");
}

#[test]
fn watch_follows_a_session_that_goes_on_from_an_earlier_message() {
    let place = Place::new();
    let session = recorded::openclaw("s1");
    let path = write(place.path(), "s.jsonl", lines(&session));
    let text = watched(&place, &path, || {
        let other = [
            json!({"type": "message", "id": "f", "parentId": "b", "message": {"role": "user", "content": "Another way."}}),
            json!({"type": "compaction", "id": "k2", "parentId": "f", "summary": "Somebody wanted another way, and that is all that is known now."}),
        ];
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, lines(&other).as_bytes()).unwrap();
    });
    assert!(text.contains("read again"), "{text}");
    assert_eq!(text.matches("Compaction complete").count(), 1, "only the new one: {text}");
}

#[test]
fn what_if_compares_the_ways_for_each_compaction() {
    let place = Place::new();
    place.sessions();
    let output = place.run(&["what-if", "--json", "."]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = json_lines(&output);
    assert_eq!(lines.len(), 6);
    for line in &lines {
        let score = |way: &str| {
            let ways = line["ways"].as_array().unwrap();
            ways.iter().find(|came| came["way"] == way).unwrap()["score"].as_f64().unwrap()
        };
        assert!(score("recovery") > score("real"), "the recovery text brings the rule back: {line}");
        assert!(score("keep") >= score("real"), "{line}");
    }
    let strict = json_lines(&place.run(&[
        "what-if",
        "--json",
        "--head-protection",
        "0",
        "--tail-protection",
        "0",
        "plain.jsonl",
    ]));
    let kept = |way: usize| strict[0]["ways"][way]["messagesKept"].as_u64().unwrap();
    assert!(kept(4) < 4, "discard keeps only what the plan keeps: {}", strict[0]);
    let table = stdout(&place.run(&["what-if", "."]));
    assert!(table.contains("truncate") && table.contains("all (6)"), "{table}");
}
