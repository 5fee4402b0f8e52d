//! How the component is made of its sources. The build script does it, and `tools/reproducible.rs` once more elsewhere.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the guest of the project in `root` and turns it into a component.
pub fn component(root: &Path, target_dir: &Path) -> Result<Vec<u8>> {
    let module = build(root, target_dir)?;
    wit_component::ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.validate(true).encode())
        .context("the guest is no valid component")
}

fn build(root: &Path, target_dir: &Path) -> Result<Vec<u8>> {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustc", "--package", "compact-review", "--lib", "--crate-type", "cdylib"])
        .args(["--profile", "guest", "--target", TARGET])
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target_dir)
        // What the outer cargo was told is not for the guest: clippy as the compiler, flags for another target.
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(root))
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

/// Paths of the machine are mapped away: panics name the file that they happened in.
fn remapped_paths(root: &Path) -> String {
    let home = |name: &str, default: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(default)))
    };
    let mut flags = vec![format!("--remap-path-prefix={}=compact-review", root.display())];
    for (path, name) in [(home("CARGO_HOME", ".cargo"), "cargo"), (home("RUSTUP_HOME", ".rustup"), "rustup")] {
        flags.extend(path.map(|path| format!("--remap-path-prefix={}={name}", path.display())));
    }
    flags.join("\u{1f}")
}
