//! Every transcript below some folders: found, read in parallel, each compaction audited, the results cached.
//!
//! | module | does |
//! |---|---|
//! | [`walk`] | which files there are |
//! | [`mod@file`] | one file: reads it and audits its compactions |
//! | [`record`] | what is kept of an audit: bounded, without secrets |
//! | [`cache`] | what was found before, by content |

pub mod cache;
pub mod file;
pub mod record;
pub mod walk;

use crate::runtime::Plugin;
use crate::transcript::{Control, Format};
use cache::Cache;
use compact_review::event::LocalTime;
use rayon::prelude::*;
use record::{FileRecord, Problem};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use walk::Found;

/// What a scan needs.
pub struct Scan<'a> {
    /// Who audits.
    pub plugin: &'a dyn Plugin,
    /// The plugin's settings, as JSON.
    pub settings: Option<String>,
    /// Insisted on, where given.
    pub format: Option<Format>,
    /// What was found before.
    pub cache: Option<Cache>,
    /// The time for compactions that do not tell theirs.
    pub clock: LocalTime,
    /// Makes it stop.
    pub control: Control,
    /// How far it is, for whoever watches.
    pub progress: Progress,
}

/// How far a scan is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Files that are done.
    pub files: AtomicU64,
    /// The size of those files.
    pub bytes: AtomicU64,
    /// Of these, taken from the cache.
    pub cached: AtomicU64,
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scanned {
    /// Files with sessions, in the order of their paths.
    pub files: Vec<FileRecord>,
    /// What could not be read, by name.
    pub problems: Vec<Problem>,
    /// Files in the folders that are no transcripts.
    pub not_transcripts: u64,
    /// Compactions that a second file records too.
    pub copies: u64,
}

impl Scan<'_> {
    /// Reads all files on all cores, the largest first. Stopped, it gives what it has.
    pub fn run(&self, found: Found) -> Scanned {
        let mut files = found.files;
        files.sort_by_key(|file| std::cmp::Reverse(file.bytes));
        let read: Vec<_> = files
            .par_iter()
            .with_max_len(1)
            .map(|file| {
                let result = if self.control.stopped() { Err(file::Fault::Stopped) } else { self.one(file) };
                self.progress.files.fetch_add(1, Ordering::Relaxed);
                self.progress.bytes.fetch_add(file.bytes, Ordering::Relaxed);
                result
            })
            .collect();
        let mut scanned = Scanned { problems: found.problems, ..Scanned::default() };
        for result in read {
            match result {
                Ok(record) => scanned.files.push(record),
                Err(file::Fault::NoTranscript) => scanned.not_transcripts += 1,
                Err(file::Fault::Problem(problem)) => scanned.problems.push(problem),
                Err(file::Fault::Stopped) => {}
            }
        }
        scanned.files.sort_by(|a, b| a.path.cmp(&b.path));
        scanned.problems.sort_by(|a, b| a.path.cmp(&b.path));
        scanned.drop_copies();
        scanned
    }

    fn one(&self, file: &walk::FoundFile) -> Result<FileRecord, file::Fault> {
        let key = self.cache.as_ref().and_then(|cache| cache.key(&file.path, self.settings.as_deref(), self.format));
        if let (Some(cache), Some(key)) = (&self.cache, &key)
            && let Some(mut record) = cache.load(key)
        {
            record.path = file.path.display().to_string();
            record.cached = true;
            self.progress.cached.fetch_add(1, Ordering::Relaxed);
            return Ok(record);
        }
        let record = file::read(self, file)?;
        // What is being written now is another content next time; it is cached all the same, by what it is now.
        if let (Some(cache), Some(key)) = (&self.cache, &key) {
            cache.store(key, &record);
        }
        Ok(record)
    }
}

impl Scanned {
    /// A session that was continued in a second file, or moved into a store, records its compactions twice.
    fn drop_copies(&mut self) {
        let mut seen = HashSet::new();
        // A store is what the gateway itself reads, so it comes first.
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|index| self.files[*index].format != Format::OpenclawStore);
        for index in order {
            let file = &mut self.files[index];
            let before = file.compactions.len();
            file.compactions.retain(|compaction| match &compaction.compaction_id {
                // Ids that are only places in a file say nothing about another file.
                Some(id) if !id.starts_with("line-") => seen.insert((id.clone(), compaction.summary_hash)),
                _ => true,
            });
            self.copies += (before - file.compactions.len()) as u64;
        }
    }
}
