//! Error classes and codes: their names, their sentences, and those that the user adds.
//!
//! A code of the library is its class. Codes that the user adds stand above MPI_ERR_LASTCODE, each
//! with its class; a class is a code of itself. Numbers of removed classes and codes are not used
//! again.
//!
//! **The last error of each code** that a thread was told is kept, so that MPI_Error_string of a code that a function
//! has just returned names the function and the cause. The codes stay classes: programs compare them.

use super::failure::{Failure, Res};
use crate::constants::*;
use core::cell::RefCell;
use core::ffi::c_int;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Of `mpi-ext.h`.
const MPIX_ERR_ENDPOINTS: c_int = 16_001;

macro_rules! classes {
    ($($name:ident $text:literal)*) => {
        static CLASSES: &[(c_int, &str, &str)] = &[$(($name, stringify!($name), $text)),*];
    };
}

classes! {
    MPI_SUCCESS "no error"
    MPI_ERR_BUFFER "the buffer is no valid one"
    MPI_ERR_COUNT "the count is no valid one"
    MPI_ERR_TYPE "the datatype is no valid one here"
    MPI_ERR_TAG "the tag is out of range"
    MPI_ERR_COMM "the communicator is no valid one"
    MPI_ERR_RANK "the rank is out of range"
    MPI_ERR_REQUEST "the request is no valid one"
    MPI_ERR_ROOT "the root is out of range"
    MPI_ERR_GROUP "the group is no valid one"
    MPI_ERR_OP "the operation is no valid one here"
    MPI_ERR_TOPOLOGY "the communicator has no such topology"
    MPI_ERR_DIMS "the number of dimensions is no valid one"
    MPI_ERR_ARG "an argument has no valid value"
    MPI_ERR_UNKNOWN "an unknown error happened"
    MPI_ERR_TRUNCATE "the message is longer than the buffer; the rest was dropped"
    MPI_ERR_OTHER "an error happened that has no class of its own"
    MPI_ERR_INTERN "something inside the library went wrong"
    MPI_ERR_PENDING "the operation is neither done nor failed"
    MPI_ERR_IN_STATUS "the statuses say which operations failed"
    MPI_ERR_ACCESS "permission was denied"
    MPI_ERR_AMODE "the access mode is no valid one"
    MPI_ERR_ASSERT "the assertion is no valid one"
    MPI_ERR_BAD_FILE "the file name is no valid one"
    MPI_ERR_BASE "the base address is no valid one"
    MPI_ERR_CONVERSION "the data could not be converted"
    MPI_ERR_DISP "the displacement is no valid one"
    MPI_ERR_DUP_DATAREP "the data representation exists already"
    MPI_ERR_FILE_EXISTS "the file exists already"
    MPI_ERR_FILE_IN_USE "the file is in use"
    MPI_ERR_FILE "the file handle is no valid one"
    MPI_ERR_INFO_KEY "the info key is empty or too long"
    MPI_ERR_INFO_NOKEY "the info object has no such key"
    MPI_ERR_INFO_VALUE "the info value is no valid one"
    MPI_ERR_INFO "the info object is no valid one"
    MPI_ERR_IO "reading or writing failed"
    MPI_ERR_KEYVAL "the attribute key is no valid one"
    MPI_ERR_LOCKTYPE "the lock type is no valid one"
    MPI_ERR_NAME "the service name is not published"
    MPI_ERR_NO_MEM "there is not enough memory"
    MPI_ERR_NOT_SAME "the processes gave different arguments to a collective call"
    MPI_ERR_NO_SPACE "there is no space left"
    MPI_ERR_NO_SUCH_FILE "there is no such file"
    MPI_ERR_PORT "the port name is no valid one"
    MPI_ERR_QUOTA "the quota is used up"
    MPI_ERR_READ_ONLY "the file or file system can only be read"
    MPI_ERR_RMA_ATTACH "the memory cannot be attached"
    MPI_ERR_RMA_CONFLICT "accesses to a window are in conflict"
    MPI_ERR_RMA_RANGE "the target memory is not in the window"
    MPI_ERR_RMA_SHARED "the memory cannot be shared"
    MPI_ERR_RMA_SYNC "the window is not in an epoch that permits the call"
    MPI_ERR_SERVICE "the service name could not be withdrawn"
    MPI_ERR_SIZE "the size is no valid one"
    MPI_ERR_SPAWN "the processes could not be started"
    MPI_ERR_UNSUPPORTED_DATAREP "the data representation is not supported"
    MPI_ERR_UNSUPPORTED_OPERATION "the operation is not supported"
    MPI_ERR_WIN "the window is no valid one"
    MPI_ERR_RMA_FLAVOR "the window has another flavor"
    MPI_ERR_PROC_ABORTED "a process of the operation has failed"
    MPI_ERR_VALUE_TOO_LARGE "the value does not fit into the result"
    MPI_ERR_SESSION "the session is no valid one"
    MPI_ERR_ERRHANDLER "the error handler is no valid one"
    MPIX_ERR_ENDPOINTS "there are not so many endpoints"
    MPI_ERR_ABI "the answer depends on the binary interface, and it does not say"
    MPI_T_ERR_CANNOT_INIT "the tool interface cannot be started"
    MPI_T_ERR_NOT_ACCESSIBLE "the variable cannot be reached now"
    MPI_T_ERR_NOT_INITIALIZED "the tool interface has not been started"
    MPI_T_ERR_NOT_SUPPORTED "the tool interface does not have this"
    MPI_T_ERR_MEMORY "the tool interface has no memory left"
    MPI_T_ERR_INVALID "an argument of a tool function has no valid value"
    MPI_T_ERR_INVALID_INDEX "there is no variable, category or event with this index"
    MPI_T_ERR_INVALID_ITEM "the enumeration has no such item"
    MPI_T_ERR_INVALID_SESSION "the tool session is no valid one"
    MPI_T_ERR_INVALID_HANDLE "the variable handle is no valid one"
    MPI_T_ERR_INVALID_NAME "nothing has this name"
    MPI_T_ERR_OUT_OF_HANDLES "no further variable handle can be made"
    MPI_T_ERR_OUT_OF_SESSIONS "no further tool session can be made"
    MPI_T_ERR_CVAR_SET_NOT_NOW "the control variable cannot be set now"
    MPI_T_ERR_CVAR_SET_NEVER "the control variable can never be set"
    MPI_T_ERR_PVAR_NO_WRITE "the performance variable cannot be written"
    MPI_T_ERR_PVAR_NO_STARTSTOP "the performance variable cannot be started and stopped"
    MPI_T_ERR_PVAR_NO_ATOMIC "the performance variable cannot be read and reset at once"
}

fn known(code: c_int) -> Option<&'static (c_int, &'static str, &'static str)> {
    CLASSES.iter().find(|(n, _, _)| *n == code)
}

/// `MPI_ERR_…` of a code of the library, `class N` of a user's.
pub fn class_name(code: c_int) -> String {
    let class = class_of_code(code).unwrap_or(code);
    known(class).map_or_else(|| format!("class {class}"), |(_, name, _)| name.to_string())
}

/// A class or code that the user added.
struct Added {
    number: c_int,
    class: c_int,
    text: String,
}

struct Additions {
    next: c_int,
    all: Vec<Added>,
}

static ADDED: Mutex<Additions> = Mutex::new(Additions { next: MPI_ERR_LASTCODE + 1, all: Vec::new() });

/// Largest code in use, for the attribute MPI_LASTUSEDCODE.
pub fn last_used() -> c_int {
    ADDED.lock().next - 1
}

/// The class of a class or code; `None`: the number is neither.
pub fn class_of_code(code: c_int) -> Option<c_int> {
    if known(code).is_some() {
        return Some(code);
    }
    ADDED.lock().all.iter().find(|a| a.number == code).map(|a| a.class)
}

/// Whether the number is an error class or code.
pub fn exists(code: c_int) -> bool {
    class_of_code(code).is_some()
}

/// The failure of a number that is no such thing.
pub fn no_such(what: &str, number: c_int) -> Failure {
    Failure::new(MPI_ERR_ARG, format!("{number} is no {what}"))
}

/// A new number; `class` of a code, or itself.
pub fn add(class: Option<c_int>) -> Res<c_int> {
    if let Some(class) = class
        && class_of_code(class) != Some(class)
    {
        return Err(no_such("error class", class));
    }
    let mut added = ADDED.lock();
    let number = added.next;
    if number == c_int::MAX {
        return Failure::err(MPI_ERR_OTHER, "no error codes are left");
    }
    added.next += 1;
    added.all.push(Added { number, class: class.unwrap_or(number), text: String::new() });
    Ok(number)
}

/// Removes a user's class (`class` true) or code.
pub fn remove(number: c_int, class: bool) -> Res {
    let what = if class { "error class that was added" } else { "error code that was added" };
    let mut added = ADDED.lock();
    let Some(at) = added.all.iter().position(|a| a.number == number && (a.class == number) == class) else {
        return Err(no_such(what, number));
    };
    if class && added.all.iter().any(|a| a.class == number && a.number != number) {
        return Failure::err(MPI_ERR_OTHER, format!("error class {number} still has codes"));
    }
    if !added.all[at].text.is_empty() {
        return Failure::err(MPI_ERR_OTHER, format!("error {number} still has its string"));
    }
    added.all.remove(at);
    Ok(())
}

/// The sentence of a class or code that the user added.
pub fn set_string(code: c_int, string: String) -> Res {
    match ADDED.lock().all.iter_mut().find(|a| a.number == code) {
        Some(a) => {
            a.text = string;
            Ok(())
        }
        None => Err(no_such("error code that was added", code)),
    }
}

thread_local! {
    /// By code: the function and the sentence.
    static LAST: RefCell<BTreeMap<c_int, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// A function of the calling thread's returns this failure, or tells a handler of the user's.
#[cold]
pub fn note(function: &str, failure: &Failure) {
    let text = format!("{function}: {}", failure.message);
    // A thread whose locals are gone has nobody left to ask.
    let _ = LAST.try_with(|last| last.borrow_mut().insert(failure.code, text));
}

/// The sentence of a class or code: the last error with it that this thread was told, or its own.
pub fn string(code: c_int) -> Option<String> {
    if let Some((_, name, text)) = known(code) {
        let last = LAST.try_with(|last| last.borrow().get(&code).cloned()).ok().flatten();
        let mut string = format!("{name}: {}", last.as_deref().unwrap_or(text));
        string.truncate(string.floor_char_boundary(MPI_MAX_ERROR_STRING as usize - 1));
        return Some(string);
    }
    ADDED.lock().all.iter().find(|a| a.number == code).map(|a| a.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_sentence() {
        for class in MPI_SUCCESS..=MPI_ERR_ABI {
            let text = string(class).unwrap();
            assert!(text.len() > 10 && text.len() < MPI_MAX_ERROR_STRING as usize);
        }
        assert!(string(MPI_ERR_ABI + 1).is_none());
    }

    #[test]
    fn classes_and_codes_come_and_go() {
        let class = add(None).unwrap();
        let code = add(Some(class)).unwrap();
        assert!(class > MPI_ERR_LASTCODE && code > class && last_used() >= code);
        assert_eq!(class_of_code(code), Some(class));
        set_string(code, "mine".into()).unwrap();
        assert_eq!(string(code).unwrap(), "mine");
        assert!(remove(class, true).is_err(), "it has a code");
        assert!(remove(class, false).is_err(), "it is no code");
        assert!(remove(code, false).is_err(), "it has a string");
        set_string(code, String::new()).unwrap();
        remove(code, false).unwrap();
        remove(class, true).unwrap();
        assert_eq!(class_of_code(code), None);
        assert!(add(Some(class)).is_err() && set_string(MPI_ERR_ARG, "x".into()).is_err());
    }
}
