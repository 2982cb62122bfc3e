//! Arrays of datatypes that a nonblocking or persistent operation may read until it is complete: they are kept until another such operation has its request.

use super::Dummy;
use super::handles::{Array, Out};
use crate::abi::{Fint, Handle};
use crate::kinds;
use core::any::Any;
use core::cell::RefCell;
use core::ffi::c_int;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

type Types = Array<kinds::Datatype>;

/// An array that is kept.
pub type Own = Box<dyn Any + Send>;

thread_local! {
    /// Arrays of the call that is being made, until its request is known.
    static OF_CALL: RefCell<Vec<Own>> = const { RefCell::new(Vec::new()) };
}

/// By request. A number that is given again is that of another operation: the one before is complete and was freed.
static OF_REQUESTS: Mutex<Option<HashMap<Fint, Vec<Own>>>> = Mutex::new(None);

/// Keeps arrays for a request that was just made; `beside`: those that a [`Kept`] of the same call has.
pub fn keep(request: Fint, arrays: Vec<Own>, beside: bool) {
    let mut kept = OF_REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let of_request = kept.get_or_insert_default().entry(request).or_default();
    if !beside {
        of_request.clear();
    }
    of_request.extend(arrays);
}

/// An array of datatypes, kept for the request of the same call.
pub struct Kept(Types);

impl Dummy for Kept {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    unsafe fn take(given: *mut Fint, len: usize) -> Self {
        // SAFETY: the caller's promise.
        Kept(unsafe { Types::take(given, len) })
    }
    fn pass(&mut self) -> *mut Handle {
        self.0.pass()
    }
    fn give_back(self, _: c_int) {
        OF_CALL.with_borrow_mut(|all| all.push(Box::new(self.0)));
    }
}

/// The request of a call with such arrays; it stands behind them.
pub struct Request {
    place: *mut Fint,
    own: Out<kinds::Request>,
}

impl Dummy for Request {
    type Given = *mut Fint;
    type Passed = *mut Handle;

    unsafe fn take(given: *mut Fint, len: usize) -> Self {
        // SAFETY: the caller's promise.
        Request { place: given, own: unsafe { Out::take(given, len) } }
    }
    fn pass(&mut self) -> *mut Handle {
        self.own.pass()
    }
    fn give_back(self, code: c_int) {
        self.own.give_back(code);
        let all = OF_CALL.take();
        if code == crate::abi::SUCCESS {
            // SAFETY: the caller's place, which was just written.
            keep(unsafe { self.place.read() }, all, false);
        }
    }
}

// SAFETY: the places of a kept array are not used any more, and what it owns are numbers.
unsafe impl Send for Types {}
