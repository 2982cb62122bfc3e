//! The transport's way of messages whose payload is kept: they are in their queue at once, and filled from where they lie when the sender next turns behind their predecessors.

use super::host::{Proc, proc_of};
use super::net::place;
use core::ffi::c_void;
use oxmpi_btl::{Done, KeptDesc, SendDesc};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_testing::transport;

/// A message whose end has to be told.
pub struct Flying {
    /// Where to, its header, and where its payload lies.
    to: usize,
    header: Vec<u8>,
    payload: usize,
    len: u64,
    done: Done,
    ctx: usize,
    /// Turns of the sender's in which it stays where it is.
    turns: u32,
}

/// Shorter messages are copied.
const LONG: u64 = 1000;

pub extern "C" fn send_kept(s: *mut c_void, ep: *mut c_void, ctx: u32, d: *const KeptDesc) -> Status {
    let me = proc_of(s);
    let net = me.net();
    // SAFETY: the descriptor is valid for the call.
    let desc = unsafe { &*d };
    let message = &desc.message;
    let (to, from) = (ep as usize - 1, place(net, me.rank, ctx));
    if to as u32 == net.ended.load(Ordering::Relaxed) {
        return Status::PEER_FAILED;
    }
    let mut q = net.queues.lock();
    let room = net.room.load(Ordering::Relaxed) as usize;
    let flying = q.flying.entry(from).or_default().len();
    if q.messages[to][from].len() + flying >= room {
        return Status::NO_RESOURCE;
    }
    assert!(u64::from(message.hdr_len) + message.len <= net.setup.max_send);
    if message.len < LONG && flying == 0 {
        let mut bytes = Vec::new();
        // SAFETY: what the descriptor points to is readable for the call.
        unsafe { transport::append(message, &mut bytes) };
        q.messages[to][from].push_back(bytes);
        return Status::OK;
    }
    let mut header = Vec::new();
    // SAFETY: the header is readable for the call.
    unsafe { transport::append(&SendDesc { len: 0, pack: None, ..copy(message) }, &mut header) };
    let done = desc.done.expect("somebody wants to know");
    let turns = (q.kept % 3) as u32;
    q.kept += 1;
    let flying = Flying {
        to,
        header,
        payload: message.payload.expose_provenance(),
        len: message.len,
        done,
        ctx: desc.done_ctx.expose_provenance(),
        turns,
    };
    q.flying.entry(from).or_default().push_back(flying);
    Status::PENDING
}

fn copy(message: &SendDesc) -> SendDesc {
    SendDesc { ..*message }
}

/// Takes the kept messages of a process's context to their queues, as far as their turn has come, and tells their ends; how many. One to a process that has ended fails.
pub fn take_kept(me: &Proc, from: usize) -> i32 {
    let (net, mut events) = (me.net(), 0);
    loop {
        let mut q = net.queues.lock();
        let Some(first) = q.flying.get_mut(&from).and_then(|all| all.front_mut()) else { break };
        if first.turns > 0 {
            first.turns -= 1;
            break;
        }
        let Some(mut one) = q.flying.get_mut(&from).and_then(|all| all.pop_front()) else { break };
        let lost = one.to as u32 == net.ended.load(Ordering::Relaxed);
        if !lost {
            let payload = core::ptr::with_exposed_provenance::<u8>(one.payload);
            // SAFETY: the sender keeps it until it is told.
            one.header.extend_from_slice(unsafe { core::slice::from_raw_parts(payload, one.len as usize) });
            q.messages[one.to][from].push_back(one.header);
            q.sent += 1;
        }
        q.landed += 1;
        drop(q);
        let status = if lost { Status::PEER_FAILED } else { Status::OK };
        // SAFETY: the descriptor's function with its argument, once, in a turn of its context.
        unsafe { (one.done)(core::ptr::with_exposed_provenance_mut(one.ctx), status) };
        events += 1;
    }
    events
}
