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
/// Bytes that are tried. Each is free but for one time in some millions.
const TRIES: u32 = 8;

/// Locks a byte for as long as the file is open. Where the file system refuses it, nothing is locked: then it has no locks, which its user is told otherwise.
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
