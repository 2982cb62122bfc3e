//! Locked ranges of one file in this process, before the file system's.
//!
//! Locks of a file system are of open file descriptions and do not exclude threads that share one. So a range is first taken here, where any overlap excludes, and then from the
//! file system, which is asked again and again while another process has it: it tells nobody when that ends.
//!
//! **Data under a lock.** On several nodes a file system may exclude by its locks and still have each node keep data of its own. Where neither the file system is coherent nor its locks
//! carry the data (NFS's do), the one who has taken a range has it read anew, and a writer writes everything out before it gives the range back.

use super::serve::OnDisk;
use oxmpi_fs::{Range, keeps, lock};
use oxmpi_mca::Status;
use oxmpi_system::locks::Mutex;

/// The ranges that accesses of this file have.
#[derive(Default)]
pub(super) struct Locks {
    held: Mutex<Vec<Range>>,
    /// Data has to be carried to other nodes by whoever has a range.
    carries: bool,
}

/// Whether two ranges have a byte in common.
fn overlap(a: &Range, b: &Range) -> bool {
    let end = |r: &Range| if r.len == 0 { u64::MAX } else { r.offset.saturating_add(r.len) };
    a.offset < end(b) && b.offset < end(a)
}

impl Locks {
    /// For a file that ranks of so many nodes have open, of which this is kept (bits of `keeps`).
    pub(super) fn new(kept: u32, num_nodes: u32) -> Locks {
        let carried = kept & (keeps::COHERENT | keeps::LOCK_REVALIDATES) != 0;
        Locks { held: Mutex::default(), carries: num_nodes > 1 && !carried }
    }

    /// Takes a range, unless somebody has a part of it (PENDING). Other failures are the file system's.
    pub(super) fn take(&self, disk: &OnDisk, range: &Range, kind: u32) -> Status {
        {
            let mut held = self.held.lock();
            if held.iter().any(|other| overlap(other, range)) {
                return Status::PENDING;
            }
            held.push(*range);
        }
        let mut status = disk.lock(range, kind);
        if status == Status::OK && self.carries {
            status = disk.refresh(range);
            if status.is_err() {
                let _ = disk.unlock(range);
            }
        }
        if status != Status::OK {
            self.forget(range);
        }
        status
    }

    /// Gives a range of that kind back.
    pub(super) fn give(&self, disk: &OnDisk, range: &Range, kind: u32) -> Status {
        let written = if self.carries && kind == lock::EXCLUSIVE { disk.sync() } else { Status::OK };
        let status = disk.unlock(range);
        self.forget(range);
        if written.is_err() { written } else { status }
    }

    /// Takes a range off the list.
    fn forget(&self, range: &Range) {
        let mut held = self.held.lock();
        if let Some(at) = held.iter().position(|other| other == range) {
            held.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_void;
    use oxmpi_fs::{FsFile, FsModule, FsTable, OpenFile, PathFacts};
    use oxmpi_loading::accept::FsComponent;
    use oxmpi_mca::StrRef;
    use std::cell::RefCell;
    use std::ptr::null_mut;

    #[test]
    fn ranges_overlap_where_they_share_a_byte() {
        let range = |offset, len| Range { offset, len };
        assert!(overlap(&range(0, 10), &range(9, 1)) && !overlap(&range(0, 10), &range(10, 5)));
        assert!(overlap(&range(100, 0), &range(u64::MAX - 1, 1)), "0 is up to the end");
        assert!(!overlap(&range(100, 0), &range(0, 100)));
    }
    thread_local! {
        static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    fn called(what: &'static str) -> Status {
        CALLS.with_borrow_mut(|calls| calls.push(what));
        Status::OK
    }

    fn calls() -> Vec<&'static str> {
        CALLS.with_borrow_mut(std::mem::take)
    }

    extern "C" fn open(_: *mut c_void, _: *const OpenFile, _: *mut FsFile) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn one(_: *mut c_void) -> Status {
        called("sync")
    }
    extern "C" fn delete(_: *mut c_void, _: StrRef) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn length(_: *mut c_void, _: *mut u64) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn sized(_: *mut c_void, _: u64) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn lock_range(_: *mut c_void, _: *const Range, _: u32) -> Status {
        called("lock")
    }
    extern "C" fn unlock(_: *mut c_void, _: *const Range) -> Status {
        called("unlock")
    }
    extern "C" fn refresh(_: *mut c_void, _: *const Range) -> Status {
        called("refresh")
    }
    extern "C" fn query(_: *mut c_void, _: *const PathFacts, _: *mut i32) -> Status {
        Status::NOT_AVAILABLE
    }
    extern "C" fn finalize(_: *mut c_void) {}

    static TABLE: FsTable = FsTable {
        size: size_of::<FsTable>() as u32,
        version: oxmpi_fs::TABLE_VERSION,
        open,
        close: one,
        delete,
        length,
        resize: sized,
        preallocate: sized,
        sync: one,
        lock: lock_range,
        unlock,
        refresh,
    };

    /// Takes and gives a range on a file system that keeps this, for a reader and for a writer: the calls of both.
    fn carried(keeps: u32, num_nodes: u32) -> [Vec<&'static str>; 2] {
        let module = FsModule {
            size: size_of::<FsModule>() as u32,
            reserved: 0,
            state: null_mut(),
            table: &TABLE,
            query,
            finalize,
        };
        let disk = OnDisk::of_test(FsComponent { name: "test", module, table: TABLE }, keeps);
        let locks = Locks::new(keeps, num_nodes);
        let range = Range { offset: 5, len: 7 };
        [lock::SHARED, lock::EXCLUSIVE].map(|kind| {
            assert_eq!(locks.take(&disk, &range, kind), Status::OK);
            assert_eq!(locks.take(&disk, &range, kind), Status::PENDING, "it is held");
            assert_eq!(locks.give(&disk, &range, kind), Status::OK);
            calls()
        })
    }

    #[test]
    fn data_is_carried_where_locks_do_not() {
        let plain = [vec!["lock", "unlock"], vec!["lock", "unlock"]];
        assert_eq!(carried(keeps::LOCKS | keeps::COHERENT, 2), plain);
        assert_eq!(carried(keeps::LOCKS | keeps::LOCK_REVALIDATES, 2), plain);
        assert_eq!(carried(keeps::LOCKS, 1), plain, "one node sees its own data");
        let by_hand = [vec!["lock", "refresh", "unlock"], vec!["lock", "refresh", "sync", "unlock"]];
        assert_eq!(carried(keeps::LOCKS, 2), by_hand);
    }
}
