//! The transport: a BTL of one rank, whose state is the rank. Messages go through the net's lanes; one-sided verbs copy.

use crate::host::Rank;
use crate::registry::{HANDLE_WORDS, Landing, Lands, Transfer};
use crate::setup::Wire;
use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::Ordering;
use oxmpi_btl::{
    AtomicDesc, BtlAttrs, BtlHandle, FlushDesc, ListDesc, ProcInfo, RegHandle, RmaDesc, RmaVectorDesc,
    SendDesc, WaitSet, WaitWord, cap,
};
use oxmpi_mca::host::receive;
use oxmpi_mca::{MemKind, RecvDesc, SliceRef, Status, StrRef};
use oxmpi_testing::FakeHost;

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
    let header = d.hdr_len as usize;
    let total = header + d.len as usize;
    assert!(total as u64 <= LARGEST, "a message of {total} bytes over a transport that takes {LARGEST}");
    let mut bytes = vec![d.tag as u8];
    bytes.resize(1 + total, 0xEE);
    // SAFETY: the descriptor's promises.
    unsafe {
        core::ptr::copy_nonoverlapping(d.hdr, bytes.as_mut_ptr().add(1), header);
        let payload = bytes.as_mut_ptr().add(1 + header);
        match d.pack {
            // In two parts: a packer has to be resumable.
            Some(pack) => {
                let half = d.len / 2;
                pack(d.pack_ctx, 0, payload, half);
                pack(d.pack_ctx, half, payload.add(half as usize), d.len - half);
            }
            None if d.len > 0 => core::ptr::copy_nonoverlapping(d.payload, payload, d.len as usize),
            None => {}
        }
    }
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
        let Some(landing) = net.landings(rank.number, ctx).pop_front() else { break };
        match &landing.what {
            Lands::Get(transfer) => transfer.land(&net.registry()),
            Lands::Put => {}
            Lands::Flush => flush_now(rank, ctx),
        }
        (landing.done)(landing.done_ctx, Status::OK);
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
            if (row.receive)(row.ctx, &desc) == receive::STOP {
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
    let registered = net.wire != Wire::Reads;
    assert!(d.len > 0 && d.len <= PIECE, "a piece of {} bytes, of which {PIECE} are allowed", d.len);
    let transfer = Transfer::new(&net.registry(), d, put, registered);
    if !registered {
        transfer.land(&net.registry());
        return Status::OK;
    }
    if rank.takes_turns() {
        return Status::NO_RESOURCE;
    }
    let Some(done) = d.done else { panic!("a verb without a completion") };
    let what = if put {
        net.unflushed(rank.number, ctx).push(transfer);
        Lands::Put
    } else {
        Lands::Get(transfer)
    };
    net.landings(rank.number, ctx).push_back(Landing { done, done_ctx: d.done_ctx, what });
    Status::PENDING
}

fn flush_now(rank: &Rank, ctx: u32) {
    let all = core::mem::take(&mut *rank.net().unflushed(rank.number, ctx));
    all.iter().for_each(|transfer| transfer.land(&rank.net().registry()));
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
    let Some(done) = d.done else { panic!("a flush without a completion") };
    let landing = Landing { done, done_ctx: d.done_ctx, what: Lands::Flush };
    rank.net().landings(rank.number, ctx).push_back(landing);
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

macro_rules! refused {
    ($($name:ident($($arg:ty),*);)*) => {
        $(extern "C" fn $name($(_: $arg),*) -> Status {
            panic!(concat!("the transport's ", stringify!($name), " is the host's to call, or was not offered"))
        })*
    };
}
refused! {
    atomic(*mut c_void, *mut c_void, u32, *const AtomicDesc);
    get_vector(*mut c_void, *mut c_void, u32, *const RmaVectorDesc);
    list(*mut c_void, *mut c_void, u32, *const ListDesc);
    register_mem(*mut c_void, *mut u8, u64, u32, MemKind, *mut RegHandle);
    deregister_mem(*mut c_void, *const RegHandle);
    service_open(*mut c_void);
    service_request(*mut c_void, *mut c_void, u32, *const SendDesc);
    service_reply(*mut c_void, u64, *const SendDesc);
    service_arm(*mut c_void, *mut WaitSet);
    add_procs(*mut c_void, SliceRef<ProcInfo>, *mut *mut c_void);
    del_procs(*mut c_void, SliceRef<*mut c_void>);
    finalize(*mut c_void);
}
extern "C" fn hold(_: *mut c_void, _: *mut c_void, _: u64) {}
extern "C" fn held(_: *mut c_void, _: *mut c_void) -> u64 {
    0
}
extern "C" fn service_progress(_: *mut c_void) -> i32 {
    0
}
extern "C" fn service_pending(_: *mut c_void) -> *const u32 {
    null()
}
extern "C" fn service_disarm(_: *mut c_void) {}
extern "C" fn partner(_: *mut c_void, _: *mut c_void) -> u32 {
    oxmpi_btl::SAME_NUMBER
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
    if matches!(wire, Wire::Gets | Wire::Puts) {
        attrs.registration_handle_size = HANDLE_WORDS as u32 * 8;
    }
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
        size: size_of::<BtlHandle>() as u32,
        caps: verbs | cap::SLEEP,
        state: core::ptr::from_ref(rank).cast_mut().cast(),
        send,
        progress,
        get,
        put,
        flush,
        atomic,
        register_mem,
        deregister_mem,
        arm,
        disarm,
        get_vector,
        hold,
        held,
        service_open,
        service_request,
        service_progress,
        service_reply,
        service_pending,
        service_arm,
        service_disarm,
        add_procs,
        del_procs,
        finalize,
        attrs,
        name: StrRef::new("memory"),
        emulated: 0,
        index: 0,
        list,
        partner,
    }
}
