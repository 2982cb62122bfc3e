//! Functions with a result, and what is for the compiler alone.

use core::ffi::{c_int, c_void};

unsafe extern "C" {
    safe fn MPI_Wtime() -> f64;
    safe fn PMPI_Wtime() -> f64;
    safe fn MPI_Wtick() -> f64;
    safe fn PMPI_Wtick() -> f64;
    safe fn MPI_Aint_add(base: isize, disp: isize) -> isize;
    safe fn PMPI_Aint_add(base: isize, disp: isize) -> isize;
    safe fn MPI_Aint_diff(addr1: isize, addr2: isize) -> isize;
    safe fn PMPI_Aint_diff(addr1: isize, addr2: isize) -> isize;
}

macro_rules! clock {
    ($($f:ident $c:ident;)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        pub extern "C" fn $f() -> f64 {
            $c()
        }
    )* };
}
clock! {
    mpi_wtime_ MPI_Wtime;
    pmpi_wtime_ PMPI_Wtime;
    mpi_wtick_ MPI_Wtick;
    pmpi_wtick_ PMPI_Wtick;
    mpi_wtime_f08_ MPI_Wtime;
    pmpi_wtime_f08_ PMPI_Wtime;
    mpi_wtick_f08_ MPI_Wtick;
    pmpi_wtick_f08_ PMPI_Wtick;
}

/// Sums and differences of addresses; a tool in C hears of them, too.
macro_rules! address {
    ($($f:ident $c:ident;)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $f(a: *const isize, b: *const isize) -> isize {
            // SAFETY: the caller's arguments.
            let (a, b) = unsafe { (*a, *b) };
            $c(a, b)
        }
    )* };
}
address! {
    mpi_aint_add_ MPI_Aint_add;
    pmpi_aint_add_ PMPI_Aint_add;
    mpi_aint_diff_ MPI_Aint_diff;
    pmpi_aint_diff_ PMPI_Aint_diff;
    mpi_aint_add_f08_ MPI_Aint_add;
    pmpi_aint_add_f08_ PMPI_Aint_add;
    mpi_aint_diff_f08_ MPI_Aint_diff;
    pmpi_aint_diff_f08_ PMPI_Aint_diff;
}

/// MPI_F_sync_reg: a call that the compiler cannot look into, so that it keeps no copy of the buffer in registers across it.
macro_rules! sync_reg {
    ($($f:ident)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        pub extern "C" fn $f(_buf: *mut c_void, _ierror: *mut c_int) {}
    )* };
}
sync_reg!(mpi_f_sync_reg_ pmpi_f_sync_reg_ mpi_f_sync_reg_f08_ pmpi_f_sync_reg_f08_ mpi_f_sync_reg_f08ts_ pmpi_f_sync_reg_f08ts_);

/// MPI_Sizeof of each type: `mpi_sizeof_T` and, of module `mpi_f08`, `mpi_sizeof_T_f08` get an object of that type, of whatever rank, and write the bytes of an element.
macro_rules! size_of_type {
    ($($bytes:literal: $($f:ident)*;)*) => { $( $(
        // SAFETY: a name of the modules' own.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $f(_x: *const c_void, size: *mut c_int, ierror: *mut c_int) {
            // SAFETY: the caller's places; `ierror` may be absent.
            unsafe {
                *size = $bytes;
                if let Some(place) = ierror.as_mut() {
                    *place = crate::abi::SUCCESS;
                }
            }
        }
    )* )* };
}
size_of_type! {
    1: mpi_sizeof_i1_ pmpi_sizeof_i1_ mpi_sizeof_i1_f08_ pmpi_sizeof_i1_f08_;
    2: mpi_sizeof_i2_ pmpi_sizeof_i2_ mpi_sizeof_i2_f08_ pmpi_sizeof_i2_f08_;
    4: mpi_sizeof_i4_ pmpi_sizeof_i4_ mpi_sizeof_i4_f08_ pmpi_sizeof_i4_f08_;
    8: mpi_sizeof_i8_ pmpi_sizeof_i8_ mpi_sizeof_i8_f08_ pmpi_sizeof_i8_f08_;
    4: mpi_sizeof_r4_ pmpi_sizeof_r4_ mpi_sizeof_r4_f08_ pmpi_sizeof_r4_f08_;
    8: mpi_sizeof_r8_ pmpi_sizeof_r8_ mpi_sizeof_r8_f08_ pmpi_sizeof_r8_f08_;
    16: mpi_sizeof_r16_ pmpi_sizeof_r16_ mpi_sizeof_r16_f08_ pmpi_sizeof_r16_f08_;
    8: mpi_sizeof_c4_ pmpi_sizeof_c4_ mpi_sizeof_c4_f08_ pmpi_sizeof_c4_f08_;
    16: mpi_sizeof_c8_ pmpi_sizeof_c8_ mpi_sizeof_c8_f08_ pmpi_sizeof_c8_f08_;
    32: mpi_sizeof_c16_ pmpi_sizeof_c16_ mpi_sizeof_c16_f08_ pmpi_sizeof_c16_f08_;
    1: mpi_sizeof_l1_ pmpi_sizeof_l1_ mpi_sizeof_l1_f08_ pmpi_sizeof_l1_f08_;
    4: mpi_sizeof_l4_ pmpi_sizeof_l4_ mpi_sizeof_l4_f08_ pmpi_sizeof_l4_f08_;
    1: mpi_sizeof_ch_ pmpi_sizeof_ch_ mpi_sizeof_ch_f08_ pmpi_sizeof_ch_f08_;
}

/// MPI_Status_f2f08 and MPI_Status_f082f: both forms of a status are the same eight integers.
macro_rules! status {
    ($($f:ident)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $f(from: *const [c_int; 8], to: *mut [c_int; 8], ierror: *mut c_int) {
            // SAFETY: the caller's arguments and places; `ierror` may be absent.
            unsafe {
                *to = *from;
                if let Some(place) = ierror.as_mut() {
                    *place = crate::abi::SUCCESS;
                }
            }
        }
    )* };
}
status!(mpi_status_f2f08_ pmpi_status_f2f08_ mpi_status_f082f_ pmpi_status_f082f_);
status!(mpi_status_f2f08_f08_ pmpi_status_f2f08_f08_ mpi_status_f082f_f08_ pmpi_status_f082f_f08_);

/// Comparisons of two handles of one kind, which are structures of one INTEGER.
macro_rules! compare {
    ($($kind:ident)*) => { $( compare!(@one $kind); )* };
    (@one $kind:ident) => {
        const _: () = {
            // SAFETY: a name of module `mpi_f08`'s own.
            #[unsafe(export_name = concat!("mpifort_", stringify!($kind), "_eq_"))]
            pub unsafe extern "C" fn equal(a: *const c_int, b: *const c_int) -> c_int {
                // SAFETY: the caller's arguments.
                crate::truth::to_fortran(unsafe { *a == *b }.into())
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("mpifort_", stringify!($kind), "_ne_"))]
            pub unsafe extern "C" fn unequal(a: *const c_int, b: *const c_int) -> c_int {
                // SAFETY: as above.
                crate::truth::to_fortran(unsafe { *a != *b }.into())
            }
        };
    };
}
compare!(comm datatype errhandler file group info message op request session win);
