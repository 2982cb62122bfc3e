//! The component and its open file.

use crate::layout::Layout;
use crate::params::{Settings, tell};
use crate::sys::{Ioctls, LATER_LAYOUT, Layouts, layout_of};
use oxmpi_fs::{Description, Facts, File, Fs, FsModule, LockKind, Locked, Opening, Range, keeps};
use oxmpi_fs_support::mounts::Kept;
use oxmpi_fs_support::{PosixFile, params, unlink};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::path::Path;

/// The number that `statfs` answers.
const MAGIC: u64 = 0x0bd0_0bd0;

pub struct LustreComponent;

impl Component for LustreComponent {
    type Module = FsModule;
    const NAME: &'static str = "lustre";

    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FsModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fs::module(Lustre { settings, layouts: Ioctls })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers);
        Ok(())
    }
}

/// The component of one instance.
struct Lustre<L> {
    settings: Settings,
    layouts: L,
}

impl<L: Layouts> Lustre<L> {
    /// The layout that is asked for a new file.
    fn wanted(&self, how: &Opening<'_>) -> Layout {
        let or = |hint: u64, parameter: u64| if hint != 0 { hint } else { parameter };
        let devices = or(how.striping_factor.into(), self.settings.stripe_width.into());
        Layout {
            stripe_size: or(how.striping_unit, self.settings.stripe_size),
            devices: devices as u32,
            first: how.first_device,
        }
    }

    /// Tells what the mount keeps.
    fn kept(&self, facts: &Facts<'_>, has_locks: bool) -> Kept {
        let kept = Kept::everything();
        let all = keeps::LOCKS_HERE | keeps::LOCKS;
        if !self.settings.locks {
            return kept.without(all, params::because("fs_lustre_lock_algorithm"));
        }
        if !has_locks {
            return kept.without(
                all,
                "the Lustre mount has no locks (its option noflock, or none of flock and localflock)",
            );
        }
        if facts.has_option("flock") {
            return kept;
        }
        let because = match facts.has_option("localflock") {
            true => "the mount's option localflock keeps locks to each node",
            false => "the Lustre mount does not have the option flock",
        };
        kept.without(keeps::LOCKS, because)
    }
}

impl<L: Layouts> Fs for Lustre<L> {
    type File = LustreFile;

    fn query(&self, facts: &Facts<'_>) -> Option<i32> {
        let serves = facts.named || facts.magic == MAGIC || facts.fs_type == b"lustre";
        serves.then_some(self.settings.priority)
    }

    fn open(&self, how: &Opening<'_>) -> Result<LustreFile, Status> {
        let layout = if how.create { self.wanted(how).encode() } else { None };
        let mut file = PosixFile::open_with(how, if layout.is_some() { LATER_LAYOUT } else { 0 })?;
        if let Some(bytes) = layout {
            // A file that is there keeps its layout, and one that Lustre cannot have is a hint without effect: the one in force is told.
            let _ = self.layouts.set(file.fd(), &bytes);
        }
        let kept = self.kept(&how.facts, file.has_locks());
        if !self.settings.locks {
            file.forbid_locks();
        }
        let mut about = Description { keeps: kept.bits, because: kept.reason(), ..file.about() };
        if let Some(layout) = layout_of(&self.layouts, file.fd()) {
            about.striping_factor = layout.devices;
            about.striping_unit = layout.stripe_size;
            about.first_device = layout.first;
            about.block = layout.stripe_size.max(1);
        }
        Ok(LustreFile { file, about })
    }

    fn delete(&self, path: &Path) -> Result<(), Status> {
        unlink(path)
    }
}

struct LustreFile {
    file: PosixFile,
    about: Description,
}

impl File for LustreFile {
    fn about(&self) -> Description {
        self.about.clone()
    }
    fn close(self) -> Result<(), Status> {
        self.file.close()
    }
    fn length(&self) -> Result<u64, Status> {
        self.file.length()
    }
    fn resize(&self, bytes: u64) -> Result<(), Status> {
        self.file.resize(bytes)
    }
    fn preallocate(&self, bytes: u64) -> Result<(), Status> {
        self.file.preallocate(bytes)
    }
    fn sync(&self) -> Result<(), Status> {
        self.file.sync()
    }
    fn lock(&self, range: Range, kind: LockKind) -> Result<Locked, Status> {
        self.file.lock(range, kind)
    }
    fn unlock(&self, range: Range) -> Result<(), Status> {
        self.file.unlock(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_fs::Access;
    use std::os::fd::BorrowedFd;
    use std::sync::Mutex;

    /// Keeps what is set, and answers that a file has it.
    #[derive(Default)]
    struct Recorder {
        set: Mutex<Vec<Vec<u8>>>,
    }

    impl Layouts for Recorder {
        fn set(&self, _: BorrowedFd<'_>, bytes: &[u8]) -> Result<(), Status> {
            self.set.lock().expect("whole").push(bytes.to_vec());
            Ok(())
        }
        fn get(&self, _: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(), Status> {
            let set = self.set.lock().expect("whole");
            let last = set.last().ok_or(Status::NOT_FOUND)?;
            bytes[..last.len()].copy_from_slice(last);
            Ok(())
        }
    }

    fn lustre(locks: bool) -> Lustre<Recorder> {
        let settings = Settings { priority: 20, locks, stripe_size: 1 << 20, stripe_width: 0 };
        Lustre { settings, layouts: Recorder::default() }
    }

    fn opening(path: &Path, create: bool, factor: u32) -> Opening<'_> {
        Opening {
            facts: Facts { magic: MAGIC, ..Facts::unknown(path) },
            access: Access::Both,
            create,
            exclusive: false,
            permissions: 0o600,
            striping_factor: factor,
            striping_unit: 0,
            first_device: None,
            direct_read: false,
            direct_write: false,
        }
    }

    #[test]
    fn the_layout_of_a_new_file_is_set_once_and_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let lustre = lustre(true);
        let file = lustre.open(&opening(&path, true, 4)).expect("a file");
        let asked = Layout { stripe_size: 1 << 20, devices: 4, first: None }.encode().expect("something");
        assert_eq!(*lustre.layouts.set.lock().expect("whole"), [asked.to_vec()]);
        let about = file.about();
        assert_eq!((about.striping_factor, about.striping_unit, about.block), (4, 1 << 20, 1 << 20));
        // An open that does not create asks, and sets nothing.
        let again = lustre.open(&opening(&path, false, 9)).expect("a file");
        assert_eq!((again.about().striping_factor, lustre.layouts.set.lock().expect("whole").len()), (4, 1));
    }

    #[test]
    fn the_mount_decides_what_locks_do() {
        let path = Path::new("/x");
        let of = |options: &'static [u8], has_locks| {
            lustre(true).kept(&Facts { options, ..Facts::unknown(path) }, has_locks)
        };
        let both = keeps::LOCKS_HERE | keeps::LOCKS;
        assert_eq!(of(b"rw,flock,lazystatfs", true).bits & both, both);
        for (options, named) in [(&b"rw,localflock"[..], "localflock"), (b"rw", "flock")] {
            let kept = of(options, true);
            assert_eq!(kept.bits & both, keeps::LOCKS_HERE);
            assert!(kept.reason().contains(named), "{}", kept.reason());
        }
        let kept = of(b"rw,noflock", false);
        assert!(kept.bits & both == 0 && kept.reason().contains("noflock"));
        assert_eq!(lustre(false).kept(&Facts::unknown(path), true).bits & both, 0);
    }
}
