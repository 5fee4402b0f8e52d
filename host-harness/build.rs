//! Builds the guest from the sources beside this package and turns it into a component.
//!
//! `cargo build` alone is enough: the nested cargo has a target folder of its own below `OUT_DIR` (a shared one
//! would deadlock on cargo's lock) and always builds for wasm32-unknown-unknown with the `guest` profile, whatever
//! the profile of the host. Paths of the machine are mapped away, so the same sources give the same component.

#![forbid(unsafe_code)]

#[path = "build/guest.rs"]
mod guest;

use anyhow::{Context, Result};
use std::path::PathBuf;

fn main() -> Result<()> {
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR")?).join("..").canonicalize()?;
    let out = PathBuf::from(env("OUT_DIR")?);
    for source in ["src", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let component = guest::component(&root, &out.join("guest"))?;
    let path = out.join("compact-review.component.wasm");
    std::fs::write(&path, component).with_context(|| format!("cannot write {}", path.display()))?;
    println!("cargo::rustc-env=COMPACT_REVIEW_COMPONENT={}", path.display());
    Ok(())
}

fn env(name: &str) -> Result<String> {
    std::env::var(name).with_context(|| format!("cargo did not set {name}"))
}
