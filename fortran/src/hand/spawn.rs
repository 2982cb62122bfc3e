//! MPI_Comm_spawn and MPI_Comm_spawn_multiple: arrays of CHARACTER become arrays of strings.
//!
//! An array of arguments ends with an element of blanks. Elements of an array lie one behind the other, each as long as the hidden length says; of the arguments
//! of several commands the first dimension is the command (MPI 5.0 §11.8.3). Blanks before and behind an element do not count
//! (§11.8.2). All of that is read at the root only.

use crate::abi::{Fint, Handle};
use crate::dummies::handles::Array;
use crate::dummies::text::{trimmed, without_blanks, zero_ended};
use crate::dummies::{Dummy, len};
use crate::kinds::{Comm, Info, Kind};
use crate::sentinels::{is_argv_null, is_argvs_null, is_errcodes_ignore};
use core::ffi::{c_char, c_int};
use core::ptr::null_mut;

unsafe extern "C" {
    fn PMPI_Comm_rank(comm: Handle, rank: *mut c_int) -> c_int;
}

/// Strings, and the null-terminated array of them that C takes.
struct Strings {
    _texts: Vec<Vec<u8>>,
    places: Vec<*mut c_char>,
}

impl Strings {
    fn of(texts: impl Iterator<Item = Vec<u8>>) -> Strings {
        let mut texts: Vec<Vec<u8>> = texts.map(|text| zero_ended(&text)).collect();
        let mut places: Vec<*mut c_char> = texts.iter_mut().map(|text| text.as_mut_ptr().cast()).collect();
        places.push(null_mut());
        Strings { _texts: texts, places }
    }

    /// Elements of an array up to one of blanks. `step`: elements from one to the next.
    ///
    /// # Safety
    /// Such an array, of texts of that length.
    unsafe fn until_blanks(first: *const c_char, length: usize, step: usize) -> Strings {
        // SAFETY: the caller's promise.
        let text = |i: usize| unsafe { without_blanks(first.add(i * step * length), length) };
        Strings::of((0..).map(text).take_while(|text| !text.is_empty()).map(|text| trimmed(text).to_vec()))
    }
}

/// Whether this process is the root, whose arguments count.
///
/// # Safety
/// Arguments of a procedure.
unsafe fn is_root(root: *const Fint, comm: *const Fint) -> bool {
    let mut rank = -1;
    // SAFETY: the caller's promise; a handle of whatever value may be asked about.
    unsafe { PMPI_Comm_rank(Comm::handle(*comm), &mut rank) == 0 && rank == *root }
}

fn errcodes(given: *mut Fint) -> *mut c_int {
    if is_errcodes_ignore(given) { null_mut() } else { given }
}

written! { MPI_Comm_spawn: unsafe extern "C" fn(*const c_char, *mut *mut c_char, c_int, Handle, c_int, Handle, *mut Handle, *mut c_int) -> c_int,
    mpi_comm_spawn_ (command: *const c_char, argv: *const c_char, maxprocs: *const Fint, info: *const Fint, root: *const Fint, comm: *const Fint,
        intercomm: *mut Fint, array_of_errcodes: *mut Fint)
    (command_len, argv_len) |callee| {
    // SAFETY: the caller's arguments and places; those of the root alone are followed.
    unsafe {
        let here = is_root(root, comm);
        let program = zero_ended(if here { trimmed(without_blanks(command, command_len)) } else { b"" });
        let mut arguments = (here && !is_argv_null(argv)).then(|| Strings::until_blanks(argv, argv_len, 1));
        let argv = arguments.as_mut().map_or(null_mut(), |all| all.places.as_mut_ptr());
        let (most, info) = if here { (*maxprocs, Info::handle(*info)) } else { (0, NULL_INFO) };
        let mut own = 0;
        let code = callee(program.as_ptr().cast(), argv, most, info, *root, Comm::handle(*comm), &mut own, errcodes(array_of_errcodes));
        intercomm.write(Comm::number(own));
        code
    }
} }

/// MPI_INFO_NULL.
const NULL_INFO: Handle = 0x130;

type Spawn = unsafe extern "C" fn(
    c_int,
    *mut *mut c_char,
    *mut *mut *mut c_char,
    *const c_int,
    *const Handle,
    c_int,
    Handle,
    *mut Handle,
    *mut c_int,
) -> c_int;

written! { MPI_Comm_spawn_multiple: Spawn,
    mpi_comm_spawn_multiple_ (count: *const Fint, commands: *const c_char, argvs: *const c_char, maxprocs: *const Fint, infos: *mut Fint,
        root: *const Fint, comm: *const Fint, intercomm: *mut Fint, array_of_errcodes: *mut Fint)
    (command_len, argv_len) |callee| {
    // SAFETY: as above.
    unsafe {
        let n = if is_root(root, comm) { len(count) } else { 0 };
        let command = |i: usize| trimmed(without_blanks(commands.add(i * command_len), command_len)).to_vec();
        let mut programs = Strings::of((0..n).map(command));
        let given = n > 0 && !is_argvs_null(argvs);
        let row = |i: usize| Strings::until_blanks(argvs.add(i * argv_len), argv_len, n);
        let mut rows: Vec<Strings> = if given { (0..n).map(row).collect() } else { Vec::new() };
        let mut places: Vec<*mut *mut c_char> = rows.iter_mut().map(|row| row.places.as_mut_ptr()).collect();
        let argvs = if given { places.as_mut_ptr() } else { null_mut() };
        let mut infos = Array::<Info>::take(infos, n);
        let mut own = 0;
        let code = callee(n as c_int, programs.places.as_mut_ptr(), argvs, maxprocs, infos.pass(), *root, Comm::handle(*comm), &mut own,
            errcodes(array_of_errcodes));
        intercomm.write(Comm::number(own));
        code
    }
} }
