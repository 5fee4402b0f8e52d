//! Measures how many o200k tokens the pieces of each cell of `src/budget/estimate.rs` have, and how far off the estimate is.
//!
//! ```text
//! cargo run --release -p host-harness --example calibrate_estimate -- fit FOLDER    # prints src/budget/estimate/weights.rs
//! cargo run --release -p host-harness --example calibrate_estimate -- check FOLDER  # error by kind of text
//! cargo run --release -p host-harness --example calibrate_estimate -- speed FOLDER  # MB/s by kind of text, best of nine
//! ```
//!
//! FOLDER holds one folder for each kind of text, each with UTF-8 files. Calibrate and check with different texts.

#![forbid(unsafe_code)]

use compact_review::budget::estimate::{CELLS, UNITS_PER_TOKEN, estimate, scan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A cell that was seen less often than this is drawn towards the plain guess for its width.
const PRIOR_PIECES: f64 = 5.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["fit", folder] => fit(Path::new(folder)),
        ["check", folder] => check(Path::new(folder)),
        ["speed", folder] => speed(Path::new(folder)),
        _ => Err("usage: calibrate_estimate fit|check|speed FOLDER".into()),
    }
}

/// Texts with their files, by kind.
type Texts = BTreeMap<String, Vec<(PathBuf, String)>>;

/// The texts below a folder, by the name of the folder they are in.
fn texts(folder: &Path) -> Result<Texts, Box<dyn std::error::Error>> {
    let mut kinds = BTreeMap::new();
    for kind in std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let kind = kind?.path();
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&kind)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        files.sort();
        let name = kind.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in files {
            let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            kinds.entry(name.clone()).or_insert_with(Vec::new).push((file, text));
        }
    }
    Ok(kinds)
}

/// Each token counts for the piece in which it begins.
fn fit(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let tokenizer = bpe_openai::o200k_base();
    let mut pieces = vec![0f64; CELLS];
    let mut tokens = vec![0f64; CELLS];
    for files in texts(folder)?.values() {
        for (_, text) in files {
            let mut starts = Vec::new();
            let mut at = 0usize;
            for token in tokenizer.encode(text) {
                starts.push(at);
                at += tokenizer.bpe.token_len(token);
            }
            let mut next = starts.into_iter().peekable();
            scan(text, |cell, end| {
                pieces[cell] += 1.0;
                while next.next_if(|&start| start < end).is_some() {
                    tokens[cell] += 1.0;
                }
            });
        }
    }
    println!(
        "//! Written by `tools/calibrate_estimate.rs fit`; not edited by hand. The texts are named in `docs/budget.md`.\n"
    );
    println!("/// What a piece of each cell of [`super::scan`] costs, in 1/{UNITS_PER_TOKEN} of a token.");
    println!("#[rustfmt::skip]\npub const WEIGHTS: [u16; super::CELLS] = [");
    let weights: Vec<u64> = (0..CELLS)
        .map(|cell| {
            let mean = (tokens[cell] + PRIOR_PIECES) / (pieces[cell] + PRIOR_PIECES);
            (mean * UNITS_PER_TOKEN as f64).round() as u64
        })
        .collect();
    for row in weights.chunks(16) {
        println!("    {},", row.iter().map(u64::to_string).collect::<Vec<_>>().join(", "));
    }
    println!("];");
    Ok(())
}

/// How far off the estimate is, by kind and by text.
fn check(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let tokenizer = bpe_openai::o200k_base();
    println!("| kind | text | bytes | o200k | estimate | error | chars/4 |\n|---|---|---|---|---|---|---|");
    for (kind, files) in texts(folder)? {
        let mut all = [0usize; 4];
        for (path, text) in &files {
            let counts = [text.len(), tokenizer.count(text), estimate(text) as usize, text.chars().count() / 4];
            all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            row("", &path.file_stem().unwrap_or_default().to_string_lossy(), counts);
        }
        row(&kind, "all", all);
    }
    Ok(())
}

/// How fast the estimate and the built-in vocabulary are.
fn speed(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let tokenizer = bpe_openai::o200k_base();
    println!("| kind | estimate, MB/s | o200k, MB/s |\n|---|---|---|");
    for (kind, files) in texts(folder)? {
        let text: String = files.into_iter().map(|(_, text)| text).collect();
        let best = |work: &dyn Fn()| {
            let times = (0..9).map(|_| {
                let start = std::time::Instant::now();
                work();
                start.elapsed().as_secs_f64()
            });
            text.len() as f64 / 1e6 / times.fold(f64::INFINITY, f64::min)
        };
        let estimated = best(&|| {
            std::hint::black_box(estimate(std::hint::black_box(&text)));
        });
        let counted = best(&|| {
            std::hint::black_box(tokenizer.count(std::hint::black_box(&text)));
        });
        println!("| {kind} | {estimated:.0} | {counted:.0} |");
    }
    Ok(())
}

fn row(kind: &str, text: &str, [bytes, real, estimated, quarter]: [usize; 4]) {
    let error = |guess: usize| (guess as f64 / real.max(1) as f64 - 1.0) * 100.0;
    println!(
        "| {kind} | {text} | {bytes} | {real} | {estimated} | {:+.1} % | {:+.0} % |",
        error(estimated),
        error(quarter)
    );
}
