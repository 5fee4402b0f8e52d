//! A small disk that really fills up and really becomes read-only: a file system in memory.
//!
//! Mounting needs a mount namespace. The soak starts itself again in one, so the mount is gone with the process, however
//! that ends. Where no namespace is allowed, the store plays these faults, and the report says so.

use anyhow::{Context, Result, ensure};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Room for the notes of a long run, filled up in some milliseconds.
const SIZE: &str = "size=48m";
/// A `mount` takes so long at most, on a machine that has no time for it.
const MOUNTS_WITHIN: Duration = Duration::from_secs(60);
const FILLER: &str = "filler";
const IN_NAMESPACE: &str = "SOAK_IN_MOUNT_NAMESPACE";

/// The command that runs something in a mount namespace: of its own right, or as root of a user namespace.
fn namespace() -> Option<Vec<&'static str>> {
    let ways = [vec!["--mount"], vec!["--user", "--map-root-user", "--mount"]];
    ways.into_iter().find(|way| {
        let probe = Command::new("unshare").args(way).arg("true").output();
        probe.is_ok_and(|output| output.status.success())
    })
}

/// Starts this program again where it may mount; gives its exit code. `None` where this is that place already, or where
/// there is none.
pub fn again_in_namespace() -> Option<i32> {
    if std::env::var_os(IN_NAMESPACE).is_some() {
        return None;
    }
    let way = namespace()?;
    let status = Command::new("unshare")
        .args(way)
        .arg(std::env::current_exe().ok()?)
        .args(std::env::args_os().skip(1))
        .env(IN_NAMESPACE, "1")
        .status()
        .ok()?;
    Some(status.code().unwrap_or(2))
}

/// Mounts a small disk there; an error says why there is none.
pub fn mount(place: &Path) -> Result<()> {
    ensure!(std::env::var_os(IN_NAMESPACE).is_some(), "no mount namespace is allowed here (`unshare --mount`)");
    run("mount", &["-t", "tmpfs", "-o", SIZE, "tmpfs"], place)
}

/// Unmounts it.
pub fn unmount(place: &Path) -> Result<()> {
    run("umount", &[], place)
}

fn run(command: &str, arguments: &[&str], place: &Path) -> Result<()> {
    let output =
        Command::new(command).args(arguments).arg(place).output().with_context(|| format!("no `{command}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command} {arguments:?} {}: {}", place.display(), said.trim());
    Ok(())
}

/// A small disk in trouble, for as long as this lives.
pub struct Trouble<'a> {
    place: &'a Path,
}

impl Trouble<'_> {
    /// Fills it to the last byte.
    pub fn full(place: &Path) -> Result<Trouble<'_>> {
        let trouble = Trouble { place };
        let mut filler = File::create(filler(place))?;
        for block in [1 << 20, 4096, 512, 1] {
            let bytes = vec![0; block];
            while filler.write_all(&bytes).is_ok() {}
        }
        Ok(trouble)
    }

    /// Takes away the right to write. Nothing may be open for writing on it.
    pub fn read_only(place: &Path) -> Result<Trouble<'_>> {
        let trouble = Trouble { place };
        run("mount", &["-o", "remount,ro"], place)?;
        Ok(trouble)
    }
}

impl Drop for Trouble<'_> {
    fn drop(&mut self) {
        heal(self.place);
    }
}

/// Waits until no `mount` is at work on it any more: one that a killed gateway had begun would take it away later.
pub fn wait_for_mounts(place: &Path) {
    let place = place.as_os_str().as_encoded_bytes();
    let at_work = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let commands = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        let mut mounts = commands.filter(|command| command.split(|byte| *byte == 0).next() == Some(b"mount"));
        mounts.any(|command| command.split(|byte| *byte == 0).any(|argument| argument == place))
    };
    let deadline = Instant::now() + MOUNTS_WITHIN;
    while at_work() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Makes it writable and takes the filler away: at the end of a trouble, and after a gateway was killed in one.
pub fn heal(place: &Path) {
    for _ in 0..50 {
        let probe = place.join("probe");
        let gone =
            std::fs::remove_file(filler(place)).err().is_none_or(|error| error.kind() == std::io::ErrorKind::NotFound);
        let writable =
            OpenOptions::new().create(true).append(true).open(&probe).and_then(|_| std::fs::remove_file(&probe));
        if gone && writable.is_ok() {
            return;
        }
        // What is wrong shows in the probe.
        drop(run("mount", &["-o", "remount,rw"], place));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn filler(place: &Path) -> PathBuf {
    place.join(FILLER)
}
