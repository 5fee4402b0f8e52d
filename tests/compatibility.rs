//! A plugin that was built for an earlier version of the contract runs in today's host.

use crate::guest;
use crate::support::{LOSSY, NOW, after, before, config, messages, services, session};
use compact_review::budget::event::{PlanRequest, UsageEvent};
use compact_review::event::{CheckpointRequest, Reason, SessionStart, Trigger};
use compact_review::report::Verdict;
use host_harness::gateway::{Gateway, Recorded};
use host_harness::notes::FolderNotes;
use host_harness::runtime::{ComponentPlugin, Limits, Plugin, Services};
use std::sync::Arc;

fn released() -> ComponentPlugin {
    let module = include_str!("released/plugin-0.1.0.wat");
    ComponentPlugin::load(&guest::from_text(&guest::released(), module), Limits::default()).unwrap()
}

#[test]
fn a_plugin_of_the_released_contract_reaches_every_import_and_answers_both_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let (plugin, services) = (released(), Services::new(FolderNotes::open(folder.path()).unwrap()));
    let call = plugin.before_compaction(&services, &before());
    assert_eq!(call.result.unwrap().signals as usize, messages().len());
    assert_eq!(call.said.log[0].message, "signals");
    assert_eq!((call.said.alerts[0].code.as_str(), call.said.alerts[0].text.as_str()), ("signals", "entry-1"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join("memory").join(name)).unwrap();
    assert_eq!(read("checkpoint.md"), "kept by 0.1.0");
    assert!(read("2026-11-18.md").contains("kept by 0.1.0"));

    let report = plugin.after_compaction(&services, &after(Some(LOSSY))).result.unwrap();
    assert_eq!(
        (report.score, report.verdict, report.verdict_reason.as_str()),
        (Some(50.0), Verdict::Lossy, "kept by 0.1.0")
    );
}

#[test]
fn a_plugin_of_the_released_contract_answers_every_other_hook() {
    let (plugin, services, session) = (released(), services(), session().session);
    assert_eq!(plugin.configure(&services, "{\"a\":1}").result.unwrap(), "{\"a\":1}");
    assert_eq!(plugin.before_prompt(&services, &session, NOW).result, Ok(None));
    let checkpoint = CheckpointRequest { trigger: Trigger::Manual, session: session.clone(), ..Default::default() };
    assert_eq!(plugin.checkpoint(&services, &checkpoint).result.unwrap().signals, 0);
    let start = SessionStart { session: session.clone(), now: NOW, message_count: None, message_ids: Vec::new() };
    assert!(plugin.session_start(&services, &start).result.unwrap().recovery.is_none());
    let usage = UsageEvent { session: session.clone(), now: NOW, ..Default::default() };
    assert!(plugin.usage(&services, &usage).result.unwrap().crossings.is_empty());
    assert_eq!(plugin.status(&services, &session).result.unwrap().line, session.session_key);
    let plan = PlanRequest { session, now: NOW, messages: messages(), manual: true };
    assert!(plugin.plan(&services, &plan).result.unwrap().rows.is_empty());
}

#[test]
fn the_gateway_works_with_a_plugin_of_the_released_contract() {
    let gateway = Gateway::new(Arc::new(released()), services(), config());
    let mut session = session();
    let done = gateway.compact(&mut session, Reason::Manual, NOW, &Recorded(LOSSY.to_string()));
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    assert_eq!(done.report().unwrap().score, Some(50.0));
}
