//! The transport: a BTL of one rank, whose state is the rank. Messages go through the net's lanes; one-sided verbs copy.

use crate::host::Rank;
use crate::setup::Wire;
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::{BtlAttrs, BtlHandle, FlushDesc, RmaDesc, SendDesc, WaitSet, WaitWord, cap};
use oxmpi_mca::host::receive;
use oxmpi_mca::{RecvDesc, Status};
use oxmpi_testing::{FakeHost, Landing, Transfer, transport};

pub const EAGER: u64 = 4096;
pub const LARGEST: u64 = 8192;
/// Bytes of one get or put.
const PIECE: u64 = 10_000;
/// Messages of one source in one turn.
const BATCH: usize = 16;

/// An endpoint is the number of its process plus 1.
pub fn endpoint_of(proc: u32) -> *mut c_void {
    core::ptr::without_provenance_mut(proc as usize + 1)
}

/// The rank of a call, whose lock of `ctx` is held by its caller.
fn at<'a>(state: *mut c_void, ctx: u32) -> &'a Rank {
    let rank = Rank::of(state);
    if rank.desk.is_threaded() {
        let lock = &rank.desk.cris[ctx as usize].lock;
        assert!(!lock.try_lock(), "a transport's verb for context {ctx} without the lock of its CRI");
    }
    rank
}

extern "C" fn send(s: *mut c_void, ep: *mut c_void, ctx: u32, d: *const SendDesc) -> Status {
    let rank = at(s, ctx);
    let to = ep.addr() as u32 - 1;
    // SAFETY: valid for the call.
    let d = unsafe { &*d };
    if rank.net().has_failed(to) || rank.net().has_failed(rank.number) {
        return Status::PEER_FAILED;
    }
    let mut lane = rank.net().lane(to, rank.number, ctx);
    if lane.len() >= rank.net().room() {
        return Status::NO_RESOURCE;
    }
    let total = u64::from(d.hdr_len) + d.len;
    assert!(total <= LARGEST, "a message of {total} bytes over a transport that takes {LARGEST}");
    let mut bytes = vec![d.tag as u8];
    // SAFETY: the descriptor's promises.
    unsafe { transport::append(d, &mut bytes) };
    lane.push_back(bytes);
    Status::OK
}

extern "C" fn progress(s: *mut c_void, ctx: u32) -> i32 {
    let rank = at(s, ctx);
    let net = rank.net();
    let mut events = 0;
    // Not those that the callbacks of this turn start.
    let waiting = net.landings(rank.number, ctx).len();
    for _ in 0..waiting {
        let Some(mut landing) = net.landings(rank.number, ctx).pop_front() else { break };
        net.unflushed(rank.number, ctx).land(&mut landing, &mut net.registry());
        landing.tell();
        events += 1;
    }
    for from in 0..net.ranks {
        for _ in 0..BATCH {
            let Some(message) = net.lane(rank.number, from, ctx).pop_front() else { break };
            events += 1;
            // Aligned as a transport's buffer is.
            let mut words = vec![0u64; message.len().div_ceil(8)];
            let len = message.len() - 1;
            // SAFETY: large enough.
            unsafe {
                core::ptr::copy_nonoverlapping(message.as_ptr().add(1), words.as_mut_ptr().cast(), len)
            };
            let desc = RecvDesc {
                data: words.as_ptr().cast(),
                len: len as u64,
                proc: from,
                ctx,
                module: s,
                link: 0,
            };
            net.delivered[rank.number as usize].fetch_add(len as u64, Ordering::Relaxed);
            let row = rank.desk.row(message[0]);
            // SAFETY: the caller of this verb holds the context; the message lies in `words`.
            if unsafe { (row.receive)(row.ctx, &desc) } == receive::STOP {
                break;
            }
        }
    }
    events
}

fn start(s: *mut c_void, ctx: u32, d: *const RmaDesc, put: bool) -> Status {
    let rank = at(s, ctx);
    let net = rank.net();
    // SAFETY: valid for the call.
    let d = unsafe { &*d };
    assert!(d.len > 0 && d.len <= PIECE, "a piece of {} bytes, of which {PIECE} are allowed", d.len);
    let transfer = Transfer::new(&net.registry(), d, put);
    if net.wire == Wire::Reads {
        transfer.land(&mut net.registry());
        return Status::OK;
    }
    if rank.takes_turns() {
        return Status::NO_RESOURCE;
    }
    net.landings(rank.number, ctx).push_back(Landing::new(d.done, d.done_ctx, Some(transfer)));
    Status::PENDING
}

extern "C" fn get(s: *mut c_void, _: *mut c_void, ctx: u32, d: *const RmaDesc) -> Status {
    start(s, ctx, d, false)
}
extern "C" fn put(s: *mut c_void, _: *mut c_void, ctx: u32, d: *const RmaDesc) -> Status {
    start(s, ctx, d, true)
}
extern "C" fn flush(s: *mut c_void, _: *mut c_void, ctx: u32, d: *const FlushDesc) -> Status {
    let rank = at(s, ctx);
    // SAFETY: valid for the call.
    let d = unsafe { &*d };
    rank.net().landings(rank.number, ctx).push_back(Landing::new(d.done, d.done_ctx, None));
    Status::PENDING
}

extern "C" fn arm(s: *mut c_void, ctx: u32, set: *mut WaitSet) -> Status {
    let rank = at(s, ctx);
    rank.armed.fetch_add(1, Ordering::Relaxed);
    if rank.net().has_something(rank.number, ctx) {
        return Status::PENDING;
    }
    // SAFETY: the caller's set; nobody sleeps on the word.
    unsafe { &mut *set }.add_word(WaitWord { addr: rank.desk.threaded.as_ptr(), expected: 7, reserved: ctx })
}
extern "C" fn disarm(s: *mut c_void, ctx: u32) {
    at(s, ctx).armed.fetch_sub(1, Ordering::Relaxed);
}

/// Attributes that the transport declares.
pub fn attrs_of(wire: Wire, cris: u32) -> BtlAttrs {
    let mut attrs =
        BtlAttrs { contexts: cris, eager_limit: EAGER, rndv_eager_limit: EAGER, ..BtlAttrs::new() };
    attrs.max_send_size = LARGEST;
    attrs.flags = BtlAttrs::VISIBLE_AT_ONCE;
    match wire {
        Wire::Messages | Wire::Narrow => {}
        Wire::Gets | Wire::Reads => (attrs.min_get_size, attrs.get_limit) = (EAGER, PIECE),
        Wire::Puts => (attrs.min_put_size, attrs.put_limit) = (EAGER, PIECE),
    }
    attrs.registration_handle_size = wire.handle_size();
    attrs
}

pub fn handle_of(rank: &Rank, attrs: &BtlAttrs) -> BtlHandle {
    let verbs = match rank.net().wire {
        Wire::Messages | Wire::Narrow => 0,
        Wire::Gets => cap::GET | cap::REGISTER,
        Wire::Puts => cap::PUT | cap::FLUSH | cap::REGISTER,
        Wire::Reads => cap::GET,
    };
    BtlHandle {
        caps: verbs | cap::SLEEP,
        send,
        progress,
        get,
        put,
        flush,
        arm,
        disarm,
        ..transport::bare(rank, attrs, "memory")
    }
}
