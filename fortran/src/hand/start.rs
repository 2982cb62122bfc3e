//! Beginning, and what the library has to know of the compiler.

use crate::abi::{ERR_ABI, Fint, Handle, SUCCESS};
use crate::dummies::text::zero_ended;
use crate::kinds::{Errhandler, Info, Kind, Session};
use crate::objects;
use crate::truth;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

type Argv = *mut *mut *mut c_char;

/// Takes from the library what it has been told of the compiler, and looks at what is loaded, where MPI has begun.
fn begun(code: c_int) -> c_int {
    if code == SUCCESS {
        truth::learn();
        objects::find();
    }
    code
}

written! { MPI_Init: unsafe extern "C" fn(*mut c_int, Argv) -> c_int, mpi_init_ () |callee| {
    // SAFETY: the function takes no arguments of the program where there are none.
    begun(unsafe { callee(null_mut(), null_mut()) })
} }

written! { MPI_Init_thread: unsafe extern "C" fn(*mut c_int, Argv, c_int, *mut c_int) -> c_int,
    mpi_init_thread_ (required: *const Fint, provided: *mut Fint) |callee| {
    // SAFETY: as above; the caller's places.
    begun(unsafe { callee(null_mut(), null_mut(), *required, provided) })
} }

written! { MPI_Session_init: unsafe extern "C" fn(Handle, Handle, *mut Handle) -> c_int,
    mpi_session_init_ (info: *const Fint, errhandler: *const Fint, session: *mut Fint) |callee| {
    let mut own = Session::handle(0);
    // SAFETY: the caller's arguments and place.
    unsafe {
        let code = callee(Info::handle(*info), Errhandler::handle(*errhandler), &mut own);
        if code == SUCCESS {
            session.write(Session::number(own));
        }
        begun(code)
    }
} }

written! { MPI_Info_create_env: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut usize) -> c_int,
    mpi_info_create_env_ (info: *mut Fint) |callee| {
    let mut own = 0;
    // SAFETY: no arguments are given.
    let code = unsafe { callee(0, null_mut(), &mut own) };
    // SAFETY: the caller's place.
    unsafe { info.write(Info::number(own)) };
    code
} }

/// MPI_Pcontrol has no error code.
macro_rules! pcontrol {
    ($f:ident, $c:literal) => {
        const _: () = {
            unsafe extern "C" {
                #[link_name = $c]
                fn callee(level: c_int, ...) -> c_int;
            }
            // SAFETY: the name is the standard's.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $f(level: *const Fint) {
                // SAFETY: the caller's argument.
                unsafe { callee(*level) };
            }
        };
    };
}
pcontrol!(mpi_pcontrol_, "MPI_Pcontrol");
pcontrol!(pmpi_pcontrol_, "PMPI_Pcontrol");
pcontrol!(mpi_pcontrol_f08_, "MPI_Pcontrol");
pcontrol!(pmpi_pcontrol_f08_, "PMPI_Pcontrol");

written! { MPI_Abi_set_fortran_booleans: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int,
    mpi_abi_set_fortran_booleans_ (logical_size: *const Fint, logical_true: *mut c_void, logical_false: *mut c_void) |callee| {
    // SAFETY: the caller's arguments; two LOGICALs of that size.
    unsafe {
        let code = callee(*logical_size, logical_true, logical_false);
        // Arguments of procedures are LOGICALs of the size of INTEGER; reductions have all sizes.
        if code == SUCCESS && *logical_size == size_of::<Fint>() as c_int {
            truth::set(*logical_true.cast(), *logical_false.cast());
        }
        code
    }
} }

written! { MPI_Abi_set_fortran_info: unsafe extern "C" fn(Handle) -> c_int, mpi_abi_set_fortran_info_ (info: *const Fint) |callee| {
    // SAFETY: the caller's argument.
    let info = Info::handle(unsafe { *info });
    // Of this library's procedures they have these sizes, whatever the compiler is told.
    let size = size_of::<Fint>() as c_int;
    let differs = ["mpi_integer_size", "mpi_logical_size"].into_iter().any(|key| number(info, key).is_some_and(|told| told != size));
    // SAFETY: as above.
    if differs { ERR_ABI } else { unsafe { callee(info) } }
} }

unsafe extern "C" {
    fn PMPI_Info_get_string(
        info: Handle,
        key: *const c_char,
        len: *mut c_int,
        value: *mut c_char,
        flag: *mut c_int,
    ) -> c_int;
}

/// The number that an info object has for a key.
fn number(info: Handle, key: &str) -> Option<c_int> {
    let (key, mut value, mut found) = (zero_ended(key.as_bytes()), [0u8; 16], 0);
    let mut len = value.len() as c_int;
    // SAFETY: an info object's handle, or what is none; a place of that length.
    let code = unsafe {
        PMPI_Info_get_string(info, key.as_ptr().cast(), &mut len, value.as_mut_ptr().cast(), &mut found)
    };
    let text = value.split(|b| *b == 0).next().unwrap_or_default();
    let text = core::str::from_utf8(text).ok().filter(|_| code == SUCCESS && found != 0)?;
    text.trim().parse().ok()
}

written! { MPI_Abi_get_fortran_booleans: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, *mut c_int) -> c_int,
    mpi_abi_get_fortran_booleans_ (logical_size: *const Fint, logical_true: *mut c_void, logical_false: *mut c_void, is_set: *mut Fint) |callee| {
    let mut own = 0;
    // SAFETY: the caller's arguments.
    let code = unsafe { callee(*logical_size, logical_true, logical_false, &mut own) };
    // SAFETY: the caller's place.
    unsafe { is_set.write(truth::to_fortran(own)) };
    code
} }
