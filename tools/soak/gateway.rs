//! One gateway process: its sessions, each on a thread of its own, go through their events and tell what came of each.

use crate::disk::Trouble;
use crate::plan::{
    Event, Fault, Kind, ON_SMALL_DISK, Op, Plan, Shape, SummaryKind, at_once, gateway_of, session_key, short_hash,
};
use crate::protocol::{Done, Entry, Held, Order, Told, entry_id};
use crate::store::{FaultyNotes, MARK};
use crate::{measure, talk};
use anyhow::{Context, Result};
use compact_review::budget::event::{PlanRequest, ProviderUsage, UsageEvent};
use compact_review::event::{CheckpointRequest, LocalTime, Message, Reason, Role, Session, SessionStart, Trigger};
use compact_review::report::{WriteOutcome, WriteTarget};
use host_harness::gateway::{Compaction, Gateway, GatewayConfig, GatewaySession, Hook, HookShape, Recorded};
use host_harness::notes::{FolderNotes, MemoryNotes};
use host_harness::runtime::{COMPONENT, CallError, ComponentPlugin, Limits, Plugin, Services};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, RwLock, Weak};
use std::time::{Duration, Instant};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

/// The last so many messages stay.
const KEPT: usize = 3;
/// The deadline that the store's stall is longer than.
const SHORT_DEADLINE: Duration = Duration::from_millis(300);
/// How long a gateway waits for a slow hook, and how long that takes.
const SHORT_WAIT: Duration = Duration::from_millis(200);
const SLOW: Duration = Duration::from_millis(400);
/// How long a hook that was given up may still run before it counts as leaked.
const LATE: Duration = Duration::from_secs(60);
/// How many complaints of one event are told: a line must fit into a pipe at once.
const COMPLAINTS: usize = 4;
const COMPLAINT_BYTES: usize = 300;

/// The workspace of a gateway.
pub fn workspace(base: &Path, gateway: usize) -> PathBuf {
    base.join(if gateway == ON_SMALL_DISK { "small-disk" } else { "disk" })
}

/// The plugins that the faults need: our own with other limits, and one that traps.
struct Plugins {
    good: Arc<ComponentPlugin>,
    short_deadline: Arc<ComponentPlugin>,
    little_memory: Arc<ComponentPlugin>,
    small_answer: Arc<ComponentPlugin>,
    trapping: Arc<ComponentPlugin>,
}

impl Plugins {
    fn load() -> Result<Plugins> {
        let own = |limits: Limits| ComponentPlugin::load(COMPONENT, limits).map(Arc::new);
        Ok(Plugins {
            good: own(Limits::default())?,
            short_deadline: own(Limits { deadline: SHORT_DEADLINE, ..Default::default() })?,
            little_memory: own(Limits { memory: 64 << 10, ..Default::default() })?,
            small_answer: own(Limits { text: 8, ..Default::default() })?,
            trapping: Arc::new(ComponentPlugin::load(&trapping_component()?, Limits::default())?),
        })
    }

    fn for_fault(&self, fault: Option<Fault>) -> Arc<ComponentPlugin> {
        let plugin = match fault {
            Some(Fault::Deadline) => &self.short_deadline,
            Some(Fault::MemoryLimit) => &self.little_memory,
            Some(Fault::AnswerLimit) => &self.small_answer,
            Some(Fault::Trap) => &self.trapping,
            _ => &self.good,
        };
        plugin.clone()
    }

    /// One instance of each: what the engine makes once is there before anything is counted.
    fn warm_up(&self) {
        let services = Services::new(MemoryNotes::default());
        for plugin in [&self.good, &self.short_deadline, &self.little_memory, &self.small_answer, &self.trapping] {
            // With too little memory this fails, as it is to.
            drop(plugin.instantiate(&services));
        }
    }

    /// Stores made and dropped.
    fn stores(&self) -> (u64, u64) {
        let all = [&self.good, &self.short_deadline, &self.little_memory, &self.small_answer, &self.trapping];
        all.iter().map(|plugin| plugin.stores()).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

/// A component with all exports of the contract, each of which aborts.
fn trapping_component() -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit"))?;
    let world = resolve.select_world(&[package], Some("plugin"))?;
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Legacy(LiftLowerAbi::Sync));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.encode()
}

/// The schedule of the run, as the soak tells it: it stands still while the run pauses.
#[derive(Default)]
struct Schedule {
    now_ms: Mutex<u64>,
    changed: Condvar,
}

impl Schedule {
    fn wait_until(&self, due_ms: u64) {
        let mut now = self.now_ms.lock().expect("only numbers are set");
        while *now < due_ms {
            now = self.changed.wait(now).expect("only numbers are set");
        }
    }

    fn set(&self, now_ms: u64) {
        *self.now_ms.lock().expect("only numbers are set") = now_ms;
        self.changed.notify_all();
    }
}

/// What the sessions of a gateway share.
struct Shared {
    plugins: Plugins,
    workspace: PathBuf,
    /// Whether the faults of the disk are real.
    real_disk: bool,
    /// Held alone by whoever brings trouble over the disk: the others are to see none of it.
    gate: RwLock<()>,
    schedule: Schedule,
    notes_made: AtomicU64,
    notes_dropped: AtomicU64,
}

/// Runs until its sessions are at their end and nobody listens any more.
pub fn run(base: &Path, gateway: usize, plan: &Plan) -> Result<()> {
    be_quiet_about_planned_panics();
    let mut orders = std::io::stdin().lock().lines();
    let first = orders.next().context("no order came")??;
    let Order::Start { next, real_disk } = serde_json::from_str(&first)? else { anyhow::bail!("no start: {first}") };
    let shared = Arc::new(Shared {
        plugins: Plugins::load()?,
        workspace: workspace(base, gateway),
        real_disk,
        gate: RwLock::default(),
        schedule: Schedule::default(),
        notes_made: AtomicU64::default(),
        notes_dropped: AtomicU64::default(),
    });
    shared.plugins.warm_up();
    // Its thread is part of what is held at the beginning.
    let listener = shared.clone();
    std::thread::spawn(move || {
        for order in std::io::stdin().lock().lines() {
            if let Ok(Order::Time(now_ms)) = serde_json::from_str(&order.unwrap_or_default()) {
                listener.schedule.set(now_ms);
            }
        }
        // Whoever gave the orders is gone.
        std::process::exit(0);
    });
    drop(orders);
    std::thread::sleep(Duration::from_millis(20));
    let held = measure::held(std::process::id())?;
    tell(&Told::Ready(held))?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = next
            .into_iter()
            .filter(|(session, _)| gateway_of(*session) == gateway)
            .map(|(session, from)| {
                let shared = &shared;
                scope.spawn(move || Conversation::new(session, shared).go_on(&plan.sessions[session], from))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a session reports and does not panic"))
    })?;
    let notes = (shared.notes_made.load(Ordering::SeqCst), shared.notes_dropped.load(Ordering::SeqCst));
    tell(&Told::Ended { held: settled(held)?, stores: shared.plugins.stores(), notes })?;
    loop {
        std::thread::park();
    }
}

/// What is held when all threads that have ended are gone: on a busy machine that takes its time.
fn settled(at_first: Held) -> Result<Held> {
    let deadline = Instant::now() + LATE;
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let held = measure::held(std::process::id())?;
        if (held.threads <= at_first.threads && held.descriptors <= at_first.descriptors) || Instant::now() > deadline {
            return Ok(held);
        }
    }
}

/// One write, so that a kill leaves the whole line or none of it.
fn tell(told: &Told) -> Result<()> {
    let mut line = serde_json::to_vec(told)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    Ok(out.flush()?)
}

fn be_quiet_about_planned_panics() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let planned = panic.payload().downcast_ref::<String>().is_some_and(|text| text.contains(MARK));
        if !planned {
            loud(panic);
        }
    }));
}

/// One session.
struct Conversation<'a> {
    number: usize,
    session: GatewaySession,
    shared: &'a Shared,
}

impl<'a> Conversation<'a> {
    fn new(number: usize, shared: &'a Shared) -> Self {
        let session = GatewaySession::new(Session {
            session_key: session_key(number),
            session_id: Some(format!("transcript-{number}")),
            agent_id: Some("main".to_string()),
            ..Default::default()
        });
        Conversation { number, session, shared }
    }

    /// Comes to where it was, without any hook: the conversation is what the events make of it, whatever the hooks do.
    /// Then the other events, each when it is due.
    fn go_on(mut self, events: &[Event], from: usize) -> Result<()> {
        let silent =
            GatewayConfig { fault: Some(host_harness::gateway::Fault::HookError), ..config(None, Shape::Complete) };
        let services = Services::new(MemoryNotes::default());
        let gateway = Gateway::new(self.shared.plugins.good.clone(), services, silent);
        for (at, event) in events.iter().enumerate().take(from) {
            self.arrive(at, event);
            if let Some((reason, named, summary)) = compaction_of(event.kind) {
                self.compact(&gateway, at, event.now, reason, named, summary);
            }
        }
        for (at, event) in events.iter().enumerate().skip(from) {
            self.shared.schedule.wait_until(event.due_ms);
            let compacts = compaction_of(event.kind).is_some();
            tell(&Told::Began { session: self.number, event: at, compacts })?;
            let done = self.event(at, event);
            tell(&Told::Done(done))?;
        }
        Ok(())
    }

    /// The new messages of an event.
    fn arrive(&mut self, at: usize, event: &Event) -> Vec<Message> {
        if matches!(event.kind, Kind::Start | Kind::Ask) {
            return Vec::new();
        }
        let messages = talk::messages(self.number, at, event.text_seed, event.now.unix_ms);
        messages.iter().for_each(|message| self.session.push(message.clone()));
        messages
    }

    /// An event, with the trouble that the plan brings over it.
    fn event(&mut self, at: usize, event: &Event) -> Done {
        let disk = matches!(event.fault, Some(Fault::DiskFull | Fault::DiskReadOnly)) && self.shared.real_disk;
        let shared = self.shared;
        if !disk {
            let _others = shared.gate.read().expect("nothing panics behind the gate");
            return self.in_peace(at, event);
        }
        let _alone = shared.gate.write().expect("nothing panics behind the gate");
        let trouble = match event.fault {
            Some(Fault::DiskFull) => Trouble::full(&shared.workspace),
            _ => Trouble::read_only(&shared.workspace),
        };
        match trouble {
            Ok(_trouble) => self.in_peace(at, event),
            Err(error) => {
                let mut done = self.in_peace(at, event);
                done.wrong.push(format!("the trouble of the disk could not be made: {error:#}"));
                done
            }
        }
    }

    fn in_peace(&mut self, at: usize, event: &Event) -> Done {
        let mut seen = Seen::default();
        let (services, notes) = match self.services(event) {
            Ok(services) => services,
            Err(why) => {
                seen.wrong.push(why);
                return seen.done(self, at, event);
            }
        };
        let messages = self.arrive(at, event);
        let plugin = self.shared.plugins.for_fault(event.fault);
        match event.kind {
            Kind::Turn => self.turn(&*plugin, &services, event, messages, &mut seen),
            Kind::Compact { shape, reason, named, summary } => {
                let gateway = Gateway::new(plugin, services.clone(), config(event.fault, shape));
                let started = Instant::now();
                let done = self.compact(&gateway, at, event.now, reason.into(), named, summary);
                seen.compaction(done, started, event);
                if event.fault == Some(Fault::DiesBetweenHooks) {
                    self.after_death(&services, event.now, &mut seen);
                }
            }
            Kind::CompactTwice => self.compact_twice(&services, at, event.now, &mut seen),
            Kind::Checkpoint => self.checkpoint(&*plugin, &services, event.now, &mut seen),
            Kind::Start => self.start(&services, event.now, &mut seen),
            Kind::Ask => self.ask(&services, event.now, &mut seen),
        }
        drop(services);
        if !self.gone(notes) {
            seen.wrong.push(format!("something still holds the store of the event after {LATE:?}"));
        }
        seen.done(self, at, event)
    }

    /// The imports of one event; and what shows whether they are held any longer than it.
    fn services(&self, event: &Event) -> Result<(Services, Weak<dyn Send + Sync>), String> {
        let folder = FolderNotes::open(&self.shared.workspace).map_err(|error| format!("no workspace: {error}"))?;
        let played = match event.fault {
            Some(Fault::DiskFull) if !self.shared.real_disk => Some(Fault::StoreFull(Op::WriteCheckpoint)),
            Some(Fault::DiskReadOnly) if !self.shared.real_disk => Some(Fault::StoreDenied(Op::WriteCheckpoint)),
            other => other,
        };
        let notes = Arc::new(Mutex::new(FaultyNotes::new(folder, played)));
        self.shared.notes_made.fetch_add(1, Ordering::SeqCst);
        let watch: Arc<dyn Send + Sync> = notes.clone();
        let weak = Arc::downgrade(&watch);
        drop(watch);
        let settings = (event.fault == Some(Fault::HookError)).then(|| "{".to_string());
        Ok((Services { notes, settings, tokens: None }, weak))
    }

    /// Waits until nothing holds the store of an event any more: a hook that the gateway gave up may still run.
    fn gone(&self, notes: Weak<dyn Send + Sync>) -> bool {
        let deadline = Instant::now() + LATE;
        while notes.strong_count() > 0 {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.shared.notes_dropped.fetch_add(1, Ordering::SeqCst);
        true
    }

    fn compact(
        &mut self,
        gateway: &Gateway,
        at: usize,
        now: LocalTime,
        reason: Reason,
        named: bool,
        summary: SummaryKind,
    ) -> Compaction {
        let summary = Recorded(talk::summary(self.number, at, summary));
        if named {
            let mut first_kept = self.session.messages.len().saturating_sub(KEPT);
            while self.session.messages.get(first_kept).is_some_and(|message| message.role == Role::Tool) {
                first_kept -= 1;
            }
            gateway.compact_at(&mut self.session, reason, now, &summary, first_kept, Some(format!("c{at}")))
        } else {
            gateway.compact(&mut self.session, reason, now, &summary)
        }
    }

    fn turn(&self, plugin: &dyn Plugin, services: &Services, event: &Event, added: Vec<Message>, seen: &mut Seen) {
        let used = self.session.tokens();
        let usage = UsageEvent {
            session: self.session.session.clone(),
            now: event.now,
            context_window: Some(131_072),
            usage: Some(ProviderUsage { input: used, output: 0, ..Default::default() })
                .filter(|_| used.is_multiple_of(2)),
            added,
            ..Default::default()
        };
        seen.answer("usage", plugin.usage(services, &usage).result.map(|_| ()));
        let recovery = plugin.before_prompt(services, &self.session.session, event.now).result;
        seen.answer("before_prompt", recovery.map(|_| ()));
    }

    /// The second compaction finds nothing: it must leave the checkpoint alone, and say so.
    fn compact_twice(&mut self, services: &Services, at: usize, now: LocalTime, seen: &mut Seen) {
        let gateway = Gateway::new(self.shared.plugins.good.clone(), services.clone(), config(None, Shape::Complete));
        let started = Instant::now();
        let done = self.compact(&gateway, at, now, Reason::Threshold, true, SummaryKind::Lossy);
        seen.compaction_done(done, started);
        let mut poor = GatewaySession::new(self.session.session.clone());
        talk::next_to_nothing(self.number, at).into_iter().for_each(|message| poor.push(message));
        let later = at_once(now);
        let (started, name) = (Instant::now(), Some(format!("c{at}-again")));
        let done = gateway.compact_at(&mut poor, Reason::Overflow, later, &Recorded(String::new()), 1, name);
        let stays = done.before.answer().is_some_and(|before| {
            before.writes.is_empty() && before.notices.iter().any(|notice| notice.contains("an earlier one stays"))
        });
        if !stays {
            seen.unless_overdue.push("a checkpoint of next to nothing was written".to_string());
        }
        seen.compaction_done(done, started);
    }

    /// The next gateway is told that a compaction's end is missing.
    fn after_death(&self, services: &Services, now: LocalTime, seen: &mut Seen) {
        let answer = self.shared.plugins.good.session_start(services, &self.session_start(now));
        seen.hooks += 1;
        match answer.result {
            Ok(started) => seen.told.extend(started.notices),
            Err(error) => seen.told.push(format!("session_start: {error}")),
        }
    }

    fn session_start(&self, now: LocalTime) -> SessionStart {
        SessionStart {
            session: self.session.session.clone(),
            now,
            message_count: u32::try_from(self.session.messages.len()).ok(),
            message_ids: self.session.messages.iter().map(|message| message.id.clone()).collect(),
        }
    }

    fn checkpoint(&self, plugin: &dyn Plugin, services: &Services, now: LocalTime, seen: &mut Seen) {
        let request = CheckpointRequest {
            session: self.session.session.clone(),
            now,
            trigger: Trigger::Manual,
            message_count: u32::try_from(self.session.messages.len()).ok(),
            token_count: Some(self.session.tokens()),
            messages: self.session.messages.clone(),
            ..Default::default()
        };
        let outcome = plugin.checkpoint(services, &request).result;
        if let Ok(outcome) = &outcome {
            seen.told.extend(outcome.problems.iter().cloned());
            seen.wrote(&outcome.writes);
        }
        seen.answer("checkpoint", outcome.map(|_| ()));
    }

    fn start(&self, services: &Services, now: LocalTime, seen: &mut Seen) {
        let plugin = &self.shared.plugins.good;
        seen.answer("session_start", plugin.session_start(services, &self.session_start(now)).result.map(|_| ()));
        let recovery = plugin.before_prompt(services, &self.session.session, now).result;
        seen.answer("before_prompt", recovery.map(|_| ()));
    }

    fn ask(&self, services: &Services, now: LocalTime, seen: &mut Seen) {
        let plugin = &self.shared.plugins.good;
        let (session, messages) = (self.session.session.clone(), self.session.messages.clone());
        let planned = plugin.plan(services, &PlanRequest { session, now, messages, manual: true }).result;
        if let Ok(planned) = &planned
            && planned.rows.len() != self.session.messages.len()
        {
            seen.wrong.push(format!(
                "a plan of {} rows for {} messages",
                planned.rows.len(),
                self.session.messages.len()
            ));
        }
        seen.answer("plan", planned.map(|_| ()));
        seen.answer("status", plugin.status(services, &self.session.session).result.map(|_| ()));
    }
}

/// The compaction of an event: why, whether it has a name, and its summary.
fn compaction_of(kind: Kind) -> Option<(Reason, bool, SummaryKind)> {
    match kind {
        Kind::Compact { reason, named, summary, .. } => Some((reason.into(), named, summary)),
        Kind::CompactTwice => Some((Reason::Threshold, true, SummaryKind::Lossy)),
        Kind::Turn | Kind::Checkpoint | Kind::Start | Kind::Ask => None,
    }
}

fn config(fault: Option<Fault>, shape: Shape) -> GatewayConfig {
    use host_harness::gateway::Fault as Played;
    GatewayConfig {
        head_protection: KEPT,
        shape: match shape {
            Shape::Complete => HookShape::Complete,
            Shape::InRun => HookShape::InRun,
            Shape::CountsOnly => HookShape::CountsOnly,
        },
        hook_timeout: if fault == Some(Fault::HookSlow) { SHORT_WAIT } else { GatewayConfig::default().hook_timeout },
        fault: match fault {
            Some(Fault::HookBroken) => Some(Played::HookError),
            Some(Fault::HookSlow) => Some(Played::SlowHook(SLOW)),
            Some(Fault::DiesBetweenHooks) => Some(Played::CrashBetweenHooks),
            _ => None,
        },
        ..Default::default()
    }
}

/// What an event showed.
#[derive(Default)]
struct Seen {
    /// What went wrong, as the gateway or the plugin tells it.
    told: Vec<String>,
    /// What should not have happened, whatever the fault.
    wrong: Vec<String>,
    /// What should not have happened, unless the machine was so slow that a hook met its real deadline.
    unless_overdue: Vec<String>,
    entries: Vec<Entry>,
    checkpoints: u64,
    hooks: u64,
    compactions: (u64, u64),
    longest: Duration,
}

impl Seen {
    fn answer(&mut self, hook: &str, answer: Result<(), CallError>) {
        self.hooks += 1;
        if let Err(error) = answer {
            self.told.push(format!("{hook}: {error}"));
        }
    }

    fn compaction(&mut self, done: Compaction, started: Instant, event: &Event) {
        if event.fault == Some(Fault::DiesBetweenHooks) && !matches!(done.after, Hook::NotFired(_)) {
            self.wrong.push("the second hook was fired by a dead gateway".to_string());
        }
        self.compaction_done(done, started);
    }

    fn compaction_done(&mut self, done: Compaction, started: Instant) {
        self.longest = self.longest.max(started.elapsed());
        self.hooks += 2;
        self.compactions.0 += 1;
        if done.summary.is_some() && done.dropped > 0 {
            self.compactions.1 += 1;
        } else {
            self.wrong.push(format!("a compaction did not take place: {}", done.failures.join("; ")));
        }
        if let Some(before) = done.before.answer() {
            self.wrote(&before.writes);
        }
        if let Some(report) = done.report() {
            self.wrote(&report.writes);
        }
        self.told.extend(done.failures);
    }

    fn wrote(&mut self, writes: &[WriteOutcome]) {
        for write in writes.iter().filter(|write| write.place.is_some()) {
            match write.target {
                WriteTarget::Checkpoint => self.checkpoints += 1,
                WriteTarget::DailyNote => {
                    let text = write.text.trim_end();
                    let id = text.lines().next_back().and_then(entry_id).unwrap_or_default().to_string();
                    let name = write.place.as_deref().unwrap_or_default();
                    let date = name.trim_start_matches("memory/").trim_end_matches(".md").to_string();
                    self.entries.push(Entry { id, date, text: short_hash(text.as_bytes()) });
                }
            }
        }
    }

    fn done(mut self, conversation: &Conversation<'_>, at: usize, event: &Event) -> Done {
        let told = event.fault.map(|fault| {
            let real = conversation.shared.real_disk;
            (fault, self.told.iter().any(|line| tells(line, fault, real)))
        });
        let overdue = self.told.iter().any(|line| line.contains(&overdue()));
        if event.fault.is_none() {
            let lines = self.told.iter().map(|line| format!("told, and nothing was done to it: {line}"));
            self.unless_overdue.extend(lines);
        } else if let Some((fault, false)) = told {
            self.unless_overdue.push(format!("{fault:?} was not told, but: {:?}", self.told));
        }
        if !overdue {
            self.wrong.append(&mut self.unless_overdue);
        }
        Done {
            session: conversation.number,
            event: at,
            compactions: self.compactions,
            conversation: conversation_hash(&conversation.session),
            // A hook that met its real deadline may not have come to the fault.
            fault: told.filter(|(_, told)| *told || !overdue),
            overdue,
            wrong: self.wrong.into_iter().take(COMPLAINTS).map(bounded).collect(),
            entries: self.entries,
            checkpoints: self.checkpoints,
            hooks: self.hooks,
            longest_ms: self.longest.as_millis() as u64,
        }
    }
}

/// How it is told that a hook met the deadline that every user has.
fn overdue() -> String {
    CallError::Deadline(Limits::default().deadline).to_string()
}

fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(COMPLAINT_BYTES));
    text
}

/// Whether a line tells of a fault, in the words that a person would look for.
fn tells(line: &str, fault: Fault, real_disk: bool) -> bool {
    let words = match fault {
        Fault::HookBroken => "the hook failed on purpose",
        Fault::HookSlow => "no answer within",
        Fault::DiesBetweenHooks => "its end was not told",
        Fault::HookError => "invalid settings",
        Fault::Deadline => "stopped after its deadline",
        Fault::MemoryLimit => "went over a limit: memory",
        Fault::AnswerLimit => "the limit is 8",
        Fault::Trap => "the plugin trapped",
        Fault::StorePanics(_) => "the host panicked in the hook",
        Fault::DiskFull if real_disk => "make room",
        Fault::DiskReadOnly if real_disk => "make it writable",
        Fault::StoreFull(_) | Fault::StoreDenied(_) | Fault::StoreFails(_) | Fault::DiskFull | Fault::DiskReadOnly => {
            MARK
        }
    };
    line.contains(words)
}

fn conversation_hash(session: &GatewaySession) -> String {
    let all: Vec<(&str, &str)> =
        session.messages.iter().map(|message| (message.id.as_str(), message.text.as_str())).collect();
    short_hash(format!("{} {all:?}", session.compactions).as_bytes())
}
