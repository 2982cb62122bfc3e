//! The tables as they cross the boundary.

pub use crate::bits::{access, amo, cap};
use crate::placing::PlaceBy;
use core::ffi::c_void;
use oxmpi_mca::{MemKind, SliceRef, Status, Version, WaitSet};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 3, minor: 3, patch: 0 };
/// Version of [`BtlTable`]'s layout.
pub const TABLE_VERSION: u32 = 2;
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "btl";

/// Limits and ranks as data, read without a call. Sizes in bytes; 0 in a limit means none. Stands behind a pointer on
/// both sides of the boundary, so that it can grow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BtlAttrs {
    /// Bytes of this struct as its maker was built with it, at least 8; attributes behind that have the values of [`BtlAttrs::new`].
    pub size: u32,
    /// Number of contexts that the module has made: at least 1, at most `HostTable::num_cris`.
    pub contexts: u32,
    /// Largest message (header and payload) sent eagerly; at most `max_send_size`.
    pub eager_limit: u64,
    /// Most bytes (header and payload) of the first part of a rendezvous; at least 128, for the header, and at most `max_send_size`.
    pub rndv_eager_limit: u64,
    /// Largest message (header and payload) that `send` takes at all; at least 128.
    pub max_send_size: u64,
    /// From this payload on a rendezvous by `get` is faster than one by messages (given `get` works).
    pub min_get_size: u64,
    /// Most bytes of one `get`; a longer one is refused.
    pub get_limit: u64,
    /// Power of 2 of which both addresses and the length of a `get` must be multiples, or it is refused; 0: any will do.
    pub get_alignment: u64,
    /// Most bytes of one `put`; a longer one is refused.
    pub put_limit: u64,
    /// As `get_alignment`, for `put`.
    pub put_alignment: u64,
    /// Latency in microseconds, as Open MPI's parameters have it: for ranking, not for physics. The least comes first.
    pub latency: u32,
    /// Bandwidth in Mb/s; transports that carry one payload together get parts of it in this proportion. 0 counts as 1.
    pub bandwidth: u32,
    /// A process reached by a module of higher exclusivity is not offered to lower ones.
    pub exclusivity: u32,
    /// Bytes of a registration handle; 0: memory needs no registration, and handles are null.
    pub registration_handle_size: u32,
    /// [`BtlAttrs::VISIBLE_AT_ONCE`] …
    pub flags: u32,
    /// Operations that `atomic` and `list` do: bits by 1 << number in [`amo`].
    pub amo_ops: u32,
    /// Operands on which they do them: bits of [`amo::operand`].
    pub amo_operands: u32,
    /// Largest request and reply (header and payload) of a service link; 0: there are none.
    pub service_limit: u32,
    /// The name under which messages show this device ("shm", "lo", "mlx5_0").
    pub device: [u8; 32],
    /// From this payload on a rendezvous by `put` is faster than one by messages (given `put` works).
    pub min_put_size: u64,
    /// Most bytes of memory that may be registered at once; 0: no limit.
    pub registration_limit: u64,
    /// Longest list (given `list` works): each entry counts [`LIST_ENTRY`] bytes and its `len` rounded up to 8.
    pub list_limit: u64,
}

impl BtlAttrs {
    /// Once `send` has answered OK, a receiver that calls `progress` on that context from then on finds the
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
    /// `send` understands [`MAY_WAIT`]; nobody sets that in a message to a transport without this.
    pub const GATHERS: u32 = 256;
    /// Lists of one context to one endpoint are carried out in the order of the calls that answered PENDING or OK, each of them whole.
    pub const LISTS_ORDERED: u32 = 512;

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

/// Proof of registration: `BtlAttrs::registration_handle_size` opaque bytes, aligned to 8, sent to peers as they are.
/// Passed by pointer, and read during the call only; null where the size is 0.
pub type RegHandle = c_void;
/// The largest `registration_handle_size` there may be.
pub const HANDLE_LIMIT: usize = 256;

/// A flag in [`SendDesc::tag`] of a message to a transport with [`BtlAttrs::GATHERS`]: the sender makes a turn of progress of the context soon, and takes
/// PENDING for an answer. The message may wait for others then, which go with it by one call of the system.
pub const MAY_WAIT: u32 = 1 << 31;

/// A message to send. `hdr` is copied before the call returns. The payload is either `payload[..len]` or
/// produced by `pack` straight into the transport's buffer (offset, destination, bytes; each byte
/// asked for once, in order).
#[repr(C)]
pub struct SendDesc {
    /// Row of the receiver in the target's table of active messages, below 256; with [`MAY_WAIT`] where that is understood.
    pub tag: u32,
    /// Bytes of the header, at most 128; with `len` not more than `BtlAttrs::max_send_size` (of a service link `service_limit`).
    pub hdr_len: u32,
    /// The header, readable for `hdr_len` bytes during the call; not null.
    pub hdr: *const u8,
    /// The payload, readable for `len` bytes during the call; not looked at where `pack` is there or `len` is 0.
    pub payload: *const u8,
    /// Bytes of payload.
    pub len: u64,
    /// The function that produces the payload; `None`: it lies at `payload`. Not called behind the end of the verb.
    pub pack: Option<unsafe extern "C" fn(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64)>,
    /// First argument of `pack`.
    pub pack_ctx: *mut c_void,
}

/// Completion of a one-sided verb. Runs from `progress` of the verb's context, under that context's lock, exactly once
/// for each verb that answered PENDING, and before `del_procs` of its endpoint; not at all where the verb answered OK or a
/// failure. It does atomics and `sync_update` only. A failure promises that local memory is not touched any more.
pub type Done = unsafe extern "C" fn(ctx: *mut c_void, status: Status);

/// A message to send whose payload lies in memory that stays: see [`BtlTable::send_kept`]. The descriptor and the header are read during the call only; the payload
/// until completion, behind a PENDING.
#[repr(C)]
pub struct KeptDesc {
    /// The message. Its payload lies at `payload`; there is no `pack`, and no [`MAY_WAIT`].
    pub message: SendDesc,
    /// The function that is told the end of a message that answered PENDING, as of a one-sided verb: OK, the payload is not read any more, and the message is visible to
    /// its receiver; a failure, the process is lost, and the payload is not read any more either. Not `None`.
    pub done: Option<Done>,
    /// First argument of `done`.
    pub done_ctx: *mut c_void,
}

/// Remote memory operation. OK: complete now. PENDING: `done` will be called. NO_RESOURCE: nothing happened; offer it
/// again after progress of the same context. Descriptor and handles are read during the call only, local
/// memory until completion. Completion of a get: the data is here; of a put: local memory is free, and the data
/// is visible at the target if PUT_DONE_IS_REMOTE, else after a flush. A put that fails after its completion was told, as one
/// may that frees its local memory early, is told as a failure of the next flush of its context that covers its endpoint, once.
#[repr(C)]
pub struct RmaDesc {
    /// Memory of this process, `len` bytes: a get writes them, a put reads them.
    pub local: *mut u8,
    /// Address in the target process of as many bytes: a get reads them, a put writes them.
    pub remote: u64,
    /// Bytes to move, at most `get_limit` or `put_limit`.
    pub len: u64,
    /// Registration of `local` with this module (of a get with LOCAL_WRITE); null where handles have no bytes.
    pub local_handle: *const RegHandle,
    /// Registration of `remote` by the target, with REMOTE_READ for a get, REMOTE_WRITE for a put; null where handles have no bytes.
    pub remote_handle: *const RegHandle,
    /// The function that is told the end of a verb that answered PENDING; `None`: nobody wants to know.
    pub done: Option<Done>,
    /// First argument of `done`.
    pub done_ctx: *mut c_void,
}

/// Completion of all that was issued before: see [`BtlTable::flush`].
#[repr(C)]
pub struct FlushDesc {
    /// The function that is told the end of a flush that answered PENDING; `None`: nobody wants to know.
    pub done: Option<Done>,
    /// First argument of `done`.
    pub done_ctx: *mut c_void,
}

/// One piece of memory in a list.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address in the process whose list it is in.
    pub addr: u64,
    /// Bytes from there on; 0 is allowed.
    pub len: u64,
}

/// `len` bytes that lie in pieces on both sides, cut independently of each other; the packed bytes of
/// both are the same. Both lists have at least `len` bytes; what is behind is left alone.
#[repr(C)]
pub struct RmaVectorDesc {
    /// The pieces of this process, in the order of the packed bytes, which are written.
    pub local: SliceRef<Piece>,
    /// The pieces of the target process, in the order of the packed bytes, which are read.
    pub remote: SliceRef<Piece>,
    /// Bytes to move.
    pub len: u64,
}

/// An atomic operation on one word of the target's memory (MPI 5.0 §12.3.4). OK, PENDING, NO_RESOURCE and the life of pointers are as for
/// [`RmaDesc`]; an operation or operand that is not in `amo_ops` and `amo_operands` is refused.
#[repr(C)]
pub struct AtomicDesc {
    /// Place for the old value (fetching forms), or null. As wide as the operand.
    pub result: *mut u64,
    /// Registration of `result` with this module, with LOCAL_WRITE; null where `result` is, or handles have no bytes.
    pub local_handle: *const RegHandle,
    /// Address of the word in the target process, aligned to the operand's width.
    pub remote: u64,
    /// Registration of the word by the target, with REMOTE_ATOMIC; null where handles have no bytes.
    pub remote_handle: *const RegHandle,
    /// An operation of [`amo`].
    pub op: u32,
    /// The operand's kind: bits of [`amo`] (WIDTH_32, FLOAT, SIGNED); 0: unsigned, 64 bits.
    pub flags: u32,
    /// The operand's bits, in the low half if it has 32; of COMPARE_SWAP the new value.
    pub operand: u64,
    /// The value that COMPARE_SWAP compares with; not looked at otherwise.
    pub compare: u64,
    /// The function that is told the end of an operation that answered PENDING; `None`: nobody wants to know.
    pub done: Option<Done>,
    /// First argument of `done`.
    pub done_ctx: *mut c_void,
}

/// One entry of a list: bytes to write, or elements side by side that an atomic operation updates each.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ListEntry {
    /// Address in the target process of the first byte or element; elements are aligned to their width.
    pub remote: u64,
    /// Registration by the target, with REMOTE_WRITE, or REMOTE_ATOMIC for an operation of [`amo`]; null where handles have no bytes.
    pub remote_handle: *const RegHandle,
    /// Bytes at the target: of the data, or of all elements.
    pub len: u64,
    /// The data, or the operands side by side.
    pub data: *const u8,
    /// Place for the old elements, side by side, or null.
    pub result: *mut u8,
    /// Registration of `result` with this module, with LOCAL_WRITE; null where `result` is, or handles have no bytes.
    pub result_handle: *const RegHandle,
    /// [`LIST_PUT`], [`LIST_ASK`](crate::LIST_ASK), or an operation of [`amo`].
    pub op: u32,
    /// As in [`AtomicDesc`].
    pub flags: u32,
    /// For COMPARE_SWAP, which has one element; of [`LIST_ASK`](crate::LIST_ASK) the bytes of the answer, which go to `result`.
    pub compare: u64,
}

/// In `ListEntry::op`: write bytes.
pub const LIST_PUT: u32 = 64;
/// The count of an entry beside its bytes: see [`BtlAttrs::list_limit`].
pub const LIST_ENTRY: u64 = 40;

/// Entries for one target: see [`BtlTable::list`].
#[repr(C)]
pub struct ListDesc {
    /// The entries, in the order in which they are carried out.
    pub entries: SliceRef<ListEntry>,
    /// The function that is told the end of a list that answered PENDING; `None`: nobody wants to know.
    pub done: Option<Done>,
    /// First argument of `done`.
    pub done_ctx: *mut c_void,
}

/// A process as `add_procs` sees it. Grows at the end; [`ProcList::stride`] says how far the host's goes.
///
/// Jobs come and go while an instance runs. So `proc` is nothing but an index: it says neither a rank nor where the process is, a process that comes
/// again may have another one, and one that nobody has any more may be another process's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcInfo {
    /// Index of the process in the instance (`RecvDesc::proc`): its rank for a process of the first job, any other number for one that came later.
    pub proc: u32,
    /// Number of its node in its job.
    pub node: u32,
    /// Its place in `segment`, if it is on this node: in segment 0 its rank among the processes of the job on this node. Elsewhere its rank among
    /// the processes of its job on its node.
    pub local_rank: u32,
    /// 1 if on this node.
    pub local: u32,
    /// Number of its job in the instance: 0 is the one that this process was started with.
    pub job: u32,
    /// Number of the shared segment in which this process and that one have places (`HostServices::segment`), if it is on this node: 0 is the one
    /// of this process's own job.
    pub segment: u32,
}

/// Processes side by side, each a [`ProcInfo`] of the host's size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProcList {
    /// The first process.
    pub first: *const ProcInfo,
    /// Number of processes.
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
    /// Bytes of this table as the component was built with it, a multiple of 8; it reaches over `progress` at least.
    pub size: u32,
    /// [`TABLE_VERSION`] of what the component was built with; equal or refused.
    pub version: u32,
    /// For each of `procs`: an endpoint, or null where this module does not reach it. A process that has sent something and ended
    /// since is reached: what it sent is taken, and what is sent to it fails with PEER_FAILED. Any thread, at any time, also while contexts are in use;
    /// holding nothing, or a CRI. A process may be added several times, each time with an endpoint of its own, and added again when all of them have
    /// been taken back. A failure (the module has logged why): none of the list was added. A message that a process of another job has sent
    /// before it was added waits for that, or is refused to its sender by NO_RESOURCE.
    pub add_procs:
        Option<unsafe extern "C" fn(State, procs: ProcList, endpoints: *mut *mut Endpoint) -> Status>,
    /// Takes endpoints back, each once, nulls among them; no verb uses them any more, and all that had answered PENDING on them has completed. Any
    /// thread, at any time, also while contexts are in use for other endpoints. Messages that were sent still arrive. Once the last endpoint
    /// of a process of another job has gone, turns of progress that begin later hand up nothing of it, until it is added
    /// again. Mappings and connections that nobody needs any more may go later, when contexts next progress. `None`: nothing is kept for
    /// them.
    pub del_procs: Option<unsafe extern "C" fn(State, endpoints: SliceRef<*mut Endpoint>) -> Status>,
    /// Sends what is still queued inside, tells the device goodbye, frees the state. The last call; a failure is logged.
    pub finalize: Option<unsafe extern "C" fn(State) -> Status>,
    /// Sends an active message on context `ctx`. OK: it is visible to its receiver, and header and payload are the caller's again. NO_RESOURCE:
    /// nothing happened; offer it again after progress of the context. BAD_PARAM: it is longer than `max_send_size`. PEER_FAILED: the process is
    /// lost. PENDING, to a message with [`MAY_WAIT`] only: as OK, but that it becomes visible with the next turn of progress of the context, or by itself
    /// some hundred microseconds later.
    pub send: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const SendDesc) -> Status>,
    /// Takes what arrived and what completed on a context; returns how many events it handled.
    pub progress: Option<unsafe extern "C" fn(State, ctx: u32) -> i32>,
    // --- one-sided ---
    /// Reads memory of the target, as [`RmaDesc`] says. NO_PERMISSION, NOT_SUPPORTED: not from this process; the caller takes another way.
    pub get: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaDesc) -> Status>,
    /// Writes memory of the target, as [`RmaDesc`] says. NO_PERMISSION, NOT_SUPPORTED: not to this process; the caller takes another way.
    pub put: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const RmaDesc) -> Status>,
    /// Completes what was issued before on the context (endpoint null: to anybody) at its target: once it is done, all
    /// of that is visible to the target's processors. OK, PENDING and NO_RESOURCE as for [`RmaDesc`]. An error, at once or by
    /// `done`: some of it failed, also what had been told as done (late failures of puts); a flush without an error says that
    /// nothing since the one before has.
    pub flush: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const FlushDesc) -> Status>,
    /// Updates a word of the target's memory, as [`AtomicDesc`] says. NOT_SUPPORTED: not that operation, or not on that operand.
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
    /// Peers reach the memory no more once this has returned. Any thread. BAD_PARAM: no registration has that handle.
    pub deregister_mem: Option<unsafe extern "C" fn(State, *const RegHandle) -> Status>,
    // --- sleeping ---
    /// Announces that the context's owner is about to sleep and looks once more. OK: words and descriptors that will
    /// change are in `set` (none where nothing can come without a call of this process); PENDING: something is there, do
    /// not sleep; NO_RESOURCE: the set is full. Followed by `disarm` in any case. Several contexts are armed in rising
    /// order; the caller serialises `arm` and `disarm` of all contexts.
    pub arm: Option<unsafe extern "C" fn(State, ctx: u32, set: *mut WaitSet) -> Status>,
    /// Ends what the last `arm` of that context announced: its owner is awake.
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
    /// Takes requests on the service context and calls their receivers with `RecvDesc::ctx` [`SERVICE_CTX`](crate::SERVICE_CTX) and `link` set.
    /// Returns the number of requests that it took.
    pub service_progress: Option<unsafe extern "C" fn(State) -> i32>,
    /// Answers the request whose receiver is running; `link` is that of its descriptor. The reply comes out of
    /// `progress` of the requester's context. There is always room.
    pub service_reply: Option<unsafe extern "C" fn(State, link: u64, *const SendDesc) -> Status>,
    /// A word that is not 0 while requests may be there, or null: it has to be looked by `service_progress`. Valid
    /// from `service_open` to `finalize`.
    pub service_pending: Option<unsafe extern "C" fn(State) -> *const u32>,
    /// As `arm` and `disarm`, for the service context.
    pub service_arm: Option<unsafe extern "C" fn(State, set: *mut WaitSet) -> Status>,
    /// Ends what the last `service_arm` announced.
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
    // --- 3.2 ---
    /// Sets who says where the payload of long messages of a tag belongs, as [`PlaceBy`] says: the transport may then write it there as it comes, and
    /// not into a buffer of its own. Before the first progress; what `by` names stays until `finalize`. BAD_PARAM: the tag has somebody already.
    pub place_by: Option<unsafe extern "C" fn(State, by: *const PlaceBy) -> Status>,
    /// As `send`, of a message whose payload lies in memory that stays, as [`KeptDesc`] says: PENDING, the usual answer, is as OK, but that the payload is the caller's
    /// again only when `done` has been called. Ordered with messages by `send`.
    pub send_kept: Option<unsafe extern "C" fn(State, *mut Endpoint, ctx: u32, *const KeptDesc) -> Status>,
}

/// From [`BtlHandle::partner`]: the module does not say it; the one of its own number.
pub const SAME_NUMBER: u32 = u32::MAX;

/// One device of a BTL component, as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BtlModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// First argument of every function in `table`.
    pub state: *mut c_void,
    /// The module's verbs; valid until `finalize`, and read when the module is accepted.
    pub table: *const BtlTable,
    /// Valid until `finalize`; read when the module is accepted.
    pub attrs: *const BtlAttrs,
}

impl oxmpi_mca::component::Module for BtlModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

/// An accepted module: the host's own copy, every slot a real function. This is what PML and OSC
/// components call: `(btl.send)(btl.state, endpoint, ctx, &desc)`.
#[repr(C)]
pub struct BtlHandle {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Bits of [`cap`].
    pub caps: u32,
    /// First argument of every function below.
    pub state: *mut c_void,
    /// See [`BtlTable::send`].
    pub send: unsafe extern "C" fn(State, *mut Endpoint, u32, *const SendDesc) -> Status,
    /// See [`BtlTable::progress`].
    pub progress: unsafe extern "C" fn(State, u32) -> i32,
    /// See [`BtlTable::get`]; NOT_SUPPORTED without [`cap::GET`].
    pub get: unsafe extern "C" fn(State, *mut Endpoint, u32, *const RmaDesc) -> Status,
    /// See [`BtlTable::put`]; NOT_SUPPORTED without [`cap::PUT`].
    pub put: unsafe extern "C" fn(State, *mut Endpoint, u32, *const RmaDesc) -> Status,
    /// See [`BtlTable::flush`]; NOT_SUPPORTED without [`cap::FLUSH`].
    pub flush: unsafe extern "C" fn(State, *mut Endpoint, u32, *const FlushDesc) -> Status,
    /// See [`BtlTable::atomic`]; NOT_SUPPORTED without [`cap::ATOMIC`].
    pub atomic: unsafe extern "C" fn(State, *mut Endpoint, u32, *const AtomicDesc) -> Status,
    /// See [`BtlTable::register_mem`]; NOT_SUPPORTED without [`cap::REGISTER`].
    pub register_mem: unsafe extern "C" fn(State, *mut u8, u64, u32, MemKind, *mut RegHandle) -> Status,
    /// See [`BtlTable::deregister_mem`]; NOT_SUPPORTED without [`cap::REGISTER`].
    pub deregister_mem: unsafe extern "C" fn(State, *const RegHandle) -> Status,
    /// See [`BtlTable::arm`]; NOT_SUPPORTED without [`cap::SLEEP`].
    pub arm: unsafe extern "C" fn(State, u32, *mut WaitSet) -> Status,
    /// See [`BtlTable::disarm`]; it does nothing without [`cap::SLEEP`].
    pub disarm: unsafe extern "C" fn(State, u32),
    /// See [`BtlTable::get_vector`]; NOT_SUPPORTED without [`cap::GET_VECTOR`].
    pub get_vector: unsafe extern "C" fn(State, *mut Endpoint, u32, *const RmaVectorDesc) -> Status,
    /// See [`BtlTable::hold`]; it does nothing without [`cap::HOLD`].
    pub hold: unsafe extern "C" fn(State, *mut Endpoint, u64),
    /// See [`BtlTable::held`]; 0 without [`cap::HOLD`].
    pub held: unsafe extern "C" fn(State, *mut Endpoint) -> u64,
    /// See [`BtlTable::service_open`]; NOT_SUPPORTED without [`cap::SERVICE`], as `service_request` and `service_reply`.
    pub service_open: unsafe extern "C" fn(State) -> Status,
    /// See [`BtlTable::service_request`].
    pub service_request: unsafe extern "C" fn(State, *mut Endpoint, u32, *const SendDesc) -> Status,
    /// See [`BtlTable::service_progress`]; 0 without [`cap::SERVICE`].
    pub service_progress: unsafe extern "C" fn(State) -> i32,
    /// See [`BtlTable::service_reply`].
    pub service_reply: unsafe extern "C" fn(State, u64, *const SendDesc) -> Status,
    /// See [`BtlTable::service_pending`]; null without [`cap::SERVICE`].
    pub service_pending: unsafe extern "C" fn(State) -> *const u32,
    /// See [`BtlTable::service_arm`]; NOT_SUPPORTED without [`cap::SERVICE_SLEEP`].
    pub service_arm: unsafe extern "C" fn(State, *mut WaitSet) -> Status,
    /// See [`BtlTable::service_disarm`]; it does nothing without [`cap::SERVICE_SLEEP`].
    pub service_disarm: unsafe extern "C" fn(State),
    /// See [`BtlTable::add_procs`].
    pub add_procs: unsafe extern "C" fn(State, ProcList, *mut *mut Endpoint) -> Status,
    /// See [`BtlTable::del_procs`]; OK where the module has none.
    pub del_procs: unsafe extern "C" fn(State, SliceRef<*mut Endpoint>) -> Status,
    /// See [`BtlTable::finalize`]; OK where the module has none.
    pub finalize: unsafe extern "C" fn(State) -> Status,
    /// The host's full copy, valid as long as the handle.
    pub attrs: *const BtlAttrs,
    /// Component name, for messages ("shm").
    pub name: oxmpi_mca::StrRef,
    /// Bits of [`cap`]: verbs that the host carries out by requests on service links. Always 0 in what a PML gets.
    pub emulated: u32,
    /// Position among the accepted modules, best first.
    pub index: u32,
    /// See [`BtlTable::list`]; NOT_SUPPORTED without [`cap::LIST`].
    pub list: unsafe extern "C" fn(State, *mut Endpoint, u32, *const ListDesc) -> Status,
    /// [`SAME_NUMBER`] where [`cap::PARTNER`] is missing.
    pub partner: unsafe extern "C" fn(State, *mut Endpoint) -> u32,
    /// See [`BtlTable::place_by`]; NOT_SUPPORTED without [`cap::PLACES`].
    pub place_by: unsafe extern "C" fn(State, *const PlaceBy) -> Status,
    /// See [`BtlTable::send_kept`]; NOT_SUPPORTED without [`cap::KEEPS`].
    pub send_kept: unsafe extern "C" fn(State, *mut Endpoint, u32, *const KeptDesc) -> Status,
}

impl BtlHandle {
    /// The module's limits and ranks.
    #[inline(always)]
    pub fn attrs(&self) -> &BtlAttrs {
        // SAFETY: valid as long as the handle.
        unsafe { &*self.attrs }
    }
    /// True where all the verbs of these bits of [`cap`] are there.
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
    assert!(size_of::<KeptDesc>() == 64);
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
    assert!(size_of::<BtlTable>() == 224);
    assert!(size_of::<BtlModule>() == 32);
};
