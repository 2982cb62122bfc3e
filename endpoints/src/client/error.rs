//! Errors on communicators of endpoints: what the program's error handler gets.

use super::comm::EpComm;
use super::lock;
use crate::abi::*;
use crate::pmpi;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Functions of error handlers by their handle: the library that keeps them would call them with a handle of its own.
static FUNCTIONS: Mutex<Option<HashMap<Errhandler, usize>>> = Mutex::new(None);

mpi! {
    fn MPI_Comm_create_errhandler(function: usize, errhandler: *mut Errhandler) {
        known(pmpi::MPI_Comm_create_errhandler(function, errhandler), function, errhandler)
    }
}

mpi! {
    fn MPI_Win_create_errhandler(function: usize, errhandler: *mut Errhandler) {
        known(pmpi::MPI_Win_create_errhandler(function, errhandler), function, errhandler)
    }
}

/// Remembers the function of a handler that the library has made.
///
/// # Safety
/// `errhandler` is the program's place, filled in unless `error` says otherwise.
unsafe fn known(error: c_int, function: usize, errhandler: *mut Errhandler) -> c_int {
    if error == SUCCESS {
        // SAFETY: the caller's promise.
        lock(&FUNCTIONS).get_or_insert_default().insert(unsafe { *errhandler }, function);
    }
    error
}

/// Is it a handler of the program's for communicators?
pub fn is_known(errhandler: Errhandler) -> bool {
    lock(&FUNCTIONS).as_ref().is_some_and(|f| f.contains_key(&errhandler))
}

/// The return value of a call on a communicator of endpoints: success, or the code that its error handler leaves.
pub fn answer(comm: &EpComm, name: &str, result: Result<(), c_int>) -> c_int {
    match result {
        Ok(()) => SUCCESS,
        Err(class) => {
            raise(comm.errhandler.load(Ordering::Relaxed), comm.shown.load(Ordering::Relaxed), name, class)
        }
    }
}

/// Calls an error handler.
pub fn raise(errhandler: Errhandler, comm: Comm, name: &str, class: c_int) -> c_int {
    match errhandler {
        ERRORS_RETURN => class,
        ERRORS_ARE_FATAL | ERRORS_ABORT => {
            report!("{name} on endpoints: {}", text(class));
            // SAFETY: MPI is initialised where communicators are.
            unsafe { pmpi::MPI_Abort(COMM_WORLD, class) }
        }
        own => {
            let function = lock(&FUNCTIONS).as_ref().and_then(|f| f.get(&own).copied());
            let (mut comm, mut code) = (comm, class);
            if let Some(function) = function {
                // SAFETY: the program gave this function for this purpose. No lock is held.
                unsafe {
                    let function: unsafe extern "C" fn(*mut Comm, *mut c_int, ...) =
                        core::mem::transmute(function);
                    function(&raw mut comm, &raw mut code);
                }
            }
            class
        }
    }
}

/// A function that is not there for endpoints.
pub fn refuse(comm: &EpComm, name: &str) -> c_int {
    report!("{name} is not built for communicators of endpoints");
    answer(comm, name, Err(ERR_UNSUPPORTED_OPERATION))
}

/// The same for a request or a message of an endpoint.
pub fn refuse_request(name: &str) -> c_int {
    report!("{name} is not built for requests and messages of endpoints");
    ERR_UNSUPPORTED_OPERATION
}

const ENDPOINTS_TEXT: &str = "MPIX_ERR_ENDPOINTS: more endpoints than proxies that serve this process";

fn text(class: c_int) -> String {
    if class == ERR_ENDPOINTS {
        return ENDPOINTS_TEXT.to_owned();
    }
    let mut buffer = [0u8; MAX_ERROR_STRING];
    let mut length = 0;
    // SAFETY: the buffer has the length that the standard asks for.
    unsafe { pmpi::MPI_Error_string(class, buffer.as_mut_ptr().cast(), &raw mut length) };
    String::from_utf8_lossy(&buffer[..(length.max(0) as usize).min(MAX_ERROR_STRING)]).into_owned()
}

mpi! {
    fn MPI_Error_class(errorcode: c_int, errorclass: *mut c_int) {
        if errorcode == ERR_ENDPOINTS {
            *errorclass = ERR_ENDPOINTS;
            return SUCCESS;
        }
        pmpi::MPI_Error_class(errorcode, errorclass)
    }
}

mpi! {
    fn MPI_Error_string(errorcode: c_int, string: *mut c_char, resultlen: *mut c_int) {
        if errorcode == ERR_ENDPOINTS {
            core::ptr::copy_nonoverlapping(ENDPOINTS_TEXT.as_ptr().cast(), string, ENDPOINTS_TEXT.len());
            *string.add(ENDPOINTS_TEXT.len()) = 0;
            *resultlen = ENDPOINTS_TEXT.len() as c_int;
            return SUCCESS;
        }
        pmpi::MPI_Error_string(errorcode, string, resultlen)
    }
}
