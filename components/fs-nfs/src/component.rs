//! The component and its open file.

use crate::far_lock::{keep_bytes_apart, parts_around};
use crate::mount::{is_nfs, kept};
use crate::params::{LOCK_ALGORITHM, Settings};
use oxmpi_fs::{Access, Description, Facts, File, Fs, FsModule, LockKind, Locked, Opening, Range, keeps};
use oxmpi_fs_support::{PosixFile, forget, params, unlink};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::path::Path;

/// Pages are kept in groups of up to so many bytes, and a group goes as a whole or not at all.
const GROUP: u64 = 2 << 20;

pub struct NfsComponent;

impl Component for NfsComponent {
    type Module = FsModule;
    const NAME: &'static str = "nfs";

    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FsModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fs::module(Nfs { settings })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        params::tell(params, LOCK_ALGORITHM, answers);
        Ok(())
    }
}

/// The component of one instance.
struct Nfs {
    settings: Settings,
}

impl Fs for Nfs {
    type File = NfsFile;

    fn query(&self, facts: &Facts<'_>) -> Option<i32> {
        (facts.named || is_nfs(facts)).then_some(self.settings.priority)
    }

    fn open(&self, how: &Opening<'_>) -> Result<NfsFile, Status> {
        let mut file = PosixFile::open(how)?;
        let mut kept = kept(&how.facts, file.has_locks());
        if !self.settings.locks {
            file.forbid_locks();
            let of_locks = keeps::LOCKS_HERE | keeps::LOCKS | keeps::LOCK_REVALIDATES;
            kept = kept.without(of_locks, params::because("fs_nfs_lock_algorithm"));
        }
        if how.access != Access::Read && file.has_locks() {
            keep_bytes_apart(&file, how.access)?;
        }
        let about = Description { keeps: kept.bits, because: kept.reason(), ..file.about() };
        Ok(NfsFile { file, about })
    }

    fn delete(&self, path: &Path) -> Result<(), Status> {
        unlink(path)
    }
}

struct NfsFile {
    file: PosixFile,
    about: Description,
}

/// The whole groups of pages around a range; a length of 0 reaches to the end.
fn groups(range: Range) -> Range {
    let offset = range.offset - range.offset % GROUP;
    let end = range.offset.checked_add(range.len).and_then(|end| end.checked_next_multiple_of(GROUP));
    match end {
        Some(end) if range.len > 0 && end <= i64::MAX as u64 => Range { offset, len: end - offset },
        _ => Range { offset, len: 0 },
    }
}

impl File for NfsFile {
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
        self.file.sync()?;
        self.refresh(Range { offset: 0, len: 0 })
    }
    fn lock(&self, range: Range, kind: LockKind) -> Result<Locked, Status> {
        let [before, behind] = parts_around(range);
        if let Some(behind) = behind
            && self.file.lock(behind, kind)? == Locked::Excluded
        {
            return Ok(Locked::Excluded);
        }
        let Some(before) = before else { return Ok(Locked::Taken) };
        let locked = self.file.lock(before, kind);
        if let (Some(behind), Ok(Locked::Excluded) | Err(_)) = (behind, &locked) {
            self.file.unlock(behind)?;
        }
        locked
    }
    fn unlock(&self, range: Range) -> Result<(), Status> {
        parts_around(range).into_iter().flatten().try_for_each(|part| self.file.unlock(part))
    }

    /// To ask for the length asks the server for the attributes, by which the system sees that the file has changed. Pages are dropped all the same: a change within one tick of the
    /// server's clock cannot be seen in its attributes.
    fn refresh(&self, range: Range) -> Result<(), Status> {
        self.file.length()?;
        let Range { offset, len } = groups(range);
        forget(self.file.fd(), offset, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_pages_are_whole() {
        let of = |offset, len| {
            let range = groups(Range { offset, len });
            (range.offset, range.len)
        };
        assert_eq!(of(0, 1), (0, GROUP));
        assert_eq!(of(GROUP - 1, 2), (0, 2 * GROUP));
        assert_eq!(of(3 * GROUP, GROUP), (3 * GROUP, GROUP));
        assert_eq!(of(5, 0), (0, 0));
        assert_eq!(of(GROUP + 5, u64::MAX), (GROUP, 0));
    }
}
