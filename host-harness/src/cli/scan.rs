//! `scan`: every transcript below some folders.

use super::input::now;
use super::{Outcome, PluginSource, read_settings, score_limit};
use crate::report::html;
use crate::report::terminal::{self, thousands};
use crate::runtime::ComponentPlugin;
use crate::scan::cache::Cache;
use crate::scan::record::{CompactionRecord, FileRecord};
use crate::scan::{Progress, Scan, Scanned, walk};
use crate::transcript::{Control, Format};
use anstyle::Style;
use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
/// How many things that could not be read are listed; the others are counted.
const LISTED_PROBLEMS: usize = 20;

#[derive(Debug, Args)]
pub(super) struct ScanArgs {
    /// Files and folders; without any, the places where OpenClaw, Pi, Claude Code and Codex keep their sessions.
    paths: Vec<PathBuf>,
    /// Insist on a format instead of telling it by the content.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Show only compactions with at least this score.
    #[arg(long, value_name = "SCORE", value_parser = score_limit)]
    min_score: Option<f64>,
    /// Show only compactions since this date (YYYY-MM-DD), time, or so long ago (7d, 12h).
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<i64>,
    /// Show only sessions of this agent; a format is the agent of its sessions, where they name none.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Exit code 1 if any score shown is below this, or not known.
    #[arg(long, value_name = "SCORE", value_parser = score_limit)]
    fail_under: Option<f64>,
    /// One JSON object for each compaction, worst first.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// One line of CSV for each compaction, worst first, after a line of names.
    #[arg(long)]
    csv: bool,
    /// Write one self-contained page to FILE.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// How many compactions the table lists.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// How many files are read at once; all cores without it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Neither use nor write what earlier scans found.
    #[arg(long)]
    no_cache: bool,
    /// Keep what was found in DIR instead of the user's cache folder.
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// The plugin's settings: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    source: PluginSource,
}

/// A date, a time, or an age.
fn since(text: &str) -> Result<i64, String> {
    let age =
        text.strip_suffix('d').map(|days| (days, 24 * 3600)).or(text.strip_suffix('h').map(|hours| (hours, 3600)));
    if let Some((count, unit)) = age
        && let Ok(count) = count.parse::<u32>()
    {
        return Ok(jiff::Timestamp::now().as_millisecond() - i64::from(count) * unit * 1000);
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let date =
        text.parse::<jiff::civil::Date>().map_err(|_| format!("{text:?} is no date (YYYY-MM-DD), time or age (7d)"))?;
    let start = date.to_zoned(jiff::tz::TimeZone::system()).map_err(|error| error.to_string())?;
    Ok(start.timestamp().as_millisecond())
}

/// A compaction with its file.
pub(crate) struct Row<'a> {
    pub file: &'a FileRecord,
    pub compaction: &'a CompactionRecord,
}

pub(super) fn run(args: &ScanArgs) -> Result<Outcome> {
    let paths = if args.paths.is_empty() { walk::default_places() } else { args.paths.clone() };
    if paths.is_empty() {
        bail!("no sessions of OpenClaw, Pi, Claude Code or Codex in the usual places; name a file or a folder");
    }
    if let Some(html) = &args.html {
        html::check_place(html).with_context(|| format!("{} cannot be written", html.display()))?;
    }
    let control = Control::default();
    let stop = control.clone();
    ctrlc::set_handler(move || stop.stop()).context("interrupts cannot be handled")?;
    let plugin = args.source.load()?;
    let settings = args.settings.as_deref().map(|path| read_settings(&plugin, path)).transpose()?;
    let scan = Scan {
        plugin: &plugin,
        settings,
        format: args.format,
        cache: match &args.cache {
            _ if args.no_cache => None,
            Some(folder) => Some(Cache::in_folder(folder, &plugin)?),
            None => of_user(&plugin),
        },
        clock: now(),
        control: control.clone(),
        progress: Progress::default(),
    };
    let found = walk::walk(&paths);
    let (files, bytes) = (found.files.len(), found.files.iter().map(|file| file.bytes).sum::<u64>());
    let started = std::time::Instant::now();
    let scanned = watched(args, &scan, found, bytes)?;
    if control.stopped() {
        anstream::eprintln!("interrupted; nothing was written");
        return Ok(Outcome::Interrupted);
    }
    if let Some(cache) = &scan.cache {
        cache.prune();
    }
    let took = Took { files, bytes, cached: scan.progress.cached.load(Ordering::Relaxed), time: started.elapsed() };
    show(args, &scanned, &took)
}

/// Without a cache a scan takes longer and finds the same.
fn of_user(plugin: &ComponentPlugin) -> Option<Cache> {
    let cache = Cache::of_user(plugin);
    if let Err(error) = &cache {
        anstream::eprintln!("nothing is taken from earlier scans: {error}");
    }
    cache.ok()
}

struct Took {
    files: usize,
    bytes: u64,
    cached: u64,
    time: Duration,
}

/// Runs the scan in a pool of its own while this thread draws how far it is.
fn watched(args: &ScanArgs, scan: &Scan<'_>, found: walk::Found, bytes: u64) -> Result<Scanned> {
    let jobs = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().context("no threads")?;
    let bar = bar(found.files.len(), bytes);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| pool.install(|| scan.run(found)));
        while !worker.is_finished() {
            bar.set_position(scan.progress.bytes.load(Ordering::Relaxed));
            bar.set_message(scan.progress.files.load(Ordering::Relaxed).to_string());
            std::thread::park_timeout(Duration::from_millis(if bar.is_hidden() { 5 } else { 80 }));
        }
        bar.finish_and_clear();
        worker.join().map_err(|_| anyhow::anyhow!("the scan failed in the program itself; please report it"))
    })
}

fn bar(files: usize, bytes: u64) -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(bytes), target);
    let template = format!(
        "{{wide_bar}} {{msg}}/{files} files · {{decimal_bytes}}/{{decimal_total_bytes}} · {{decimal_bytes_per_sec}} · {{eta}} left"
    );
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

fn show(args: &ScanArgs, scanned: &Scanned, took: &Took) -> Result<Outcome> {
    let mut rows: Vec<Row<'_>> = scanned
        .files
        .iter()
        .flat_map(|file| file.compactions.iter().map(move |compaction| Row { file, compaction }))
        .filter(|row| wanted(args, row))
        .collect();
    // Worst first; what is not known comes before what is good.
    rows.sort_by(|a, b| {
        let score = |row: &Row<'_>| row.compaction.score.unwrap_or(-1.0);
        score(a)
            .total_cmp(&score(b))
            .then_with(|| a.file.path.cmp(&b.file.path))
            .then(a.compaction.line.cmp(&b.compaction.line))
    });
    if let Some(path) = &args.html {
        html::write(path, scanned, &rows).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let mut out = anstream::stdout().lock();
    if args.json {
        for row in &rows {
            serde_json::to_writer(
                &mut out,
                &Line { file: &row.file.path, format: row.file.format, compaction: row.compaction },
            )?;
            writeln!(out)?;
        }
    } else if args.csv {
        csv(&mut out, &rows)?;
    } else {
        table(&mut out, &rows, args.top)?;
        closing(&mut out, scanned, &rows, took)?;
        if let Some(path) = &args.html {
            writeln!(out, "page: {}", path.display())?;
        }
    }
    out.flush()?;
    let damaged = tell_problems(scanned);
    let missed = rows.iter().any(|row| Outcome::of(row.compaction.score, args.fail_under) == Outcome::BelowLimit);
    // What could not be read must not look like success; a missed limit says more.
    Ok(match (missed, damaged) {
        (true, _) => Outcome::BelowLimit,
        (false, false) => Outcome::Fine,
        (false, true) => Outcome::BadInput,
    })
}

fn wanted(args: &ScanArgs, row: &Row<'_>) -> bool {
    let compaction = row.compaction;
    args.min_score.is_none_or(|least| compaction.score.is_some_and(|score| score >= least))
        && args.since.is_none_or(|since| compaction.at.is_some_and(|at| at >= since))
        && args.agent.as_ref().is_none_or(|agent| *agent == compaction.agent || *agent == row.file.format.name())
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    format: Format,
    #[serde(flatten)]
    compaction: &'a CompactionRecord,
}

fn csv(out: &mut impl Write, rows: &[Row<'_>]) -> Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "file",
        "format",
        "agent",
        "session",
        "compaction",
        "number",
        "at",
        "score",
        "verdict",
        "tokens_before",
        "tokens_after",
        "messages_before",
        "messages_dropped",
        "messages_retained",
        "critical",
        "lost",
        "altered",
        "invented",
        "reason",
    ])?;
    for Row { file, compaction } in rows {
        let at = compaction.at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        csv.write_record([
            cell(&file.path),
            file.format.name().to_string(),
            cell(&compaction.agent),
            cell(&compaction.session_id),
            cell(compaction.compaction_id.as_deref().unwrap_or_default()),
            compaction.number.to_string(),
            at.map(|at| at.to_string()).unwrap_or_default(),
            compaction.score.map(|score| format!("{score:.1}")).unwrap_or_default(),
            compaction.verdict.name().to_string(),
            compaction.tokens_before.to_string(),
            compaction.tokens_after.to_string(),
            compaction.messages_before.to_string(),
            compaction.messages_dropped.to_string(),
            compaction.messages_retained.to_string(),
            compaction.critical.to_string(),
            compaction.lost_total.to_string(),
            compaction.altered.to_string(),
            compaction.invented.len().to_string(),
            cell(&compaction.reason),
        ])?;
    }
    csv.flush()?;
    Ok(())
}

/// A spreadsheet takes text with these first letters for a formula.
fn cell(text: &str) -> String {
    let text = terminal::plain(text, 1_000);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

fn table(out: &mut impl Write, rows: &[Row<'_>], most: usize) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{BOLD}{:>5}  {:<12} {:>17}  {:>8} {:>5}  {:<16}  session{BOLD:#}",
        "score", "verdict", "tokens", "critical", "lost", "when"
    )?;
    for Row { file, compaction } in rows.iter().take(most) {
        let score = compaction.score.map_or_else(|| "–".to_string(), |score| format!("{score:.1}"));
        let style = terminal::verdict_style(compaction.verdict);
        let tokens = format!("{} → {}", short(compaction.tokens_before), short(compaction.tokens_after));
        let when = compaction.at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        let when = when.map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
        let session = terminal::plain(&compaction.session_id, 36);
        writeln!(
            out,
            "{score:>5}  {style}{:<12}{style:#} {tokens:>17}  {:>8} {:>5}  {:<16}  {session} #{} {DIM}{} {}{DIM:#}",
            compaction.verdict.name(),
            compaction.critical,
            compaction.lost_total,
            when.unwrap_or_default(),
            compaction.number,
            file.format,
            terminal::plain(&file.path, 80),
        )?;
    }
    if rows.len() > most {
        writeln!(out, "{DIM}… {} more; --top N lists them{DIM:#}", rows.len() - most)?;
    }
    writeln!(out)?;
    Ok(())
}

/// `155k` says enough in a table.
fn short(tokens: u64) -> String {
    if tokens < 10_000 { thousands(tokens) } else { format!("{}k", thousands(tokens / 1_000)) }
}

fn closing(out: &mut impl Write, scanned: &Scanned, rows: &[Row<'_>], took: &Took) -> Result<()> {
    let sessions = scanned.files.iter().flat_map(|file| &file.sessions);
    let (mut count, mut broken, mut parts, mut sidechain) = (0u64, 0, 0, 0);
    for session in sessions {
        count += 1;
        broken += session.stats.broken_lines;
        parts += session.stats.parts.total();
        sidechain += session.stats.sidechain_lines;
    }
    let scores: Vec<f64> = rows.iter().filter_map(|row| row.compaction.score).collect();
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    write!(out, "{BOLD}{} compactions{BOLD:#} in {count} sessions", rows.len())?;
    if !scores.is_empty() {
        write!(out, " · mean score {mean:.1}")?;
    }
    for (count, what) in [
        (broken, "lines that could not be read"),
        (parts, "parts that are no text"),
        (sidechain, "lines of subagents"),
        (scanned.copies, "copies in second files"),
        (scanned.not_transcripts, "files that are no transcripts"),
    ] {
        if count > 0 {
            write!(out, " · {} {what}", thousands(count))?;
        }
    }
    writeln!(out)?;
    let mut formats: Vec<(Format, u64, u64)> = Vec::new();
    for file in &scanned.files {
        match formats.iter_mut().find(|(format, ..)| *format == file.format) {
            Some(entry) => (entry.1, entry.2) = (entry.1 + 1, entry.2 + file.bytes),
            None => formats.push((file.format, 1, file.bytes)),
        }
    }
    formats.sort_by_key(|(format, ..)| *format);
    let read: Vec<String> = formats
        .iter()
        .map(|(format, files, bytes)| format!("{format} {files} ({:.1} MB)", *bytes as f64 / 1e6))
        .collect();
    let seconds = took.time.as_secs_f64();
    writeln!(
        out,
        "{DIM}read: {} · {} files, {} of them from the cache · {:.1} MB in {seconds:.2} s, {:.0} MB/s{DIM:#}",
        if read.is_empty() { "nothing".to_string() } else { read.join(", ") },
        thousands(took.files as u64),
        thousands(took.cached),
        took.bytes as f64 / 1e6,
        took.bytes as f64 / 1e6 / seconds.max(1e-6)
    )?;
    Ok(())
}

/// What could not be read, or only in part, goes to standard error by name; gives whether there was any.
fn tell_problems(scanned: &Scanned) -> bool {
    let mut damaged = !scanned.problems.is_empty();
    for problem in scanned.problems.iter().take(LISTED_PROBLEMS) {
        anstream::eprintln!("{}: {}", problem.path, terminal::plain(&problem.why, 400));
    }
    if scanned.problems.len() > LISTED_PROBLEMS {
        anstream::eprintln!("… {} more that could not be read", scanned.problems.len() - LISTED_PROBLEMS);
    }
    for file in &scanned.files {
        for notice in &file.notices {
            anstream::eprintln!("{}: {}", file.path, terminal::plain(notice, 400));
        }
        for session in &file.sessions {
            let stats = &session.stats;
            damaged |= stats.broken_lines > 0 || stats.oddities.duplicate_ids > 0 || stats.oddities.cycles > 0;
            for broken in stats.broken.iter().take(3) {
                anstream::eprintln!("{}: line {}: {}", file.path, broken.line, terminal::plain(&broken.why, 300));
            }
            if stats.broken_lines > 3 {
                anstream::eprintln!("{}: {} more lines that could not be read", file.path, stats.broken_lines - 3);
            }
            if let Some(line) = stats.oddities.first_duplicate {
                let count = stats.oddities.duplicate_ids;
                anstream::eprintln!("{}: {count} ids that were there before, the first in line {line}", file.path);
            }
            if let Some(line) = stats.oddities.first_cycle {
                anstream::eprintln!("{}: line {line}: its parents lead back to itself", file.path);
            }
        }
    }
    damaged
}
