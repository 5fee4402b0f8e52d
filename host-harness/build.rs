//! Builds the guest from the sources beside this package and turns it into a component.
//!
//! `cargo build` alone is enough: the nested cargo has a target folder of its own below `OUT_DIR` (a shared one
//! would deadlock on cargo's lock) and always builds for wasm32-unknown-unknown with the `guest` profile, whatever
//! the profile of the host. Paths of the machine are mapped away, so the same sources give the same component.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> Result<()> {
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR")?).join("..").canonicalize()?;
    let out = PathBuf::from(env("OUT_DIR")?);
    for source in ["src", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let module = build_guest(&root, &out)?;
    let component = wit_component::ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.validate(true).encode())
        .context("the guest is no valid component")?;
    let path = out.join("compact-review.component.wasm");
    std::fs::write(&path, component).with_context(|| format!("cannot write {}", path.display()))?;
    println!("cargo::rustc-env=COMPACT_REVIEW_COMPONENT={}", path.display());
    Ok(())
}

fn build_guest(root: &Path, out: &Path) -> Result<Vec<u8>> {
    let target_dir = out.join("guest");
    let status = Command::new(env("CARGO")?)
        .args(["rustc", "--package", "compact-review", "--lib", "--crate-type", "cdylib"])
        .args(["--profile", "guest", "--target", TARGET])
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        // What the outer cargo was told is not for the guest: clippy as the compiler, flags for another target.
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(root)?)
        .status()
        .context("cannot start cargo for the guest")?;
    if !status.success() {
        bail!(
            "the guest did not build. If the compiler does not find `core` or `std` (E0463), the target is missing: \
             rustup target add {TARGET}"
        );
    }
    let module = target_dir.join(TARGET).join("guest/compact_review.wasm");
    std::fs::read(&module).with_context(|| format!("cannot read {}", module.display()))
}

fn remapped_paths(root: &Path) -> Result<String> {
    let home = |name: &str, default: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(default)))
    };
    let mut flags = vec![format!("--remap-path-prefix={}=compact-review", root.display())];
    for (path, name) in [(home("CARGO_HOME", ".cargo"), "cargo"), (home("RUSTUP_HOME", ".rustup"), "rustup")] {
        flags.extend(path.map(|path| format!("--remap-path-prefix={}={name}", path.display())));
    }
    Ok(flags.join("\u{1f}"))
}

fn env(name: &str) -> Result<String> {
    std::env::var(name).with_context(|| format!("cargo did not set {name}"))
}
