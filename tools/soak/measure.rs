//! What a process holds, as the kernel counts it, and whether its memory grows.

use crate::protocol::Held;
use anyhow::{Context, Result};
use std::fs;

const PAGE_KIB: u64 = 4;
/// The first part of a run, in percent, in which memory may grow: caches fill, allocators settle.
const WARM_UP_PCT: usize = 20;

/// Descriptors and threads of a process.
pub fn held(process: u32) -> Result<Held> {
    let count = |what: &str| -> Result<u64> {
        let folder = format!("/proc/{process}/{what}");
        let entries = fs::read_dir(&folder).with_context(|| format!("{folder}: the soak needs Linux's /proc"))?;
        Ok(entries.count() as u64)
    };
    Ok(Held { descriptors: count("fd")?, threads: count("task")? })
}

/// The resident memory of a process, in KiB.
pub fn resident_kib(process: u32) -> Option<u64> {
    let numbers = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    Some(numbers.split_whitespace().nth(1)?.parse::<u64>().ok()? * PAGE_KIB)
}

/// A memory in the course of time: seconds and KiB.
#[derive(Debug, Default)]
pub struct Memory {
    samples: Vec<(f64, f64)>,
}

/// How it went after the warm-up.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Course {
    pub first_kib: f64,
    pub last_kib: f64,
    pub most_kib: f64,
    /// Of the straight line through all samples.
    pub slope_kib_per_minute: f64,
    /// What that line gains from the first to the last sample.
    pub growth_kib: f64,
}

impl Memory {
    pub fn sample(&mut self, seconds: f64, kib: u64) {
        self.samples.push((seconds, kib as f64));
    }

    pub fn last_kib(&self) -> f64 {
        self.samples.last().map_or(0.0, |sample| sample.1)
    }

    /// Without the warm-up.
    pub fn course(&self) -> Course {
        let settled = &self.samples[self.samples.len() * WARM_UP_PCT / 100..];
        let (Some(first), Some(last)) = (settled.first(), settled.last()) else { return Course::default() };
        let count = settled.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| settled.iter().map(of).sum::<f64>() / count;
        let (time, size) = (mean(|sample| sample.0), mean(|sample| sample.1));
        let together: f64 = settled.iter().map(|sample| (sample.0 - time) * (sample.1 - size)).sum();
        let spread: f64 = settled.iter().map(|sample| (sample.0 - time).powi(2)).sum();
        let slope = if spread > 0.0 { together / spread } else { 0.0 };
        Course {
            first_kib: first.1,
            last_kib: last.1,
            most_kib: self.samples.iter().map(|sample| sample.1).fold(0.0, f64::max),
            slope_kib_per_minute: slope * 60.0,
            growth_kib: slope * (last.0 - first.0),
        }
    }
}
