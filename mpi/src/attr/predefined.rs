//! The predefined attributes of a communicator.

use crate::constants::*;
use crate::error::codes;
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};
use parking_lot::Mutex;

/// Values of the predefined attributes: what the user gets is a pointer to an int.
struct Predefined {
    tag_ub: c_int,
    host: c_int,
    io: c_int,
    wtime_is_global: c_int,
    universe_size: c_int,
    appnum: c_int,
}

/// Set once by MPI_Init; leaked, since users keep the pointers.
static PREDEFINED: Mutex<Option<&'static Predefined>> = Mutex::new(None);

static LAST_USED_CODE: AtomicI32 = AtomicI32::new(0);

/// Fixes the predefined attributes.
pub fn start(tag_ub: c_int, universe_size: c_int, appnum: c_int) {
    let values = Predefined {
        tag_ub,
        host: MPI_PROC_NULL,
        // Every rank can do what the language calls input and output.
        io: MPI_ANY_SOURCE,
        wtime_is_global: 0,
        universe_size,
        appnum,
    };
    *PREDEFINED.lock() = Some(Box::leak(Box::new(values)));
}

/// Address of a predefined attribute's value.
pub fn predefined(number: c_int) -> Option<usize> {
    let values = (*PREDEFINED.lock())?;
    let place: *const c_int = match number {
        MPI_TAG_UB => &values.tag_ub,
        MPI_HOST => &values.host,
        MPI_IO => &values.io,
        MPI_WTIME_IS_GLOBAL => &values.wtime_is_global,
        MPI_UNIVERSE_SIZE => &values.universe_size,
        MPI_APPNUM => &values.appnum,
        MPI_LASTUSEDCODE => {
            LAST_USED_CODE.store(codes::last_used(), Ordering::Relaxed);
            LAST_USED_CODE.as_ptr()
        }
        _ => return None,
    };
    Some(place as usize)
}
