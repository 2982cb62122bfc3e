//! A function for `mpi-info --file` of this installation, which is no program of MPI's interface: all that is known of a file before it is opened.

use crate::call::process;
use core::ffi::{CStr, c_char};

/// Writes keys and values, each ended by a zero byte, as they would be for so many ranks of one node: the bytes that all of them take. If that is more than `room`, what fits is
/// written. The key `error` is that of a text which says why there is no answer. MPI is initialized.
///
/// # Safety
/// `name` ends by a zero byte; `out` is writable for `room` bytes.
// SAFETY: the name is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oxmpi_tell_file(
    name: *const c_char,
    ranks: u32,
    out: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let told = match process::require() {
        Ok(process) => process.instance.tell_file(name.to_bytes(), ranks).map_err(|why| why.message),
        Err(why) => Err(why.message),
    };
    let told = told.unwrap_or_else(|why| vec![("error".to_owned(), why)]);
    let mut text = Vec::new();
    for part in told.iter().flat_map(|(key, value)| [key, value]) {
        text.extend(part.bytes().filter(|byte| *byte != 0));
        text.push(0);
    }
    // SAFETY: the caller's place, so long.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), out, text.len().min(room)) };
    text.len()
}
