//! Handles whose request may be with a sync object: found when that has given it up.

use super::find::{find, wrong};
use super::word::Header;
use crate::call::process::Process;
use crate::constants::*;
use crate::error::Res;
use crate::ext_sync::wait_for_return;
use crate::types::Request;

/// The request of a handle that [`find`] refused, if a sync object has no more to do with it (`ext_sync`).
#[cold]
#[inline(never)]
pub fn find_again(process: &Process, request: Request) -> Option<Header> {
    if request.0 == MPI_REQUEST_NULL {
        return None;
    }
    wait_for_return(process, request);
    find(process, request)
}

/// [`find`] off the quick paths, or what is wrong with the handle.
pub fn find_or_wrong(process: &Process, request: Request) -> Res<Header> {
    find(process, request).or_else(|| find_again(process, request)).ok_or_else(|| wrong(request))
}

/// The same for a handle that may be MPI_REQUEST_NULL, which is none.
pub fn find_or_null(process: &Process, request: Request) -> Res<Option<Header>> {
    match find(process, request) {
        None if request.0 != MPI_REQUEST_NULL => find_or_wrong(process, request).map(Some),
        found => Ok(found),
    }
}
