//! libfabric with faults: the library's functions, which hand every call on and give the objects that come back tables with other functions.
//!
//! A test device. `README.md` says which faults there are and how they are set up.

mod faults;
mod posts;
mod queue;
mod state;
mod tables;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::Ordering;
use queue::{AGAIN, AVAIL, Entry, Queue};
use state::{Calls, State, held};
use std::sync::{Arc, Mutex};
use tables::{function, info, object, op, replace};

type Open = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut usize, *mut c_void) -> c_int;
type Trywait = unsafe extern "C" fn(*mut c_void, *mut *mut c_void, c_int) -> c_int;
type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const c_void, *mut *mut usize) -> c_int;

/// Version of the library, or the one that is set up.
#[unsafe(no_mangle)]
pub extern "C" fn fi_version() -> u32 {
    let state = State::get();
    // SAFETY: the function's type.
    state
        .faults
        .version
        .unwrap_or_else(|| unsafe { state.behind::<unsafe extern "C" fn() -> u32>("fi_version")() })
}

/// Descriptions of endpoints, with lower limits.
///
/// # Safety
/// As the library has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_getinfo(
    version: u32,
    node: *const c_char,
    service: *const c_char,
    flags: u64,
    hints: *const c_void,
    found: *mut *mut usize,
) -> c_int {
    let state = State::get();
    // SAFETY: the function's type, and the caller's own arguments.
    let answer =
        unsafe { state.behind::<GetInfo>("fi_getinfo")(version, node, service, flags, hints, found) };
    if answer != 0 {
        return answer;
    }
    let faults = &state.faults;
    // SAFETY: a list of descriptions with all their parts, which nobody else has yet.
    unsafe {
        let mut at = *found;
        while !at.is_null() {
            for (part, word, limit) in [
                (info::TX, info::SIZE, faults.tx),
                (info::RX, info::SIZE, faults.rx),
                (info::TX, info::TX_INJECT, faults.inject),
            ] {
                let place = (*at.add(part) as *mut usize).add(word);
                *place = limit.map_or(*place, |limit| limit.min(*place));
            }
            at = *at.add(info::NEXT) as *mut usize;
        }
    }
    answer
}

/// Ends descriptions.
///
/// # Safety
/// As the library has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_freeinfo(list: *mut c_void) {
    // SAFETY: the function's type, and the caller's own arguments.
    unsafe { State::get().behind::<unsafe extern "C" fn(*mut c_void)>("fi_freeinfo")(list) }
}

/// Copies a description.
///
/// # Safety
/// As the library has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_dupinfo(one: *const c_void) -> *mut c_void {
    // SAFETY: the function's type, and the caller's own arguments.
    unsafe { State::get().behind::<unsafe extern "C" fn(*const c_void) -> *mut c_void>("fi_dupinfo")(one) }
}

/// Words of an error number.
///
/// # Safety
/// As the library has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_strerror(code: c_int) -> *const c_char {
    // SAFETY: the function's type.
    unsafe { State::get().behind::<unsafe extern "C" fn(c_int) -> *const c_char>("fi_strerror")(code) }
}

/// Opens a fabric whose domains are ours.
///
/// # Safety
/// As the library has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_fabric(attr: *mut c_void, made: *mut *mut usize, context: *mut c_void) -> c_int {
    type Call = unsafe extern "C" fn(*mut c_void, *mut *mut usize, *mut c_void) -> c_int;
    let state = State::get();
    // SAFETY: the function's type, and the caller's own arguments; then a fabric that nobody else has yet.
    unsafe {
        let answer = state.behind::<Call>("fi_fabric")(attr, made, context);
        if answer == 0 {
            state.stand_in(*made, object::OWN, op::DOMAIN, open_domain as *const () as usize);
            state.stand_in(*made, object::OWN, op::TRYWAIT, trywait as *const () as usize);
        }
        answer
    }
}

/// A counter by its name; 0: there is none of that name. `carried_N`: bytes that endpoints of the N-th domain have sent, put and got.
///
/// # Safety
/// A C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oxmpi_ofi_faults_counter(name: *const c_char) -> u64 {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    let domain = name.strip_prefix("carried_").and_then(|number| number.parse().ok());
    domain.map_or(0, |domain| State::get().carried(domain))
}

unsafe extern "C" fn open_domain(
    fabric: *mut c_void,
    info: *mut c_void,
    made: *mut *mut usize,
    context: *mut c_void,
) -> c_int {
    let state = State::get();
    // SAFETY: the function of that fabric, and the caller's own arguments; then a domain that nobody else has yet.
    unsafe {
        let open = core::mem::transmute::<usize, Open>(state.own(fabric, op::DOMAIN));
        let answer = open(fabric, info, made, context);
        if answer == 0 {
            state.opened(*made);
            state.stand_in(*made, object::OWN, op::CQ_OPEN, open_queue as *const () as usize);
            state.stand_in(*made, object::OWN, op::ENDPOINT, open_endpoint as *const () as usize);
        }
        answer
    }
}

unsafe extern "C" fn trywait(fabric: *mut c_void, fids: *mut *mut c_void, count: c_int) -> c_int {
    let state = State::get();
    for n in 0..count as usize {
        // SAFETY: so many places of the caller's.
        let object = unsafe { *fids.add(n) };
        if state.queue(object).is_some_and(|queue| held(&queue).holds_something()) {
            return AGAIN as c_int;
        }
    }
    // SAFETY: the function of that fabric, and the caller's own arguments.
    unsafe { core::mem::transmute::<usize, Trywait>(state.own(fabric, op::TRYWAIT))(fabric, fids, count) }
}

unsafe extern "C" fn open_queue(
    domain: *mut c_void,
    attr: *mut c_void,
    made: *mut *mut usize,
    context: *mut c_void,
) -> c_int {
    let state = State::get();
    // SAFETY: the function of that domain, and the caller's own arguments; then a queue that nobody else has yet.
    unsafe {
        let open = core::mem::transmute::<usize, Open>(state.own(domain, op::CQ_OPEN));
        let answer = open(domain, attr, made, context);
        if answer != 0 {
            return answer;
        }
        let cq = *made;
        let own = |op| function(cq, object::OWN, op);
        if let (Some(read), Some(readerr)) = (own(op::CQ_READ), own(op::CQ_READERR)) {
            let queue = Queue::new(
                core::mem::transmute::<usize, queue::ReadCall>(read),
                core::mem::transmute::<usize, queue::ReadErrCall>(readerr),
            );
            held(&state.queues).insert(cq as usize, Arc::new(Mutex::new(queue)));
            let ours = [
                (op::CQ_READ, read_queue as *const () as usize),
                (op::CQ_READERR, read_failure as *const () as usize),
            ];
            replace(cq, object::OWN, &ours);
        }
        answer
    }
}

unsafe extern "C" fn read_queue(cq: *mut c_void, places: *mut c_void, count: usize) -> isize {
    let state = State::get();
    let Some(queue) = state.queue(cq) else { return AGAIN };
    let mut queue = held(&queue);
    let mut entries: Vec<Entry> = vec![[0; 3]; count];
    // SAFETY: the function of that queue, which has entries of messages' format, and so many places.
    let answer = unsafe { (queue.read)(cq, entries.as_mut_ptr().cast(), count) };
    if count == 0 {
        return answer;
    }
    queue.unread = 0;
    {
        let (sends, messages) = &mut *held(&state.counts);
        queue.take(&entries[..answer.max(0) as usize], &state.faults, sends, messages);
    }
    match queue.report(count) {
        Err(()) => AVAIL,
        // The library's own failures stay with it until they are asked for.
        Ok(out) if out.is_empty() => {
            if answer < 0 {
                answer
            } else {
                AGAIN
            }
        }
        Ok(out) => {
            // SAFETY: the caller has room for `count` entries.
            unsafe { core::ptr::copy_nonoverlapping(out.as_ptr(), places.cast::<Entry>(), out.len()) };
            out.len() as isize
        }
    }
}

unsafe extern "C" fn read_failure(cq: *mut c_void, place: *mut c_void, flags: u64) -> isize {
    let state = State::get();
    let Some(queue) = state.queue(cq) else { return AGAIN };
    let mut queue = held(&queue);
    match queue.failure(state.faults.code) {
        Some(words) => {
            // SAFETY: the caller's place for a failure, of more words than these.
            unsafe { *place.cast::<[usize; 10]>() = words };
            1
        }
        // SAFETY: the function of that queue, and the caller's own arguments.
        None => unsafe { (queue.readerr)(cq, place, flags) },
    }
}

unsafe extern "C" fn open_endpoint(
    domain: *mut c_void,
    info: *mut c_void,
    made: *mut *mut usize,
    context: *mut c_void,
) -> c_int {
    const NOSPC: c_int = -28;
    let state = State::get();
    let n = state.endpoints.fetch_add(1, Ordering::Relaxed);
    if state.faults.endpoints.is_some_and(|most| n >= most) {
        return NOSPC;
    }
    // SAFETY: the function of that domain, and the caller's own arguments; then an endpoint that nobody else has yet.
    unsafe {
        let open = core::mem::transmute::<usize, Open>(state.own(domain, op::ENDPOINT));
        let answer = open(domain, info, made, context);
        if answer == 0 {
            stand_before(state, *made, state.number_of(domain));
        }
        answer
    }
}

/// Puts our posts in front of an endpoint's.
///
/// # Safety
/// An endpoint that nobody else has yet.
unsafe fn stand_before(state: &State, ep: *mut usize, domain: usize) {
    // SAFETY: the caller's promise, and functions of the library's types.
    unsafe {
        let own = |table, op| function(ep, table, op).unwrap_or_default();
        let calls = Calls {
            bind: own(object::GENERAL, op::BIND),
            recv: own(object::MESSAGES, op::RECV),
            send: own(object::MESSAGES, op::SEND),
            inject: own(object::MESSAGES, op::INJECT),
            read: own(object::REMOTE, op::RMA_READ),
            writemsg: own(object::REMOTE, op::RMA_WRITEMSG),
            queue: None,
            domain,
        };
        held(&state.calls).insert(ep as usize, calls);
        replace(ep, object::GENERAL, &[(op::BIND, posts::bind as *const () as usize)]);
        let ours = [
            (op::RECV, posts::recv as *const () as usize),
            (op::SEND, posts::send as *const () as usize),
            (op::INJECT, posts::inject as *const () as usize),
        ];
        replace(ep, object::MESSAGES, &ours);
        let ours = [
            (op::RMA_READ, posts::read as *const () as usize),
            (op::RMA_WRITEMSG, posts::writemsg as *const () as usize),
        ];
        replace(ep, object::REMOTE, &ours);
    }
}
