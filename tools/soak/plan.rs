//! The plan: what each session does and when, what its clock shows, which faults it meets, when a gateway is killed.
//!
//! Everything is drawn from one seed, for each session from a stream of its own, before anything runs: no thread and no
//! clock of this machine has a say in it.

use compact_review::event::{LocalTime, Reason};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Between two events of one session, in milliseconds: 64 sessions are then 21 events a second.
const EVENT_EVERY_MS: u64 = 3_000;
/// A session has so many events at least, however short the run is.
const FEWEST_EVENTS: u64 = 8;
/// About so long, in milliseconds, from one kill to the next.
const KILL_EVERY_MS: u64 = 5_000;
/// Nothing is killed in the last part of a run, in percent: the last events write over what a killed one left.
const KILLS_UNTIL_PCT: u64 = 90;
/// A kill comes at most so long after a compaction has begun, in milliseconds: into its hooks and writes.
const KILL_WITHIN_MS: u64 = 15;
/// The share of faults among compactions of which the hooks are told everything, in percent; there are many kinds.
const FAULTS_PCT: u64 = 50;
/// Among other events.
const OTHER_FAULTS_PCT: u64 = 20;
/// The share of clock jumps, in percent.
const JUMPS_PCT: u64 = 12;
/// One of the first days of the run, by the clocks of the sessions: 2026-10-20T08:00:00Z.
const BEGIN_MS: i64 = 1_792_483_200_000;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Offsets from UTC in minutes, with the odd ones and both ends.
const OFFSETS: [i16; 9] = [0, 60, 480, -480, 345, -570, 840, -720, 120];

/// The second of two compactions comes so much later.
const AT_ONCE_MS: i64 = 50;

/// When the second of two compactions at once comes: where midnight is between them, their entries have two dates.
pub fn at_once(first: LocalTime) -> LocalTime {
    LocalTime { unix_ms: first.unix_ms + AT_ONCE_MS, ..first }
}

/// The gateways of a run: processes of their own. The sessions are dealt out to them in turn.
pub const GATEWAYS: usize = 4;
/// Lives from the beginning to the end: its memory, descriptors and threads are what is measured.
pub const LONG_LIVED: usize = 0;
/// Works on a small disk of its own, which really fills up and really becomes read-only.
pub const ON_SMALL_DISK: usize = 3;

/// A run.
#[derive(Serialize)]
pub struct Plan {
    /// The events of each session.
    pub sessions: Vec<Vec<Event>>,
    /// When which gateway is killed.
    pub kills: Vec<Kill>,
    /// How long it takes by its own schedule.
    pub length_ms: u64,
}

/// What a session does.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// When, since the run began.
    pub due_ms: u64,
    /// What its clock shows.
    pub now: LocalTime,
    /// How its clock came there, where it did not just go on.
    pub jump: Option<Jump>,
    /// What it does.
    pub kind: Kind,
    /// What goes wrong on purpose.
    pub fault: Option<Fault>,
    /// What its messages are made from.
    pub text_seed: u64,
}

/// What a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// Some messages arrive; then the hooks `usage` and `before-prompt`.
    Turn,
    /// Some messages, then a compaction with both hooks.
    Compact { shape: Shape, reason: Why, summary: SummaryKind, named: bool },
    /// A compaction, and another one 50 ms later that sees next to nothing.
    CompactTwice,
    /// A checkpoint outside a compaction.
    Checkpoint,
    /// The hook `session-start`, then `before-prompt`.
    Start,
    /// The hooks `plan` and `status`.
    Ask,
}

/// What the hooks of a compaction are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Shape {
    Complete,
    InRun,
    CountsOnly,
}

/// [`Reason`], as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Why {
    Overflow,
    Threshold,
    Manual,
}

impl From<Why> for Reason {
    fn from(why: Why) -> Reason {
        match why {
            Why::Overflow => Reason::Overflow,
            Why::Threshold => Reason::Threshold,
            Why::Manual => Reason::Manual,
        }
    }
}

/// What the model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SummaryKind {
    /// Some of the facts.
    Lossy,
    /// Nothing.
    Empty,
    /// A placeholder.
    Placeholder,
}

/// What a clock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Jump {
    Forward,
    Backward,
    BeforeMidnight,
    AfterMidnight,
    DaylightSaving,
    TimeZone,
}

/// What goes wrong on purpose, and must be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fault {
    /// The hook fails before it reaches the plugin.
    HookBroken,
    /// The hook takes longer than the gateway waits, and ends behind its back.
    HookSlow,
    /// The gateway dies after the compaction and before the second hook.
    DiesBetweenHooks,
    /// Settings that are no JSON: the plugin answers with an error.
    HookError,
    /// The plugin is stopped at its deadline, in the middle of a hook.
    Deadline,
    /// The plugin wants more memory than it may have.
    MemoryLimit,
    /// The plugin's answer is larger than it may be; its writes are done by then.
    AnswerLimit,
    /// A plugin that traps.
    Trap,
    /// The store panics under the plugin's feet.
    StorePanics(Op),
    /// The store says that there is no room.
    StoreFull(Op),
    /// The store says that it may not.
    StoreDenied(Op),
    /// The store fails in another way.
    StoreFails(Op),
    /// The disk is full.
    DiskFull,
    /// The disk is read-only.
    DiskReadOnly,
}

/// Which of the store's doings goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Op {
    LoadState,
    SaveState,
    WriteCheckpoint,
    AppendNote,
}

/// When a gateway is killed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Kill {
    /// From when on, since the run began.
    pub at_ms: u64,
    /// Which.
    pub gateway: usize,
    /// So long after the next compaction has begun in it.
    pub after_ms: u64,
}

/// Numbers from a seed. The algorithm is fixed, so a seed means the same on every machine and in every version.
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of this seed with this name.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Random(random)
    }

    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From 0 to one less than `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below((to - from).unsigned_abs()) as i64
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

impl Plan {
    /// Draws a run of so many minutes.
    pub fn draw(seed: u64, minutes: f64, sessions: usize) -> Plan {
        let events = ((minutes * 60_000.0) as u64 / EVENT_EVERY_MS).max(FEWEST_EVENTS);
        let length_ms = events * EVENT_EVERY_MS;
        let sessions = (0..sessions).map(|session| session_events(seed, session, events)).collect();
        Plan { sessions, kills: kills(seed, length_ms), length_ms }
    }

    /// The same for the same plan.
    pub fn hash(&self) -> String {
        short_hash(&serde_json::to_vec(self).expect("a plan is plain data"))
    }
}

/// The beginning of a SHA-256, to be read aloud.
pub fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The gateway of a session.
pub fn gateway_of(session: usize) -> usize {
    session % GATEWAYS
}

/// The name of a session: a word that stands in its every sentence, so that a mixture of two would show.
pub fn marker(session: usize) -> String {
    format!("s{session:03}")
}

/// Its key in the gateway.
pub fn session_key(session: usize) -> String {
    format!("agent:main:soak-{}", marker(session))
}

fn session_events(seed: u64, session: usize, events: u64) -> Vec<Event> {
    let mut random = Random::new(seed, 1 + session as u64);
    let mut clock =
        Clock { unix_ms: BEGIN_MS + random.between(0, DAY_MS), offset: random.one_of(&OFFSETS), used: HashSet::new() };
    let phase = random.below(EVENT_EVERY_MS);
    let small_disk = gateway_of(session) == ON_SMALL_DISK;
    let mut drawn = Vec::new();
    for at in 0..events {
        let last = at + 1 == events;
        let kind = if last { closing() } else { kind(&mut random) };
        let full = matches!(kind, Kind::Compact { shape: Shape::Complete, .. });
        let faulty = random.chance(if full { FAULTS_PCT } else { OTHER_FAULTS_PCT });
        let fault = if faulty && !last { fault(&mut random, kind, small_disk) } else { None };
        let (now, jump) = clock.next(&mut random);
        drawn.push(Event { due_ms: at * EVENT_EVERY_MS + phase, now, jump, kind, fault, text_seed: random.number() });
    }
    drawn
}

/// Every session ends with a compaction to which nothing happens.
fn closing() -> Kind {
    Kind::Compact { shape: Shape::Complete, reason: Why::Threshold, summary: SummaryKind::Lossy, named: true }
}

fn kind(random: &mut Random) -> Kind {
    match random.below(100) {
        0..42 => Kind::Turn,
        42..76 => Kind::Compact {
            shape: random.one_of(&[Shape::Complete, Shape::Complete, Shape::Complete, Shape::InRun, Shape::CountsOnly]),
            reason: random.one_of(&[Why::Overflow, Why::Threshold, Why::Threshold, Why::Manual]),
            summary: random.one_of(&[
                SummaryKind::Lossy,
                SummaryKind::Lossy,
                SummaryKind::Lossy,
                SummaryKind::Empty,
                SummaryKind::Placeholder,
            ]),
            named: random.chance(50),
        },
        76..81 => Kind::CompactTwice,
        81..88 => Kind::Checkpoint,
        88..94 => Kind::Start,
        _ => Kind::Ask,
    }
}

/// Faults that this event would meet: one that its hooks never come to would prove nothing.
fn fault(random: &mut Random, kind: Kind, small_disk: bool) -> Option<Fault> {
    const DISK: [Fault; 4] = [Fault::DiskFull, Fault::DiskReadOnly, Fault::DiskFull, Fault::DiskReadOnly];
    let mut faults = match kind {
        Kind::Compact { shape: Shape::Complete, .. } => vec![
            Fault::HookBroken,
            Fault::HookSlow,
            Fault::DiesBetweenHooks,
            Fault::HookError,
            Fault::Deadline,
            Fault::MemoryLimit,
            Fault::AnswerLimit,
            Fault::Trap,
            Fault::StorePanics(random.one_of(&[Op::SaveState, Op::WriteCheckpoint, Op::AppendNote])),
            Fault::StoreFull(random.one_of(&[Op::SaveState, Op::WriteCheckpoint, Op::AppendNote])),
            Fault::StoreDenied(random.one_of(&[Op::SaveState, Op::WriteCheckpoint, Op::AppendNote])),
            Fault::StoreFails(random.one_of(&[Op::LoadState, Op::SaveState, Op::WriteCheckpoint, Op::AppendNote])),
        ],
        Kind::Compact { .. } => vec![Fault::HookBroken, Fault::HookError, Fault::Trap, Fault::StoreFull(Op::SaveState)],
        Kind::Checkpoint => {
            vec![Fault::HookError, Fault::AnswerLimit, Fault::Trap, Fault::StoreFull(Op::WriteCheckpoint)]
        }
        Kind::Turn => vec![Fault::HookError, Fault::MemoryLimit, Fault::Trap, Fault::StoreFails(Op::SaveState)],
        Kind::CompactTwice | Kind::Start | Kind::Ask => return None,
    };
    if small_disk && matches!(kind, Kind::Compact { shape: Shape::Complete, .. } | Kind::Checkpoint) {
        faults.extend(DISK);
    }
    Some(random.one_of(&faults))
}

/// The clock of one session.
struct Clock {
    unix_ms: i64,
    offset: i16,
    used: HashSet<i64>,
}

impl Clock {
    /// About an hour later, or somewhere else.
    fn next(&mut self, random: &mut Random) -> (LocalTime, Option<Jump>) {
        self.unix_ms += random.between(5 * MINUTE_MS, 115 * MINUTE_MS);
        let jump = random.chance(JUMPS_PCT).then(|| {
            random.one_of(&[
                Jump::Forward,
                Jump::Backward,
                Jump::BeforeMidnight,
                Jump::AfterMidnight,
                Jump::DaylightSaving,
                Jump::TimeZone,
            ])
        });
        let offset_ms = i64::from(self.offset) * MINUTE_MS;
        let next_midnight = ((self.unix_ms + offset_ms).div_euclid(DAY_MS) + 1) * DAY_MS - offset_ms;
        match jump {
            None => {}
            Some(Jump::Forward) => self.unix_ms += random.between(HOUR_MS, 72 * HOUR_MS),
            Some(Jump::Backward) => self.unix_ms -= random.between(HOUR_MS, 72 * HOUR_MS),
            Some(Jump::BeforeMidnight) => self.unix_ms = next_midnight - 1,
            Some(Jump::AfterMidnight) => self.unix_ms = next_midnight,
            Some(Jump::DaylightSaving) => self.offset += if self.offset % 120 == 0 { 60 } else { -60 },
            Some(Jump::TimeZone) => self.offset = random.one_of(&OFFSETS),
        }
        // A gateway that names no compaction has its entries named by their time, so no time comes twice.
        while !self.used.insert(self.unix_ms) {
            self.unix_ms += 1;
        }
        (LocalTime { unix_ms: self.unix_ms, utc_offset_minutes: self.offset }, jump)
    }
}

fn kills(seed: u64, length_ms: u64) -> Vec<Kill> {
    let mut random = Random::new(seed, 0);
    let mut at_ms = 0;
    let mut drawn = Vec::new();
    loop {
        at_ms += random.between(KILL_EVERY_MS as i64 / 2, KILL_EVERY_MS as i64 * 3 / 2) as u64;
        if at_ms > length_ms * KILLS_UNTIL_PCT / 100 {
            return drawn;
        }
        let gateway = (LONG_LIVED + 1 + random.below(GATEWAYS as u64 - 1) as usize) % GATEWAYS;
        drawn.push(Kill { at_ms, gateway, after_ms: random.below(KILL_WITHIN_MS) });
    }
}
