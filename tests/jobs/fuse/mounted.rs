//! A mount that goes with the handle, and with the process if that is killed (`auto_unmount` of fusermount).

use super::served::{Behaviour, Served};
use fuser::{BackgroundSession, Config, MountOption, SessionACL};
use oxmpi_tests::{in_path, leave_out};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A mounted file system.
pub struct Mounted {
    session: Option<BackgroundSession>,
    folder: TempDir,
}

/// Whether file systems can be mounted here; if not, the test's reason is told.
pub fn can_mount(test: &str) -> bool {
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse");
    let why = match device {
        Err(why) => format!("/dev/fuse cannot be opened: {why}"),
        Ok(_) if !in_path("fusermount3") && !in_path("fusermount") => "there is no fusermount".to_owned(),
        Ok(_) => return true,
    };
    leave_out(test, &why);
    false
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
        let program = if in_path("fusermount3") { "fusermount3" } else { "fusermount" };
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
