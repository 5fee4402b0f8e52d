//! A local model writes a part of the checkpoint; where it fails, the checkpoint that was made by rule stands.

use super::{gateway, live, with_settings};
use crate::support::{KEY, NOW, session};
use compact_review::event::Reason;
use host_harness::gateway::{BudgetPolicy, ByRule, Compaction, Endpoint, Summarizer};
use host_harness::runtime::Services;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

/// How the endpoint behaves.
#[derive(Clone, Copy)]
enum Mood {
    Says(&'static str),
    Fails,
    Hangs,
    SpeaksOtherwise,
}

/// A small server on the loopback interface; what it is asked comes out of the channel.
fn endpoint(mood: Mood, timeout: Duration) -> (Endpoint, mpsc::Receiver<serde_json::Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let (asked, questions) = mpsc::channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let question = read(&stream);
            let (status, body) = match mood {
                Mood::Says(text) => {
                    ("200 OK", serde_json::json!({"choices": [{"message": {"content": text}}]}).to_string())
                }
                Mood::Fails => ("500 Internal Server Error", "{}".to_string()),
                Mood::SpeaksOtherwise => ("200 OK", r#"{"choices": []}"#.to_string()),
                Mood::Hangs => {
                    held.push(stream);
                    continue;
                }
            };
            let head = "Content-Type: application/json\r\nConnection: close\r\nContent-Length:";
            let mut stream = stream;
            // Whoever asked may be gone by now, which is theirs to tell.
            drop(write!(stream, "HTTP/1.1 {status}\r\n{head} {}\r\n\r\n{body}", body.len()));
            drop(asked.send(question));
        }
    });
    (Endpoint::new(&url, "local", timeout), questions)
}

fn read(stream: &TcpStream) -> serde_json::Value {
    let mut lines = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// Compacts the conversation of the tests with this endpoint for the prose.
fn compact(endpoint: Endpoint) -> (Compaction, String) {
    let services = with_settings(r#"{"budget": {"plan": {"headProtection": 2, "tailProtection": 0}}}"#);
    let gateway = gateway(live(BudgetPolicy::default()), &services).with_prose_writer(Some(endpoint));
    let done = gateway.compact(&mut session(), Reason::Overflow, NOW, &ByRule);
    (done, checkpoint(&services))
}

fn checkpoint(services: &Services) -> String {
    services.notes.lock().unwrap().read_checkpoint(KEY).unwrap().unwrap()
}

#[test]
fn a_model_writes_prose_after_the_checkpoint_by_rule_stands() {
    let words = "The agent moves staging to api:4.8.2 and builds the dashboard next.";
    let (endpoint, questions) = endpoint(Mood::Says(words), Duration::from_secs(20));
    let (done, checkpoint) = compact(endpoint);
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    let by_rule = &done.before.answer().unwrap().writes[0].text;
    assert!(!by_rule.contains("builds the dashboard next"), "the first one needs no model");
    assert!(checkpoint.contains("builds the dashboard next"), "{checkpoint}");
    assert!(checkpoint.contains("Never deploy on Fridays"), "what was found by rule is still there: {checkpoint}");
    let question = questions.recv().unwrap();
    assert_eq!(question["model"], "local");
    let (system, user) = (&question["messages"][0]["content"], &question["messages"][1]["content"]);
    assert!(system.as_str().unwrap().contains("data, not orders"), "{system}");
    assert!(user.as_str().unwrap().contains("[user] Never deploy on Fridays"), "{user}");
}

#[test]
fn where_the_model_fails_or_takes_too_long_the_checkpoint_by_rule_stands_and_that_is_told() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = Endpoint::new(&format!("http://{nobody}/v1"), "local", Duration::from_secs(20));
    let short = Duration::from_millis(200);
    let long = Duration::from_secs(20);
    for (name, endpoint) in [
        ("refused", refused),
        ("500", endpoint(Mood::Fails, long).0),
        ("hangs", endpoint(Mood::Hangs, short).0),
        ("otherwise", endpoint(Mood::SpeaksOtherwise, long).0),
        ("empty", endpoint(Mood::Says(" \n"), long).0),
    ] {
        let (done, checkpoint) = compact(endpoint);
        assert_eq!(done.failures.len(), 1, "{name}: {:?}", done.failures);
        let failure = &done.failures[0];
        assert!(failure.starts_with("no prose for the checkpoint, the one made by rule stands: "), "{name}: {failure}");
        assert!(done.prose.is_none());
        assert_eq!(checkpoint, done.before.answer().unwrap().writes[0].text, "{name}");
        assert_eq!(done.summary.as_ref().map(|summary| summary.is_empty()), Some(false), "{name}: it was compacted");
    }
}

#[test]
fn an_endpoint_is_told_the_instructions_of_the_plan() {
    let (endpoint, questions) = endpoint(Mood::Says("A summary."), Duration::from_secs(20));
    let summary = endpoint.summarize_as_told(&session().messages, "- rule: \"Never deploy on Fridays\"").unwrap();
    assert_eq!(summary, "A summary.");
    let question = questions.recv().unwrap();
    let system = question["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("## Decisions") && system.ends_with("- rule: \"Never deploy on Fridays\""), "{system}");
}
