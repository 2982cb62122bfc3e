//! A lock far behind the end of the file, by which the bytes of a page stay those of the nodes that wrote them.
//!
//! The system may send a whole page where a few bytes of it were written, with the rest as this node read it some time ago: what other nodes have written into the same page since is lost.
//! Linux does so only while no process of the node has locked a part of the file. So each process that opens a file for writing has a byte locked that no access ever reaches.

use oxmpi_fs::{Access, LockKind, Locked, Range};
use oxmpi_fs_support::PosixFile;
use oxmpi_mca::Status;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// The byte of those who may share a lock; those who may not take one behind it.
const FAR: u64 = 1 << 62;
/// Bytes of these.
const CHOICE: u64 = 1 << 40;
/// The first byte behind all of these.
const BEHIND: u64 = FAR + 1 + CHOICE;
/// Bytes that are tried. Each is free but for one time in some millions.
const TRIES: u32 = 8;

/// The parts of a range before and behind the bytes that processes have locked while a file is open, which no other lock is to meet.
pub fn parts_around(range: Range) -> [Option<Range>; 2] {
    let Range { offset, len } = range;
    let end = if len == 0 { u64::MAX } else { offset.saturating_add(len) };
    let before = (offset < FAR).then(|| Range { offset, len: end.min(FAR) - offset });
    let behind = (end > BEHIND).then(|| {
        let offset = offset.max(BEHIND);
        Range { offset, len: if len == 0 { 0 } else { end - offset } }
    });
    [before, behind]
}

/// Locks a byte for as long as the file is open. Where the file system refuses locks, nothing is locked, and the open file says that it has none.
pub fn keep_bytes_apart(file: &PosixFile, access: Access) -> Result<(), Status> {
    for turn in 0..TRIES {
        let offset =
            if access == Access::Both { FAR } else { FAR + 1 + RandomState::new().hash_one(turn) % CHOICE };
        match file.lock(Range { offset, len: 1 }, LockKind::Shared) {
            Ok(Locked::Excluded) => {}
            Ok(Locked::Taken) | Err(Status::NOT_SUPPORTED) => return Ok(()),
            Err(status) => return Err(status),
        }
    }
    Err(Status::NO_RESOURCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_what_is_locked_while_files_are_open() {
        let of =
            |offset, len| parts_around(Range { offset, len }).map(|part| part.map(|r| (r.offset, r.len)));
        assert_eq!(of(5, 7), [Some((5, 7)), None]);
        assert_eq!(of(5, FAR), [Some((5, FAR - 5)), None]);
        assert_eq!(of(5, 0), [Some((5, FAR - 5)), Some((BEHIND, 0))]);
        assert_eq!(of(5, BEHIND), [Some((5, FAR - 5)), Some((BEHIND, 5))]);
        assert_eq!(of(FAR, 3), [None, None]);
        assert_eq!(of(BEHIND + 2, 3), [None, Some((BEHIND + 2, 3))]);
        assert_eq!(of(BEHIND + 2, 0), [None, Some((BEHIND + 2, 0))]);
    }
}
