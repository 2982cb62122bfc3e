//! The services off a message's path, as the ranks of one node in one process have them.

use crate::desk::FakeHost;
use crate::held::held;
use crate::setup::text;
use core::ffi::c_void;
use oxmpi_mca::services::{
    AUTH_BYTES, HostServices, NodeMemory, PeerFailed, Predicate, ProcName, ProcPlace, SharedSegment, distance,
};
use oxmpi_mca::{SliceRef, Status, StrRef, ThreadCtx, WakingWord};

/// The services of a kind of host, as a table that stays.
pub(crate) struct Served<H>(core::marker::PhantomData<H>);

impl<H: FakeHost> Served<H> {
    pub const SERVICES: &'static HostServices = &services::<H>();
}

/// The table whose functions come back as methods of the rank.
pub const fn services<H: FakeHost>() -> HostServices {
    HostServices {
        size: size_of::<HostServices>() as u32,
        reserved: 0,
        name_of: name_of::<H>,
        index_of: index_of::<H>,
        place_of: place_of::<H>,
        exchange_put: exchange_put::<H>,
        exchange_try: exchange_try::<H>,
        auth_make: auth_make::<H>,
        auth_check: auth_check::<H>,
        node_memory: node_memory::<H>,
        peer_read: peer_read::<H>,
        peer_write: peer_write::<H>,
        peer_pointer: peer_pointer::<H>,
        wait_until: wait_until::<H>,
        wait_word: wait_word::<H>,
        on_peer_failure: on_peer_failure::<H>,
        off_peer_failure: off_peer_failure::<H>,
        peer_failed: peer_failed::<H>,
        osc_tags,
        node_memory_free: node_memory_free::<H>,
        wake_word: wake_word::<H>,
        segment: segment::<H>,
    }
}

extern "C" fn name_of<H: FakeHost>(i: *mut c_void, proc: u32, out: *mut ProcName) -> Status {
    let job = &H::of(i).desk().job;
    if proc >= job.job_size {
        return Status::NOT_FOUND;
    }
    let mut name = ProcName::default();
    name.bytes[..8].copy_from_slice(&job.job_id.to_le_bytes());
    name.bytes[8..12].copy_from_slice(&proc.to_le_bytes());
    name.bytes[12..].copy_from_slice(b"name");
    // SAFETY: the caller's out pointer.
    unsafe { out.write(name) };
    Status::OK
}

extern "C" fn index_of<H: FakeHost>(i: *mut c_void, name: *const ProcName, out: *mut u32) -> Status {
    let job = &H::of(i).desk().job;
    // SAFETY: the caller's name.
    let bytes = unsafe { (*name).bytes };
    let proc = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if bytes[..8] != job.job_id.to_le_bytes() || &bytes[12..] != b"name" || proc >= job.job_size {
        return Status::BAD_PARAM;
    }
    // SAFETY: the caller's out pointer.
    unsafe { out.write(proc) };
    Status::OK
}

extern "C" fn place_of<H: FakeHost>(i: *mut c_void, proc: u32, out: *mut ProcPlace) -> Status {
    if proc >= H::of(i).desk().job.job_size {
        return Status::NOT_FOUND;
    }
    let distance = distance::SAME_NUMA | distance::SAME_SOCKET;
    // SAFETY: the caller's out pointer.
    unsafe { out.write(ProcPlace { node: 0, local_rank: proc, local: 1, distance }) };
    Status::OK
}

/// Modules' addresses do not meet those of components.
fn key(module: StrRef) -> String {
    format!("module {}", text(module))
}

extern "C" fn exchange_put<H: FakeHost>(i: *mut c_void, module: StrRef, data: SliceRef<u8>) -> Status {
    let desk = H::of(i).desk();
    // SAFETY: borrowed for the call.
    desk.shared.put(&key(module), desk.job.rank, unsafe { data.get() });
    Status::OK
}

extern "C" fn exchange_try<H: FakeHost>(
    i: *mut c_void,
    module: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's buffer and capacity.
    unsafe { H::of(i).desk().shared.get(&key(module), proc, data, len) }
}

extern "C" fn auth_make<H: FakeHost>(
    i: *mut c_void,
    challenge: SliceRef<u8>,
    context: SliceRef<u8>,
    out: *mut u8,
) -> Status {
    // SAFETY: borrowed for the call.
    let proof = unsafe { H::of(i).desk().shared.proof(challenge.get(), context.get()) };
    // SAFETY: the caller's buffer has `AUTH_BYTES`.
    unsafe { core::ptr::copy_nonoverlapping(proof.as_ptr(), out, AUTH_BYTES) };
    Status::OK
}

extern "C" fn auth_check<H: FakeHost>(
    i: *mut c_void,
    challenge: SliceRef<u8>,
    context: SliceRef<u8>,
    answer: SliceRef<u8>,
) -> Status {
    // SAFETY: borrowed for the call.
    let (proof, answer) =
        unsafe { (H::of(i).desk().shared.proof(challenge.get(), context.get()), answer.get()) };
    let differs = proof.iter().zip(answer).fold(0, |all, (a, b)| all | (a ^ b));
    if answer.len() == AUTH_BYTES && differs == 0 { Status::OK } else { Status::NO_PERMISSION }
}

extern "C" fn node_memory<H: FakeHost>(
    i: *mut c_void,
    key: StrRef,
    bytes: u64,
    out: *mut NodeMemory,
) -> Status {
    match H::of(i).desk().shared.node_memory(text(key), bytes) {
        Ok(memory) => {
            // SAFETY: the caller's out pointer.
            unsafe { out.write(memory) };
            Status::OK
        }
        Err(status) => status,
    }
}

extern "C" fn node_memory_free<H: FakeHost>(i: *mut c_void, key: StrRef) -> Status {
    H::of(i).desk().shared.node_memory_free(text(key))
}

/// All ranks are this process, so a peer's memory is a copy away.
extern "C" fn peer_read<H: FakeHost>(
    i: *mut c_void,
    proc: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    if proc >= H::of(i).desk().job.job_size {
        return Status::NOT_FOUND;
    }
    // SAFETY: the caller names memory of a rank of this process.
    unsafe { core::ptr::copy(remote as *const u8, local, bytes as usize) };
    Status::OK
}

extern "C" fn peer_write<H: FakeHost>(
    i: *mut c_void,
    proc: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    if proc >= H::of(i).desk().job.job_size {
        return Status::NOT_FOUND;
    }
    // SAFETY: as above.
    unsafe { core::ptr::copy(local, remote as *mut u8, bytes as usize) };
    Status::OK
}

/// As on a real node: a process's own memory, and the node's.
extern "C" fn peer_pointer<H: FakeHost>(
    i: *mut c_void,
    proc: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    let desk = H::of(i).desk();
    if proc != desk.job.rank && !desk.shared.is_node_memory(remote, bytes) {
        return Status::NOT_SUPPORTED;
    }
    // SAFETY: the caller's out pointer.
    unsafe { out.write(remote as *mut u8) };
    Status::OK
}

extern "C" fn wait_until<H: FakeHost>(
    i: *mut c_void,
    _: *mut ThreadCtx,
    _: Predicate,
    _: *mut c_void,
) -> Status {
    H::of(i).unused("waited for a predicate")
}

extern "C" fn wait_word<H: FakeHost>(
    i: *mut c_void,
    _: *mut ThreadCtx,
    _: *const WakingWord,
    _: u32,
) -> Status {
    H::of(i).unused("waited for a word")
}

extern "C" fn wake_word<H: FakeHost>(i: *mut c_void, _: *const WakingWord) -> Status {
    H::of(i).unused("woke who sleeps on a word")
}

extern "C" fn segment<H: FakeHost>(i: *mut c_void, number: u32, out: *mut SharedSegment) -> Status {
    match H::of(i).desk().segment(number) {
        Some(segment) => {
            // SAFETY: the caller's out pointer.
            unsafe { out.write(segment) };
            Status::OK
        }
        None => Status::NOT_FOUND,
    }
}

extern "C" fn on_peer_failure<H: FakeHost>(i: *mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status {
    let desk = H::of(i).desk();
    held(&desk.watchers).push((f, ctx as usize));
    let failed = held(&desk.failures).clone();
    failed.into_iter().for_each(|(proc, status)| f(ctx, proc, status));
    Status::OK
}

extern "C" fn off_peer_failure<H: FakeHost>(i: *mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status {
    let mut list = held(&H::of(i).desk().watchers);
    let before = list.len();
    list.retain(|(g, c)| !(core::ptr::fn_addr_eq(*g, f) && *c == ctx as usize));
    if list.len() < before { Status::OK } else { Status::NOT_FOUND }
}

extern "C" fn peer_failed<H: FakeHost>(i: *mut c_void, proc: u32, status: Status, message: StrRef) -> Status {
    H::of(i).failed(proc, status, text(message));
    Status::OK
}

extern "C" fn osc_tags(_: *mut c_void, _: *mut u8) -> Status {
    Status::NOT_FOUND
}
