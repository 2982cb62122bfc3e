//! The tables as they cross the boundary.

use core::ffi::c_void;
use oxmpi_mca::{MemKind, SliceRef, Status, Version};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 1, minor: 2, patch: 0 };
pub const FRAMEWORK: &str = "btl";

/// Limits and ranks as data, read without a call. Sizes in bytes; 0 in a limit means none.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BtlAttrs {
    pub size: u32,
    /// How many contexts the module has made (at least 1).
    pub contexts: u32,
    /// Largest message (header and payload) sent eagerly, and as first part of a rendezvous.
    pub eager_limit: u64,
    pub rndv_eager_limit: u64,
    /// Largest message `send` takes at all.
    pub max_send_size: u64,
    /// From this payload on a rendezvous by `get` beats copying (given `get` works).
    pub min_get_size: u64,
    pub get_limit: u64,
    pub get_alignment: u64,
    pub put_limit: u64,
    pub put_alignment: u64,
    /// Microseconds and Mb/s as Open MPI's parameters have them: for ranking, not for physics.
    pub latency: u32,
    pub bandwidth: u32,
    /// A process reached by a module of higher exclusivity is not offered to lower ones.
    pub exclusivity: u32,
    /// Bytes of a [`RegHandle`] this module uses.
    pub registration_handle_size: u32,
    /// [`BtlAttrs::EMULATED_RDMA`] …
    pub flags: u32,
    /// Which AMOs the device does: bits of [`amo`].
    pub amo_ops: u32,
    /// The name under which messages show this device ("shm", "lo", "mlx5_0").
    pub device: [u8; 32],
}

impl BtlAttrs {
    /// One-sided verbs are made of active messages and need the target's progress.
    pub const EMULATED_RDMA: u32 = 1;
    /// When `send` has answered OK, a receiver that calls `progress` on that context from then on finds the
    /// message. Only then, and with [`cap::HOLD`], may a flow of messages use several contexts and keep its order.
    pub const VISIBLE_AT_ONCE: u32 = 2;
    /// What `get` costs depends on the caches in which the peer's data lies, and now this is faster, now `send`. So the layer
    /// above does well to measure both for messages that `send` takes in one piece, and to look again now and then.
    pub const READS_VARY: u32 = 4;

    /// Attributes of a module with one context and no one-sided verbs.
    pub const fn new() -> BtlAttrs {
        BtlAttrs {
            size: core::mem::size_of::<BtlAttrs>() as u32,
            contexts: 1,
            eager_limit: 4096,
            rndv_eager_limit: 4096,
            max_send_size: 32768,
            min_get_size: u64::MAX,
            get_limit: 0,
            get_alignment: 0,
            put_limit: 0,
            put_alignment: 0,
            latency: 100,
            bandwidth: 100,
            exclusivity: 1024,
            registration_handle_size: 0,
            flags: 0,
            amo_ops: 0,
            device: [0; 32],
        }
    }
}

impl Default for BtlAttrs {
    fn default() -> Self {
        Self::new()
    }
}

/// Atomic memory operations (MPI 5.0 §12.3.4), by number in `atomic_*`, by bit in `amo_ops`.
pub mod amo {
    pub const ADD: u32 = 0;
    pub const AND: u32 = 1;
    pub const OR: u32 = 2;
    pub const XOR: u32 = 3;
    pub const SWAP: u32 = 4;
    pub const MIN: u32 = 5;
    pub const MAX: u32 = 6;
    pub const COMPARE_SWAP: u32 = 7;
    /// In `flags`: the operand has 32 bits; it is a float; it is signed.
    pub const WIDTH_32: u32 = 1;
    pub const FLOAT: u32 = 2;
    pub const SIGNED: u32 = 4;
}

/// Proof of registration, opaque, sent to peers as bytes.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct RegHandle {
    pub bytes: [u8; 64],
}

/// What to send. `hdr` is copied before the call returns. The payload is either `payload[..len]` or
/// produced by `pack` straight into the transport's buffer (offset, destination, bytes; each byte
/// asked for once, in order).
#[repr(C)]
pub struct SendDesc {
    pub tag: u32,
    pub hdr_len: u32,
    pub hdr: *const u8,
    pub payload: *const u8,
    pub len: u64,
    pub pack: Option<extern "C" fn(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64)>,
    pub pack_ctx: *mut c_void,
}

/// Remote memory operation. `done` runs from `progress` unless the verb returned OK (= complete
/// now, `done` is not called); PENDING means `done` will be called.
#[repr(C)]
pub struct RmaDesc {
    pub local: *mut u8,
    pub remote: u64,
    pub len: u64,
    pub local_handle: *const RegHandle,
    pub remote_handle: *const RegHandle,
    pub done: Option<extern "C" fn(ctx: *mut c_void, status: Status)>,
    pub done_ctx: *mut c_void,
}

/// One piece of memory in a list.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub addr: u64,
    pub len: u64,
}

/// `len` bytes that lie in pieces on both sides, cut independently of each other; the packed bytes of
/// both are the same. Both lists have at least `len` bytes; what is behind is left alone.
#[repr(C)]
pub struct RmaVectorDesc {
    pub local: SliceRef<Piece>,
    pub remote: SliceRef<Piece>,
    pub len: u64,
}

#[repr(C)]
pub struct AtomicDesc {
    /// Where the old value goes (fetching forms), or null.
    pub result: *mut u64,
    pub remote: u64,
    pub remote_handle: *const RegHandle,
    pub op: u32,
    pub flags: u32,
    pub operand: u64,
    /// For COMPARE_SWAP.
    pub compare: u64,
    pub done: Option<extern "C" fn(ctx: *mut c_void, status: Status)>,
    pub done_ctx: *mut c_void,
}

/// A process as `add_procs` sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProcInfo {
    /// Job rank.
    pub proc: u32,
    pub node: u32,
    pub local_rank: u32,
    /// 1 if on this node.
    pub local: u32,
}

/// What a waiter sleeps on after `arm`: a futex word (shared between processes) and the value it
/// must still have.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WaitWord {
    pub addr: *const u32,
    pub expected: u32,
    pub reserved: u32,
}

pub type Endpoint = c_void;
type State = *mut c_void;

/// The verbs as a component gives them. A slot that is absent (table too short) or null is not
/// offered; the host puts a real function in its place, so nobody checks on the hot path.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BtlTable {
    pub size: u32,
    pub version: u32,
    /// For each of `procs`: an endpoint, or null where this module does not reach it.
    pub add_procs:
        Option<extern "C" fn(State, procs: SliceRef<ProcInfo>, endpoints: *mut *mut Endpoint) -> Status>,
    pub del_procs: Option<extern "C" fn(State, endpoints: SliceRef<*mut Endpoint>) -> Status>,
    /// Sends what is still queued inside, tells the device goodbye, frees the state.
    pub finalize: Option<extern "C" fn(State) -> Status>,
    pub send: Option<extern "C" fn(State, *mut Endpoint, ctx: u32, *const SendDesc) -> Status>,
    /// Takes what arrived and what completed on a context; returns how many events it handled.
    pub progress: Option<extern "C" fn(State, ctx: u32) -> i32>,
    // --- one-sided, table version of their own: RMA_VERSION ---
    pub rma_version: u32,
    pub reserved: u32,
    pub get: Option<extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaDesc) -> Status>,
    pub put: Option<extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaDesc) -> Status>,
    /// Waits for remote completion of what was issued before on the context (endpoint null: all).
    pub flush: Option<extern "C" fn(State, *mut Endpoint, ctx: u32) -> Status>,
    pub atomic: Option<extern "C" fn(State, *mut Endpoint, ctx: u32, *const AtomicDesc) -> Status>,
    pub register_mem: Option<
        extern "C" fn(State, addr: *mut u8, len: u64, access: u32, kind: MemKind, *mut RegHandle) -> Status,
    >,
    pub deregister_mem: Option<extern "C" fn(State, *const RegHandle) -> Status>,
    // --- sleeping ---
    /// Announces that the context's owner is about to sleep and looks once more. OK: sleep on
    /// `word`; PENDING: something is there, do not sleep. Always followed by `disarm`. Who sleeps on several
    /// contexts arms them in rising order and sleeps only if their words are one; the caller serialises
    /// `arm` and `disarm` of all contexts.
    pub arm: Option<extern "C" fn(State, ctx: u32, word: *mut WaitWord) -> Status>,
    pub disarm: Option<extern "C" fn(State, ctx: u32)>,
    // --- since 1.1 ---
    /// `get` of data in pieces. All of it is there when this answers OK; it never answers PENDING or
    /// NO_RESOURCE. Refusals as those of `get`.
    pub get_vector: Option<extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaVectorDesc) -> Status>,
    // --- since 1.2 ---
    /// Tells the process at the endpoint the order key of the oldest message to it for which `send` had no room, 0:
    /// there is none. Who finds, by `held`, a later word than this one also finds every message that `send` took
    /// before that. The caller serialises the calls for one endpoint; any context's verbs may run meanwhile.
    pub hold: Option<extern "C" fn(State, *mut Endpoint, oldest: u64)>,
    /// What the process at the endpoint has said last by `hold`, 0 at first. Any thread, at any time.
    pub held: Option<extern "C" fn(State, *mut Endpoint) -> u64>,
}

/// Version of the one-sided slots.
pub const RMA_VERSION: u32 = 1;

/// Bits of `access` in `register_mem`.
pub mod access {
    pub const LOCAL_WRITE: u32 = 1;
    pub const REMOTE_READ: u32 = 2;
    pub const REMOTE_WRITE: u32 = 4;
    pub const REMOTE_ATOMIC: u32 = 8;
}

/// One device of a BTL component, as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BtlModule {
    pub size: u32,
    pub reserved: u32,
    pub state: *mut c_void,
    pub table: *const BtlTable,
    pub attrs: BtlAttrs,
}

/// What the device can do, computed by the host from the filled slots.
pub mod cap {
    pub const GET: u32 = 1;
    pub const PUT: u32 = 2;
    pub const ATOMIC: u32 = 4;
    pub const FLUSH: u32 = 8;
    pub const REGISTER: u32 = 16;
    pub const SLEEP: u32 = 32;
    pub const GET_VECTOR: u32 = 64;
    /// `hold` and `held`.
    pub const HOLD: u32 = 128;
}

/// An accepted module: the host's own copy, every slot a real function. This is what PML and OSC
/// components call: `(btl.send)(btl.state, endpoint, ctx, &desc)`.
#[repr(C)]
pub struct BtlHandle {
    pub size: u32,
    pub caps: u32,
    pub state: *mut c_void,
    pub send: extern "C" fn(State, *mut Endpoint, u32, *const SendDesc) -> Status,
    pub progress: extern "C" fn(State, u32) -> i32,
    pub get: extern "C" fn(State, *mut Endpoint, u32, *const RmaDesc) -> Status,
    pub put: extern "C" fn(State, *mut Endpoint, u32, *const RmaDesc) -> Status,
    pub flush: extern "C" fn(State, *mut Endpoint, u32) -> Status,
    pub atomic: extern "C" fn(State, *mut Endpoint, u32, *const AtomicDesc) -> Status,
    pub register_mem: extern "C" fn(State, *mut u8, u64, u32, MemKind, *mut RegHandle) -> Status,
    pub deregister_mem: extern "C" fn(State, *const RegHandle) -> Status,
    pub arm: extern "C" fn(State, u32, *mut WaitWord) -> Status,
    pub disarm: extern "C" fn(State, u32),
    pub add_procs: extern "C" fn(State, SliceRef<ProcInfo>, *mut *mut Endpoint) -> Status,
    pub del_procs: extern "C" fn(State, SliceRef<*mut Endpoint>) -> Status,
    pub finalize: extern "C" fn(State) -> Status,
    pub attrs: BtlAttrs,
    /// Component name, for messages ("shm").
    pub name: oxmpi_mca::StrRef,
    /// Only there where `caps` has GET_VECTOR: a host of contract 1.0 ends before it.
    pub get_vector: extern "C" fn(State, *mut Endpoint, u32, *const RmaVectorDesc) -> Status,
    /// Only there where `caps` has HOLD: a host of contract 1.1 ends before them.
    pub hold: extern "C" fn(State, *mut Endpoint, u64),
    pub held: extern "C" fn(State, *mut Endpoint) -> u64,
}

// SAFETY: the functions may be called from any thread under the serialisation of the contract.
unsafe impl Send for BtlHandle {}
// SAFETY: as above.
unsafe impl Sync for BtlHandle {}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<BtlAttrs>() == 128);
    assert!(size_of::<SendDesc>() == 48);
    assert!(size_of::<RmaDesc>() == 56);
    assert!(size_of::<AtomicDesc>() == 64);
    assert!(size_of::<Piece>() == 16);
    assert!(size_of::<RmaVectorDesc>() == 40);
    assert!(size_of::<ProcInfo>() == 16);
    assert!(size_of::<WaitWord>() == 16);
    assert!(offset_of!(BtlTable, rma_version) == 48);
    assert!(offset_of!(BtlTable, get_vector) == 120);
    assert!(offset_of!(BtlTable, hold) == 128);
    assert!(size_of::<BtlTable>() == 144);
    assert!(size_of::<BtlModule>() == 24 + 128);
};
