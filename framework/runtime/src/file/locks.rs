//! Locked ranges of one file in this process, before the file system's.
//!
//! Locks of a file system are of open file descriptions and do not exclude threads that share one. So a range is first taken here, where any overlap excludes, and then from the
//! file system, which is asked again and again while another process has it: it tells nobody when that ends.

use super::serve::OnDisk;
use oxmpi_fs::Range;
use oxmpi_mca::Status;
use oxmpi_system::locks::Mutex;

/// The ranges that accesses of this file have.
#[derive(Default)]
pub(super) struct Locks {
    held: Mutex<Vec<Range>>,
}

/// Whether two ranges have a byte in common.
fn overlap(a: &Range, b: &Range) -> bool {
    let end = |r: &Range| if r.len == 0 { u64::MAX } else { r.offset.saturating_add(r.len) };
    a.offset < end(b) && b.offset < end(a)
}

impl Locks {
    /// Takes a range, unless somebody has a part of it (PENDING). Other failures are the file system's.
    pub(super) fn take(&self, disk: &OnDisk, range: &Range, kind: u32) -> Status {
        {
            let mut held = self.held.lock();
            if held.iter().any(|other| overlap(other, range)) {
                return Status::PENDING;
            }
            held.push(*range);
        }
        let status = disk.lock(range, kind);
        if status != Status::OK {
            self.forget(range);
        }
        status
    }

    /// Gives a range back.
    pub(super) fn give(&self, disk: &OnDisk, range: &Range) -> Status {
        let status = disk.unlock(range);
        self.forget(range);
        status
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

    #[test]
    fn ranges_overlap_where_they_share_a_byte() {
        let range = |offset, len| Range { offset, len };
        assert!(overlap(&range(0, 10), &range(9, 1)) && !overlap(&range(0, 10), &range(10, 5)));
        assert!(overlap(&range(100, 0), &range(u64::MAX - 1, 1)), "0 is up to the end");
        assert!(!overlap(&range(100, 0), &range(0, 100)));
    }
}
