//! The objects of the runtime and their fields: instance, communicators with their collectives, requests that the host makes, windows, opened
//! components. They refer to each other, so they stand together; what each does is in the file that is named for it. `accessors` reads fields,
//! `assembly` makes an instance.

mod accessors;
mod assembly;

use crate::am_table::AmTable;
use crate::byte_type::ByteType;
use crate::coll::slot::SLOTS;
use crate::counts::CommCalls;
use crate::dynamic::open_ports::OpenPorts;
use crate::dynamic::strangers::Strangers;
use crate::gid::{self, Gid};
use crate::group::Group;
use crate::host_requests::partitioned::Meeting;
use crate::host_requests::schedule::numbers::Numbers;
use crate::info::Info;
use crate::locked::Locked;
use crate::reached::Transports;
use crate::request::Table;
use crate::service::contexts::Service;
use crate::services::card::Cards;
use crate::services::failed::Failures;
use crate::services::pieces::NodeMemories;
use crate::shared_memory::SharedMemory;
use crate::window::calls::Calls;
use crate::window::hints::Hints;
use crate::window::memory::Memory;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Reach};
use oxmpi_coll::{CollFn, CollServices, CollTable};
use oxmpi_datatype::TypeDesc;
use oxmpi_emulation::requester::{Context, Endpoint, Lost};
use oxmpi_loading::accept::accepted::{Accepted, CollComponent, Framework, OscComponent, Pml};
use oxmpi_loading::accept::{FbtlComponent, FcollComponent, FsComponent};
use oxmpi_loading::error::Error;
use oxmpi_loading::log::Logger;
use oxmpi_loading::values::HostParams;
use oxmpi_loading::values::Values;
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{
    AmReceive, Cri, Descriptor, Entry, HostTable, JobInfo, MsgStatus, RequestHeader, Status, WakingWord,
};
use oxmpi_mca_params::Resolver;
use oxmpi_osc::Verbs;
use oxmpi_osc::{Mapped, WinComm};
use oxmpi_pml::{Counts, RecvArgs, SendArgs};
use oxmpi_system::locks::{Mutex, RwLock};
use oxmpi_waiting::Waiting;
use oxmpi_wireup as wireup;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};

/// One rank: its parts. Each part keeps its own state; what others need of one are the functions of it.
#[repr(C)]
pub struct Instance {
    // A message touches it, so it is first.
    waiting: Waiting,
    levels: Levels,
    parts: OnceLock<Parts>,
    requests: Table,
    makers: Makers,
    /// The services that collective components get outside of plans (`coll/services.rs`).
    coll_services: &'static CollServices,
    coll_preparer: CollFn,
    job: JobInfo,
    cris: Box<[Cri]>,
    am: AmTable,
    transports: Transports,
    failures: Failures,
    node_memories: NodeMemories,
    cards: Cards,
    strangers: Strangers,
    ports: OpenPorts,
    /// Connections to the server of names over which this process has published something, those that are in use left out.
    served_names: Mutex<Vec<wireup::port::Link>>,
    service: Service,
    emulation: Emulation,
    files: Files,
    byte: Box<ByteType>,
    client: wireup::Client,
    /// Something was published, so addresses are exchanged.
    published: AtomicBool,
    settings: Settings,
    counting: Counting,
    births: Births,
    life: Life,
    before_abort: BeforeAbort,
}

// SAFETY: pointers of a part are to the instance itself, or to what components may be called with from any thread, so it may end in any thread.
unsafe impl Send for Instance {}

// SAFETY: each part is `Sync` by itself, or says why it is; the tables beside them (job, host's callbacks) are not changed any more.
unsafe impl Sync for Instance {}

/// The thread level that is provided, and the lock of those who raise it.
#[derive(Default)]
pub(crate) struct Levels {
    pub(crate) level: AtomicU32,
    pub(crate) raising: Mutex<()>,
}

/// Parameters, and the lines that some of them ask for.
pub(crate) struct Settings {
    pub(crate) resolver: RwLock<Resolver>,
    /// Those of the host, as it uses them.
    pub(crate) params: HostParams,
    /// Where components are looked for that are opened later.
    pub(crate) sources: ComponentSources,
    pub(crate) logger: Logger,
    /// mpirun of this installation.
    pub(crate) launcher: Option<PathBuf>,
}

/// Where components come from: folders, first to last, and descriptors of linked-in ones.
pub(crate) struct ComponentSources {
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) builtin: Vec<*const Descriptor>,
}

/// Requests for counting, and counts of what is gone.
#[derive(Default)]
pub(crate) struct Counting {
    /// How many ask for counting.
    pub(crate) asking: AtomicU32,
    /// How many ask for the time of matching.
    pub(crate) asking_match_time: Mutex<u32>,
    /// Of communicators that are gone.
    pub(crate) gone: Mutex<Counts>,
    /// Of algorithms of collectives, by component, once they are needed (`coll/algorithms.rs`).
    pub(crate) algorithms: OnceLock<Vec<Vec<AlgorithmCounter>>>,
}

/// How often an algorithm of a collective component was taken.
pub(crate) struct AlgorithmCounter {
    pub(crate) name: String,
    pub(crate) taken: AtomicU64,
}

/// The numbers by which ids of new communicators differ.
#[derive(Default)]
pub(crate) struct Births {
    pub(crate) fresh: AtomicU64,
    /// How many communicators were made from a group under a tag; the keys are ids.
    pub(crate) from_groups: Mutex<HashMap<(Gid, u16), u64>>,
}

/// The objects that are closed when the instance ends, and how far it has come.
pub(crate) struct Life {
    /// The process that started the instance; a forked child is another.
    pub(crate) pid: u32,
    pub(crate) resting: AtomicBool,
    pub(crate) finalized: AtomicBool,
    pub(crate) predefined: Mutex<Option<Predefined>>,
    pub(crate) live: Mutex<Vec<Weak<Communicator>>>,
    /// Windows that have a module of a component, which is given back before that is finalized.
    pub(crate) windows: Mutex<Vec<Weak<Window>>>,
}

/// Functions of parts that stand above the instance.
pub(crate) struct Callbacks {
    /// The receiver of active messages that nobody has claimed.
    pub unclaimed: AmReceive,
    pub makers: Makers,
    pub coll_services: &'static CollServices,
    /// Stands in for a collective component that is to be prepared.
    pub coll_preparer: CollFn,
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
    /// It goes by MPI_Comm_disconnect, and with it what connects this process with those of other jobs.
    pub(crate) parting: AtomicBool,
    /// It holds processes of other jobs.
    pub(crate) holds: bool,
    /// Partitioned messages, from the first on.
    pub(crate) meeting: OnceLock<Meeting>,
    /// Keeps what `hot.instance` points to alive.
    pub(crate) instance: Arc<Instance>,
    /// The text that the PML's `CommDesc` points to, beside the group's lists.
    pub(crate) _matching: String,
}

// SAFETY: raw pointers are to the PML's object, which may be given back in any thread, and to the instance that `instance` keeps alive.
unsafe impl Send for Communicator {}

// SAFETY: the PML's object may be used by all threads at once (contract); modules of collectives too; what changes is atomic or under a lock.
unsafe impl Sync for Communicator {}

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

/// The component of each collective, called and planned.
pub(crate) struct Layers {
    pub(crate) blocking: Layer,
    pub(crate) plans: Layer,
}

/// A module that is in use.
pub(crate) struct Served {
    pub(crate) component: usize,
    pub(crate) module: *mut c_void,
}

/// A component's offer for a communicator.
pub(crate) struct Offer {
    pub(crate) priority: i32,
    pub(crate) served: Served,
    pub(crate) table: CollTable,
    pub(crate) plans: CollTable,
    pub(crate) readiness: Mutex<Readiness>,
}

/// How far a component is with a communicator. One without a preparation is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Unprepared,
    Preparing,
    Ready,
    /// In all ranks; those below serve in its place.
    Refused,
    /// The ranks may know different things of it; blocking collectives that it would serve answer this error.
    Undecided(Status),
}

/// The collectives of one communicator.
pub(crate) struct CollStack {
    /// The last of `kept`.
    pub(crate) layers: AtomicPtr<Layers>,
    #[allow(clippy::vec_box, reason = "the addresses are in use while the list grows")]
    pub(crate) kept: Mutex<Vec<Box<Layers>>>,
    /// By ascending priority.
    pub(crate) offers: Vec<Offer>,
    /// Collectives that another component served in place of one that is not prepared yet. Used by one thread at a time.
    pub(crate) early: AtomicU32,
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
    /// The status that is sent in place of data, in a collective that takes part without; 0: there is data. Used by the one thread of the collective.
    pub(crate) lost: AtomicI32,
}

/// Kind of an operation.
pub trait Body: Any + Send + Sync {
    /// Looks at the operation's parts and moves on those that can be; the status once the operation is complete, `None`
    /// before. Called under the lock of the request's pool: it neither waits nor runs the user's code.
    fn advance(&self, instance: &Instance, entry: &mut Entry) -> Option<MsgStatus>;
    /// Starts a persistent operation. Called under the lock of the request's pool, as `advance`.
    fn start(&self, instance: &Instance, entry: &mut Entry) -> Status {
        let _ = (instance, entry);
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
    /// Does the work that `claim` has claimed, without a lock; true: something was done. It may run the user's code, and brings the entry up to date
    /// behind that.
    fn work(&self, instance: &Instance, entry: &mut Entry) -> bool {
        let _ = (instance, entry);
        false
    }
    /// Lets go of everything that the operation holds, because its request is released. Called under the lock of the request's pool.
    fn reset(&self, entry: &mut Entry) {
        let _ = entry;
    }
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

// SAFETY: cells are used under the lock of the request's pool alone, or by the thread that makes the request; the header by its owner, by the rules of
// `oxmpi_mca::request`; bodies are `Sync`.
unsafe impl Sync for Made {}

// SAFETY: nothing in it belongs to a thread; the instance is only referred to.
unsafe impl Send for Made {}

/// The lists of one or a few threads.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct MadeLane {
    pub(crate) lists: Locked<MadeLists>,
    pub(crate) again: AtomicBool,
}

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

// SAFETY: the raw pointers are to the instance, which outlives the context, and to things of it: none is owned.
unsafe impl Send for ComponentCtx {}

// SAFETY: the instance and its tables may be used from any thread; what changes in here is atomic or under a lock.
unsafe impl Sync for ComponentCtx {}

/// Boxed: a component has its context's address while later ones are still being opened.
#[allow(clippy::vec_box, reason = "the addresses are in use while the list grows")]
pub(crate) type Contexts = Vec<Box<ComponentCtx>>;

/// The opened components.
pub(crate) struct Parts {
    pub(crate) contexts: Contexts,
    /// Best first. Not touched any more: the PML has the addresses.
    pub(crate) btls: Vec<BtlHandle>,
    /// Those of them, by number, that nobody needs as long as there is one job.
    pub(crate) dormant: Vec<usize>,
    pub pml: Pml,
    pub colls: Vec<CollComponent>,
    /// In the order of opening; the best is found anew for each window.
    pub oscs: Vec<OscComponent>,
}

/// The opened components of the frameworks of files.
pub(crate) struct FileParts {
    pub(crate) contexts: Contexts,
    pub(crate) fss: Vec<FsComponent>,
    /// The one of them was asked for by a parameter.
    pub(crate) fs_is_named: bool,
    pub(crate) fbtls: Vec<FbtlComponent>,
    pub(crate) fcolls: Vec<FcollComponent>,
}

/// Everything that an instance has for files: nothing before the first one is opened.
#[derive(Default)]
pub(crate) struct Files {
    /// The components, or why there are none.
    pub(crate) parts: OnceLock<Result<FileParts, Error>>,
    /// Those who end an operation of a file add to it.
    pub(crate) bell: WakingWord,
    /// Open files, which are closed when the instance ends.
    pub(crate) open: Mutex<Vec<Weak<dyn EndsWithInstance>>>,
    /// Words of shared file pointers by group.
    pub(crate) pointers: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    /// Operations under way that have to be looked for.
    #[allow(clippy::vec_box, reason = "the addresses are in use while the list grows")]
    pub(crate) sought: Mutex<Vec<Box<Sought>>>,
    pub(crate) counts: FileCounts,
}

/// An object that is closed when the instance ends, and was not before.
pub(crate) trait EndsWithInstance: Send + Sync {
    /// Closes it without communication.
    fn end(&self);
}

/// A component whose completions are looked for in turns of progress while operations are under way.
pub(crate) struct Sought {
    pub(crate) component: FbtlComponent,
    /// Operations under way.
    pub(crate) under_way: oxmpi_mca::sync::AtomicU32,
}

/// Counters of files.
#[derive(Default)]
pub(crate) struct FileCounts {
    pub(crate) opened: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) transfers: AtomicU64,
    pub(crate) pieces: AtomicU64,
    pub(crate) collective: AtomicU64,
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

// SAFETY: nobody looks behind its addresses but the component, whose verbs any thread may call; nothing changes once the window is made.
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

// SAFETY: pointers are to things of the instance, which has this.
unsafe impl Send for Emulation {}

// SAFETY: handles and endpoints may be used from any thread; lists are under their lock.
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

// SAFETY: the instance, which outlives this, and the transport below are only referred to.
unsafe impl Send for Wrapped {}

// SAFETY: handles may be used from any thread, and contexts under the lock of the CRI of their number.
unsafe impl Sync for Wrapped {}
