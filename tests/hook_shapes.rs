//! The hooks in every shape that real gateways emit: order, counts, and what the audit can say.

use crate::support::{KEY, LOSSY, NOW, component, config, gateway, lost_text, services, session};
use compact_review::budget::event::{Plan, PlanRequest, StatusReport, UsageEvent, UsageOutcome};
use compact_review::event::{
    AfterCompaction, BeforeCompaction, CheckpointRequest, LocalTime, Reason, Session, SessionStart,
};
use compact_review::host::{HostError, NoteEntry, NotePlace, Retention};
use compact_review::report::{CheckpointOutcome, Recovery, Report, SessionStartOutcome, Verdict};
use host_harness::gateway::{Fault, Gateway, GatewayConfig, Hook, HookShape, OnHookError, Recorded, Strategy};
use host_harness::notes::{MemoryNotes, NoteStore};
use host_harness::runtime::{Call, Plugin, Services};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn recorded() -> Recorded {
    Recorded(LOSSY.to_string())
}

fn with_shape(shape: HookShape) -> GatewayConfig {
    GatewayConfig { shape, ..config() }
}

/// Passes everything on to our component and writes down what it was told.
struct Spy {
    plugin: Arc<dyn Plugin>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[derive(Clone, Debug)]
enum Seen {
    Before(BeforeCompaction),
    After(AfterCompaction),
}

impl Plugin for Spy {
    fn configure(&self, services: &Services, settings: &str) -> Call<String> {
        self.plugin.configure(services, settings)
    }

    fn before_compaction(&self, services: &Services, event: &BeforeCompaction) -> Call<CheckpointOutcome> {
        self.seen.lock().unwrap().push(Seen::Before(event.clone()));
        self.plugin.before_compaction(services, event)
    }

    fn after_compaction(&self, services: &Services, event: &AfterCompaction) -> Call<Report> {
        self.seen.lock().unwrap().push(Seen::After(event.clone()));
        self.plugin.after_compaction(services, event)
    }

    fn before_prompt(&self, services: &Services, session: &Session, now: LocalTime) -> Call<Option<Recovery>> {
        self.plugin.before_prompt(services, session, now)
    }

    fn checkpoint(&self, services: &Services, request: &CheckpointRequest) -> Call<CheckpointOutcome> {
        self.plugin.checkpoint(services, request)
    }

    fn session_start(&self, services: &Services, event: &SessionStart) -> Call<SessionStartOutcome> {
        self.plugin.session_start(services, event)
    }

    fn usage(&self, services: &Services, event: &UsageEvent) -> Call<UsageOutcome> {
        self.plugin.usage(services, event)
    }

    fn status(&self, services: &Services, session: &Session) -> Call<StatusReport> {
        self.plugin.status(services, session)
    }

    fn plan(&self, services: &Services, request: &PlanRequest) -> Call<Plan> {
        self.plugin.plan(services, request)
    }
}

fn spied(config: GatewayConfig) -> (Gateway, Arc<Mutex<Vec<Seen>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let spy = Spy { plugin: component(), seen: seen.clone() };
    (Gateway::new(Arc::new(spy), services(), config), seen)
}

#[test]
fn before_comes_first_with_both_counts_and_all_messages() {
    let (gateway, seen) = spied(GatewayConfig { history_limit: Some(5), ..config() });
    let mut session = session();
    let done = gateway.compact(&mut session, Reason::Threshold, NOW, &recorded());
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    let seen = seen.lock().unwrap();
    let [Seen::Before(before), Seen::After(after)] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((before.message_count, before.message_count_limited), (Some(8), Some(5)));
    assert_eq!(before.messages.len(), 8, "nothing was pruned yet");
    assert_eq!((after.messages_dropped, after.messages_retained), (Some(3), Some(2)));
    assert_eq!(after.summary_text.as_deref(), Some(LOSSY));
    assert_eq!(after.first_kept_entry_id.as_deref(), Some("m6"));
}

#[test]
fn a_complete_compaction_names_what_was_lost() {
    let (gateway, _) = gateway(config());
    let done = gateway.compact(&mut session(), Reason::Manual, NOW, &recorded());
    let report = done.report().unwrap();
    assert_eq!(report.verdict, Verdict::Lossy, "{report:?}");
    let lost = lost_text(report);
    assert!(lost.contains("Never deploy on Fridays"), "{lost}");
    assert!(lost.contains("HER-1001"), "{lost}");
    assert!(!lost.contains("queue lag"), "it still stands in a retained message: {lost}");
}

#[test]
fn counts_only_is_unverifiable_until_the_transcript_is_read() {
    let (gateway, _) = gateway(with_shape(HookShape::CountsOnly));
    let report = gateway.compact(&mut session(), Reason::Overflow, NOW, &recorded());
    assert_eq!(report.report().unwrap().verdict, Verdict::Unverifiable);
    assert_eq!(report.report().unwrap().score, None);

    let (gateway, _) =
        crate::support::gateway(GatewayConfig { reads_transcript: true, ..with_shape(HookShape::CountsOnly) });
    let report = gateway.compact(&mut session(), Reason::Overflow, NOW, &recorded());
    assert_eq!(report.report().unwrap().verdict, Verdict::Lossy);
}

#[test]
fn an_in_run_compaction_is_not_awaited_and_still_audited() {
    let (gateway, _) = gateway(GatewayConfig { reads_transcript: true, ..with_shape(HookShape::InRun) });
    let done = gateway.compact(&mut session(), Reason::Threshold, NOW, &recorded());
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    assert_eq!(done.report().unwrap().verdict, Verdict::Lossy);
}

#[test]
fn engine_owned_counts_are_unknown_and_not_minus_one() {
    let (gateway, seen) = spied(with_shape(HookShape::EngineOwned));
    gateway.compact(&mut session(), Reason::Threshold, NOW, &recorded());
    let seen = seen.lock().unwrap();
    let [Seen::Before(before), Seen::After(after)] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((before.message_count, after.messages_dropped, after.messages_retained), (None, None, None));
}

#[test]
fn before_without_after_leaves_the_session_as_it_was() {
    let (gateway, _) = gateway(with_shape(HookShape::BeforeOnly));
    let mut session = session();
    let done = gateway.compact(&mut session, Reason::Manual, NOW, &recorded());
    assert!(matches!(done.after, Hook::NotFired(_)));
    assert_eq!(session.messages.len(), 8);
    assert!(done.before.answer().is_some());
}

#[test]
fn an_after_that_compacted_nothing_raises_no_alarm_and_writes_no_note() {
    let (gateway, _) = gateway(with_shape(HookShape::NothingCompacted));
    let done = gateway.compact(&mut session(), Reason::Manual, NOW, &recorded());
    let report = done.report().unwrap();
    assert!(report.lost.is_empty() && report.alerts.is_empty() && report.writes.is_empty(), "{report:?}");
}

#[test]
fn two_compactions_at_once_do_not_spoil_the_checkpoint() {
    let (gateway, services) = gateway(config());
    let mut session = session();
    gateway.compact(&mut session, Reason::Manual, NOW, &recorded());
    let good = services.notes.lock().unwrap().read_checkpoint(KEY).unwrap().unwrap();
    session.messages.clear();
    let later = LocalTime { unix_ms: NOW.unix_ms + 50, ..NOW };
    let second = gateway.compact(&mut session, Reason::Manual, later, &Recorded(String::new()));
    assert!(second.report().is_some_and(|report| report.lost.is_empty()), "{:?}", second.report());
    assert_eq!(services.notes.lock().unwrap().read_checkpoint(KEY).unwrap().unwrap(), good);
}

#[test]
fn a_restart_between_the_hooks_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Services::new(host_harness::notes::FolderNotes::open(folder.path()).unwrap());
    let crashing = GatewayConfig { fault: Some(Fault::CrashBetweenHooks), ..config() };
    let first = Gateway::new(component(), open(), crashing);
    let done = first.compact(&mut session(), Reason::Manual, NOW, &recorded());
    assert!(matches!(done.after, Hook::NotFired(_)));
    drop(first);
    let report = component().after_compaction(&open(), &crate::support::after(Some(LOSSY))).result.unwrap();
    assert_eq!(report.verdict, Verdict::Lossy);
    assert!(lost_text(&report).contains("Fridays"));
}

#[test]
fn a_failed_hook_is_told_and_the_compaction_goes_on_by_default() {
    let (gateway, _) = gateway(GatewayConfig { fault: Some(Fault::HookError), ..config() });
    let done = gateway.compact(&mut session(), Reason::Manual, NOW, &recorded());
    assert_eq!(done.dropped, 6);
    assert_eq!(done.failures.len(), 2, "{:?}", done.failures);
}

#[test]
fn a_failed_hook_stops_the_compaction_where_the_gateway_says_so() {
    let stop = GatewayConfig { fault: Some(Fault::HookError), on_hook_error: OnHookError::Stop, ..config() };
    let (gateway, _) = gateway(stop);
    let mut session = session();
    let done = gateway.compact(&mut session, Reason::Manual, NOW, &recorded());
    assert_eq!((done.dropped, session.messages.len()), (0, 8));
    assert!(done.failures.last().unwrap().contains("on-hook-error = stop"), "{:?}", done.failures);
}

#[test]
fn a_slow_hook_is_not_awaited_forever() {
    let slow = GatewayConfig {
        fault: Some(Fault::SlowHook(Duration::from_secs(2))),
        hook_timeout: Duration::from_millis(50),
        ..config()
    };
    let (gateway, _) = gateway(slow);
    let done = gateway.compact(&mut session(), Reason::Manual, NOW, &recorded());
    assert!(matches!(done.before, Hook::TimedOut(_)), "{:?}", done.before);
    assert_eq!(done.dropped, 6);
}

#[test]
fn truncation_without_a_summary_has_failed() {
    for strategy in [Strategy::Truncate, Strategy::Discard] {
        let (gateway, _) = gateway(GatewayConfig { strategy, context_window: 100, ..config() });
        let done = gateway.compact(&mut session(), Reason::Overflow, NOW, &recorded());
        assert!(done.dropped > 0);
        assert_eq!(done.report().unwrap().verdict, Verdict::Failed, "{strategy:?}");
    }
}

#[test]
fn a_full_window_is_noticed() {
    let session = session();
    let window = |context_window, reserve| {
        let (gateway, _) = gateway(GatewayConfig { context_window, reserve, ..config() });
        gateway.due(&session)
    };
    assert_eq!(window(1_000_000, 0), None);
    assert_eq!(window(session.tokens() + 10, 0), Some(Reason::Threshold));
    assert_eq!(window(session.tokens() - 10, 0), Some(Reason::Overflow));
    assert_eq!(window(session.tokens() + 10, 20), Some(Reason::Overflow), "the reserve counts");
}

#[test]
fn the_recovery_text_comes_once() {
    let (gateway, _) = gateway(config());
    let mut session = session();
    gateway.compact(&mut session, Reason::Manual, NOW, &recorded());
    let first = gateway.before_prompt(&session, NOW).result.unwrap().unwrap();
    assert!(first.text.contains("Fridays"), "{}", first.text);
    assert_eq!(gateway.before_prompt(&session, NOW).result, Ok(None));
}

/// Refuses everything that is to be kept.
struct FullDisk(MemoryNotes);

impl NoteStore for FullDisk {
    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        self.0.load_state(session_key, slot)
    }
    fn save_state(&mut self, _: &str, _: &str, _: &[u8]) -> Result<(), HostError> {
        Err(HostError::Full("no space left".to_string()))
    }
    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError> {
        self.0.clear_state(session_key, slot)
    }
    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError> {
        self.0.read_checkpoint(session_key)
    }
    fn read_note(&mut self, _: &str, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn write_checkpoint(&mut self, _: &str, _: &str, _: Retention) -> Result<String, HostError> {
        Err(HostError::Full("no space left".to_string()))
    }
    fn append_note(&mut self, _: &NoteEntry) -> Result<NotePlace, HostError> {
        Err(HostError::Full("no space left".to_string()))
    }
}

#[test]
fn what_a_full_disk_refuses_is_told_and_kept_in_the_result() {
    let services = Services::new(FullDisk(MemoryNotes::default()));
    let gateway = Gateway::new(component(), services, config());
    let done = gateway.compact(&mut session(), Reason::Manual, NOW, &recorded());
    assert_eq!(done.dropped, 6, "the compaction goes on");
    let outcome = done.before.answer().unwrap();
    assert!(outcome.writes[0].text.contains("Active Checkpoint"), "the text is still there");
    assert_eq!(outcome.writes[0].error.as_deref(), Some("no room: no space left"));
    assert!(done.failures.iter().any(|failure| failure.contains("checkpoint")), "{:?}", done.failures);
}
