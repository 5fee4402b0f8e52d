//! The user's cache folder: compiled code and what scans found. Both are closed to other users of the machine: compiled
//! code is run, and what was found quotes conversations.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why nothing is kept.
#[derive(Debug)]
pub enum CacheError {
    /// Neither `XDG_CACHE_HOME` nor `HOME` names a folder.
    Nowhere,
    /// The folder cannot be made or looked at.
    Unusable(PathBuf, io::Error),
    /// Somebody else could have put something there.
    Open(PathBuf, String),
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheError::Nowhere => f.write_str("neither XDG_CACHE_HOME nor HOME is the absolute path of a folder"),
            CacheError::Unusable(path, error) => write!(f, "{} cannot be used: {error}", path.display()),
            CacheError::Open(path, why) => write!(
                f,
                "{} is not used: {why}. Remove it, or take the right to write from others, or set XDG_CACHE_HOME to a \
                 folder of your own",
                path.display()
            ),
        }
    }
}

impl std::error::Error for CacheError {}

/// A folder of this name for this program, made where there is none.
pub fn folder(name: &str) -> Result<PathBuf, CacheError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let folder = base.ok_or(CacheError::Nowhere)?.join("compact-review").join(name);
    close(&folder)
}

/// Makes a folder that no other user can enter, or sees to it that it is one. One that others could write to is
/// refused: what stands there now may be theirs. Gives its real path, on which no link can be exchanged.
pub fn close(folder: &Path) -> Result<PathBuf, CacheError> {
    let unusable = |error| CacheError::Unusable(folder.to_path_buf(), error);
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(unusable)?;
    let real = folder.canonicalize().map_err(unusable)?;
    #[cfg(unix)]
    unix::close(&real)?;
    Ok(real)
}

#[cfg(unix)]
mod unix {
    use super::CacheError;
    use std::fs::{Metadata, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    const ROOT: u32 = 0;
    const GROUP_WRITES: u32 = 0o020;
    const OTHERS_WRITE: u32 = 0o002;
    /// In such a folder everybody may make names, but nobody may move or remove those of others: `/tmp`.
    const STICKY: u32 = 0o1000;

    /// `folder` is its real path: no part of it is a link.
    pub(super) fn close(folder: &Path) -> Result<(), CacheError> {
        let me = rustix::process::geteuid().as_raw();
        for part in folder.ancestors() {
            let unusable = |error| CacheError::Unusable(part.to_path_buf(), error);
            let data = std::fs::metadata(part).map_err(unusable)?;
            if let Some(why) = who_else(&data, me, part == folder) {
                return Err(CacheError::Open(part.to_path_buf(), why));
            }
            if part == folder && data.mode() & 0o077 != 0 {
                std::fs::set_permissions(part, Permissions::from_mode(0o700)).map_err(unusable)?;
            }
        }
        Ok(())
    }

    /// Who else could put another thing in the place of what stands in this folder.
    fn who_else(data: &Metadata, me: u32, last: bool) -> Option<String> {
        let (owner, mode) = (data.uid(), data.mode());
        if owner != me && (last || owner != ROOT) {
            return Some(format!("it belongs to the user {owner}"));
        }
        if mode & OTHERS_WRITE != 0 && (last || mode & STICKY == 0) {
            return Some("every user may write to it".to_string());
        }
        // A group with the number of its owner is, by convention, the group of this user alone.
        if mode & GROUP_WRITES != 0 && data.gid() != owner && (last || mode & STICKY == 0) {
            return Some(format!("the group {} may write to it", data.gid()));
        }
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs::{Permissions, create_dir, metadata, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn made(base: &Path, name: &str, mode: u32) -> PathBuf {
        let folder = base.join(name);
        create_dir(&folder).unwrap();
        set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        folder
    }

    #[test]
    fn what_is_made_is_closed_to_others() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("a/b");
        close(&folder).unwrap();
        assert_eq!((mode(&folder), mode(&base.path().join("a"))), (0o700, 0o700));
    }

    #[test]
    fn a_folder_that_others_could_read_is_closed() {
        let base = tempfile::tempdir().unwrap();
        let folder = made(base.path(), "a", 0o755);
        close(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
    }

    #[test]
    fn a_folder_that_others_could_write_to_is_refused_and_so_is_one_in_it() {
        let base = tempfile::tempdir().unwrap();
        let open = made(base.path(), "a", 0o777);
        for folder in [open.clone(), open.join("b")] {
            let error = close(&folder).unwrap_err().to_string();
            assert!(error.contains("/a is not used: every user may write to it. Remove it"), "{error}");
        }
        assert_eq!(mode(&open), 0o777, "whoever opened it may have had a reason");
    }

    #[test]
    fn a_folder_in_a_shared_one_is_fine_where_names_cannot_be_moved() {
        let base = tempfile::tempdir().unwrap();
        let shared = made(base.path(), "tmp", 0o1777);
        close(&shared.join("b")).unwrap();
        assert!(close(&shared).is_err(), "but not the shared one itself");
    }

    #[test]
    fn a_link_is_judged_by_what_it_points_to() {
        let base = tempfile::tempdir().unwrap();
        let open = made(base.path(), "open", 0o777);
        symlink(&open, base.path().join("link")).unwrap();
        assert!(matches!(close(&base.path().join("link")), Err(CacheError::Open(..))));
    }
}
