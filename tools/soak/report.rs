//! What a run came to: counts, broken promises, and the table or the JSON object that says so.

use crate::measure::Course;
use crate::plan::{Event, Fault, Jump, Plan, short_hash};
use crate::protocol::{Done, Held};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Memory may gain so much after the warm-up, by the straight line through its samples, in KiB.
const MOST_GROWTH_KIB: f64 = 4096.0;
/// In a run shorter than this, in seconds, all of it is warm-up, and only a flood would show.
const SHORT_RUN: u64 = 300;
const FLOOD_KIB: f64 = 32_768.0;
/// So many broken promises of one kind are listed; the others are counted.
const LISTED: usize = 10;
/// Beyond so many, running on shows nothing new.
const TOO_MANY: usize = 200;

/// Promises that did not hold, by kind.
#[derive(Debug, Default, Serialize)]
pub struct Violations {
    kinds: BTreeMap<&'static str, (usize, Vec<String>)>,
    #[serde(skip)]
    gave_up: bool,
}

impl Violations {
    pub fn add(&mut self, kind: &'static str, what: String) {
        let (count, listed) = self.kinds.entry(kind).or_default();
        *count += 1;
        if listed.len() < LISTED {
            listed.push(what);
        }
    }

    pub fn count(&self) -> usize {
        self.kinds.values().map(|(count, _)| count).sum()
    }

    pub fn give_up(&mut self) {
        self.gave_up = true;
    }

    pub fn too_many(&self) -> bool {
        self.gave_up || self.count() >= TOO_MANY
    }
}

/// Injected and told.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seen {
    pub injected: u64,
    pub seen: u64,
}

/// What happened.
#[derive(Debug, Default, Serialize)]
pub struct Tally {
    pub events: u64,
    pub hooks: u64,
    pub compactions_planned: u64,
    pub compactions: u64,
    pub longest_compaction_ms: u64,
    pub checkpoints_told: u64,
    pub kills: u64,
    pub kills_seen: u64,
    pub kills_in_the_middle: u64,
    pub kills_too_late: u64,
    pub events_cut_off: u64,
    pub overdue: u64,
    pub faults: BTreeMap<String, Seen>,
    pub clocks: BTreeMap<Jump, Seen>,
    pub entries_told: u64,
    pub entries_standing: u64,
    pub notes: u64,
    pub checkpoints_read: u64,
    pub stores: (u64, u64),
    pub note_stores: (u64, u64),
    pub held: Vec<(usize, Held, Held)>,
    pub most: Held,
    pub last_held: Held,
    pub schedule: Duration,
    /// What came of each session, event by event.
    #[serde(skip)]
    outcomes: Vec<Vec<String>>,
}

impl Tally {
    pub fn new(plan: &Plan) -> Tally {
        Tally { outcomes: vec![Vec::new(); plan.sessions.len()], ..Default::default() }
    }

    pub fn done(&mut self, planned: &Event, done: Done) {
        self.outcomes[done.session].push(outcome(planned, &done));
        self.events += 1;
        self.hooks += done.hooks;
        self.overdue += u64::from(done.overdue);
        self.compactions_planned += done.compactions.0;
        self.compactions += done.compactions.1;
        self.checkpoints_told += done.checkpoints;
        self.longest_compaction_ms = self.longest_compaction_ms.max(done.longest_ms);
        if let Some((fault, told)) = done.fault {
            let seen = self.faults.entry(name(fault)).or_default();
            seen.injected += 1;
            seen.seen += u64::from(told);
        }
        if let (Some(jump), Some(entry)) = (planned.jump, done.entries.first()) {
            // Each of these is looked for in the note of the date that the jump led to.
            let date = crate::verify::date_of(planned.now);
            let seen = self.clocks.entry(jump).or_default();
            seen.injected += 1;
            seen.seen += u64::from(entry.date == date);
        }
    }

    pub fn ended(&mut self, gateway: usize, first: Held, last: Held, stores: (u64, u64), notes: (u64, u64)) {
        self.held.push((gateway, first, last));
        self.held.sort_by_key(|held| held.0);
        self.stores = (self.stores.0 + stores.0, self.stores.1 + stores.1);
        self.note_stores = (self.note_stores.0 + notes.0, self.note_stores.1 + notes.1);
    }

    pub fn faults_injected(&self) -> u64 {
        self.faults.values().map(|seen| seen.injected).sum()
    }

    /// The hash of each session's outcome.
    pub fn outcome_hashes(&self) -> Vec<String> {
        self.outcomes.iter().map(|events| short_hash(events.join("\n").as_bytes())).collect()
    }

    /// What must hold of the numbers.
    pub fn check(&self, course: Course, wrong: &mut Violations) {
        if self.compactions != self.compactions_planned {
            let (done, planned) = (self.compactions, self.compactions_planned);
            wrong.add("a compaction was blocked", format!("{done} of {planned} took place"));
        }
        let mut seen = |kind: &str, seen: Seen| {
            if seen.injected != seen.seen {
                wrong.add("a fault was not told", format!("{kind}: {} injected, {} seen", seen.injected, seen.seen));
            }
        };
        self.faults.iter().for_each(|(fault, count)| seen(fault, *count));
        self.clocks.iter().for_each(|(jump, count)| seen(&format!("{jump:?}"), *count));
        seen("kills", Seen { injected: self.kills, seen: self.kills_seen });
        for (what, (made, dropped)) in [("instances", self.stores), ("note stores", self.note_stores)] {
            if made != dropped || made == 0 {
                wrong.add("an instance is leaked", format!("{what}: {made} made, {dropped} dropped"));
            }
        }
        for (gateway, first, last) in &self.held {
            if last.descriptors > first.descriptors || last.threads > first.threads {
                wrong.add("descriptors or threads are leaked", format!("gateway {gateway}: {first:?}, then {last:?}"));
            }
        }
        let most = if self.schedule.as_secs() < SHORT_RUN { FLOOD_KIB } else { MOST_GROWTH_KIB };
        if course.growth_kib > most {
            wrong.add("memory grows", format!("by {:.0} KiB after the warm-up", course.growth_kib));
        }
    }
}

/// What must be the same in every run of the same plan. Not in it: times, texts and scores, which a kill may change (a
/// compaction that begins again sees what its first half left), and whether a write came before a deadline, a killed
/// wait, or the last free byte.
fn outcome(planned: &Event, done: &Done) -> String {
    let chance = matches!(planned.fault, Some(Fault::Deadline | Fault::HookSlow | Fault::DiskFull));
    let entries: Vec<String> = done.entries.iter().map(|entry| format!("{}/{}", entry.date, entry.id)).collect();
    let entries = if chance { Vec::new() } else { entries };
    format!(
        "{} {:?} {:?} {:?} {} {:?} {entries:?} {}",
        done.event,
        planned.kind,
        planned.now,
        done.compactions,
        done.conversation,
        done.fault,
        done.wrong.len()
    )
}

/// The kind of a fault, without where it struck.
fn name(fault: Fault) -> String {
    let name = format!("{fault:?}");
    name.split('(').next().unwrap_or_default().to_string()
}

/// A run in numbers.
#[derive(Serialize)]
pub struct Report<'a> {
    pub seed: u64,
    pub sessions: usize,
    pub minutes: f64,
    pub plan: String,
    pub outcome: String,
    pub session_outcomes: Vec<String>,
    pub real_disk: bool,
    pub tally: &'a Tally,
    pub memory: Course,
    pub held: bool,
    pub violations: &'a Violations,
}

impl Report<'_> {
    pub fn print(&self) {
        let tally = self.tally;
        let line = |what: &str, value: String| println!("{what:<22}{value}");
        line("plan", format!("{} (seed {}, {} sessions)", self.plan, self.seed, self.sessions));
        let chance = format!("; {} hooks met their real deadline: another run may differ", tally.overdue);
        line("outcome", format!("{}{}", self.outcome, if tally.overdue > 0 { &chance } else { "" }));
        line("ran for", format!("{:.1} minutes of schedule", tally.schedule.as_secs_f64() / 60.0));
        line("events", format!("{}, {} hooks fired", tally.events, tally.hooks));
        let longest = tally.longest_compaction_ms;
        line(
            "compactions",
            format!("{} of {}, the longest {longest} ms", tally.compactions, tally.compactions_planned),
        );
        line(
            "kills",
            format!(
                "{} of whole gateways, {} in the middle of something; {} events cut off and begun again; {} came too late",
                tally.kills, tally.kills_in_the_middle, tally.events_cut_off, tally.kills_too_late
            ),
        );
        line("notes", format!("{} entries reported as written and found whole, once, in order", tally.entries_told));
        let unasked = tally.entries_standing.saturating_sub(tally.entries_told);
        line(
            "",
            format!(
                "{} entries in {} notes, {unasked} of them written and not reported",
                tally.entries_standing, tally.notes
            ),
        );
        line(
            "checkpoints",
            format!("{} reported as written; read {} times, whole", tally.checkpoints_told, tally.checkpoints_read),
        );
        line("instances", format!("{} made, {} dropped", tally.stores.0, tally.stores.1));
        line("note stores", format!("{} made, {} dropped", tally.note_stores.0, tally.note_stores.1));
        for (gateway, first, last) in &tally.held {
            line(
                if *gateway == 0 { "descriptors, threads" } else { "" },
                format!(
                    "gateway {gateway}: {}, {} at first; {}, {} at last",
                    first.descriptors, first.threads, last.descriptors, last.threads
                ),
            );
        }
        line("", format!("at most {}, {}", tally.most.descriptors, tally.most.threads));
        let memory = self.memory;
        line(
            "resident memory",
            format!(
                "{:.1} MiB after the warm-up, {:.1} at last, {:.1} at most; slope {:+.1} KiB a minute",
                memory.first_kib / 1024.0,
                memory.last_kib / 1024.0,
                memory.most_kib / 1024.0,
                memory.slope_kib_per_minute
            ),
        );
        println!("\n{:<22}{:>10}{:>10}", "fault", "injected", "told");
        for (fault, seen) in &tally.faults {
            println!("{fault:<22}{:>10}{:>10}", seen.injected, seen.seen);
        }
        println!("{:<22}{:>10}{:>10}", "Kill", tally.kills, tally.kills_seen);
        println!("\n{:<22}{:>10}{:>10}", "clock", "entries", "its date");
        for (jump, seen) in &tally.clocks {
            println!("{:<22}{:>10}{:>10}", format!("{jump:?}"), seen.injected, seen.seen);
        }
        if !self.real_disk {
            println!("\nNo mounts are allowed here: DiskFull and DiskReadOnly were played by the store.");
        }
        println!();
        if self.held {
            println!("everything held");
        }
        for (kind, (count, listed)) in &self.violations.kinds {
            println!("BROKEN: {kind} ({count})");
            listed.iter().for_each(|what| println!("  {what}"));
        }
    }
}

/// One hash for all sessions.
pub fn overall(hashes: &[String]) -> String {
    short_hash(hashes.join("\n").as_bytes())
}
