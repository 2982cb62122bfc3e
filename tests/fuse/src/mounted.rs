//! A mount that goes with the handle, and with the process if that is killed (`auto_unmount` of fusermount).

use crate::served::{Behaviour, Served};
use fuser::{BackgroundSession, Config, MountOption, SessionACL};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A mounted file system.
pub struct Mounted {
    session: Option<BackgroundSession>,
    folder: TempDir,
}

/// Looks whether file systems can be mounted here. `Err`: the reason why not.
pub fn can_mount() -> Result<(), String> {
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse");
    device.map_err(|why| format!("/dev/fuse cannot be opened: {why}"))?;
    helper().map(drop).ok_or_else(|| "there is no fusermount".to_owned())
}

/// The program that unmounts. `None`: there is none.
fn helper() -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    ["fusermount3", "fusermount"].into_iter().find(is_there)
}

impl Mounted {
    /// Mounts a file system in a folder of its own.
    pub fn new(behaviour: impl Behaviour) -> Mounted {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::default();
        config.mount_options = vec![MountOption::AutoUnmount, MountOption::FSName("oxmpi-tests".into())];
        // The helper that unmounts wants it.
        config.acl = SessionACL::All;
        let session = fuser::spawn_mount(Served::new(behaviour), folder.path(), &config);
        let session = session.unwrap_or_else(|why| panic!("{}: {why}", folder.path().display()));
        Mounted { session: Some(session), folder }
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Its helper unmounts when the last copy of a socket is closed, and helpers of later mounts have copies, too.
        drop(self.session.take());
        let program = helper().unwrap_or("fusermount");
        let _ = Command::new(program).args(["-u", "-z"]).arg(self.path()).stderr(Stdio::null()).status();
        let (until, at) = (Instant::now() + Duration::from_secs(60), self.path().to_owned());
        while is_mounted(&at) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        if is_mounted(&at) {
            eprintln!("{} was still mounted after a minute", at.display());
        }
    }
}

fn is_mounted(at: &Path) -> bool {
    let Ok(at) = at.canonicalize() else { return false };
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().filter_map(|line| line.split(' ').nth(1)).any(|point| Path::new(point) == at)
}
