//! Arguments of the table as authors see them: paths, options and hints by name.

use crate::table::{OpenFile, PathFacts, lock, mode};
use oxmpi_mca::{SliceRef, Status, StrRef};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The bytes of a text, which need not be UTF-8.
///
/// # Safety
/// The text is readable for the lifetime that the caller chooses.
unsafe fn bytes<'a>(text: StrRef) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { SliceRef { ptr: text.ptr, len: text.len }.get() }
}

/// Facts of a path before it is opened.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The user has named the component.
    pub named: bool,
    /// The path without prefix.
    pub path: &'a Path,
    /// Number of the file system's type (`statfs`); 0: not known.
    pub magic: u64,
    /// Type of the mount, as `/proc/self/mountinfo` has it; empty: not known.
    pub fs_type: &'a [u8],
    /// Device or server of the mount.
    pub source: &'a [u8],
    /// Options of the mount, joined by commas.
    pub options: &'a [u8],
}

impl<'a> Facts<'a> {
    /// A view of what the host knows.
    ///
    /// # Safety
    /// The texts of `facts` are readable for `'a`.
    pub unsafe fn new(facts: &'a PathFacts) -> Facts<'a> {
        // SAFETY: the caller's promise.
        unsafe {
            Facts {
                named: facts.named != 0,
                path: Path::new(OsStr::from_bytes(bytes(facts.path))),
                magic: facts.magic,
                fs_type: bytes(facts.fs_type),
                source: bytes(facts.source),
                options: bytes(facts.options),
            }
        }
    }

    /// The facts of a path of which nothing is known.
    pub fn unknown(path: &'a Path) -> Facts<'a> {
        Facts { named: false, path, magic: 0, fs_type: b"", source: b"", options: b"" }
    }

    /// True where this is one of the mount's options, as it stands there: `nolock`, `local_lock=all`.
    pub fn has_option(&self, option: &str) -> bool {
        self.options.split(|byte| *byte == b',').any(|other| other == option.as_bytes())
    }

    /// The value of an option: of `cache=none` that of `cache`.
    pub fn option(&self, name: &str) -> Option<&'a [u8]> {
        self.options
            .split(|byte| *byte == b',')
            .find_map(|option| option.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")))
    }
}

/// Directions in which a file is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// MPI_MODE_RDONLY.
    Read,
    /// MPI_MODE_WRONLY.
    Write,
    /// MPI_MODE_RDWR.
    Both,
}

/// The way in which a file is to be opened. Hints are 0 where nothing was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Facts of the path on this node.
    pub facts: Facts<'a>,
    /// The directions.
    pub access: Access,
    /// This process makes the file if there is none.
    pub create: bool,
    /// It fails where there is one (with `create`).
    pub exclusive: bool,
    /// Permissions of a new file, before the process's mask.
    pub permissions: u32,
    /// Devices to stripe a new file over.
    pub striping_factor: u32,
    /// Bytes of a stripe of a new file.
    pub striping_unit: u64,
    /// The first device of a new file.
    pub first_device: Option<u32>,
    /// Reads past the system's cache, where the file system can.
    pub direct_read: bool,
    /// Writes past it.
    pub direct_write: bool,
}

impl<'a> Opening<'a> {
    /// A view of what the host asks for. BAD_PARAM: not one of the three of access, or a path with a zero byte.
    ///
    /// # Safety
    /// `how` and what it points to are readable for `'a`.
    pub unsafe fn new(how: &'a OpenFile) -> Result<Opening<'a>, Status> {
        let access = match how.mode & (mode::RDONLY | mode::WRONLY | mode::RDWR) {
            mode::RDONLY => Access::Read,
            mode::WRONLY => Access::Write,
            mode::RDWR => Access::Both,
            _ => return Err(Status::BAD_PARAM),
        };
        // SAFETY: the caller's promise.
        let path = Path::new(OsStr::from_bytes(unsafe { bytes(how.path) }));
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(Status::BAD_PARAM);
        }
        // SAFETY: null, or the host's facts.
        let facts = unsafe { how.facts.as_ref().map(|facts| Facts::new(facts)) };
        Ok(Opening {
            facts: Facts { path, ..facts.unwrap_or(Facts::unknown(path)) },
            access,
            create: how.mode & mode::CREATE != 0,
            exclusive: how.mode & mode::EXCL != 0,
            permissions: how.permissions,
            striping_factor: how.striping_factor,
            striping_unit: how.striping_unit,
            first_device: how.first_device.checked_sub(1),
            direct_read: how.direct_read != 0,
            direct_write: how.direct_write != 0,
        })
    }
}

/// The path of a call. BAD_PARAM: one with a zero byte.
///
/// # Safety
/// The text is readable for the lifetime that the caller chooses.
pub(super) unsafe fn path<'a>(text: StrRef) -> Result<&'a Path, Status> {
    // SAFETY: the caller's promise.
    let path = unsafe { bytes(text) };
    if path.contains(&0) {
        return Err(Status::BAD_PARAM);
    }
    Ok(Path::new(OsStr::from_bytes(path)))
}

/// Kinds of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// For readers, who do not exclude each other.
    Shared,
    /// For a writer.
    Exclusive,
}

impl LockKind {
    /// The kind of a number of [`lock`].
    pub(super) fn of(number: u32) -> Result<LockKind, Status> {
        match number {
            lock::SHARED => Ok(LockKind::Shared),
            lock::EXCLUSIVE => Ok(LockKind::Exclusive),
            _ => Err(Status::BAD_PARAM),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_whole() {
        let options = b"rw,vers=3,nolock,local_lock=all,addr=10.0.0.1,cache=none";
        let facts = Facts { options, ..Facts::unknown(Path::new("/x")) };
        assert!(facts.has_option("nolock") && facts.has_option("local_lock=all"));
        assert!(!facts.has_option("lock") && !facts.has_option("local_lock"));
        assert_eq!(facts.option("local_lock"), Some(&b"all"[..]));
        assert_eq!((facts.option("nolock"), facts.option("local")), (None, None));
    }

    #[test]
    fn modes_and_paths_that_cannot_be_are_refused() {
        let how = |mode: u32, path: &'static str| OpenFile {
            size: size_of::<OpenFile>() as u32,
            mode,
            path: StrRef::new(path),
            permissions: 0,
            striping_factor: 0,
            striping_unit: 0,
            first_device: 0,
            direct_read: 0,
            direct_write: 0,
            reserved: 0,
            facts: core::ptr::null(),
        };
        for (mode, path) in [(0, "/x"), (mode::RDONLY | mode::RDWR, "/x"), (mode::RDWR, "/x\0y")] {
            let how = how(mode, path);
            // SAFETY: a static text.
            assert_eq!(unsafe { Opening::new(&how) }.err(), Some(Status::BAD_PARAM));
        }
        let how = how(mode::RDWR | mode::CREATE, "/x");
        // SAFETY: as above.
        let opening = unsafe { Opening::new(&how) }.expect("right");
        assert!(opening.create && !opening.exclusive && opening.access == Access::Both);
        assert_eq!((opening.facts.path, opening.first_device), (Path::new("/x"), None));
    }
}
