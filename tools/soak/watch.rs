//! The soak itself: starts the gateways, kills and restarts them, keeps the schedule, and checks what must hold while
//! they run.

use crate::gateway::workspace;
use crate::measure::{self, Memory};
use crate::plan::{GATEWAYS, Kill, LONG_LIVED, ON_SMALL_DISK, Plan, gateway_of};
use crate::protocol::{Done, Entry, Held, Order, Told};
use crate::report::{Tally, Violations};
use crate::verify::Reader;
use crate::{Options, disk};
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often the schedule is told, the checkpoints are read, the notes are read, and processes are measured.
const TELL_EVERY: Duration = Duration::from_millis(50);
const CHECKPOINTS_EVERY: Duration = Duration::from_millis(200);
const NOTES_EVERY: Duration = Duration::from_secs(3);
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// A gateway that says nothing for so long, although there is something to do, hangs.
const HANGS_AFTER: Duration = Duration::from_secs(120);
/// Compiling the components takes so long at most, on a slow machine without optimization.
const STARTS_WITHIN: Duration = Duration::from_secs(900);
/// glibc gives large blocks back at once and does not keep a heap for each of many short threads: what is resident is
/// what is held, and not what was held at the same time once.
const TRUE_MEMORY: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_ARENA_MAX", "2")];

/// A gateway process.
struct Process {
    child: Child,
    orders: ChildStdin,
    held: Option<Held>,
    ended: bool,
    heard: Instant,
}

/// What a gateway's reader heard: a line, or that there will be none any more.
type Heard = (usize, Option<Told>);

/// A kill that is on its way.
enum Aim {
    /// When its gateway begins a compaction.
    Next(Kill),
    /// At this moment.
    At(Instant, usize),
}

pub struct Soak<'a> {
    options: &'a Options,
    plan: &'a Plan,
    base: &'a Path,
    real_disk: bool,
    processes: Vec<Process>,
    voice: Sender<Heard>,
    ear: Receiver<Heard>,
    next: Vec<usize>,
    /// The event under way of each session.
    under_way: Vec<Option<usize>>,
    /// Events that a kill cut off: they begin again.
    cut_off: BTreeMap<(usize, usize), u64>,
    readers: Vec<Reader>,
    /// Entries reported as written that nobody has looked for yet.
    to_find: Vec<(usize, usize, Entry, bool)>,
    pub found: Vec<(usize, Entry, bool)>,
    pub tally: Tally,
    pub wrong: Violations,
    pub memory: Memory,
}

impl<'a> Soak<'a> {
    pub fn new(options: &'a Options, plan: &'a Plan, base: &'a Path, real_disk: bool) -> Soak<'a> {
        let (voice, ear) = channel();
        let workspaces = [LONG_LIVED, ON_SMALL_DISK].map(|gateway| workspace(base, gateway));
        Soak {
            options,
            plan,
            base,
            real_disk,
            processes: Vec::new(),
            voice,
            ear,
            next: vec![0; plan.sessions.len()],
            under_way: vec![None; plan.sessions.len()],
            cut_off: BTreeMap::new(),
            readers: workspaces.iter().map(|workspace| Reader::new(workspace, plan)).collect(),
            to_find: Vec::new(),
            found: Vec::new(),
            tally: Tally::new(plan),
            wrong: Violations::default(),
            memory: Memory::default(),
        }
    }

    /// Runs to the end of the plan.
    pub fn run(&mut self) -> Result<()> {
        self.compile()?;
        for gateway in 0..GATEWAYS {
            let process = self.start(gateway)?;
            self.processes.push(process);
        }
        self.wait_until_ready()?;
        let bar = self.bar();
        let mut schedule = Duration::ZERO;
        let mut kills = self.plan.kills.iter().copied().peekable();
        let mut aim: Option<Aim> = None;
        let mut turns = Turns::default();
        let mut before = Instant::now();
        while !self.processes.iter().all(|process| process.ended) && !self.wrong.too_many() {
            let now = Instant::now();
            if self.paused() {
                // The time does not count, and a silent gateway does not hang.
                self.processes.iter_mut().for_each(|process| process.heard = now);
            } else {
                schedule += now - before;
            }
            before = now;
            if turns.told.is_due(TELL_EVERY) {
                self.tell_all(&Order::Time(schedule.as_millis() as u64));
            }
            if schedule.as_millis() as u64 >= self.plan.length_ms {
                // On a machine that lags behind, kills that are still due would keep the sessions from their end.
                self.tally.kills_too_late += kills.by_ref().count() as u64;
            }
            if aim.is_none() && kills.peek().is_some_and(|kill| u128::from(kill.at_ms) <= schedule.as_millis()) {
                aim = kills.next().map(Aim::Next);
            }
            if let Some(Aim::At(when, gateway)) = aim
                && when <= now
            {
                self.kill(gateway)?;
                aim = None;
            }
            self.look(&mut turns, schedule);
            self.show(&bar, schedule);
            self.listen(&mut aim)?;
        }
        bar.finish_and_clear();
        self.tally.schedule = schedule;
        self.end()
    }

    /// A gateway without sessions compiles the components, once for all: what that takes in memory is not the run's.
    fn compile(&mut self) -> Result<()> {
        let mut process = self.start_with(LONG_LIVED, BTreeMap::new())?;
        loop {
            match self.ear.recv_timeout(STARTS_WITHIN)? {
                (_, Some(Told::Ended { .. })) => break,
                (_, Some(_)) => {}
                (_, None) => anyhow::bail!("the components could not be loaded: {}", process.child.wait()?),
            }
        }
        process.child.kill()?;
        process.child.wait()?;
        while self.ear.recv()?.1.is_some() {}
        Ok(())
    }

    /// The schedule begins when all can keep it.
    fn wait_until_ready(&mut self) -> Result<()> {
        while self.processes.iter().any(|process| process.held.is_none()) {
            match self.ear.recv_timeout(STARTS_WITHIN)? {
                (gateway, Some(told)) => self.heard(gateway, told),
                (gateway, None) => anyhow::bail!("gateway {gateway} does not start"),
            }
        }
        Ok(())
    }

    fn start(&self, gateway: usize) -> Result<Process> {
        let sessions = (0..self.next.len()).filter(|session| gateway_of(*session) == gateway);
        self.start_with(gateway, sessions.map(|session| (session, self.next[session])).collect())
    }

    fn start_with(&self, gateway: usize, next: BTreeMap<usize, usize>) -> Result<Process> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--gateway", &gateway.to_string()])
            .args(["--seed", &self.options.seed.to_string()])
            .args(["--minutes", &self.options.minutes.to_string()])
            .args(["--sessions", &self.options.sessions.to_string()])
            .arg("--workspace")
            .arg(self.base)
            // Compiled code is kept with the run: killed writers of that cache belong to the test.
            .env("XDG_CACHE_HOME", self.base.join("cache"))
            .envs(TRUE_MEMORY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("a gateway does not start")?;
        let (Some(mut orders), Some(said)) = (child.stdin.take(), child.stdout.take()) else {
            anyhow::bail!("a gateway without pipes");
        };
        send(&mut orders, &Order::Start { next, real_disk: self.real_disk })?;
        let voice = self.voice.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(said).lines() {
                // The last line before a kill may be cut off: what it told was not told.
                let told = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                if told.is_some() && voice.send((gateway, told)).is_err() {
                    return;
                }
            }
            drop(voice.send((gateway, None)));
        });
        Ok(Process { child, orders, held: None, ended: false, heard: Instant::now() })
    }

    /// One wait for news, and what follows from them.
    fn listen(&mut self, aim: &mut Option<Aim>) -> Result<()> {
        let patience = match aim {
            Some(Aim::At(when, _)) => when.saturating_duration_since(Instant::now()).min(TELL_EVERY),
            _ => TELL_EVERY / 2,
        };
        let mut news = match self.ear.recv_timeout(patience) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("nobody can be heard any more"),
        };
        while let Some((gateway, told)) = news {
            match told {
                Some(told) => {
                    if let (Some(Aim::Next(kill)), Told::Began { compacts: true, .. }) = (&*aim, &told)
                        && kill.gateway == gateway
                    {
                        *aim = Some(Aim::At(Instant::now() + Duration::from_millis(kill.after_ms), gateway));
                    }
                    self.heard(gateway, told);
                }
                None => self.died_by_itself(gateway)?,
            }
            news = self.ear.try_recv().ok();
        }
        let quiet = self.processes.iter().position(|process| !process.ended && process.heard.elapsed() > HANGS_AFTER);
        if let Some(gateway) = quiet {
            self.wrong.add("a session hangs", format!("gateway {gateway} said nothing for {HANGS_AFTER:?}"));
            self.wrong.give_up();
        }
        Ok(())
    }

    fn heard(&mut self, gateway: usize, told: Told) {
        self.processes[gateway].heard = Instant::now();
        match told {
            Told::Ready(held) => self.processes[gateway].held = Some(held),
            Told::Began { session, event, .. } => self.under_way[session] = Some(event),
            Told::Done(done) => self.done(done),
            Told::Ended { held, stores, notes } => {
                self.processes[gateway].ended = true;
                self.tally.ended(gateway, self.processes[gateway].held.unwrap_or_default(), held, stores, notes);
            }
        }
    }

    fn done(&mut self, done: Done) {
        let Done { session, event, .. } = done;
        self.under_way[session] = None;
        self.next[session] = event + 1;
        let again = self.cut_off.contains_key(&(session, event));
        for why in &done.wrong {
            self.wrong.add("an event went wrong", format!("session {session}, event {event}: {why}"));
        }
        let reader = usize::from(gateway_of(session) == ON_SMALL_DISK);
        self.to_find.extend(done.entries.iter().map(|entry| (reader, session, entry.clone(), again)));
        self.tally.done(&self.plan.sessions[session][event], done);
    }

    /// SIGKILL, in the middle of whatever it does; what it still said is heard; then a new one goes on.
    fn kill(&mut self, gateway: usize) -> Result<()> {
        if self.processes[gateway].ended {
            self.tally.kills_too_late += 1;
            return Ok(());
        }
        self.processes[gateway].child.kill()?;
        let status = self.processes[gateway].child.wait()?;
        self.tally.kills += 1;
        // Ended by a signal and not by itself.
        self.tally.kills_seen += u64::from(status.code().is_none());
        while let Ok((from, told)) = self.ear.recv() {
            match told {
                Some(told) => self.heard(from, told),
                None if from == gateway => break,
                None => self.died_by_itself(from)?,
            }
        }
        let cut: Vec<(usize, usize)> = (0..self.next.len())
            .filter(|session| gateway_of(*session) == gateway)
            .filter_map(|session| self.under_way[session].take().map(|event| (session, event)))
            .collect();
        self.tally.kills_in_the_middle += u64::from(!cut.is_empty());
        self.tally.events_cut_off += cut.len() as u64;
        for event in cut {
            *self.cut_off.entry(event).or_default() += 1;
        }
        if gateway == ON_SMALL_DISK && self.real_disk {
            disk::wait_for_mounts(&workspace(self.base, gateway));
            disk::heal(&workspace(self.base, gateway));
        }
        self.processes[gateway] = self.start(gateway)?;
        Ok(())
    }

    fn died_by_itself(&mut self, gateway: usize) -> Result<()> {
        let status = self.processes[gateway].child.wait()?;
        self.wrong.add("a gateway died by itself", format!("gateway {gateway}: {status}"));
        self.wrong.give_up();
        self.processes[gateway].ended = true;
        Ok(())
    }

    /// What must hold at every moment.
    fn look(&mut self, turns: &mut Turns, schedule: Duration) {
        if turns.checkpoints.is_due(CHECKPOINTS_EVERY) {
            self.read_checkpoints();
        }
        if turns.notes.is_due(NOTES_EVERY) {
            self.read_notes();
        }
        if turns.measured.is_due(MEASURE_EVERY) && !self.paused() {
            self.measure(schedule);
        }
    }

    fn read_checkpoints(&mut self) {
        for reader in &mut self.readers {
            if let Some(why) = reader.read_checkpoint() {
                self.wrong.add("the checkpoint is not readable", why);
            }
        }
    }

    /// Whatever was reported as written before the notes are read must be in them.
    fn read_notes(&mut self) {
        let to_find = std::mem::take(&mut self.to_find);
        for reader in &mut self.readers {
            for why in reader.read_notes() {
                self.wrong.add("a note is torn or wrong", why);
            }
        }
        for (reader, session, entry, again) in to_find {
            if let Some(why) = self.readers[reader].missing(&entry, again) {
                self.wrong.add("a note is lost", format!("session {session}: {why}"));
            }
            self.found.push((reader, entry, again));
        }
    }

    fn measure(&mut self, schedule: Duration) {
        for (gateway, process) in self.processes.iter().enumerate() {
            let id = process.child.id();
            if let Ok(held) = measure::held(id) {
                self.tally.most.descriptors = self.tally.most.descriptors.max(held.descriptors);
                self.tally.most.threads = self.tally.most.threads.max(held.threads);
            }
            if gateway == LONG_LIVED
                && !process.ended
                && let Some(kib) = measure::resident_kib(id)
            {
                self.memory.sample(schedule.as_secs_f64(), kib);
            }
        }
    }

    fn tell_all(&mut self, order: &Order) {
        for process in &mut self.processes {
            // One that is gone shows in what it does not say.
            drop(send(&mut process.orders, order));
        }
    }

    fn paused(&self) -> bool {
        self.options.pause_while.as_deref().is_some_and(Path::exists)
    }

    /// The gateways are at their end: everything once more, from the first byte.
    fn end(&mut self) -> Result<()> {
        self.read_checkpoints();
        self.read_notes();
        let held = self.measure_after_the_end();
        for process in &mut self.processes {
            process.child.kill()?;
            process.child.wait()?;
        }
        self.tally.last_held = held;
        let workspaces = [LONG_LIVED, ON_SMALL_DISK].map(|gateway| workspace(self.base, gateway));
        let mut afresh: Vec<Reader> = workspaces.iter().map(|workspace| Reader::new(workspace, self.plan)).collect();
        for reader in &mut afresh {
            for why in reader.read_notes() {
                self.wrong.add("a note is torn or wrong", why);
            }
            for why in reader.read_folder() {
                self.wrong.add("something is left behind", why);
            }
            self.tally.entries_standing += reader.entries() as u64;
            self.tally.notes += reader.notes() as u64;
        }
        for (reader, entry, again) in &self.found {
            if let Some(why) = afresh[*reader].missing(entry, *again) {
                self.wrong.add("a note is lost", why);
            }
        }
        self.tally.entries_told = self.found.len() as u64;
        self.tally.checkpoints_read = self.readers.iter().map(|reader| reader.checkpoints_read).sum();
        if self.next.iter().zip(&self.plan.sessions).any(|(next, events)| *next != events.len()) {
            self.wrong.add("the plan was not carried out", format!("sessions stopped at events {:?}", self.next));
        }
        Ok(())
    }

    fn measure_after_the_end(&self) -> Held {
        measure::held(self.processes[LONG_LIVED].child.id()).unwrap_or_default()
    }

    fn bar(&self) -> ProgressBar {
        let bar = ProgressBar::new(self.plan.length_ms / 1000);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} s · {msg}") {
            bar.set_style(style);
        }
        bar
    }

    fn show(&self, bar: &ProgressBar, schedule: Duration) {
        bar.set_position(schedule.as_secs());
        bar.set_message(format!(
            "{} events · {} compactions · {} kills · {} faults · {:.0} MiB · {} violations",
            self.tally.events,
            self.tally.compactions,
            self.tally.kills,
            self.tally.faults_injected(),
            self.memory.last_kib() / 1024.0,
            self.wrong.count()
        ));
    }
}

fn send(orders: &mut ChildStdin, order: &Order) -> Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    Ok(orders.write_all(&line)?)
}

/// When things were last done.
#[derive(Default)]
struct Turns {
    told: Turn,
    checkpoints: Turn,
    notes: Turn,
    measured: Turn,
}

#[derive(Default)]
struct Turn(Option<Instant>);

impl Turn {
    fn is_due(&mut self, every: Duration) -> bool {
        let due = self.0.is_none_or(|last| last.elapsed() >= every);
        if due {
            self.0 = Some(Instant::now());
        }
        due
    }
}
