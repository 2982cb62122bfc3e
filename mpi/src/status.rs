//! Statuses: from what the runtime says to what the user reads, and the user's own changes.

use crate::call::memory::{read, to_user, write};
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call, call_any_time};
use crate::types::{Count, Datatype, Status};
use core::ffi::c_int;
use oxmpi_mca::MsgStatus;

impl Status {
    /// The standard's empty status.
    pub const EMPTY: Status =
        Status { source: MPI_ANY_SOURCE, tag: MPI_ANY_TAG, error: MPI_SUCCESS, internal: [0; 5] };

    pub fn bytes(&self) -> u64 {
        self.internal[0] as u32 as u64 | (self.internal[1] as u32 as u64) << 32
    }
    fn set_bytes(&mut self, bytes: u64) {
        self.internal[0] = bytes as u32 as c_int;
        self.internal[1] = (bytes >> 32) as u32 as c_int;
    }

    /// Fills `at` from what the runtime says; MPI_ERROR stays as it is, as the standard wants of all
    /// functions that return one status.
    ///
    /// # Safety
    /// `at` must be MPI_STATUS_IGNORE or point to a status.
    #[inline(always)]
    pub unsafe fn store(at: *mut Status, from: &MsgStatus) {
        if at.is_null() {
            return;
        }
        // SAFETY: the caller's promise.
        let at = unsafe { &mut *at };
        at.source = from.source;
        at.tag = from.tag;
        at.internal =
            [from.bytes as u32 as c_int, (from.bytes >> 32) as u32 as c_int, from.cancelled as c_int, 0, 0];
    }

    /// # Safety
    /// As `store`.
    pub unsafe fn store_error(at: *mut Status, error: c_int) {
        if !at.is_null() {
            // SAFETY: the caller's promise.
            unsafe { (*at).error = error };
        }
    }

    /// Stores a whole status, MPI_ERROR too: the empty status has MPI_SUCCESS in it (MPI 5.0 §3.7.3).
    ///
    /// # Safety
    /// As `store`.
    pub unsafe fn store_status(at: *mut Status, from: &Status) {
        if !at.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *at = *from };
        }
    }
}

/// Whole elements in a number of bytes, or `None`.
fn elements(bytes: u64, size: u64) -> Option<u64> {
    match (bytes, size) {
        (0, _) => Some(0),
        (_, 0) => None,
        (bytes, size) if bytes.is_multiple_of(size) => Some(bytes / size),
        _ => None,
    }
}

mpi_fn! {
    fn MPI_Get_count[c_int], MPI_Get_count_c[Count]<N>(status: *const Status, datatype: Datatype, count: *mut N) -> c_int {
        call(NAME, None, |_| {
            let status = read(status, "status")?;
            let desc = datatype::require_committed(datatype, "datatype")?;
            write(count, "count", to_user::<N>(elements(status.bytes(), desc.packed)))
        })
    }
}
mpi_fn! {
    fn MPI_Get_elements[c_int], MPI_Get_elements_c[Count], MPI_Get_elements_x[Count]<N>(status: *const Status, datatype: Datatype, count: *mut N) -> c_int {
        call(NAME, None, |_| {
            let status = read(status, "status")?;
            datatype::require_committed(datatype, "datatype")?;
            let signature = datatype::signature(datatype, "datatype")?;
            write(count, "count", to_user::<N>(signature.elements_in(status.bytes())))
        })
    }
}
mpi_fn! {
    fn MPI_Status_set_elements[c_int], MPI_Status_set_elements_c[Count], MPI_Status_set_elements_x[Count]<N>(status: *mut Status, datatype: Datatype, count: N) -> c_int {
        call(NAME, None, |_| {
            let signature = datatype::signature(datatype, "datatype")?;
            let Ok(count) = u64::try_from(count) else {
                return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
            };
            let Some(bytes) = signature.bytes_of(count) else {
                return Failure::err(MPI_ERR_VALUE_TOO_LARGE, format!("count is {count}"));
            };
            let mut new = read(status, "status")?;
            new.set_bytes(bytes);
            write(status, "status", new)
        })
    }
}
mpi_fn! {
    fn MPI_Test_cancelled(status: *const Status, flag: *mut c_int) -> c_int {
        call(NAME, None, |_| {
            let status = read(status, "status")?;
            write(flag, "flag", status.internal[2] & 1)
        })
    }
}
mpi_fn! {
    fn MPI_Status_set_cancelled(status: *mut Status, flag: c_int) -> c_int {
        call(NAME, None, |_| change(status, |s| s.internal[2] = (flag != 0) as c_int))
    }
}

fn change(status: *mut Status, how: impl FnOnce(&mut Status)) -> Res {
    let mut new = read(status, "status")?;
    how(&mut new);
    write(status, "status", new)
}

mpi_fn! {
    any_time fn MPI_Status_get_source(status: *const Status, source: *mut c_int) -> c_int {
        call_any_time(NAME, || write(source, "source", read(status, "status")?.source))
    }
}
mpi_fn! {
    any_time fn MPI_Status_get_tag(status: *const Status, tag: *mut c_int) -> c_int {
        call_any_time(NAME, || write(tag, "tag", read(status, "status")?.tag))
    }
}
mpi_fn! {
    any_time fn MPI_Status_get_error(status: *const Status, error: *mut c_int) -> c_int {
        call_any_time(NAME, || write(error, "error", read(status, "status")?.error))
    }
}
mpi_fn! {
    any_time fn MPI_Status_set_source(status: *mut Status, source: c_int) -> c_int {
        call_any_time(NAME, || change(status, |s| s.source = source))
    }
}
mpi_fn! {
    any_time fn MPI_Status_set_tag(status: *mut Status, tag: c_int) -> c_int {
        call_any_time(NAME, || change(status, |s| s.tag = tag))
    }
}
mpi_fn! {
    any_time fn MPI_Status_set_error(status: *mut Status, error: c_int) -> c_int {
        call_any_time(NAME, || change(status, |s| s.error = error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_or_undefined() {
        assert_eq!(to_user::<c_int>(elements(12, 4)), 3);
        assert_eq!(to_user::<c_int>(elements(13, 4)), MPI_UNDEFINED);
        assert_eq!(to_user::<c_int>(elements(0, 0)), 0);
        assert_eq!(to_user::<c_int>(elements(5, 0)), MPI_UNDEFINED);
        assert_eq!(to_user::<c_int>(elements(1 << 33, 1)), MPI_UNDEFINED);
        assert_eq!(to_user::<Count>(elements(1 << 33, 1)), 1 << 33);
    }

    #[test]
    fn bytes_fill_two_words() {
        let mut s = Status::EMPTY;
        s.set_bytes(0x1234_5678_9abc_def0);
        assert_eq!(s.bytes(), 0x1234_5678_9abc_def0);
    }
}
