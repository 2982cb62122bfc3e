//! Functions of C for datatypes and images, under the names that no tool sees.

use crate::abi::{Handle, SUCCESS};
use core::ffi::{c_int, c_void};

pub const ERR_BUFFER: c_int = 1;
pub const ERR_TYPE: c_int = 3;
pub const DATATYPE_NULL: Handle = 0x200;
pub const REQUEST_NULL: Handle = 0x180;

unsafe extern "C" {
    pub fn PMPI_Type_get_extent_c(datatype: Handle, lb: *mut i64, extent: *mut i64) -> c_int;
    pub fn PMPI_Type_get_true_extent_c(datatype: Handle, lb: *mut i64, extent: *mut i64) -> c_int;
    pub fn PMPI_Type_size_c(datatype: Handle, size: *mut i64) -> c_int;
    pub fn PMPI_Type_get_envelope_c(
        datatype: Handle,
        integers: *mut i64,
        addresses: *mut i64,
        counts: *mut i64,
        datatypes: *mut i64,
        combiner: *mut c_int,
    ) -> c_int;
    pub fn PMPI_Type_get_contents_c(
        datatype: Handle,
        max_integers: i64,
        max_addresses: i64,
        max_counts: i64,
        max_datatypes: i64,
        integers: *mut c_int,
        addresses: *mut isize,
        counts: *mut i64,
        datatypes: *mut Handle,
    ) -> c_int;
    pub fn PMPI_Type_contiguous_c(count: i64, of: Handle, new: *mut Handle) -> c_int;
    pub fn PMPI_Type_create_hvector_c(
        count: i64,
        length: i64,
        stride: i64,
        of: Handle,
        new: *mut Handle,
    ) -> c_int;
    pub fn PMPI_Type_create_hindexed_c(
        count: i64,
        lengths: *const i64,
        displacements: *const i64,
        of: Handle,
        new: *mut Handle,
    ) -> c_int;
    pub fn PMPI_Type_create_struct_c(
        count: i64,
        lengths: *const i64,
        displacements: *const i64,
        of: *const Handle,
        new: *mut Handle,
    ) -> c_int;
    pub fn PMPI_Type_create_resized_c(of: Handle, lb: i64, extent: i64, new: *mut Handle) -> c_int;
    pub fn PMPI_Type_commit(datatype: *mut Handle) -> c_int;
    pub fn PMPI_Type_free(datatype: *mut Handle) -> c_int;
    pub fn PMPI_Request_get_status(request: Handle, flag: *mut c_int, status: *mut c_void) -> c_int;
    pub fn PMPI_Comm_rank(comm: Handle, rank: *mut c_int) -> c_int;
    pub fn PMPI_Comm_size(comm: Handle, size: *mut c_int) -> c_int;
    pub fn PMPI_Comm_test_inter(comm: Handle, flag: *mut c_int) -> c_int;
    pub fn PMPI_Comm_call_errhandler(comm: Handle, code: c_int) -> c_int;
    pub fn PMPI_Win_call_errhandler(win: Handle, code: c_int) -> c_int;
    pub fn PMPI_File_call_errhandler(file: Handle, code: c_int) -> c_int;
    pub fn PMPI_Session_call_errhandler(session: Handle, code: c_int) -> c_int;
}

/// An answer of C as a result.
pub fn checked(code: c_int) -> Result<(), c_int> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}

/// A datatype that was made here, and is freed.
pub struct Made(Handle);

impl Made {
    /// Has a function make one.
    pub fn by(make: impl FnOnce(*mut Handle) -> c_int) -> Result<Made, c_int> {
        let mut new = DATATYPE_NULL;
        checked(make(&mut new))?;
        Ok(Made(new))
    }

    pub fn contiguous(count: i64, of: Handle) -> Result<Made, c_int> {
        // SAFETY: a datatype that is there, and a place.
        Made::by(|new| unsafe { PMPI_Type_contiguous_c(count, of, new) })
    }

    pub fn hvector(count: i64, length: i64, stride: i64, of: Handle) -> Result<Made, c_int> {
        // SAFETY: as above.
        Made::by(|new| unsafe { PMPI_Type_create_hvector_c(count, length, stride, of, new) })
    }

    pub fn hindexed(lengths: &[i64], displacements: &[i64], of: Handle) -> Result<Made, c_int> {
        let n = lengths.len() as i64;
        // SAFETY: as above; both arrays have so many.
        Made::by(|new| unsafe {
            PMPI_Type_create_hindexed_c(n, lengths.as_ptr(), displacements.as_ptr(), of, new)
        })
    }

    pub fn structure(lengths: &[i64], displacements: &[i64], of: &[Handle]) -> Result<Made, c_int> {
        let n = lengths.len() as i64;
        // SAFETY: as above.
        Made::by(|new| unsafe {
            PMPI_Type_create_struct_c(n, lengths.as_ptr(), displacements.as_ptr(), of.as_ptr(), new)
        })
    }

    /// The same one with another extent.
    pub fn resized(&self, extent: i64) -> Result<Made, c_int> {
        // SAFETY: as above.
        Made::by(|new| unsafe { PMPI_Type_create_resized_c(self.0, 0, extent, new) })
    }

    pub fn commit(&mut self) -> Result<(), c_int> {
        // SAFETY: as above.
        checked(unsafe { PMPI_Type_commit(&mut self.0) })
    }

    pub fn handle(&self) -> Handle {
        self.0
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: it was made here; operations that use it go on (MPI 5.0 §5.1.9).
        unsafe { PMPI_Type_free(&mut self.0) };
    }
}

/// A datatype of the program's with its bounds. Bytes.
#[derive(Clone, Copy)]
pub struct Datatype {
    pub handle: Handle,
    /// From one to the next.
    pub extent: i64,
    /// Bounds of its data.
    pub low: i64,
    pub high: i64,
    /// Bytes of data.
    pub size: i64,
}

impl Datatype {
    /// Asks for the bounds.
    pub fn of(handle: Handle) -> Result<Datatype, c_int> {
        let (mut lb, mut extent, mut low, mut reach, mut size) = (0, 0, 0, 0, 0);
        // SAFETY: places; a handle of whatever value may be asked about.
        unsafe {
            checked(PMPI_Type_get_extent_c(handle, &mut lb, &mut extent))?;
            checked(PMPI_Type_get_true_extent_c(handle, &mut low, &mut reach))?;
            checked(PMPI_Type_size_c(handle, &mut size))?;
        }
        Ok(Datatype { handle, extent, low, high: low + reach, size })
    }

    /// Whether the data of each stays inside its extent.
    pub fn keeps_inside(&self) -> bool {
        self.extent > 0 && self.low >= 0 && self.high <= self.extent
    }

    /// Whether it is data without holes.
    pub fn is_dense(&self) -> bool {
        self.keeps_inside() && self.size == self.extent
    }

    /// The bounds of the data of so many, at least one.
    pub fn bounds(&self, count: i64) -> (i64, i64) {
        let last = (count - 1) * self.extent;
        (self.low + last.min(0), self.high + last.max(0))
    }
}
