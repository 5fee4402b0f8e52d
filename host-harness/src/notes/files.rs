//! One folder and the files in it: open without following links, replace as a whole, append as a whole, lock.

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions};
use compact_review::host::HostError;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long to wait for another process that writes to the same folder.
const LOCK_WAIT: Duration = Duration::from_secs(10);
const LOCK_POLL: Duration = Duration::from_millis(2);
/// Names of files that are not yet what they will be.
const UNFINISHED: &str = ".unfinished-";

/// A folder that is reached without following a link, with its name for people.
pub(super) struct Folder {
    dir: Dir,
    label: String,
}

/// Held until dropped, and by the kernel at most as long as the process lives.
pub(super) struct Lock {
    _file: std::fs::File,
}

impl Folder {
    pub(super) fn new(dir: Dir, label: String) -> Folder {
        Folder { dir, label }
    }

    /// The place of a file, for people.
    pub(super) fn place(&self, name: &str) -> String {
        if self.label.is_empty() { name.to_string() } else { format!("{}/{name}", self.label) }
    }

    /// A folder in this one; `None` where there is none. A link is refused.
    pub(super) fn existing(&self, name: &str) -> Result<Option<Folder>, HostError> {
        let place = self.place(name);
        match self.dir.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(host_error("look at", &place, &error)),
            Ok(found) if !found.is_dir() => {
                let kind = kind_of(&found);
                return Err(HostError::Denied(format!("{place} is {kind} and not a folder: move it away")));
            }
            Ok(_) => {}
        }
        let dir = self.dir.open_dir_nofollow(name).map_err(|error| host_error("open", &place, &error))?;
        Ok(Some(Folder { dir, label: place }))
    }

    /// The same, made where there is none.
    pub(super) fn made(&self, name: &str) -> Result<Folder, HostError> {
        if let Some(folder) = self.existing(name)? {
            return Ok(folder);
        }
        let place = self.place(name);
        match self.dir.create_dir_with(name, &closed_folder()) {
            Ok(()) => self.sync()?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(host_error("make", &place, &error)),
        }
        self.existing(name)?.ok_or_else(|| HostError::Failed(format!("{place} was made and is gone")))
    }

    /// The bytes of a file; `None` where there is none.
    pub(super) fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, HostError> {
        let place = self.place(name);
        if self.file_len(name)?.is_none() {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true);
        let mut file = match self.open(name, options, "read") {
            Ok(file) => file,
            // Readers take no lock: another gateway may have removed it since.
            Err(_) if self.file_len(name)?.is_none() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        (&mut file).take(most + 1).read_to_end(&mut bytes).map_err(|error| host_error("read", &place, &error))?;
        if bytes.len() as u64 > most {
            return Err(HostError::TooLarge(format!("{place} has more than {most} bytes")));
        }
        Ok(Some(bytes))
    }

    /// The length of a file; `None` where there is none. Anything but a plain file is refused.
    pub(super) fn file_len(&self, name: &str) -> Result<Option<u64>, HostError> {
        Ok(self.plain_file(name)?.map(|found| found.len()))
    }

    fn plain_file(&self, name: &str) -> Result<Option<Metadata>, HostError> {
        let place = self.place(name);
        match self.dir.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(host_error("look at", &place, &error)),
            Ok(found) if found.is_file() => Ok(Some(found)),
            Ok(found) => {
                let kind = kind_of(&found);
                Err(HostError::Denied(format!("{place} is {kind} and not a plain file: move it away")))
            }
        }
    }

    /// Replaces a file as a whole: the old one or the new one stands there, after a power cut too.
    pub(super) fn replace(&self, name: &str, parts: &[&[u8]]) -> Result<(), HostError> {
        self.put(name, parts, true)?;
        self.sync()
    }

    /// The same without waiting for the disk: whoever dies, the old one or the new one stands there; after a power cut it
    /// may be neither, so what is read back must prove itself.
    pub(super) fn replace_in_cache(&self, name: &str, parts: &[&[u8]]) -> Result<(), HostError> {
        self.put(name, parts, false)
    }

    fn put(&self, name: &str, parts: &[&[u8]], durable: bool) -> Result<(), HostError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let place = self.place(name);
        let before = self.plain_file(name)?;
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let unfinished = format!("{UNFINISHED}{}-{count}", std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let written = self.open(&unfinished, options, "write").and_then(|mut file| {
            // Who may read it stays the user's choice.
            let readers = before.map_or(Ok(()), |before| file.set_permissions(before.permissions()));
            let all = readers.and_then(|()| parts.iter().try_for_each(|part| file.write_all(part)));
            let all = all.and_then(|()| if durable { file.sync_all() } else { Ok(()) });
            all.map_err(|error| host_error("write", &place, &error))
        });
        let renamed = written.and_then(|()| {
            self.dir.rename(&unfinished, &self.dir, name).map_err(|error| host_error("replace", &place, &error))
        });
        if let Err(error) = renamed {
            // Best effort: the next writer removes it too.
            if let Err(left) = self.dir.remove_file(&unfinished)
                && left.kind() != ErrorKind::NotFound
            {
                return Err(HostError::Failed(format!("{error}; {} was left behind: {left}", self.place(&unfinished))));
            }
            return Err(error);
        }
        Ok(())
    }

    /// Keeps a file under another name in another folder too, durably, without writing it anew where the file system can.
    pub(super) fn keep_as(&self, name: &str, folder: &Folder, kept: &str, bytes: &[u8]) -> Result<(), HostError> {
        self.file_len(name)?;
        match self.dir.hard_link(name, &folder.dir, kept) {
            Ok(()) => folder.sync(),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            // A file system without links, or a file that changed hands: its bytes are at hand.
            Err(_) => folder.replace(kept, &[bytes]),
        }
    }

    /// Appends to a file in one write. Room is reserved first, so a full disk leaves no half entry.
    pub(super) fn append(&self, name: &str, bytes: &[u8]) -> Result<(), HostError> {
        let place = self.place(name);
        let new = self.file_len(name)?.is_none();
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let mut file = self.open(name, options, "append to")?;
        reserve(&file, bytes.len() as u64).map_err(|error| host_error("append to", &place, &error))?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(|error| host_error("append to", &place, &error))?;
        if new { self.sync() } else { Ok(()) }
    }

    /// Removes a file durably, if it stands there.
    pub(super) fn remove(&self, name: &str) -> Result<(), HostError> {
        if self.remove_in_cache(name)? { self.sync() } else { Ok(()) }
    }

    /// The same without waiting for the disk; tells whether it stood there.
    pub(super) fn remove_in_cache(&self, name: &str) -> Result<bool, HostError> {
        if self.file_len(name)?.is_none() {
            return Ok(false);
        }
        match self.dir.remove_file(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(host_error("remove", &self.place(name), &error)),
            Ok(()) => Ok(true),
        }
    }

    /// Removes a folder if it is empty.
    pub(super) fn remove_folder(&self, name: &str) -> Result<(), HostError> {
        match self.dir.remove_dir(name) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => Ok(()),
            Err(error) => Err(host_error("remove", &self.place(name), &error)),
            Ok(()) => self.sync(),
        }
    }

    /// The plain files in it with their lengths, by name. What a killed writer left is not listed.
    pub(super) fn files(&self) -> Result<Vec<(String, u64)>, HostError> {
        let failed = |error: &io::Error| host_error("list", &self.label, error);
        let mut found = Vec::new();
        for entry in self.dir.entries().map_err(|error| failed(&error))? {
            let entry = entry.map_err(|error| failed(&error))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let metadata = match entry.metadata() {
                // Readers take no lock: another gateway may have removed it since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                metadata => metadata.map_err(|error| failed(&error))?,
            };
            if metadata.is_file() && !name.starts_with(UNFINISHED) {
                found.push((name, metadata.len()));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Removes what killed writers left. Only under the lock: a living writer's file looks the same.
    pub(super) fn sweep(&self) -> Result<(), HostError> {
        let failed = |error: &io::Error| host_error("list", &self.label, error);
        for entry in self.dir.entries().map_err(|error| failed(&error))? {
            let name = entry.map_err(|error| failed(&error))?.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
                self.dir.remove_file(&name).map_err(|error| failed(&error))?;
            }
        }
        Ok(())
    }

    /// Waits until no other writer holds this folder.
    pub(super) fn lock(&self, name: &str) -> Result<Lock, HostError> {
        let place = self.place(name);
        self.file_len(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        let file = self.open(name, options, "lock")?.into_std();
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(LOCK_POLL),
                Err(std::fs::TryLockError::WouldBlock) => {
                    let wait = LOCK_WAIT.as_secs();
                    return Err(HostError::Failed(format!("{place}: another process held it for {wait} s")));
                }
                Err(std::fs::TryLockError::Error(error)) => return Err(host_error("lock", &place, &error)),
            }
        }
    }

    /// Opens a plain file; a link, a pipe or a device is refused even if it was put there a moment ago.
    fn open(&self, name: &str, mut options: OpenOptions, doing: &str) -> Result<File, HostError> {
        let place = self.place(name);
        options.follow(FollowSymlinks::No);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            // A pipe without a reader must not make the gateway wait. The number is the same for these systems'
            // every architecture that Rust's tier 1 has.
            const NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 0x0004 };
            options.custom_flags(NONBLOCK);
            // Notes quote conversations: what is made here is the user's alone.
            options.mode(0o600);
        }
        let file = self.dir.open_with(name, &options).map_err(|error| host_error(doing, &place, &error))?;
        let metadata = file.metadata().map_err(|error| host_error(doing, &place, &error))?;
        if metadata.is_file() {
            return Ok(file);
        }
        Err(HostError::Denied(format!("{place} is {} and not a plain file: move it away", kind_of(&metadata))))
    }

    fn sync(&self) -> Result<(), HostError> {
        #[cfg(unix)]
        {
            let failed = |error: &io::Error| host_error("sync", &self.label, error);
            let folder = self.dir.open(".").map_err(|error| failed(&error))?;
            folder.sync_all().map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}

/// What conversations leave behind is the user's alone, unless a folder stood there before.
fn closed_folder() -> DirBuilder {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Asks the file system for room behind the end, where it can tell.
fn reserve(file: &File, more: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        let len = file.metadata()?.len();
        match fallocate(file, FallocateFlags::KEEP_SIZE, len, more) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _unused = (file, more);
    Ok(())
}

/// What an entry adds to a note.
pub(super) struct Addition {
    pub bytes: Vec<u8>,
    pub already_there: bool,
}

/// What must be appended so that the entry stands in the note once, whatever the note ends with.
pub(super) fn add_to_note(note: &[u8], text: &str, mark: &str) -> Addition {
    if note.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_end() == mark.as_bytes()) {
        return Addition { bytes: Vec::new(), already_there: true };
    }
    let mut bytes = Vec::with_capacity(text.len() + 8);
    let last_line = note.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    if !last_line.is_empty() {
        // A comment that was cut off would hide the next entry from a reader.
        if is_open_comment(last_line) {
            bytes.extend_from_slice(b" -->");
        }
        bytes.push(b'\n');
        let closed = last_line.trim_ascii_end().iter().chain(b" -->");
        if closed.eq(mark.as_bytes()) {
            return Addition { bytes, already_there: true };
        }
    }
    let blank = last_line.is_empty() && (note.is_empty() || note.ends_with(b"\n\n") || note.ends_with(b"\n\r\n"));
    if !blank {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(text.as_bytes());
    Addition { bytes, already_there: false }
}

fn is_open_comment(line: &[u8]) -> bool {
    let last = |part: &[u8]| line.windows(part.len()).rposition(|window| window == part);
    match (last(b"<!--"), last(b"-->")) {
        (Some(open), Some(close)) => open > close,
        (open, _) => open.is_some(),
    }
}

fn kind_of(metadata: &Metadata) -> &'static str {
    if metadata.is_symlink() {
        "a symbolic link"
    } else if metadata.is_dir() {
        "a folder"
    } else if metadata.is_file() {
        "a file"
    } else {
        "a pipe, socket or device"
    }
}

/// An error of the system in the words of the contract, with the place and what to do.
pub(super) fn host_error(doing: &str, place: &str, error: &io::Error) -> HostError {
    /// ELOOP where a link was not followed, on Linux and on the BSDs.
    const LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };
    let what = format!("cannot {doing} {place}: {error}");
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            HostError::Denied(format!("{what}; make it writable for the gateway's user"))
        }
        ErrorKind::NotADirectory => HostError::Denied(format!("{what}; a file or link stands where a folder should")),
        _ if error.raw_os_error() == Some(LOOP) => {
            HostError::Denied(format!("{what}; links are not followed, move it away"))
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            HostError::Full(format!("{what}; make room and try again"))
        }
        _ => HostError::Failed(what),
    }
}
