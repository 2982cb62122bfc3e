//! The objects of the runtime and their fields: instance, communicators with their collectives, requests that the host makes, windows, opened
//! components. They refer to each other, so they stand together; what each does is in the file that is named for it.

use crate::am_table::AmTable;
use crate::byte_type::ByteType;
use crate::coll::slot::SLOTS;
use crate::counts::CommCalls;
use crate::emulation::requester::{Context, Endpoint, Lost};
use crate::gid::{self, Gid};
use crate::group::{Group, ProcId};
use crate::host_requests::partitioned::Meeting;
use crate::host_requests::schedule::numbers::Numbers;
use crate::info::Info;
use crate::reached::Transports;
use crate::request::Table;
use crate::services::card::Cards;
use crate::services::failed::Failures;
use crate::services::pieces::NodeMemories;
use crate::shared_memory::SharedMemory;
use crate::window::calls::Calls;
use crate::window::hints::Hints;
use crate::window::memory::Memory;
use crate::window::verbs::Verbs;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Reach};
use oxmpi_coll::{CollFn, CollServices};
use oxmpi_datatype::TypeDesc;
use oxmpi_loading::accept::accepted::{Accepted, CollComponent, Framework, OscComponent, Pml};
use oxmpi_loading::log::Logger;
use oxmpi_loading::values::HostParams;
use oxmpi_loading::values::Values;
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Cri, HostTable, JobInfo, Lock, MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_mca_params::Resolver;
use oxmpi_osc::{Mapped, WinComm};
use oxmpi_pml::{Counts, RecvArgs, SendArgs};
use oxmpi_system::locks::{Mutex, RwLock};
use oxmpi_waiting::Waiting;
use oxmpi_wireup as wireup;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

/// One rank.
#[repr(C)]
pub struct Instance {
    // A message touches it, so it is first.
    pub(crate) waiting: Waiting,
    pub(crate) level: AtomicU32,
    pub(crate) parts: OnceLock<Parts>,
    pub(crate) requests: Table,
    pub(crate) makers: Makers,
    /// The services that collective components get outside of plans (`coll/services.rs`).
    pub(crate) coll_services: &'static CollServices,
    pub(crate) job: JobInfo,
    pub(crate) cris: Box<[Cri]>,
    pub(crate) am: AmTable,
    pub(crate) transports: Transports,
    pub(crate) failures: Failures,
    pub(crate) node_memories: NodeMemories,
    pub(crate) cards: Cards,
    pub(crate) service: crate::service::contexts::Service,
    pub(crate) emulation: Emulation,
    pub(crate) byte: Box<ByteType>,
    pub(crate) client: wireup::Client,
    pub(crate) resolver: RwLock<Resolver>,
    pub(crate) params: HostParams,
    pub(crate) logger: Logger,
    /// How many ask for counting.
    pub(crate) counting: AtomicU32,
    /// How many ask for the time of matching.
    pub(crate) asking_match_time: Mutex<u32>,
    /// Of communicators that are gone.
    pub(crate) gone_counts: Mutex<Counts>,
    pub(crate) raising: Mutex<()>,
    /// Something was published, so addresses are exchanged.
    pub(crate) published: AtomicBool,
    pub(crate) fresh: AtomicU64,
    /// How many communicators were made from a group under a tag; the keys are ids.
    pub(crate) from_groups: Mutex<HashMap<(Gid, u16), u64>>,
    pub(crate) pid: u32,
    pub(crate) resting: AtomicBool,
    pub(crate) finalized: AtomicBool,
    pub(crate) predefined: Mutex<Option<Predefined>>,
    pub(crate) live: Mutex<Vec<Weak<Communicator>>>,
    /// Windows that have a module of a component, which is given back before that is finalized.
    pub(crate) windows: Mutex<Vec<Weak<Window>>>,
    pub(crate) before_abort: BeforeAbort,
}

// SAFETY: `main` is a context that only the thread it belongs to writes; `gate` is a static or `own_gate`;
// all else is Sync by itself.
unsafe impl Send for Instance {}

// SAFETY: as above.
unsafe impl Sync for Instance {}

impl Instance {
    /// This rank as a process and its endpoint 0.
    pub fn me(&self) -> ProcId {
        ProcId { proc: self.job.rank, endpoint: 0 }
    }

    /// The launcher's facts.
    pub fn facts(&self) -> &wireup::JobFacts {
        self.client.facts()
    }

    /// The job's facts as components see them.
    pub fn job(&self) -> &JobInfo {
        &self.job
    }

    /// The table from slots to requests.
    pub fn requests(&self) -> &Table {
        &self.requests
    }

    /// The means by which handlers of signals that end the process report to the daemon; `None`: nobody would hear
    /// them.
    pub fn witness(&self) -> Option<&wireup::Witness> {
        self.client.witness()
    }

    /// The host name that MPI_Get_processor_name returns.
    pub fn processor_name(&self) -> String {
        self.client.facts().hostname.clone()
    }

    /// The printer of lines on the standard error.
    pub(crate) fn logger(&self) -> &Logger {
        &self.logger
    }

    /// The opened PML; `None` before the components are open.
    pub(crate) fn pml(&self) -> Option<&Pml> {
        self.parts.get().map(|p| &p.pml)
    }

    /// The opened collective components.
    pub(crate) fn coll_components(&self) -> &[CollComponent] {
        self.parts.get().map_or(&[], |p| &p.colls)
    }

    /// The services that collective components get outside of plans.
    pub(crate) fn coll_services(&self) -> *const CollServices {
        self.coll_services
    }
    /// The opened one-sided components.
    pub(crate) fn osc_components(&self) -> &[OscComponent] {
        self.parts.get().map_or(&[], |p| &p.oscs)
    }

    /// The table of the receivers of active messages.
    pub(crate) fn am_table(&self) -> &AmTable {
        &self.am
    }

    /// The type of one byte, for the library's own messages.
    pub(crate) fn byte_type(&self) -> &TypeDesc {
        &self.byte.desc
    }

    /// Makes a communicator id that no other rank of the job makes, from this rank and a count of its own.
    pub(crate) fn fresh_gid(&self) -> Gid {
        let me = self.me();
        gid::fresh(self.job.job_id, me.proc, me.endpoint, self.fresh.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the calling process is a forked child of the one that started the instance.
    pub(crate) fn in_child(&self) -> bool {
        std::process::id() != self.pid
    }

    /// Adds a communicator to those that the end of the instance closes.
    pub(crate) fn remember(&self, communicator: &Arc<Communicator>) {
        let mut live = self.live.lock();
        if live.len() == live.capacity() {
            live.retain(|c| c.strong_count() > 0);
        }
        live.push(Arc::downgrade(communicator));
    }

    /// Puts a value under a key into the process's exchange of addresses, which the start publishes if there is any.
    pub(crate) fn exchange_put(&self, key: &str, value: &[u8]) {
        self.client.put(key, value);
        self.published.store(true, Ordering::Relaxed);
    }

    /// Gets the value that a process has published under a key, and waits for the daemon's answer; `None`: there is no
    /// such key.
    pub(crate) fn exchange_get(&self, proc: u32, key: &str) -> Result<Option<Vec<u8>>, wireup::Error> {
        self.client.get(proc, key)
    }

    /// Runs `f` behind the progress functions of every turn.
    pub(crate) fn follow_progress(&self, f: ProgressFn, ctx: *mut c_void) {
        self.waiting.engine().register_follower(f, ctx);
    }

    /// The CRIs, by number.
    #[inline(always)]
    pub(crate) fn cris(&self) -> &[Cri] {
        &self.cris
    }
}

/// The communicators that the instance itself holds.
pub(crate) struct Predefined {
    pub world: Arc<Communicator>,
    pub self_comm: Arc<Communicator>,
}

type SendVerb = extern "C" fn(*mut c_void, *const SendArgs, *mut *mut RequestHeader) -> Status;

type RecvVerb =
    extern "C" fn(*mut c_void, *const RecvArgs, *mut MsgStatus, *mut *mut RequestHeader) -> Status;

type IrecvVerb = extern "C" fn(*mut c_void, *const RecvArgs, *mut *mut RequestHeader) -> Status;

/// One cache line: all that a message needs.
#[repr(C, align(64))]
pub(crate) struct Hot {
    pub(crate) state: *mut c_void,
    /// The PML's object for this communicator.
    pub(crate) comm: *mut c_void,
    pub(crate) send: SendVerb,
    pub(crate) isend: SendVerb,
    pub(crate) recv: RecvVerb,
    pub(crate) irecv: IrecvVerb,
    pub(crate) instance: *const Instance,
    pub(crate) rank: u32,
}

const _: () = assert!(size_of::<Hot>() == 64);

/// A communicator of one local rank.
#[repr(C)]
pub struct Communicator {
    pub(crate) hot: Hot,
    pub(crate) size: u32,
    pub(crate) gid: Gid,
    pub(crate) group: Group,
    /// Of an inter-communicator; what messages name are then ranks of its group.
    pub(crate) remote: Option<Remote>,
    pub(crate) coll: CollStack,
    /// The context that the rank's messages prefer; those of its children, too.
    pub(crate) hint: Option<u32>,
    /// How many communicators were made of this one; equal in all its ranks.
    pub(crate) children: AtomicU64,
    pub(crate) text: Mutex<Text>,
    /// For constructors that only some ranks call; made when first used (`construct`).
    pub(crate) wires: Mutex<[Option<Arc<Communicator>>; 2]>,
    pub(crate) closed: AtomicBool,
    /// Held while the PML is asked what it has counted, so that it does not forget meanwhile.
    pub(crate) reading: Mutex<()>,
    pub(crate) calls: CommCalls,
    /// The first message of a blocking collective that was longer than its place, until its error is told.
    pub(crate) truncated: Mutex<Option<MsgStatus>>,
    /// Partitioned messages, from the first on.
    pub(crate) meeting: OnceLock<Meeting>,
    /// Keeps what `hot.instance` points to alive.
    pub(crate) instance: Arc<Instance>,
    /// The text that the PML's `CommDesc` points to, beside the group's lists.
    pub(crate) _matching: String,
}

// SAFETY: raw pointers are to the PML's objects, which all threads may use, and to the instance that
// `instance` keeps alive.
unsafe impl Send for Communicator {}

// SAFETY: as above.
unsafe impl Sync for Communicator {}

impl Communicator {
    /// The calling rank's number in the (local) group.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.hot.rank
    }

    /// The number of ranks in the (local) group.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The group; of an inter-communicator the local one.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The global id, equal at all ranks.
    pub fn gid(&self) -> Gid {
        self.gid
    }

    /// The remote group; `None`: it is no inter-communicator.
    pub fn remote_group(&self) -> Option<&Group> {
        self.remote.as_ref().map(|r| &r.group)
    }

    /// The number of ranks that messages may name: those of the remote group, if there is one, else of the group.
    pub fn num_peers(&self) -> u32 {
        self.remote_group().map_or(self.size, Group::size)
    }

    /// The other side of an inter-communicator: remote group and local communicator.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// The local group of an inter-communicator as a communicator of the library's own; `None`: it is no
    /// inter-communicator.
    pub(crate) fn local(&self) -> Option<&Communicator> {
        self.remote.as_ref().map(|r| &*r.local)
    }

    /// Keeps what is known of a collective's message that was longer than its place, for [`Communicator::take_truncated`].
    #[cold]
    pub(crate) fn note_truncated(&self, status: &MsgStatus) {
        self.truncated.lock().get_or_insert(*status);
    }

    /// Takes what is known of the message by which the last blocking collective failed with TRUNCATED: its `source`, the
    /// bytes of its place, and in `cancelled` those that did not fit. `None`: it was no message (data of this process).
    pub fn take_truncated(&self) -> Option<MsgStatus> {
        let of_local = self.local().and_then(Communicator::take_truncated);
        self.truncated.lock().take().or(of_local)
    }

    /// The internal communicators over which constructors send that only some ranks call, by
    /// [`crate::wires::Wire`].
    pub(crate) fn wires(&self) -> &Mutex<[Option<Arc<Communicator>>; 2]> {
        &self.wires
    }

    /// The instance of the calling rank.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The shared pointer to the instance, for objects that keep it alive.
    pub(crate) fn shared_instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The place where partitioned messages find their partners; made at the first call.
    pub(crate) fn meeting(&self) -> &Meeting {
        self.meeting.get_or_init(Meeting::default)
    }

    /// The context on which this rank prefers to send; `None`: that of its endpoint, or any.
    pub fn hint(&self) -> Option<u32> {
        self.hint
    }

    /// Counts a constructor call on this communicator and returns its number from 0. All ranks make those calls in the
    /// same order, so the number is equal at all.
    pub(crate) fn next_child(&self) -> u64 {
        self.children.fetch_add(1, Ordering::Relaxed)
    }

    /// The name that MPI_Comm_get_name returns.
    pub fn name(&self) -> String {
        self.text.lock().name.clone()
    }

    /// The value of [`RequestHeader::comm`]: the address of this communicator.
    #[inline(always)]
    pub fn host_comm_ptr(&self) -> *mut c_void {
        self as *const Communicator as *mut c_void
    }
}

/// The other side of an inter-communicator.
#[derive(Clone)]
pub(crate) struct Remote {
    pub group: Group,
    /// The local group as a communicator of the library's own, without collectives.
    pub local: Arc<Communicator>,
}

/// Name and hints of a communicator, which threads may change.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) info: Info,
}

/// The component of each collective.
pub(crate) type Layer = [(CollFn, *mut c_void); SLOTS];

/// A module that is in use.
pub(crate) struct Served {
    pub(crate) component: usize,
    pub(crate) module: *mut c_void,
}

/// The collectives of one communicator.
pub(crate) struct CollStack {
    pub(crate) slots: Layer,
    pub(crate) plans: Layer,
    pub(crate) served: Vec<Served>,
    /// Of nonblocking and persistent ones.
    pub numbers: Numbers,
    pub(crate) components: *const [CollComponent],
    /// The services that its components get outside of plans.
    pub(crate) services: *const CollServices,
    pub(crate) oversubscribed: u32,
    pub parts: StackParts,
}

/// The parts that a stack has.
#[derive(Default)]
pub(crate) struct StackParts {
    /// Those that components asked for. Boxed: a component has the address.
    #[allow(clippy::vec_box, reason = "the addresses are in use while the list grows")]
    pub(crate) made: Mutex<Vec<Box<Arc<Communicator>>>>,
    /// Memory of the node, and the part that shares it.
    pub(crate) memory: Mutex<Vec<(Arc<Communicator>, SharedMemory)>>,
}

/// Kind of an operation.
pub trait Body: Any + Send + Sync {
    /// Looks at the operation's parts and moves on those that can be; the status once the operation is complete, `None`
    /// before. Called under the lock of the request's pool.
    fn advance(&self, instance: &Instance, thread: *mut ThreadCtx) -> Option<MsgStatus>;
    /// Starts a persistent operation.
    fn start(&self, instance: &Instance) -> Status {
        let _ = instance;
        Status::NOT_SUPPORTED
    }
    /// Whether nothing is under way on behalf of an operation that is complete or inactive.
    fn at_rest(&self) -> bool {
        true
    }
    /// Claims work that is there for [`Body::work`]; true: there is some, and it is the caller's. Called under the lock
    /// of the request's pool.
    fn claim(&self) -> bool {
        false
    }
    /// Does the work that `claim` has claimed, without a lock; true: something was done.
    fn work(&self, instance: &Instance, thread: *mut ThreadCtx) -> bool {
        let _ = (instance, thread);
        false
    }
    /// Lets go of everything that the operation holds, because its request is released.
    fn reset(&self) {}
}

/// A request that the host makes (`host_requests/mod.rs`).
#[repr(C)]
pub struct Made {
    pub(crate) header: UnsafeCell<RequestHeader>,
    pub(crate) body: Box<dyn Body>,
    pub(crate) instance: *const Instance,
    pub(crate) pool: u32,
    pub(crate) watched: Cell<bool>,
    pub(crate) pending: Cell<bool>,
    pub(crate) released: Cell<bool>,
}

// SAFETY: cells belong to the holder of the pool's lock, the header to its owner by the rules of
// `oxmpi_mca::request`; requests live as long as the instance.
unsafe impl Sync for Made {}

// SAFETY: as above.
unsafe impl Send for Made {}

/// The lists of one or a few threads.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct MadeLane {
    pub(crate) lock: Lock,
    pub(crate) again: AtomicBool,
    pub(crate) lists: UnsafeCell<MadeLists>,
}

// SAFETY: the lists are the holder's of the lock.
unsafe impl Sync for MadeLane {}

/// Requests of a lane: free ones by the type of their body, and those that progress looks at.
#[derive(Default)]
pub(crate) struct MadeLists {
    pub(crate) free: Vec<(TypeId, Vec<&'static Made>)>,
    pub(crate) watched: Vec<&'static Made>,
}

pub(crate) const POOLS: usize = 16;

/// All such requests of an instance.
pub(crate) struct Makers {
    /// Lanes in which something is watched.
    pub(crate) busy: AtomicU32,
    pub(crate) following: OnceLock<()>,
    pub(crate) pools: [MadeLane; POOLS],
    /// The verbs of all requests, and the progress function that looks after them (`host_requests/polling.rs`).
    pub(crate) ops: &'static RequestOps,
    pub(crate) poll: ProgressFn,
}

/// How a stack is told is not the runtime's to know.
pub(crate) type Tell = fn(&Instance);

/// The parameters of what is done before an abort, and its state.
#[derive(Debug)]
pub(crate) struct BeforeAbort {
    pub(crate) stack: bool,
    /// Seconds; below 0: for ever.
    pub(crate) delay: i64,
    pub(crate) begun: AtomicBool,
    pub(crate) tell: OnceLock<Tell>,
}

/// The host's record of an opened component.
pub(crate) struct ComponentCtx {
    pub instance: *const Instance,
    pub framework: Framework,
    pub name: &'static str,
    pub place: String,
    /// The component's descriptor.
    pub component: Accepted,
    pub values: Values,
    pub table: HostTable,
    /// The last thing it said, for the error if it does not open.
    pub(crate) last_words: Mutex<String>,
    /// Where its modules are. They are never freed, and tools that look for leaks see here that they are in use.
    pub modules: AtomicPtr<c_void>,
}

// SAFETY: the raw pointers are to the instance, which outlives the context, and to things of it that may
// be used from any thread.
unsafe impl Send for ComponentCtx {}

// SAFETY: as above.
unsafe impl Sync for ComponentCtx {}

/// Boxed: a component has its context's address while later ones are still being opened.
#[allow(clippy::vec_box, reason = "the addresses are in use while the list grows")]
pub(crate) type Contexts = Vec<Box<ComponentCtx>>;

/// The opened components.
pub(crate) struct Parts {
    pub(crate) contexts: Contexts,
    /// Best first. Not touched any more: the PML has the addresses.
    pub(crate) btls: Vec<BtlHandle>,
    pub pml: Pml,
    pub colls: Vec<CollComponent>,
    /// In the order of opening; the best is found anew for each window.
    pub oscs: Vec<OscComponent>,
}

/// A window of one local rank.
pub struct Window {
    pub(crate) verbs: Option<Verbs>,
    /// The component's module is given back, or there is none.
    pub(crate) freed: AtomicBool,
    /// In force.
    pub(crate) hints: Mutex<Hints>,
    pub(crate) calls: Calls,
    pub(crate) inner: Box<WindowData>,
}

/// Data of the services; its address is the component's word for the window.
pub(crate) struct WindowData {
    pub(crate) comm: Arc<Communicator>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) flavor: u32,
    /// This rank's memory.
    pub(crate) own: Mapped,
    /// The lowest rank that has memory.
    pub(crate) first: Option<u32>,
    /// The component's view of the above; fixed once the window is made.
    pub(crate) seen: OnceLock<WinComm>,
}

// SAFETY: the raw pointers are addresses of user memory, which belongs to the process, and of the boxed value itself.
unsafe impl Send for WindowData {}

// SAFETY: as above.
unsafe impl Sync for WindowData {}

/// The emulated transports of an instance.
#[derive(Default)]
pub(crate) struct Emulation {
    /// By `BtlHandle::index`, made when first asked for.
    pub(crate) wrapped: OnceLock<Box<[OnceLock<Box<Wrapped>>]>>,
    pub(crate) reached: Mutex<Reached>,
    pub(crate) services: OnceLock<Box<BtlServices>>,
}

/// Answers that one-sided components have been given. Everything stays until the instance ends.
#[derive(Default)]
pub(crate) struct Reached {
    pub(crate) by_proc: HashMap<u32, Box<[Reach]>>,
    #[allow(clippy::vec_box, reason = "their addresses are in use")]
    pub(crate) endpoints: Vec<Box<Endpoint>>,
}

// SAFETY: pointers are to things of the instance, which may be used from any thread.
unsafe impl Send for Emulation {}

// SAFETY: as above.
unsafe impl Sync for Emulation {}

/// A transport with the verbs that it lacks.
pub(crate) struct Wrapped {
    pub handle: BtlHandle,
    /// The handle points to them.
    pub(crate) _attrs: Box<BtlAttrs>,
    pub raw: *const BtlHandle,
    pub(crate) instance: *const Instance,
    pub(crate) put_most: u64,
    pub(crate) get_most: u64,
    pub(crate) contexts: Box<[Context]>,
    pub(crate) lost: Box<Lost>,
}

// SAFETY: handles may be used from any thread, contexts say so of themselves; the instance outlives this.
unsafe impl Send for Wrapped {}

// SAFETY: as above.
unsafe impl Sync for Wrapped {}
