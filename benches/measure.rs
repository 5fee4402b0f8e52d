//! Contestants that run in turn, and what is made of their times: medians, tables, records for `tools/performance.py`.
//!
//! In turn and in one process: whatever slows the machine down hits all of them, so their ratios hold where their times
//! do not. Each bench uses a part of this.

#![allow(dead_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The times of one run by their names: the parts of the work, or all of it as "".
pub type Laps = Vec<(&'static str, Duration)>;

/// Somebody who does the work once.
pub struct Contestant<'a> {
    name: &'static str,
    run: Box<dyn FnMut() -> Laps + 'a>,
}

impl<'a> Contestant<'a> {
    /// Takes its own time: what it prepares does not count.
    pub fn laps(name: &'static str, run: impl FnMut() -> Laps + 'a) -> Self {
        Contestant { name, run: Box::new(run) }
    }

    /// Timed as a whole, so many times in a row: a single run of some nanoseconds cannot be timed.
    pub fn repeated<T>(name: &'static str, times: u32, mut work: impl FnMut() -> T + 'a) -> Self {
        Contestant::laps(name, move || {
            let started = Instant::now();
            for _ in 0..times {
                black_box(work());
            }
            vec![("", started.elapsed() / times)]
        })
    }

    /// Once for nothing, then timed: the one before left its own data in the caches.
    pub fn warm<T>(name: &'static str, mut work: impl FnMut() -> T + 'a) -> Self {
        Contestant::laps(name, move || {
            black_box(work());
            let started = Instant::now();
            black_box(work());
            vec![("", started.elapsed())]
        })
    }

    /// Who it is.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Once, for criterion or to look at the answer.
    pub fn run(&mut self) -> Laps {
        (self.run)()
    }
}

/// What one part of a contestant took over some bytes.
#[derive(serde::Serialize)]
pub struct Measured {
    /// What the contestants compete in.
    pub topic: &'static str,
    /// The size in words, such as "800 KB".
    pub size: &'static str,
    pub bytes: usize,
    pub name: &'static str,
    /// Empty where it is the whole.
    pub part: &'static str,
    pub runs: usize,
    /// Of all runs, in seconds.
    pub median: f64,
    /// The best run, in seconds: what the machine can do when nobody else uses it.
    pub best: f64,
}

impl Measured {
    pub fn ms(&self) -> f64 {
        1e3 * self.median
    }

    pub fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.median
    }

    pub fn nanoseconds_per_byte(&self) -> f64 {
        1e9 * self.median / self.bytes as f64
    }
}

/// Over which text, and how often. `runs` is odd, so that there is a middle one.
#[derive(Clone, Copy)]
pub struct Heat {
    pub topic: &'static str,
    pub size: &'static str,
    pub bytes: usize,
    pub runs: usize,
}

impl Heat {
    /// All contestants in turn, as often as the heat says.
    pub fn run(self, mut contestants: Vec<Contestant<'_>>) -> Vec<Measured> {
        let mut times: Vec<Vec<(&'static str, Vec<f64>)>> = contestants.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.runs {
            for (contestant, times) in contestants.iter_mut().zip(&mut times) {
                for (part, time) in contestant.run() {
                    match times.iter_mut().find(|(name, _)| *name == part) {
                        Some((_, list)) => list.push(time.as_secs_f64()),
                        None => times.push((part, vec![time.as_secs_f64()])),
                    }
                }
            }
        }
        let each = contestants.iter().zip(times);
        each.flat_map(|(contestant, times)| {
            times.into_iter().map(|(part, list)| self.measured(contestant.name, part, list)).collect::<Vec<_>>()
        })
        .collect()
    }

    fn measured(self, name: &'static str, part: &'static str, mut times: Vec<f64>) -> Measured {
        times.sort_unstable_by(f64::total_cmp);
        let Heat { topic, size, bytes, .. } = self;
        Measured { topic, size, bytes, name, part, runs: times.len(), median: times[times.len() / 2], best: times[0] }
    }
}

/// The one of that size, contestant and part.
pub fn find<'a>(measured: &'a [Measured], size: &str, name: &str, part: &str) -> &'a Measured {
    let found = measured.iter().find(|one| one.size == size && one.name == name && one.part == part);
    found.unwrap_or_else(|| panic!("{name} {part} was not measured at {size}"))
}

/// One heat as a table; ratios are to the first line.
pub fn print_heat(title: &str, measured: &[Measured]) {
    println!("\n{title}: median and best of {} runs in turn\n", measured[0].runs);
    println!("| | median, ms | to the first | MB/s | best, ms | to the first |\n|---|---:|---:|---:|---:|---:|");
    for one in measured {
        println!(
            "| {} | {:.4} | {:.3} | {:.0} | {:.4} | {:.3} |",
            one.name,
            one.ms(),
            one.median / measured[0].median,
            one.megabytes_per_second(),
            1e3 * one.best,
            one.best / measured[0].best,
        );
    }
}

/// Whether tables are wanted: under `cargo test --benches` everything runs once, and there is nothing to compare.
pub fn tables_wanted() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    given("--bench") && !given("--test") && !given("--list")
}

/// Where `tools/performance.py` wants the records.
const RECORDS: &str = "COMPACT_REVIEW_BENCH_JSON";

/// Writes what was measured, and what else is worth telling, where the environment asks for it.
pub fn write_records(measured: &[Measured], facts: serde_json::Value) {
    if let Some(path) = std::env::var_os(RECORDS) {
        let records = serde_json::json!({"times": measured, "facts": facts});
        std::fs::write(&path, records.to_string()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
