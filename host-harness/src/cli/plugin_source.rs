//! Which plugin a command runs: the one that is built in, or a component that a person names.

use crate::runtime::{COMPONENT, ComponentPlugin, Limits, MAX_COMPONENT_BYTES, sha256};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Args)]
pub(super) struct PluginSource {
    /// Run the WebAssembly component in FILE instead of the built-in one; its SHA-256 goes to standard error.
    #[arg(long = "plugin", id = "plugin", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Run the plugin only if it has this SHA-256 (64 hexadecimal digits); else exit code 2.
    #[arg(long, value_name = "SHA256", value_parser = hash)]
    require_hash: Option<String>,
}

impl PluginSource {
    /// Reads the plugin once: what is hashed, compared and run are the same bytes.
    pub(super) fn load(&self) -> Result<ComponentPlugin> {
        let foreign = self.file.as_deref().map(read_component).transpose()?;
        let bytes = foreign.as_deref().unwrap_or(COMPONENT);
        let name = self.name();
        let found = sha256(bytes);
        if self.file.is_some() {
            anstream::eprintln!("{name}: SHA-256 {found}");
        }
        if let Some(required) = &self.require_hash
            && *required != found
        {
            bail!("{name} was not loaded: its SHA-256 is {found}, --require-hash wants {required}");
        }
        ComponentPlugin::load(bytes, Limits::default()).with_context(|| format!("{name} cannot be loaded"))
    }

    fn name(&self) -> String {
        match &self.file {
            Some(path) => format!("the plugin {}", path.display()),
            None => "the built-in plugin".to_string(),
        }
    }
}

fn hash(text: &str) -> Result<String, String> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err("a SHA-256 has 64 hexadecimal digits".to_string())
}

/// A file of bounded length; a pipe or a device could be read for ever, and gives other bytes the next time.
fn read_component(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    if !std::fs::metadata(path).with_context(|| format!("{shown}"))?.is_file() {
        bail!("{shown}: this is no plain file; name a WebAssembly component");
    }
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("{shown}"))?;
    // One byte more than is taken, so that the loader sees that it is too large.
    file.take(MAX_COMPONENT_BYTES as u64 + 1).read_to_end(&mut bytes).with_context(|| format!("{shown}"))?;
    Ok(bytes)
}
