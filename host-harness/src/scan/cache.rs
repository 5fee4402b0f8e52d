//! What was found before. A file is known by its content: its length, the time it was last written, and samples of
//! its bytes; so a file that was moved or copied with its time is known, and one that grew is read again.
//!
//! An entry also depends on the plugin and its settings. It holds what reports show: bounded, and without secrets.

use super::record::FileRecord;
use crate::runtime::ComponentPlugin;
use crate::transcript::Format;
use crate::user_cache::{self, CacheError};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Changes with everything that changes what a record says, beside the plugin: readers, excerpts, this file.
const VERSION: &str = "1";
/// How much is sampled at once.
const SAMPLE: usize = 4 * 1024;
/// How often, evenly from the first byte to the last.
const SAMPLES: u64 = 16;
/// Entries that were not used for so long are removed.
const KEPT: Duration = Duration::from_secs(60 * 24 * 3600);

/// A folder with one file for each transcript.
pub struct Cache {
    folder: PathBuf,
    salt: [u8; 32],
}

impl Cache {
    /// In the user's cache folder.
    pub fn of_user(plugin: &ComponentPlugin) -> Result<Cache, CacheError> {
        Ok(Cache::new(user_cache::folder("scan")?, plugin.sha256()))
    }

    /// In this folder, which is made where there is none.
    pub fn in_folder(folder: &Path, plugin: &ComponentPlugin) -> Result<Cache, CacheError> {
        Ok(Cache::new(user_cache::close(folder)?, plugin.sha256()))
    }

    fn new(folder: PathBuf, plugin: &str) -> Cache {
        let mut salt = Sha256::new();
        salt.update(VERSION);
        salt.update(plugin);
        Cache { folder, salt: salt.finalize().into() }
    }

    /// The name of a content; `None` where it cannot be read.
    pub fn key(&self, path: &Path, settings: Option<&str>, format: Option<Format>) -> Option<String> {
        let mut hash = Sha256::new();
        hash.update(self.salt);
        hash.update(settings.unwrap_or_default());
        hash.update(format.map_or("", Format::name));
        sample(path, &mut hash)?;
        // What a live store has not moved into its file yet. The agent's name is part of what is shown.
        let mut log = path.as_os_str().to_os_string();
        log.push("-wal");
        sample(Path::new(&log), &mut hash);
        if let Some(stem) = path.file_stem() {
            hash.update(stem.as_encoded_bytes());
        }
        Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// What was found in this content. An entry that cannot be read is none.
    pub fn load(&self, key: &str) -> Option<FileRecord> {
        let file = File::open(self.place(key)).ok()?;
        // Marks it as used; a disk that refuses is no trouble.
        drop(file.set_modified(SystemTime::now()));
        let packed = zstd::stream::read::Decoder::new(file).ok()?;
        serde_json::from_reader(std::io::BufReader::new(packed)).ok()
    }

    /// Keeps it, as a whole or not at all. A disk that refuses costs time at the next scan and nothing else.
    pub fn store(&self, key: &str, record: &FileRecord) {
        drop(self.try_store(key, record));
    }

    fn try_store(&self, key: &str, record: &FileRecord) -> std::io::Result<()> {
        let mut packed = zstd::stream::write::Encoder::new(Vec::new(), 3)?;
        serde_json::to_writer(&mut packed, record)?;
        let bytes = packed.finish()?;
        let mut file = tempfile::Builder::new().prefix(".part-").tempfile_in(&self.folder)?;
        file.write_all(&bytes)?;
        file.persist(self.place(key))?;
        Ok(())
    }

    /// Removes what was not used for long, and what a killed process left.
    pub fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let Ok(data) = entry.metadata() else { continue };
            let age = data.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
            let partial = entry.file_name().to_string_lossy().starts_with(".part-");
            if age > KEPT || (partial && age > Duration::from_secs(3600)) {
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }

    fn place(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json.zst"))
    }
}

fn sample(path: &Path, hash: &mut Sha256) -> Option<()> {
    let mut file = File::open(path).ok()?;
    let data = file.metadata().ok()?;
    let written = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    hash.update(data.len().to_le_bytes());
    hash.update(written.as_nanos().to_le_bytes());
    let mut bytes = vec![0; SAMPLE];
    let last = data.len().saturating_sub(SAMPLE as u64);
    for step in 0..SAMPLES {
        file.seek(SeekFrom::Start(
            last / (SAMPLES - 1) * step + if step + 1 == SAMPLES { last % (SAMPLES - 1) } else { 0 },
        ))
        .ok()?;
        let count = file.read(&mut bytes).ok()?;
        hash.update(&bytes[..count]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn record() -> FileRecord {
        FileRecord {
            path: "somewhere".to_string(),
            cached: false,
            format: Format::Pi,
            bytes: 7,
            sessions: Vec::new(),
            compactions: Vec::new(),
            notices: vec!["kept".to_string()],
        }
    }

    #[test]
    fn what_was_kept_comes_back_until_the_content_changes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), "");
        let file = folder.path().join("a.jsonl");
        std::fs::write(&file, "x".repeat(100_000)).unwrap();
        let key = cache.key(&file, None, None).unwrap();
        assert!(cache.load(&key).is_none());
        cache.store(&key, &record());
        assert_eq!(cache.load(&key).unwrap().notices, ["kept"]);
        assert_eq!(cache.key(&file, None, None).unwrap(), key);
        assert_ne!(cache.key(&file, Some("{}"), None).unwrap(), key, "other settings");
        std::fs::write(&file, "x".repeat(100_001)).unwrap();
        assert_ne!(cache.key(&file, None, None).unwrap(), key, "it grew");
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), "");
        cache.store("k", &record());
        let place = cache.place("k");
        let bytes = std::fs::read(&place).unwrap();
        std::fs::write(&place, &bytes[..bytes.len() / 2]).unwrap();
        assert!(cache.load("k").is_none());
    }

    #[test]
    fn nothing_partial_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), "");
        cache.store("k", &record());
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["k.json.zst"]);
    }
}
