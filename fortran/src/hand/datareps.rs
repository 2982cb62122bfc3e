//! Data representations that the program defines: their functions get an extra state of ours, which has the program's procedures and its own.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::dummies::Dummy;
use crate::dummies::text;
use crate::kinds::{Datatype, Kind};
use core::ffi::{c_char, c_int, c_void};
use core::ptr::fn_addr_eq;

type Extent = unsafe extern "C" fn(*const Fint, *mut isize, *const isize, *mut Fint);
type Conversion<N> = unsafe extern "C" fn(
    *mut c_void,
    *const Fint,
    *const N,
    *mut c_void,
    *const i64,
    *const isize,
    *mut Fint,
);

/// The extra state, for the library; a representation is registered for good.
struct State<N> {
    read: Conversion<N>,
    write: Conversion<N>,
    extent: Extent,
    extra_state: isize,
}

unsafe extern "C" fn extent<N>(datatype: Handle, extent: *mut isize, state: *mut c_void) -> c_int {
    // SAFETY: what was registered, which stays; the library's places.
    unsafe {
        let (state, mut ierror) = (&*state.cast::<State<N>>(), SUCCESS);
        (state.extent)(&Datatype::number(datatype), extent, &state.extra_state, &mut ierror);
        ierror
    }
}

macro_rules! conversion {
    ($name:ident $which:ident) => {
        unsafe extern "C" fn $name<N>(
            userbuf: *mut c_void,
            datatype: Handle,
            count: N,
            filebuf: *mut c_void,
            position: i64,
            state: *mut c_void,
        ) -> c_int {
            // SAFETY: as above.
            unsafe {
                let (state, mut ierror) = (&*state.cast::<State<N>>(), SUCCESS);
                let own = &state.extra_state;
                (state.$which)(
                    userbuf,
                    &Datatype::number(datatype),
                    &count,
                    filebuf,
                    &position,
                    own,
                    &mut ierror,
                );
                ierror
            }
        }
    };
}
conversion!(read read);
conversion!(write write);

/// MPI_CONVERSION_FN_NULL: a procedure that is never called.
macro_rules! null {
    ($($f:ident $n:ty;)*) => { $(
        // SAFETY: the name is the standard's.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        pub unsafe extern "C" fn $f(
            _userbuf: *mut c_void,
            _datatype: *const Fint,
            _count: *const $n,
            _filebuf: *mut c_void,
            _position: *const i64,
            _extra_state: *const isize,
            _ierror: *mut Fint,
        ) {
        }
    )* };
}
null! {
    mpi_conversion_fn_null_ Fint;
    mpi_conversion_fn_null_c_ i64;
}

type ConversionC<N> = unsafe extern "C" fn(*mut c_void, Handle, N, *mut c_void, i64, *mut c_void) -> c_int;
type ExtentC = unsafe extern "C" fn(Handle, *mut isize, *mut c_void) -> c_int;

macro_rules! register {
    ($($n:ty: $c:ident $f:ident $null:ident;)*) => { $(
        written! { $c: unsafe extern "C" fn(*const c_char, Option<ConversionC<$n>>, Option<ConversionC<$n>>, ExtentC, *mut c_void) -> c_int,
            $f (datarep: *const c_char, read_fn: Conversion<$n>, write_fn: Conversion<$n>, extent_fn: Extent, extra_state: *const isize)
            (datarep_len) |callee| {
            let given = |f: Conversion<$n>| !fn_addr_eq(f, $null as Conversion<$n>);
            let (reads, writes) = (given(read_fn), given(write_fn));
            // SAFETY: the caller's argument.
            let extra_state = unsafe { *extra_state };
            let state = State { read: read_fn, write: write_fn, extent: extent_fn, extra_state };
            let state: *mut State<$n> = Box::leak(Box::new(state));
            // SAFETY: the caller's text; the functions take this state.
            unsafe {
                let mut name = text::In::take(datarep, datarep_len);
                let (read, write): (ConversionC<$n>, ConversionC<$n>) = (read::<$n>, write::<$n>);
                callee(name.pass(), reads.then_some(read), writes.then_some(write), extent::<$n>, state.cast())
            }
        } }
    )* };
}
register! {
    Fint: MPI_Register_datarep mpi_register_datarep_ mpi_conversion_fn_null_;
    i64: MPI_Register_datarep_c mpi_register_datarep_c_ mpi_conversion_fn_null_c_;
}
