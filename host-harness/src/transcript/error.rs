//! Why a transcript cannot be read at all.

use std::path::{Path, PathBuf};

/// What sort of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// It cannot be opened or read.
    Unreadable,
    /// There is nothing in it.
    Empty,
    /// It is no transcript of a known format.
    Unknown,
    /// It is a SQLite file, but no store of OpenClaw.
    NoStore,
    /// It is a store of a later version that keeps its events otherwise.
    NewerStore,
    /// A person stopped it.
    Stopped,
}

/// Why a transcript cannot be read at all.
#[derive(Clone, Debug)]
pub struct TranscriptError {
    path: PathBuf,
    kind: ErrorKind,
    why: String,
}

impl TranscriptError {
    pub(crate) fn new(path: &Path, kind: ErrorKind, why: String) -> Self {
        TranscriptError { path: path.to_path_buf(), kind, why }
    }

    /// The same, of this file.
    pub(super) fn at(self, path: &Path) -> Self {
        TranscriptError { path: path.to_path_buf(), ..self }
    }

    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What is wrong, without the file.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl std::fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for TranscriptError {}

impl From<std::io::Error> for TranscriptError {
    fn from(error: std::io::Error) -> Self {
        TranscriptError::new(Path::new(""), ErrorKind::Unreadable, error.to_string())
    }
}
