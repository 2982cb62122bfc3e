//! Which endpoint the calling thread is in each thread communicator that it has started, and its key in the order of threads: lists of each
//! thread's own.

use crate::call::handle::{Kind, is_of};
use parking_lot::Mutex;
use std::cell::RefCell;

thread_local! {
    /// Handles of thread communicators, and the thread's endpoint in each.
    static STARTED: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
    /// Numbers of thread communicators, and the key by which the thread gets its rank in each.
    static KEYS: RefCell<Vec<(u64, i32)>> = const { RefCell::new(Vec::new()) };
}

/// Thread communicators by handle, each with a number that no other ever has. Cold.
static LIVING: Mutex<Living> = Mutex::new(Living { made: 0, all: Vec::new() });

struct Living {
    made: u64,
    all: Vec<(usize, u64)>,
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

/// A thread communicator has been made: its number.
pub fn born(handle: usize) -> u64 {
    let mut living = LIVING.lock();
    living.made += 1;
    let number = living.made;
    living.all.push((handle, number));
    number
}

/// It has been freed.
pub fn died(handle: usize) {
    LIVING.lock().all.retain(|(living, _)| *living != handle);
}

/// From now on the thread has that key in a thread communicator. False: there is none with that handle.
pub fn set_key(handle: usize, key: i32) -> bool {
    let Some(number) = LIVING.lock().all.iter().find(|(living, _)| *living == handle).map(|(_, n)| *n) else {
        return false;
    };
    KEYS.with(|list| {
        let mut list = list.borrow_mut();
        match list.iter_mut().find(|(of, _)| *of == number) {
            Some(place) => place.1 = key,
            None => list.push((number, key)),
        }
    });
    true
}

/// The key that the thread has set, by the communicator's number.
pub fn key(number: u64) -> Option<i32> {
    KEYS.with(|list| list.borrow().iter().find(|(of, _)| *of == number).map(|(_, key)| *key))
}
