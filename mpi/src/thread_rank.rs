//! Which endpoint the calling thread is in each thread communicator that it has started: a list of each thread's own.

use crate::handle::{Kind, is_of};
use std::cell::RefCell;

thread_local! {
    /// Handles of thread communicators, and the thread's endpoint in each.
    static STARTED: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
}

/// The handle of the calling thread's endpoint; `None`: `handle` is no thread communicator, or the thread has not started it.
#[cold]
pub fn of(handle: usize) -> Option<usize> {
    if !is_of(Kind::Threadcomm, handle) {
        return None;
    }
    let find = |list: &RefCell<Vec<(usize, usize)>>| {
        list.borrow().iter().find(|(started, _)| *started == handle).map(|(_, endpoint)| *endpoint)
    };
    STARTED.try_with(find).ok().flatten()
}

/// From now on the thread is that endpoint.
pub fn enter(handle: usize, endpoint: usize) {
    STARTED.with(|list| list.borrow_mut().push((handle, endpoint)));
}

/// The endpoint that it was.
pub fn leave(handle: usize) -> Option<usize> {
    STARTED.with(|list| {
        let mut list = list.borrow_mut();
        let at = list.iter().position(|(started, _)| *started == handle)?;
        Some(list.swap_remove(at).1)
    })
}
