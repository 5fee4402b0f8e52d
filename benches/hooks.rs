//! What the hooks cost: one compaction (`before_compaction`, then `after_compaction` on the same services) of 8 KB to
//! 8 MB in messages of 1,000 bytes, through the component in wasmtime and through the same core natively.
//!
//! `cargo bench -p host-harness --bench hooks` runs the criterion groups and then prints tables, `-- table` the tables
//! alone. For them both ways run alternately in one process, so whatever slows the machine down hits both.
//!
//! One thing to know when reading it: the native core is compiled in the bench profile (no LTO, several codegen units),
//! the guest always in its own (`profile.guest`: fat LTO, one unit).

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod conversation;
mod measure;

use compact_review::report::Verdict;
use conversation::{Compaction, SIZES, services};
use criterion::{BatchSize, Criterion, SamplingMode, Throughput};
use host_harness::runtime::{COMPONENT, ComponentPlugin, Limits, NativePlugin, Plugin};
use measure::{Contestant, Heat, Laps, Measured, find};
use serde_json::json;
use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs behind each median of the tables, for each of [`SIZES`].
const TABLE_RUNS: [usize; 4] = [201, 101, 21, 7];
const TABLE_RUNS_INSTANTIATE: usize = 1_001;
/// The sizes whose peak memory is looked for.
const MEMORY_SIZES: [&str; 2] = ["800 KB", "8 MB"];
const MIB: usize = 1024 * 1024;

type AtSize = (&'static str, Compaction);

fn main() {
    let component = conversation::component();
    let compactions: Vec<AtSize> = SIZES.map(|(size, messages)| (size, Compaction::of(messages))).into();
    for (size, compaction) in &compactions {
        println!("{size}: {}", same_answers(&component, compaction));
    }

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    bench_pairs(&mut criterion, &component, &compactions);
    bench_parts(&mut criterion, &component, &compactions[2].1);
    criterion.final_summary();

    if measure::tables_wanted() {
        let mut measured = measure_hooks(&component, &compactions);
        print_growth(&measured);
        print_parts(&measured);
        measured.push(measure_instantiate(&component));
        let peaks = MEMORY_SIZES.map(|size| (size, peak_memory(of(&compactions, size))));
        for (size, mebibytes) in peaks {
            println!("linear memory of the component at {size}: {mebibytes} MiB at most");
        }
        let peaks: HashMap<&str, usize> = peaks.into();
        measure::write_records(&measured, json!({"peakMemoryMiB": peaks, "componentBytes": COMPONENT.len()}));
    }
}

fn of<'a>(compactions: &'a [AtSize], size: &str) -> &'a Compaction {
    &compactions.iter().find(|(name, _)| *name == size).expect("one of the sizes").1
}

fn bench_pairs(criterion: &mut Criterion, component: &ComponentPlugin, compactions: &[AtSize]) {
    let plugins: [(&str, &dyn Plugin); 2] = [("component", component), ("native", &NativePlugin)];
    let mut group = criterion.benchmark_group("pair");
    // Every sample has the same number of runs: the default would need 55 of the long ones.
    group.sampling_mode(SamplingMode::Flat);
    for (size, compaction) in compactions {
        group.throughput(Throughput::Bytes(compaction.bytes() as u64));
        for (name, plugin) in plugins {
            group.bench_function(format!("{name}/{size}"), |bencher| {
                bencher.iter_batched(services, |services| compaction.pair(plugin, &services), BatchSize::PerIteration);
            });
        }
    }
    group.finish();
}

fn bench_parts(criterion: &mut Criterion, component: &ComponentPlugin, short: &Compaction) {
    let mut group = criterion.benchmark_group("component");
    group.bench_function("instantiate", |bencher| {
        let services = services();
        bencher.iter(|| component.instantiate(black_box(&services)));
    });
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function("before_compaction/800 KB", |bencher| {
        let run = |services| short.before(component, &services);
        bencher.iter_batched(services, run, BatchSize::PerIteration);
    });
    group.bench_function("after_compaction/800 KB", |bencher| {
        // An audit takes the ledger away, so each one needs a hook before it; that one is not measured.
        let with_ledger = || {
            let services = services();
            short.before(component, &services);
            services
        };
        bencher.iter_batched(with_ledger, |services| short.after(component, &services), BatchSize::PerIteration);
    });
    group.finish();
}

/// Both ways must do the same work, and real work, or their times say nothing.
fn same_answers(component: &ComponentPlugin, compaction: &Compaction) -> String {
    let (before, report) = compaction.pair(component, &services());
    let (native_before, native_report) = compaction.pair(&NativePlugin, &services());
    assert_eq!(before, native_before, "the component and the native core disagree");
    assert_eq!(report, native_report, "the component and the native core disagree");
    assert!(before.problems.is_empty() && report.problems.is_empty(), "{:?} {:?}", before.problems, report.problems);
    assert_eq!(report.verdict, Verdict::Lossy, "{}", report.verdict_reason);
    let count = |of: fn(&compact_review::report::Category) -> u32| report.categories.iter().map(of).sum::<u32>();
    format!(
        "{} messages, {} bytes, summary {} bytes; {} signals, {} preserved, {} altered, {} dropped, score {:.1}",
        compaction.before.messages.len(),
        compaction.bytes(),
        compaction.summary().len(),
        before.signals,
        count(|category| category.preserved),
        count(|category| category.altered),
        count(|category| category.dropped),
        report.score.unwrap_or_default(),
    )
}

// ---- the tables ----

/// The component and the native core in turn, at each size.
fn measure_hooks(component: &ComponentPlugin, compactions: &[AtSize]) -> Vec<Measured> {
    let heats = compactions.iter().zip(TABLE_RUNS).map(|((size, compaction), runs)| {
        let heat = Heat { topic: "hooks", size, bytes: compaction.bytes(), runs };
        heat.run(vec![
            Contestant::laps("component", || laps(component, compaction)),
            Contestant::laps("native", || laps(&NativePlugin, compaction)),
        ])
    });
    heats.flatten().collect()
}

fn laps(plugin: &dyn Plugin, compaction: &Compaction) -> Laps {
    let services = services();
    let started = Instant::now();
    let outcome = compaction.before(plugin, &services);
    let before = started.elapsed();
    let started = Instant::now();
    let report = compaction.after(plugin, &services);
    let after = started.elapsed();
    black_box((outcome, report));
    vec![("before", before), ("after", after), ("both", before + after)]
}

fn measure_instantiate(component: &ComponentPlugin) -> Measured {
    let idle = services();
    let heat = Heat { topic: "instantiate", size: "", bytes: COMPONENT.len(), runs: TABLE_RUNS_INSTANTIATE };
    let instantiate = Contestant::laps("component", || vec![("", component.instantiate(&idle).took)]);
    let measured = heat.run(vec![instantiate]).remove(0);
    println!("\ninstantiate: {:.1} µs; the component has {} bytes", 1e6 * measured.median, measured.bytes);
    measured
}

/// The least limit on linear memory, in whole MiB, under which both hooks still answer: what they need.
fn peak_memory(compaction: &Compaction) -> usize {
    let enough = |mebibytes: usize| {
        let plugin = conversation::component_within(mebibytes * MIB);
        let services = services();
        let before = plugin.before_compaction(&services, &compaction.before).result;
        before.is_ok() && plugin.after_compaction(&services, &compaction.after).result.is_ok()
    };
    let (mut too_little, mut enough_for_sure) = (0, Limits::default().memory / MIB);
    while enough_for_sure - too_little > 1 {
        let middle = too_little.midpoint(enough_for_sure);
        if enough(middle) {
            enough_for_sure = middle;
        } else {
            too_little = middle;
        }
    }
    enough_for_sure
}

fn print_growth(measured: &[Measured]) {
    println!("\nboth hooks, both ways in turn; medians of {TABLE_RUNS:?} runs\n");
    println!("| size | component, ms | ns per byte | native, ms | ns per byte | component / native |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (size, _) in SIZES {
        let (wasm, native) = (find(measured, size, "component", "both"), find(measured, size, "native", "both"));
        println!(
            "| {size} | {:.2} | {:.1} | {:.2} | {:.1} | {:.2} |",
            wasm.ms(),
            wasm.nanoseconds_per_byte(),
            native.ms(),
            native.nanoseconds_per_byte(),
            wasm.median / native.median,
        );
    }
}

fn print_parts(measured: &[Measured]) {
    println!("\n| hook | component, ms | share | native, ms | share | component / native |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (size, _) in SIZES {
        for hook in ["before", "after"] {
            let (wasm, native) = (find(measured, size, "component", hook), find(measured, size, "native", hook));
            let share = |one: &Measured| 100.0 * one.median / find(measured, size, one.name, "both").median;
            println!(
                "| {hook}_compaction, {size} | {:.2} | {:.0} % | {:.2} | {:.0} % | {:.2} |",
                wasm.ms(),
                share(wasm),
                native.ms(),
                share(native),
                wasm.median / native.median,
            );
        }
    }
}
