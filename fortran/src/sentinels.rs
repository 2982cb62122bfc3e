//! The constants of Fortran that are recognised by their address (MPI 5.0 §2.5.4, §20.4): variables that `mpif.h` and the modules declare in COMMON blocks, and
//! this library, too.
//!
//! **One variable each.** The dynamic linker takes one definition of a name for all: that of the executable where its COMMON blocks stand there, else ours.
//! So the address is asked of the linker's table, by a load that the compiler does not replace by the address of this library's own variable.

use crate::abi::Fint;
use core::ffi::c_void;

/// The address of a variable that another object may define, from the linker's table.
macro_rules! address {
    ($symbol:ident) => {{
        let at: *const c_void;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads the word of the table that has the address.
        unsafe {
            core::arch::asm!(
                concat!("mov {}, qword ptr [rip + ", stringify!($symbol), "@GOTPCREL]"),
                out(reg) at,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                concat!("adrp {0}, :got:", stringify!($symbol)),
                concat!("ldr {0}, [{0}, :got_lo12:", stringify!($symbol), "]"),
                out(reg) at,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        at
    }};
}

macro_rules! sentinels {
    ($($(#[$m:meta])* $is:ident $symbol:ident;)*) => { $(
        /// The variable, where no other object has one.
        // SAFETY: the name is of this library's own, and a variable of the same name elsewhere stands for it.
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, reason = "the name of a COMMON block, as compilers write it")]
        pub static $symbol: Sentinel = Sentinel([0; 16]);

        $(#[$m])*
        #[inline(always)]
        pub fn $is<T>(at: *const T) -> bool {
            core::ptr::eq(at.cast::<c_void>(), address!($symbol))
        }
    )* };
}

/// Words that nobody reads or writes, as large and as aligned as the COMMON block may be.
#[repr(C, align(64))]
pub struct Sentinel([Fint; 16]);

sentinels! {
    /// MPI_BOTTOM.
    is_bottom mpifort_bottom_;
    /// MPI_IN_PLACE.
    is_in_place mpifort_inplace_;
    /// MPI_BUFFER_AUTOMATIC.
    is_buffer_automatic mpifort_bufauto_;
    /// MPI_UNWEIGHTED.
    is_unweighted mpifort_unweigh_;
    /// MPI_WEIGHTS_EMPTY.
    is_weights_empty mpifort_wempty_;
    /// MPI_STATUS_IGNORE.
    is_status_of_integers mpifort_status_;
    /// MPI_STATUSES_IGNORE.
    is_statuses_of_integers mpifort_statuses_;
    /// MPI_STATUS_IGNORE of module `mpi_f08`.
    is_status_of_f08 mpifort_f08_status;
    /// MPI_STATUSES_IGNORE of module `mpi_f08`.
    is_statuses_of_f08 mpifort_f08_statuses;
    /// MPI_ERRCODES_IGNORE.
    is_errcodes_ignore mpifort_errcodes_;
    /// MPI_ARGV_NULL.
    is_argv_null mpifort_argv_;
    /// MPI_ARGVS_NULL.
    is_argvs_null mpifort_argvs_;
}

/// Whether a status, or an array of them, is one of those that nobody wants.
#[inline(always)]
pub fn is_status_ignore<T>(at: *const T) -> bool {
    is_status_of_integers(at) || is_statuses_of_integers(at) || is_status_of_f08(at) || is_statuses_of_f08(at)
}

/// The address of MPI_BUFFER_AUTOMATIC.
pub fn buffer_automatic() -> *mut c_void {
    address!(mpifort_bufauto_).cast_mut()
}
