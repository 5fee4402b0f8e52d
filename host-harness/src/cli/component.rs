//! `component`: the plugin itself as a file, for gateways that load or transpile it.

use super::Outcome;
use anyhow::{Context, Result};
use clap::Args;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ComponentArgs {
    /// Where to write it; without it, to standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &ComponentArgs) -> Result<Outcome> {
    let component = crate::runtime::COMPONENT;
    match &args.output {
        Some(path) => std::fs::write(path, component).with_context(|| format!("cannot write {}", path.display()))?,
        None if std::io::stdout().is_terminal() => {
            anyhow::bail!("the component is binary: name a file with --output, or redirect standard output");
        }
        None => std::io::stdout().write_all(component).context("cannot write the component")?,
    }
    Ok(Outcome::Fine)
}
