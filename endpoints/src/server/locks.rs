//! Locks of windows, by messages to the target's proxy: it grants them in the order in which they came.
//!
//! The library's window is under MPI_Win_lock_all all the time, so the library excludes nobody. A lock is a message to the
//! target, which answers when it may be had; to let go is a message, too, sent when everything has arrived at the target. No proxy
//! waits inside the library for a lock that another one holds.

use crate::abi::*;
use crate::pmpi;
use crate::state::{Event, Server, Work};

/// Tags of the messages on a window's communicator.
pub mod tag {
    use core::ffi::c_int;
    pub const LOCK: c_int = 1;
    pub const GRANT: c_int = 2;
    pub const POST: c_int = 3;
    pub const COMPLETE: c_int = 4;
}

/// The contents of a message about a lock.
pub static SHARED: c_int = 1;
pub static EXCLUSIVE: c_int = 2;
pub static RELEASE: c_int = RELEASED;
const RELEASED: c_int = 3;

impl Server {
    /// Listens for the next message about a lock of this window.
    pub fn listen(&mut self, number: u32) {
        let Some(window) = self.windows.get_mut(&number) else { return };
        let mut request = REQUEST_NULL;
        // SAFETY: the box stays as long as the window, whose end cancels the receive.
        let error = unsafe {
            let to = (&raw mut *window.heard).cast();
            pmpi::MPI_Irecv(to, 1, INT, ANY_SOURCE, tag::LOCK, window.comm, &raw mut request)
        };
        if error != SUCCESS {
            crate::errors::abort("a window's proxy cannot listen");
        }
        let work = Work { event: Event::Heard(number), ..Work::new(u32::MAX) };
        self.pend(work, request);
    }

    /// A message about a lock has come.
    pub fn hear(&mut self, number: u32, source: c_int) {
        let Some(window) = self.windows.get_mut(&number) else { return };
        window.came += 1;
        match *window.heard {
            RELEASED => window.lock.release(),
            kind => window.lock.ask(source, kind == EXCLUSIVE),
        }
        let comm = window.comm;
        let granted: Vec<c_int> = core::iter::from_fn(|| window.lock.grant()).collect();
        let answer = |rank| {
            let mut request = REQUEST_NULL;
            // SAFETY: a message without data.
            unsafe {
                let nothing = core::ptr::null();
                pmpi::MPI_Isend(nothing, 0, INT, rank, tag::GRANT, comm, &raw mut request);
            }
            request
        };
        let requests = granted.into_iter().map(answer).collect();
        self.pend_together(requests, None);
        self.listen(number);
    }
}
