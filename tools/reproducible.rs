//! Is the component reproducible? Builds it once more from a copy of the sources, in another folder and with another
//! target folder, and compares the bytes with the one that is built in.
//! `cargo run -p host-harness --example reproducible`; exit code 1 if they differ.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

#[path = "../host-harness/build/guest.rs"]
mod guest;

use anyhow::{Context, Result};
use host_harness::runtime::{COMPONENT, sha256};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Built, fetched or not ours.
const NOT_COPIED: [&str; 5] = ["target", ".git", "node_modules", "component", "fuzz"];

fn main() -> Result<ExitCode> {
    let folder = tempfile::Builder::new().prefix("a folder with a longer name ").tempdir()?;
    let copy = folder.path().join("copy");
    copy_sources(Path::new(ROOT), &copy)?;
    let copy = copy.canonicalize()?;
    let again = guest::component(&copy, &folder.path().join("elsewhere"))?;
    let (here, there) = (sha256(COMPONENT), sha256(&again));
    println!("{here}  {} bytes, built in\n{there}  {} bytes, built from the copy", COMPONENT.len(), again.len());
    if here == there {
        return Ok(ExitCode::SUCCESS);
    }
    let kept = std::env::temp_dir().join("compact-review-built-from-the-copy.wasm");
    std::fs::write(&kept, &again).with_context(|| format!("{}", kept.display()))?;
    println!("they differ; the second one is in {}", kept.display());
    Ok(ExitCode::FAILURE)
}

fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    let wanted = |entry: &walkdir::DirEntry| !NOT_COPIED.iter().any(|name| entry.file_name() == *name);
    for entry in walkdir::WalkDir::new(from).into_iter().filter_entry(wanted) {
        let entry = entry?;
        let place: PathBuf = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&place)?;
        } else {
            std::fs::copy(entry.path(), &place).with_context(|| format!("{}", entry.path().display()))?;
        }
    }
    Ok(())
}
