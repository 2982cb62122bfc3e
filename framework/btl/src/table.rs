//! The tables as they cross the boundary.

use core::ffi::c_void;
use oxmpi_mca::{MemKind, SliceRef, Status, Version, WaitSet};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 3, minor: 0, patch: 0 };
/// Version of [`BtlTable`]'s layout.
pub const TABLE_VERSION: u32 = 2;
pub const FRAMEWORK: &str = "btl";

/// Limits and ranks as data, read without a call. Sizes in bytes; 0 in a limit means none. Stands behind a pointer on
/// both sides of the boundary, so that it can grow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BtlAttrs {
    pub size: u32,
    /// How many contexts the module has made: at least 1, at most `HostTable::num_cris`.
    pub contexts: u32,
    /// Largest message (header and payload) sent eagerly, and as first part of a rendezvous.
    pub eager_limit: u64,
    pub rndv_eager_limit: u64,
    /// Largest message `send` takes at all.
    pub max_send_size: u64,
    /// From this payload on a rendezvous by `get` is faster than one by messages (given `get` works).
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
    /// Bytes of a registration handle; 0: memory needs no registration, and handles are null.
    pub registration_handle_size: u32,
    /// [`BtlAttrs::VISIBLE_AT_ONCE`] …
    pub flags: u32,
    /// Which atomics `atomic` does: bits of [`amo`], by 1 << operation.
    pub amo_ops: u32,
    /// On which operands: bits of [`amo::operand`].
    pub amo_operands: u32,
    /// Largest request and reply (header and payload) of a service link; 0: there are none.
    pub service_limit: u32,
    /// The name under which messages show this device ("shm", "lo", "mlx5_0").
    pub device: [u8; 32],
    /// From this payload on a rendezvous by `put` is faster than one by messages (given `put` works).
    pub min_put_size: u64,
    /// How much memory may be registered at once; 0: no limit.
    pub registration_limit: u64,
    /// Longest list (given `list` works): each entry counts [`LIST_ENTRY`] bytes and its `len` rounded up to 8.
    pub list_limit: u64,
}

impl BtlAttrs {
    /// When `send` has answered OK, a receiver that calls `progress` on that context from then on finds the
    /// message. Only then, and with [`cap::HOLD`], may a flow of messages use several contexts and keep its order.
    pub const VISIBLE_AT_ONCE: u32 = 1;
    /// The cost of `get` depends on the caches in which the peer's data lies; the layer above may measure `get` and `send`
    /// for messages that `send` takes in one piece, and choose by that.
    pub const GET_COST_VARIES: u32 = 2;
    /// `done` of a put means that the data is visible to the target's processors; without it a flush says that.
    pub const PUT_DONE_IS_REMOTE: u32 = 4;
    /// Puts of one context to one endpoint land in the order of their calls.
    pub const PUTS_ORDERED: u32 = 8;
    /// Atomics of the device and of the target's processors on one word are atomic to each other.
    pub const AMO_COHERENT: u32 = 16;
    /// Payload may be striped over this and other transports to the same process.
    pub const STRIPES: u32 = 32;
    /// The transport reaches the process itself alone: nothing comes through it before somebody here sends.
    pub const ONLY_SELF: u32 = 64;
    /// The transport delivers long messages in parts while they come (partial delivery), where their receiver takes them so. Without it each message
    /// is delivered whole.
    pub const PARTIAL_DELIVERY: u32 = 128;

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
            amo_operands: 0,
            service_limit: 0,
            device: [0; 32],
            min_put_size: u64::MAX,
            registration_limit: 0,
            list_limit: 0,
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

    /// Kinds of operands, by bit in `BtlAttrs::amo_operands`. Bitwise operations, SWAP and COMPARE_SWAP need the
    /// unsigned one of their width alone.
    pub mod operand {
        pub const U64: u32 = 1;
        pub const I64: u32 = 2;
        pub const F64: u32 = 4;
        pub const U32: u32 = 8;
        pub const I32: u32 = 16;
        pub const F32: u32 = 32;
        pub const ALL: u32 = 63;
    }
}

/// Proof of registration: `BtlAttrs::registration_handle_size` opaque bytes, aligned to 8, sent to peers as they are.
/// Passed by pointer, and read during the call only; null where the size is 0.
pub type RegHandle = c_void;
/// The largest `registration_handle_size` there may be.
pub const HANDLE_LIMIT: usize = 256;

/// A message to send. `hdr` is copied before the call returns. The payload is either `payload[..len]` or
/// produced by `pack` straight into the transport's buffer (offset, destination, bytes; each byte
/// asked for once, in order).
#[repr(C)]
pub struct SendDesc {
    pub tag: u32,
    pub hdr_len: u32,
    pub hdr: *const u8,
    pub payload: *const u8,
    pub len: u64,
    pub pack: Option<unsafe extern "C" fn(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64)>,
    pub pack_ctx: *mut c_void,
}

/// Completion of a one-sided verb. Runs from `progress` of the verb's context, under that context's lock, exactly once
/// for each verb that answered PENDING, and before `del_procs` of its endpoint; not at all where the verb answered OK or a
/// failure. It does atomics and `sync_update` only. A failure promises that local memory is not touched any more.
pub type Done = unsafe extern "C" fn(ctx: *mut c_void, status: Status);

/// Remote memory operation. OK: complete now. PENDING: `done` will be called. NO_RESOURCE: nothing happened; offer it
/// again after progress of the same context. Descriptor and handles are read during the call only, local
/// memory until completion. Completion of a get: the data is here; of a put: local memory is free, and the data
/// is visible at the target if PUT_DONE_IS_REMOTE, else after a flush. A put that fails after its completion was told, as one
/// may that frees its local memory early, is told as a failure of the next flush of its context that covers its endpoint, once.
#[repr(C)]
pub struct RmaDesc {
    pub local: *mut u8,
    pub remote: u64,
    pub len: u64,
    pub local_handle: *const RegHandle,
    pub remote_handle: *const RegHandle,
    pub done: Option<Done>,
    pub done_ctx: *mut c_void,
}

/// Completion of all that was issued before: see [`BtlTable::flush`].
#[repr(C)]
pub struct FlushDesc {
    pub done: Option<Done>,
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
    /// Where the old value goes (fetching forms), or null. As wide as the operand.
    pub result: *mut u64,
    /// Of `result`.
    pub local_handle: *const RegHandle,
    pub remote: u64,
    pub remote_handle: *const RegHandle,
    pub op: u32,
    pub flags: u32,
    pub operand: u64,
    /// For COMPARE_SWAP.
    pub compare: u64,
    pub done: Option<Done>,
    pub done_ctx: *mut c_void,
}

/// One entry of a list: bytes to write, or elements side by side that an atomic operation updates each.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ListEntry {
    pub remote: u64,
    pub remote_handle: *const RegHandle,
    /// Bytes at the target: of the data, or of all elements.
    pub len: u64,
    /// The data, or the operands side by side.
    pub data: *const u8,
    /// Where the old elements go, side by side, or null.
    pub result: *mut u8,
    /// Of `result`.
    pub result_handle: *const RegHandle,
    /// [`LIST_PUT`], or an operation of [`amo`].
    pub op: u32,
    /// As in [`AtomicDesc`].
    pub flags: u32,
    /// For COMPARE_SWAP, which has one element.
    pub compare: u64,
}

/// In `ListEntry::op`: write bytes.
pub const LIST_PUT: u32 = 64;
/// The count of an entry beside its bytes: see [`BtlAttrs::list_limit`].
pub const LIST_ENTRY: u64 = 40;

/// Entries for one target: see [`BtlTable::list`].
#[repr(C)]
pub struct ListDesc {
    pub entries: SliceRef<ListEntry>,
    pub done: Option<Done>,
    pub done_ctx: *mut c_void,
}

/// A process as `add_procs` sees it. Grows at the end; [`ProcList::stride`] says how far the host's goes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcInfo {
    /// Index of the process in the instance (`RecvDesc::proc`): its rank for a process of the first job, any other number for one that came later.
    pub proc: u32,
    /// Number of its node in its job.
    pub node: u32,
    /// Its rank among the processes of its job on its node.
    pub local_rank: u32,
    /// 1 if on this node.
    pub local: u32,
    /// Number of its job in the instance: 0 is the one that this process was started with.
    pub job: u32,
    /// Number of the shared segment on this node in which it lies (`HostServices::segment`), if it is on this node.
    pub segment: u32,
}

/// Processes side by side, each a [`ProcInfo`] of the host's size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProcList {
    /// The first.
    pub first: *const ProcInfo,
    /// How many.
    pub len: usize,
    /// Bytes from one to the next: at least 16.
    pub stride: usize,
}

/// One peer process, as a module's functions get it; what stands behind it is the module's.
pub type Endpoint = c_void;
type State = *mut c_void;

/// The verbs as a component gives them. A slot that is absent (table too short) or null is not
/// offered; the host puts a real function in its place, so nobody checks on the hot path.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BtlTable {
    pub size: u32,
    pub version: u32,
    /// For each of `procs`: an endpoint, or null where this module does not reach it. A process that has sent something and ended
    /// since is reached: what it sent is taken, and what is sent to it fails with PEER_FAILED.
    pub add_procs:
        Option<unsafe extern "C" fn(State, procs: ProcList, endpoints: *mut *mut Endpoint) -> Status>,
    pub del_procs: Option<unsafe extern "C" fn(State, endpoints: SliceRef<*mut Endpoint>) -> Status>,
    /// Sends what is still queued inside, tells the device goodbye, frees the state.
    pub finalize: Option<unsafe extern "C" fn(State) -> Status>,
    pub send: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const SendDesc) -> Status>,
    /// Takes what arrived and what completed on a context; returns how many events it handled.
    pub progress: Option<unsafe extern "C" fn(State, ctx: u32) -> i32>,
    // --- one-sided ---
    pub get: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaDesc) -> Status>,
    pub put: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaDesc) -> Status>,
    /// Completes what was issued before on the context (endpoint null: to anybody) at its target: once it is done, all
    /// of that is visible to the target's processors. OK, PENDING and NO_RESOURCE as for [`RmaDesc`]. An error, at once or by
    /// `done`: some of it failed, also what had been told as done (late failures of puts); a flush without an error says that
    /// nothing since the one before has.
    pub flush: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const FlushDesc) -> Status>,
    pub atomic: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const AtomicDesc) -> Status>,
    /// Makes memory accessible (bits of [`access`]); writes `registration_handle_size` bytes to `handle`. Any thread.
    /// NO_RESOURCE: the device's limit is reached.
    pub register_mem: Option<
        unsafe extern "C" fn(
            State,
            addr: *mut u8,
            len: u64,
            access: u32,
            kind: MemKind,
            handle: *mut RegHandle,
        ) -> Status,
    >,
    /// Peers reach the memory no more once this has returned. Any thread.
    pub deregister_mem: Option<unsafe extern "C" fn(State, *const RegHandle) -> Status>,
    // --- sleeping ---
    /// Announces that the context's owner is about to sleep and looks once more. OK: words and descriptors that will
    /// change are in `set` (none where nothing can come without a call of this process); PENDING: something is there, do
    /// not sleep; NO_RESOURCE: the set is full. Followed by `disarm` in any case. Several contexts are armed in rising
    /// order; the caller serialises `arm` and `disarm` of all contexts.
    pub arm: Option<unsafe extern "C" fn(State, ctx: u32, set: *mut WaitSet) -> Status>,
    pub disarm: Option<unsafe extern "C" fn(State, ctx: u32)>,
    /// `get` of data in pieces. All of it is there when this answers OK; it never answers PENDING or
    /// NO_RESOURCE. Refusals as those of `get`.
    pub get_vector:
        Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaVectorDesc) -> Status>,
    // --- order over several contexts ---
    /// Tells the process at the endpoint the order key of the oldest message to it for which `send` had no room, 0:
    /// there is none. A receiver that finds, by `held`, a later word than this one also finds every message that
    /// `send` took before that. The caller serialises the calls for one endpoint; any context's verbs may run meanwhile.
    pub hold: Option<unsafe extern "C" fn(State, *mut Endpoint, oldest: u64)>,
    /// The last value that the process at the endpoint has given to `hold`, 0 at first. Any thread, at any time.
    pub held: Option<unsafe extern "C" fn(State, *mut Endpoint) -> u64>,
    // --- service links: requests that the target serves without a call into MPI ---
    /// Opens this process's service context, which is none of the ordinary ones and has a lock of its own, held by
    /// the caller of the verbs below that have no `ctx`. Several calls are as one. Any thread.
    pub service_open: Option<unsafe extern "C" fn(State) -> Status>,
    /// Sends an active message to the service context of the endpoint's process, from ordinary context `ctx` under that
    /// context's lock. NO_RESOURCE: no room, or as many requests without an answer as there is room for replies;
    /// progress of `ctx` brings replies. Every request is answered by one reply.
    pub service_request:
        Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const SendDesc) -> Status>,
    /// Takes requests on the service context and calls their receivers with `RecvDesc::ctx` [`SERVICE_CTX`] and `link` set.
    /// How many.
    pub service_progress: Option<unsafe extern "C" fn(State) -> i32>,
    /// Answers the request whose receiver is running; `link` is that of its descriptor. The reply comes out of
    /// `progress` of the requester's context. There is always room.
    pub service_reply: Option<unsafe extern "C" fn(State, link: u64, *const SendDesc) -> Status>,
    /// A word that is not 0 while requests may be there, or null: it has to be looked by `service_progress`. Valid
    /// from `service_open` to `finalize`.
    pub service_pending: Option<unsafe extern "C" fn(State) -> *const u32>,
    /// As `arm` and `disarm`, for the service context.
    pub service_arm: Option<unsafe extern "C" fn(State, set: *mut WaitSet) -> Status>,
    pub service_disarm: Option<unsafe extern "C" fn(State)>,
    // --- 2.1 ---
    /// Carries out the entries of a list at their target, in their order and as one request: writes, and atomics, which are atomic
    /// to all others element by element. OK, PENDING and NO_RESOURCE as for [`RmaDesc`]; BAD_PARAM: it is longer than
    /// `list_limit`, or has an operation that `amo_ops` and `amo_operands` do not. Once it is done, all of it is visible to
    /// the target's processors and the results are here. The list, its handles and its data are read during the call only. Of a
    /// list that fails, entries may have been carried out.
    pub list: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const ListDesc) -> Status>,
    // --- 2.2 ---
    /// The number, among the modules of this component in the endpoint's process, of the module that an endpoint leads to. They are
    /// counted best first: by exclusivity, by latency, in the order of `open`. Both processes of a pair answer alike: the module
    /// that mine leads to leads to mine, and no other does. A module without this verb reaches the module of its own number,
    /// and no process that has none. Any thread.
    pub partner: Option<unsafe extern "C" fn(State, *mut Endpoint) -> u32>,
}

/// From [`BtlHandle::partner`]: the module does not say it; the one of its own number.
pub const SAME_NUMBER: u32 = u32::MAX;

/// `RecvDesc::ctx` of a request on a service link.
pub const SERVICE_CTX: u32 = u32::MAX;

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
    /// Valid until `finalize`; read when the module is accepted.
    pub attrs: *const BtlAttrs,
}

impl oxmpi_mca::component::Module for BtlModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

/// Which verbs a device has, computed by the host from the filled slots.
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
    /// All of `service_*` but the arming ones.
    pub const SERVICE: u32 = 256;
    /// `service_arm` and `service_disarm`.
    pub const SERVICE_SLEEP: u32 = 512;
    pub const LIST: u32 = 1024;
    pub const PARTNER: u32 = 2048;
}

/// An accepted module: the host's own copy, every slot a real function. This is what PML and OSC
/// components call: `(btl.send)(btl.state, endpoint, ctx, &desc)`.
#[repr(C)]
pub struct BtlHandle {
    pub size: u32,
    /// Bits of [`cap`].
    pub caps: u32,
    pub state: *mut c_void,
    pub send: unsafe extern "C" fn(State, *mut Endpoint, u32, *const SendDesc) -> Status,
    pub progress: unsafe extern "C" fn(State, u32) -> i32,
    pub get: unsafe extern "C" fn(State, *mut Endpoint, u32, *const RmaDesc) -> Status,
    pub put: unsafe extern "C" fn(State, *mut Endpoint, u32, *const RmaDesc) -> Status,
    pub flush: unsafe extern "C" fn(State, *mut Endpoint, u32, *const FlushDesc) -> Status,
    pub atomic: unsafe extern "C" fn(State, *mut Endpoint, u32, *const AtomicDesc) -> Status,
    pub register_mem: unsafe extern "C" fn(State, *mut u8, u64, u32, MemKind, *mut RegHandle) -> Status,
    pub deregister_mem: unsafe extern "C" fn(State, *const RegHandle) -> Status,
    pub arm: unsafe extern "C" fn(State, u32, *mut WaitSet) -> Status,
    pub disarm: unsafe extern "C" fn(State, u32),
    pub get_vector: unsafe extern "C" fn(State, *mut Endpoint, u32, *const RmaVectorDesc) -> Status,
    pub hold: unsafe extern "C" fn(State, *mut Endpoint, u64),
    pub held: unsafe extern "C" fn(State, *mut Endpoint) -> u64,
    pub service_open: unsafe extern "C" fn(State) -> Status,
    pub service_request: unsafe extern "C" fn(State, *mut Endpoint, u32, *const SendDesc) -> Status,
    pub service_progress: unsafe extern "C" fn(State) -> i32,
    pub service_reply: unsafe extern "C" fn(State, u64, *const SendDesc) -> Status,
    pub service_pending: unsafe extern "C" fn(State) -> *const u32,
    pub service_arm: unsafe extern "C" fn(State, *mut WaitSet) -> Status,
    pub service_disarm: unsafe extern "C" fn(State),
    pub add_procs: unsafe extern "C" fn(State, ProcList, *mut *mut Endpoint) -> Status,
    pub del_procs: unsafe extern "C" fn(State, SliceRef<*mut Endpoint>) -> Status,
    pub finalize: unsafe extern "C" fn(State) -> Status,
    /// The host's full copy, valid as long as the handle.
    pub attrs: *const BtlAttrs,
    /// Component name, for messages ("shm").
    pub name: oxmpi_mca::StrRef,
    /// Bits of [`cap`]: verbs that the host carries out by requests on service links. Always 0 in what a PML gets.
    pub emulated: u32,
    /// Position among the accepted modules, best first.
    pub index: u32,
    pub list: unsafe extern "C" fn(State, *mut Endpoint, u32, *const ListDesc) -> Status,
    /// [`SAME_NUMBER`] where [`cap::PARTNER`] is missing.
    pub partner: unsafe extern "C" fn(State, *mut Endpoint) -> u32,
}

impl BtlHandle {
    #[inline(always)]
    pub fn attrs(&self) -> &BtlAttrs {
        // SAFETY: valid as long as the handle.
        unsafe { &*self.attrs }
    }
    /// Whether all the verbs of these bits of [`cap`] are there.
    #[inline(always)]
    pub fn can(&self, caps: u32) -> bool {
        self.caps & caps == caps
    }
    /// The component's name.
    pub fn name(&self) -> &str {
        // SAFETY: the name lives as long as the component.
        unsafe { self.name.get() }.unwrap_or("?")
    }
}

// SAFETY: the functions may be called from any thread under the serialisation of the contract.
unsafe impl Send for BtlHandle {}
// SAFETY: as above.
unsafe impl Sync for BtlHandle {}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<BtlAttrs>() == 160);
    assert!(size_of::<SendDesc>() == 48);
    assert!(size_of::<RmaDesc>() == 56);
    assert!(size_of::<FlushDesc>() == 16);
    assert!(size_of::<AtomicDesc>() == 72);
    assert!(size_of::<Piece>() == 16);
    assert!(size_of::<RmaVectorDesc>() == 40);
    assert!(size_of::<ListEntry>() == 64);
    assert!(size_of::<ListDesc>() == 32);
    assert!(size_of::<ProcInfo>() == 24);
    assert!(size_of::<ProcList>() == 24);
    assert!(offset_of!(BtlTable, get) == 48);
    assert!(offset_of!(BtlTable, get_vector) == 112);
    assert!(offset_of!(BtlTable, service_open) == 136);
    assert!(size_of::<BtlTable>() == 208);
    assert!(size_of::<BtlModule>() == 32);
};
