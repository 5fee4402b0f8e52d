//! Plugins that misbehave, one file each in `tests/hostile/`: each is contained within its limit, the limit is named, and
//! the same host goes on: with the same plugin on a fresh instance, and with a good one.

use crate::guest::{self, released};
use crate::support::{KEY, LOSSY, NOW, after, before, component, config, messages, services, session};
use compact_review::budget::event::{PlanRequest, UsageEvent};
use compact_review::event::{CheckpointRequest, Reason, SessionStart, Trigger};
use compact_review::report::{CheckpointOutcome, Verdict};
use host_harness::gateway::{Gateway, Recorded};
use host_harness::notes::FolderNotes;
use host_harness::runtime::{
    Call, CallError, ComponentPlugin, Limits, LoadError, MAX_COMPONENT_BYTES, Plugin, Services,
};
use host_harness::tokens::TokenCounter;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/hostile");
const DEADLINE: Duration = Duration::from_millis(300);
/// Beyond its deadline a call has the time of one tick, of one call into the host, and of a busy machine.
const LATE: Duration = Duration::from_secs(30);
/// For plugins that end by themselves: on a busy machine the deadline is not what stops them.
const PATIENCE: Duration = Duration::from_secs(60);

/// File, and what the host says of it.
const CONTAINED: [(&str, &str); 24] = [
    ("answer-absurd-list", "the plugin handed over garbage: list pointer/length out of bounds of memory"),
    (
        "answer-huge-error",
        "the plugin handed over garbage: the error of the hook has 1048576 bytes, the limit is 262144",
    ),
    ("answer-huge-text", "the plugin handed over garbage: notices has 1048576 bytes, the limit is 262144"),
    ("answer-long-list", "the plugin handed over garbage: notices has 100000 entries, the limit is 2000"),
    ("answer-misaligned", "the plugin handed over garbage: return pointer not aligned"),
    ("answer-not-utf8", "the plugin handed over garbage: invalid utf-8 sequence of 1 bytes from index 0"),
    ("answer-out-of-memory", "the plugin handed over garbage: pointer out of bounds of memory"),
    ("answer-text-out-of-memory", "the plugin handed over garbage: string pointer/length out of bounds of memory"),
    ("answer-unknown-case", "the plugin handed over garbage: invalid expected discriminant"),
    ("bytes-that-are-no-text", "the plugin handed over garbage: invalid utf-8 sequence of 1 bytes from index 0"),
    ("deep-recursion", "the plugin trapped: wasm trap: call stack exhausted"),
    ("endless-host-calls", "the plugin was stopped after its deadline of 300ms"),
    ("endless-loop", "the plugin was stopped after its deadline of 300ms"),
    ("endless-post-return", "the plugin was stopped after its deadline of 300ms"),
    ("endless-realloc", "the plugin was stopped after its deadline of 300ms"),
    ("endless-start", "the plugin was stopped after its deadline of 300ms"),
    ("huge-log-line", "the plugin went over a limit: transfer: one call to or from the host may carry 32 MiB"),
    ("many-strings", "the plugin went over a limit: transfer: one call to or from the host may carry 32 MiB"),
    ("memory-at-once", "the plugin went over a limit: memory: wanted 640 MiB, the limit is 64 MiB"),
    ("memory-growth", "the plugin went over a limit: memory: wanted 69 MiB, the limit is 64 MiB"),
    (
        "same-string-again-and-again",
        "the plugin went over a limit: transfer: one call to or from the host may carry 32 MiB",
    ),
    ("table-growth", "the plugin went over a limit: table: wanted 10001 entries, the limit is 10000"),
    ("text-out-of-memory", "the plugin handed over garbage: string pointer/length out of bounds of memory"),
    ("unknown-level", "the plugin handed over garbage: unexpected discriminant: 99"),
];

/// These answer, or have tests of their own below.
const OTHERS: [&str; 8] = [
    "flood-alerts",
    "flood-log",
    "flood-notes",
    "flood-states",
    "names-outside",
    "one-long-host-call",
    "trap",
    "wrong-ledger",
];

fn bytes(name: &str) -> Vec<u8> {
    guest::with_hook(&std::fs::read_to_string(format!("{FOLDER}/{name}.wat")).unwrap())
}

fn hostile(name: &str) -> ComponentPlugin {
    let deadline = if name.starts_with("endless-") || name == "one-long-host-call" { DEADLINE } else { PATIENCE };
    let limits = Limits { deadline, memory: 64 << 20, ..Default::default() };
    ComponentPlugin::load(&bytes(name), limits).unwrap()
}

/// With a tokenizer, so that every import does something.
fn with_tokens() -> Services {
    let tokens = TokenCounter::open("o200k").unwrap();
    Services { tokens: Some(Arc::new(Mutex::new(tokens))), ..services() }
}

fn call(plugin: &dyn Plugin, services: &Services) -> Call<CheckpointOutcome> {
    let started = Instant::now();
    let call = plugin.before_compaction(services, &before());
    assert!(started.elapsed() < PATIENCE + LATE, "{:?}", started.elapsed());
    call
}

fn serves(services: &Services) {
    let good = call(&*component(), services).result;
    assert!(good.is_ok_and(|outcome| outcome.signals > 0 && outcome.problems.is_empty()));
}

#[test]
fn every_hostile_plugin_is_contained_by_name_and_the_host_goes_on() {
    let services = with_tokens();
    let mut wrong = Vec::new();
    for (name, error) in CONTAINED {
        let plugin = hostile(name);
        for time in ["at first", "on a fresh instance"] {
            let done = call(&plugin, &services);
            match done.result {
                Err(found) if found.to_string() == error => {}
                found => wrong.push(format!("{name}, {time}: {found:?}")),
            }
            if name.starts_with("endless-") {
                assert!(done.took < DEADLINE + LATE, "{name}: {:?}", done.took);
            }
        }
        serves(&services);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_of_the_folder_is_tested() {
    let mut known: Vec<&str> = CONTAINED.iter().map(|(name, _)| *name).chain(OTHERS).collect();
    known.sort_unstable();
    let files = std::fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.map(|name| name.strip_suffix(".wat").unwrap().to_string()).collect();
    files.sort_unstable();
    assert_eq!(files, known);
}

#[test]
fn a_trap_in_any_hook_is_told_and_the_next_call_goes_on() {
    let (plugin, services) = (hostile("trap"), services());
    let session = session().session;
    let checkpoint = CheckpointRequest { trigger: Trigger::Manual, session: session.clone(), ..Default::default() };
    let start = SessionStart { session: session.clone(), now: NOW, message_count: None, message_ids: Vec::new() };
    let usage = UsageEvent { session: session.clone(), now: NOW, ..Default::default() };
    let plan = PlanRequest { session: session.clone(), now: NOW, messages: messages(), manual: true };
    let errors = [
        ("configure", plugin.configure(&services, "{}").result.err()),
        ("before-compaction", plugin.before_compaction(&services, &before()).result.err()),
        ("after-compaction", plugin.after_compaction(&services, &after(Some(LOSSY))).result.err()),
        ("before-prompt", plugin.before_prompt(&services, &session, NOW).result.err()),
        ("checkpoint", plugin.checkpoint(&services, &checkpoint).result.err()),
        ("session-start", plugin.session_start(&services, &start).result.err()),
        ("usage", plugin.usage(&services, &usage).result.err()),
        ("status", plugin.status(&services, &session).result.err()),
        ("plan", plugin.plan(&services, &plan).result.err()),
    ];
    for (hook, error) in &errors {
        assert_eq!(error.as_ref(), Some(&CallError::Trap("it aborted".to_string())), "{hook}");
    }
    let hooks = guest::hooks();
    assert_eq!(errors.map(|(hook, _)| hook.to_string()).to_vec(), hooks, "every hook of the contract");
    serves(&services);
}

#[test]
fn floods_of_the_log_and_of_alerts_are_cut_and_counted() {
    let services = services();
    let said = call(&hostile("flood-log"), &services).said;
    assert_eq!(said.log.len(), 201);
    assert_eq!(said.log[200].message, "9800 more lines of the log were dropped: over the limit of one call (200)");
    assert!(said.log.iter().all(|line| line.message.len() <= 4096 + "…".len()));
    let said = call(&hostile("flood-alerts"), &services).said;
    assert_eq!((said.alerts.len(), said.log.len()), (50, 1));
    assert_eq!(said.log[0].message, "9950 more alerts were dropped: over the limit of one call (50)");
    assert!(said.alerts.iter().all(|alert| alert.text.len() <= 4096 + "…".len()));
    serves(&services);
}

#[test]
fn floods_of_notes_and_states_end_at_the_limits_of_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let services = Services::new(FolderNotes::open(folder.path()).unwrap());
    let done = call(&hostile("flood-notes"), &services);
    assert!(done.result.is_ok(), "{:?}", done.result);
    assert_eq!(done.said.log[0].message, "968 more writes were refused: over the limit of one call (32)");
    let notes = std::fs::read_dir(folder.path().join("memory")).unwrap().flatten().filter(|file| file.path().is_file());
    assert_eq!(notes.count(), 32);

    let done = call(&hostile("flood-states"), &services);
    assert_eq!(done.said.log[0].message, "22 more writes were refused: over the limit of one call (32)");
    let states = std::fs::read_dir(folder.path().join("memory/.compact-review")).unwrap().flatten();
    let bytes: u64 = states.map(|file| file.metadata().unwrap().len()).sum();
    assert!((4 * 0x80_0000..34 << 20).contains(&bytes), "{bytes}");
    serves(&services);
}

#[test]
fn a_long_call_into_the_host_ends_with_the_deadline() {
    let services = with_tokens();
    let started = Instant::now();
    let done = hostile("one-long-host-call").before_compaction(&services, &before());
    assert!(started.elapsed() < DEADLINE + LATE, "{:?}", started.elapsed());
    let told = "tokens are estimated: there were too many texts to count them in time";
    assert!(done.said.log.iter().any(|line| line.message == told), "{:?}", done.said.log);
    serves(&services);
}

#[test]
fn names_that_lead_outside_are_refused_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("a/b/c/d");
    std::fs::create_dir_all(&workspace).unwrap();
    let services = Services::new(FolderNotes::open(&workspace).unwrap());
    let done = call(&hostile("names-outside"), &services);
    assert!(done.result.is_ok(), "{:?}", done.result);
    assert_eq!(std::fs::read_dir(&workspace).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_wrong_ledger_makes_our_plugin_say_so_and_go_on() {
    let services = services();
    call(&hostile("wrong-ledger"), &services).result.unwrap();
    let report = component().after_compaction(&services, &after(Some(LOSSY))).result.unwrap();
    assert_eq!((report.verdict, report.score), (Verdict::Unverifiable, None));
    serves(&services);
}

#[test]
fn a_cut_or_changed_ledger_never_stops_our_plugin() {
    let plugin = component();
    let services = services();
    plugin.before_compaction(&services, &before()).result.unwrap();
    let ledger = services.notes.lock().unwrap().load_state(KEY, "signals").unwrap().unwrap();
    let cuts = (0..ledger.len()).step_by(ledger.len() / 40).map(|at| ledger[..at].to_vec());
    let flips = (0..ledger.len()).step_by(ledger.len() / 80).map(|at| {
        let mut flipped = ledger.clone();
        flipped[at] ^= 0x55;
        flipped
    });
    for wrong in cuts.chain(flips) {
        services.notes.lock().unwrap().save_state(KEY, "signals", &wrong).unwrap();
        let report = plugin.after_compaction(&services, &after(Some(LOSSY))).result;
        assert!(report.is_ok(), "{report:?}");
    }
}

#[test]
fn a_gateway_goes_on_and_says_what_happened() {
    let gateway = Gateway::new(Arc::new(hostile("trap")), services(), config());
    let mut session = session();
    let done = gateway.compact(&mut session, Reason::Manual, NOW, &Recorded("A summary.".to_string()));
    assert_eq!((done.dropped, done.retained), (6, 2));
    assert_eq!(session.messages.len(), 3, "the compaction took place");
    assert_eq!(
        done.failures,
        ["before_compaction: the plugin trapped: it aborted", "after_compaction: the plugin trapped: it aborted"]
    );
}

fn refused(bytes: &[u8]) -> LoadError {
    match ComponentPlugin::load(bytes, Limits::default()) {
        Err(error) => error,
        Ok(_) => panic!("it was loaded"),
    }
}

#[test]
fn a_component_with_other_imports_is_refused_by_their_names() {
    let more = "interface network { connect: func(host: string); }\ninterface files { read: func() -> string; }\n\
        world plugin {\n  import network;\n  import files;";
    let greedy = released().replace("world plugin {", more);
    let LoadError::Imports(names) = refused(&guest::with_hook_for(&greedy, "(func $hook (result i32) unreachable)"))
    else {
        panic!("another error")
    };
    assert_eq!(names, ["compact-review:plugin/network@0.1.0", "compact-review:plugin/files@0.1.0"]);
}

#[test]
fn a_component_that_wants_more_of_the_host_interface_is_refused_by_the_name_of_the_function() {
    let greedy = released().replace("interface host {", "interface host {\n  spawn: func(command: string);");
    let error = refused(&guest::with_hook_for(&greedy, "(func $hook (result i32) unreachable)"));
    assert!(matches!(error, LoadError::Contract(_)) && error.to_string().contains("spawn"), "{error}");
}

#[test]
fn what_is_no_component_or_too_large_is_refused() {
    let error = refused(b"not wasm");
    assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    let error = refused(&vec![0; MAX_COMPONENT_BYTES + 1]).to_string();
    assert_eq!(error, "a component may have 8388608 bytes, and this one has more");
}

#[test]
fn our_own_plugin_stays_within_its_limits_on_odd_events() {
    let plugin = component();
    let services = services();
    let mut event = before();
    event.messages = messages().into_iter().cycle().take(3000).collect();
    event.messages[7].text = "x".repeat(4 << 20);
    event.messages[8].text = "\u{0}\u{202e}🦀".repeat(10_000);
    assert!(plugin.before_compaction(&services, &event).result.is_ok());
    assert!(plugin.after_compaction(&services, &after(Some(&"word ".repeat(100_000)))).result.is_ok());
}
