//! Statuses: from what the runtime says to what the user reads, and the user's own changes.

use crate::call::memory::{In, Out, read, to_user, write};
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

    /// Fills `at`, unless that is MPI_STATUS_IGNORE, from what the runtime says; MPI_ERROR stays as it is, as the standard wants of all
    /// functions that return one status.
    #[inline(always)]
    pub fn store(at: Out<Status>, from: &MsgStatus) {
        at.change(|at| {
            at.source = from.source;
            at.tag = from.tag;
            let [low, high] = [from.bytes, from.bytes >> 32].map(|bytes| bytes as u32 as c_int);
            at.internal = [low, high, from.cancelled as c_int, 0, 0];
        });
    }

    /// Sets MPI_ERROR, unless the status is MPI_STATUS_IGNORE.
    pub fn store_error(at: Out<Status>, error: c_int) {
        at.change(|at| at.error = error);
    }

    /// Stores a whole status, MPI_ERROR too: the empty status has MPI_SUCCESS in it (MPI 5.0 §3.7.3).
    #[inline(always)]
    pub fn store_status(at: Out<Status>, from: &Status) {
        at.set(*from);
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
    fn MPI_Get_count[c_int], MPI_Get_count_c[Count]<N>(status: In<Status>, datatype: Datatype, count: Out<N>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let status = read(status, "status")?;
            let desc = datatype::require_committed(datatype, "datatype")?;
            write(count, "count", to_user::<N>(elements(status.bytes(), desc.packed)))
        })
    }
}
mpi_fn! {
    fn MPI_Get_elements[c_int], MPI_Get_elements_c[Count], MPI_Get_elements_x[Count]<N>(status: In<Status>, datatype: Datatype, count: Out<N>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let status = read(status, "status")?;
            datatype::require_committed(datatype, "datatype")?;
            let signature = datatype::signature(datatype, "datatype")?;
            write(count, "count", to_user::<N>(signature.elements_in(status.bytes())))
        })
    }
}
mpi_fn! {
    fn MPI_Status_set_elements[c_int], MPI_Status_set_elements_c[Count], MPI_Status_set_elements_x[Count]<N>(status: Out<Status>, datatype: Datatype, count: N) -> c_int |here| {
        call(here, NAME, None, |_, _| {
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
    fn MPI_Test_cancelled(status: In<Status>, flag: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let status = read(status, "status")?;
            write(flag, "flag", status.internal[2] & 1)
        })
    }
}
mpi_fn! {
    fn MPI_Status_set_cancelled(status: Out<Status>, flag: c_int) -> c_int |here| {
        call(here, NAME, None, |_, _| change(status, |s| s.internal[2] = (flag != 0) as c_int))
    }
}

fn change(status: Out<Status>, how: impl FnOnce(&mut Status)) -> Res {
    let mut new = read(status, "status")?;
    how(&mut new);
    write(status, "status", new)
}

mpi_fn! {
    any_time fn MPI_Status_get_source(status: In<Status>, source: Out<c_int>) -> c_int {
        call_any_time(NAME, || write(source, "source", read(status, "status")?.source))
    }
}
mpi_fn! {
    any_time fn MPI_Status_get_tag(status: In<Status>, tag: Out<c_int>) -> c_int {
        call_any_time(NAME, || write(tag, "tag", read(status, "status")?.tag))
    }
}
mpi_fn! {
    any_time fn MPI_Status_get_error(status: In<Status>, error: Out<c_int>) -> c_int {
        call_any_time(NAME, || write(error, "error", read(status, "status")?.error))
    }
}
mpi_fn! {
    any_time fn MPI_Status_set_source(status: Out<Status>, source: c_int) -> c_int {
        call_any_time(NAME, || change(status, |s| s.source = source))
    }
}
mpi_fn! {
    any_time fn MPI_Status_set_tag(status: Out<Status>, tag: c_int) -> c_int {
        call_any_time(NAME, || change(status, |s| s.tag = tag))
    }
}
mpi_fn! {
    any_time fn MPI_Status_set_error(status: Out<Status>, error: c_int) -> c_int {
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
