//! Functions that only some libraries with the standard ABI have: those of `mpi-ext.h`.
//!
//! Each is a weak symbol, which the dynamic linker leaves at address zero where nobody has it; so this library loads over any other. The address is a word of the linker's table,
//! read at each use.

use crate::abi::{ERR_UNSUPPORTED_OPERATION, Fint, Handle};
use core::ffi::c_int;

/// The address of a symbol that may be nowhere, from the linker's table; null there.
macro_rules! weak_address {
    ($symbol:expr) => {{
        let at: *const core::ffi::c_void;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads the word of the table that has the address, which nobody writes once this library is loaded, so that one read does for several uses.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) at,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) at,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        at
    }};
}

/// A function that may be nowhere, with its type.
macro_rules! optional_function {
    ($symbol:expr, $type:ty) => {{
        let at = weak_address!($symbol);
        // SAFETY: null, or the function of that name, which has that type (`mpi-ext.h`).
        unsafe { core::mem::transmute::<*const core::ffi::c_void, Option<$type>>(at) }
    }};
}

unsafe extern "C" {
    fn PMPI_Comm_call_errhandler(comm: Handle, code: c_int) -> c_int;
}

/// MPI_COMM_SELF, whose error handler hears of errors that no object has.
const COMM_SELF: Handle = 0x102;

/// The answer of a procedure whose function the library below has not.
///
/// # Safety
/// Null, or a place for the error code.
#[cold]
pub unsafe fn refuse(ierror: *mut Fint) {
    // SAFETY: a predefined handle; the caller's promise.
    unsafe {
        PMPI_Comm_call_errhandler(COMM_SELF, ERR_UNSUPPORTED_OPERATION);
        if let Some(place) = ierror.as_mut() {
            *place = ERR_UNSUPPORTED_OPERATION;
        }
    }
}

/// Whether the library below is oxmpi, by a function that no other has.
#[inline(always)]
pub fn is_ours() -> bool {
    !weak_address!("MPIX_Keyval_set_language").is_null()
}
