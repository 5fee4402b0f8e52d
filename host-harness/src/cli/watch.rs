//! `watch`: follows a session while it is written.

use super::input::now;
use super::live::{self, Live};
use super::{Outcome, PluginArgs};
use crate::report::terminal;
use crate::review::Reviewer;
use crate::transcript::{Control, Entry, Follower, Format, News};
use anyhow::{Context, Result};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    /// A session file, or an OpenClaw store.
    path: PathBuf,
    /// Insist on a format instead of telling it by the content.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The session to follow, in a store with many; without it the one that was written to last.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The context window in tokens, where the transcript does not tell it.
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    /// Also show what happened before.
    #[arg(long)]
    past: bool,
    /// How often to look, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    interval: u64,
    /// End when nothing was written for so many seconds.
    #[arg(long, value_name = "SECONDS")]
    until_idle: Option<u64>,
    /// How many losses are listed for each compaction.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    plugin: PluginArgs,
}

pub(super) fn run(args: &WatchArgs) -> Result<Outcome> {
    let plugin = args.plugin.source.load()?;
    let services = args.plugin.services(&plugin)?;
    let control = Control::default();
    let stop = control.clone();
    ctrlc::set_handler(move || stop.stop()).context("interrupts cannot be handled")?;
    let mut follower = Follower::new(&args.path, args.format, args.session.clone());
    let mut out = anstream::stdout().lock();
    let mut shown = Shown { reviewer: None, live: Live::new(args.window), audited: 0, started: false };
    let mut quiet = Instant::now();
    while !control.stopped() {
        let mut failed = None;
        let any = follower.poll(&mut |news| {
            if failed.is_none() {
                let taken = match news {
                    News::Start(session) => {
                        shown.start(&mut out, Reviewer::new(&plugin, services.clone(), session, now()), args)
                    }
                    News::Past(entry) => shown.past(&mut out, entry, args),
                    News::Now(entry) => shown.now(&mut out, entry, args),
                };
                failed = taken.err();
            }
        })?;
        failed.map_or(Ok(()), Err)?;
        if any {
            shown.status(&mut out)?;
            out.flush()?;
            quiet = Instant::now();
        }
        if args.until_idle.is_some_and(|seconds| quiet.elapsed() >= Duration::from_secs(seconds)) {
            return Ok(Outcome::Fine);
        }
        std::thread::sleep(Duration::from_millis(args.interval));
    }
    Ok(Outcome::Fine)
}

/// What the person has seen so far.
struct Shown<'a> {
    reviewer: Option<Reviewer<'a>>,
    live: Live,
    /// The line of the last compaction that was audited: it is not audited again when the start is told again.
    audited: u64,
    started: bool,
}

impl<'a> Shown<'a> {
    fn start(&mut self, out: &mut impl Write, reviewer: Reviewer<'a>, args: &WatchArgs) -> Result<()> {
        if self.started {
            writeln!(out, "the session went on from an earlier message, or was replaced: read again")?;
        } else {
            let session = terminal::plain(&reviewer.session().session_key, 120);
            writeln!(out, "following {session} in {}", args.path.display())?;
        }
        self.reviewer = Some(reviewer);
        self.live = Live::new(args.window);
        Ok(())
    }

    fn past(&mut self, out: &mut impl Write, entry: Entry, args: &WatchArgs) -> Result<()> {
        let line = if let Entry::Compaction(recorded) = &entry { recorded.line } else { 0 };
        // Compactions are audited once: those from before the start only on request, those since then always.
        if line > self.audited && (args.past || self.started) {
            self.audited = line;
            return self.now(out, entry, args);
        }
        self.audited = self.audited.max(line);
        if args.past && !self.started {
            return self.now(out, entry, args);
        }
        let Some(reviewer) = &mut self.reviewer else { return Ok(()) };
        reviewer.follow(entry);
        Ok(())
    }

    fn now(&mut self, out: &mut impl Write, entry: Entry, args: &WatchArgs) -> Result<()> {
        if let Entry::Compaction(recorded) = &entry {
            self.audited = self.audited.max(recorded.line);
        }
        let Some(reviewer) = &mut self.reviewer else { return Ok(()) };
        live::step(out, &mut self.live, reviewer, entry, args.top)?;
        Ok(())
    }

    /// The budget line, after everything that was new.
    fn status(&mut self, out: &mut impl Write) -> Result<()> {
        self.started = true;
        let Some(reviewer) = &self.reviewer else { return Ok(()) };
        self.live.count(reviewer.compactions());
        for told in self.live.update(reviewer) {
            writeln!(out, "{}", terminal::plain(&told, 200))?;
        }
        if let Some(line) = self.live.line() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}
