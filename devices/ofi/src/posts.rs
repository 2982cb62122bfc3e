//! Posts of an endpoint, some of which are refused.

use crate::queue::AGAIN;
use crate::state::{Calls, State, held};
use core::ffi::c_void;
use core::sync::atomic::Ordering;

pub type BindCall = unsafe extern "C" fn(*mut c_void, *mut c_void, u64) -> i32;
pub type RecvCall =
    unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub type InjectCall = unsafe extern "C" fn(*mut c_void, *const c_void, usize, u64) -> isize;
pub type ReadCall =
    unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void) -> isize;
pub type WriteMsgCall = unsafe extern "C" fn(*mut c_void, *const c_void, u64) -> isize;

impl State {
    /// Whether a post is refused.
    fn refuses(&self) -> bool {
        let n = self.posts.fetch_add(1, Ordering::Relaxed) + 1;
        self.faults.again > 0 && n.is_multiple_of(self.faults.again)
    }

    /// Runs a post that carries so many bytes, unless it is refused. `completes`: it will have a completion.
    fn send_post(&self, calls: &Calls, bytes: usize, completes: bool, post: impl FnOnce() -> isize) -> isize {
        if self.refuses() {
            return AGAIN;
        }
        let answer = self.post(calls, completes, post);
        if answer == 0 {
            self.carries(calls.domain, bytes);
        }
        answer
    }

    /// Runs a post that sends, unless there is no room for it.
    fn post(&self, calls: &Calls, completes: bool, post: impl FnOnce() -> isize) -> isize {
        let Some(queue) = &calls.queue else { return post() };
        {
            let mut queue = held(queue);
            let is_full = self.faults.queue > 0 && queue.unread >= self.faults.queue;
            let is_over = completes && self.faults.tx.is_some_and(|most| queue.under_way >= most);
            if is_full || is_over {
                return AGAIN;
            }
            // Before the post: its completion may be read by another thread at once.
            queue.unread += 1;
            queue.under_way += usize::from(completes);
        }
        let answer = post();
        if answer != 0 {
            let mut queue = held(queue);
            queue.unread = queue.unread.saturating_sub(1);
            queue.under_way -= usize::from(completes).min(queue.under_way);
        }
        answer
    }

    /// Sends bytes that nobody meant behind every n-th message, to the same endpoint, as a stranger would. A full provider drops them.
    fn litter(&self, calls: &Calls, ep: *mut c_void, to: u64) {
        let n = self.messages.fetch_add(1, Ordering::Relaxed) + 1;
        if self.faults.garbage == 0 || !n.is_multiple_of(self.faults.garbage) || calls.inject == 0 {
            return;
        }
        let (bytes, len) = garbage(n);
        // SAFETY: the function of that endpoint, and so many bytes, which it has copied when it returns.
        unsafe {
            core::mem::transmute::<usize, InjectCall>(calls.inject)(ep, bytes.as_ptr().cast(), len, to)
        };
    }
}

/// Some bytes that follow from a number, and how many of them count.
fn garbage(n: u64) -> ([u8; 64], usize) {
    let mut word = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let bytes = core::array::from_fn(|_| {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        (word >> 24) as u8
    });
    (bytes, 1 + (word % 64) as usize)
}

/// Binds an endpoint; notes its completion queue.
pub unsafe extern "C" fn bind(ep: *mut c_void, to: *mut c_void, flags: u64) -> i32 {
    let state = State::get();
    let calls = state.calls(ep);
    // SAFETY: the function of that endpoint; the caller's own arguments.
    let answer = unsafe { core::mem::transmute::<usize, BindCall>(calls.bind)(ep, to, flags) };
    if let Some(queue) = state.queue(to) {
        state.change(ep, |calls| calls.queue = Some(queue.clone()));
    }
    answer
}

pub unsafe extern "C" fn recv(
    ep: *mut c_void,
    at: *mut c_void,
    len: usize,
    desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    let state = State::get();
    if state.refuses() {
        return AGAIN;
    }
    // SAFETY: the function of that endpoint; the caller's own arguments.
    unsafe {
        let call = core::mem::transmute::<usize, RecvCall>(state.calls(ep).recv);
        call(ep, at, len, desc, from, context)
    }
}

pub unsafe extern "C" fn send(
    ep: *mut c_void,
    at: *mut c_void,
    len: usize,
    desc: *mut c_void,
    to: u64,
    context: *mut c_void,
) -> isize {
    let state = State::get();
    let calls = state.calls(ep);
    // SAFETY: the function of that endpoint, which differs from `recv` in that it does not write; the caller's own arguments.
    let answer = state.send_post(&calls, len, true, || unsafe {
        core::mem::transmute::<usize, RecvCall>(calls.send)(ep, at, len, desc, to, context)
    });
    if answer == 0 {
        state.litter(&calls, ep, to);
    }
    answer
}

pub unsafe extern "C" fn inject(ep: *mut c_void, at: *const c_void, len: usize, to: u64) -> isize {
    let state = State::get();
    let calls = state.calls(ep);
    // SAFETY: the function of that endpoint; the caller's own arguments.
    let answer = state.send_post(&calls, len, false, || unsafe {
        core::mem::transmute::<usize, InjectCall>(calls.inject)(ep, at, len, to)
    });
    if answer == 0 {
        state.litter(&calls, ep, to);
    }
    answer
}

pub unsafe extern "C" fn read(
    ep: *mut c_void,
    at: *mut c_void,
    len: usize,
    desc: *mut c_void,
    from: u64,
    remote: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let state = State::get();
    let calls = state.calls(ep);
    // SAFETY: the function of that endpoint; the caller's own arguments.
    state.send_post(&calls, len, true, || unsafe {
        core::mem::transmute::<usize, ReadCall>(calls.read)(ep, at, len, desc, from, remote, key, context)
    })
}

pub unsafe extern "C" fn writemsg(ep: *mut c_void, message: *const c_void, flags: u64) -> isize {
    let state = State::get();
    let calls = state.calls(ep);
    // SAFETY: a message begins with its list, a descriptor, and the number of the list's entries, each an address and a length.
    let len = unsafe {
        let [list, _, count] = *message.cast::<[usize; 3]>();
        core::slice::from_raw_parts(list as *const [usize; 2], count).iter().map(|entry| entry[1]).sum()
    };
    // SAFETY: the function of that endpoint; the caller's own arguments.
    state.send_post(&calls, len, true, || unsafe {
        core::mem::transmute::<usize, WriteMsgCall>(calls.writemsg)(ep, message, flags)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_differs_and_has_a_length() {
        let all: Vec<_> = (1..50).map(garbage).collect();
        assert!(all.iter().all(|(_, len)| (1..=64).contains(len)));
        assert!(all.windows(2).all(|two| two[0].0 != two[1].0));
        assert_eq!(garbage(7), garbage(7));
    }
}
