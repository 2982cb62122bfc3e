//! The host's table of functions and facts for a component, and a safe view of it.
//!
//! Components never resolve symbols from the library that loaded them; everything comes from here,
//! so an application may open libmpi as it likes. The table is valid from `open` until the instance
//! has closed the component, and is shared by all components of one instance.

use crate::biased::LockServices;
use crate::cri::{Cri, LockTable};
use crate::refs::{SliceRef, StrRef};
use crate::request::RequestHeader;
use crate::services::HostServices;
use crate::status::Status;
use crate::sync::{AtomicU32, Ordering};
use crate::thread::ThreadCtx;
use crate::wait::WaitSet;
use core::ffi::c_void;

/// Which memory an address is in. Registration verbs carry it from the first version.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemKind(pub u32);

impl MemKind {
    pub const HOST: MemKind = MemKind(0);
}

/// Where and who this instance is. One instance is one rank (several may live in one process).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct JobInfo {
    pub size: u32,
    /// Number of this process in the job, and how many there are.
    pub rank: u32,
    pub job_size: u32,
    pub node: u32,
    pub local_rank: u32,
    pub local_size: u32,
    /// Random number of the job, equal in all its processes.
    pub job_id: u64,
    /// The node's shared segment (a memfd) and its length when this process got it; -1: none.
    pub segment_fd: i32,
    /// More runnable threads than cores are expected on this node.
    pub oversubscribed: u32,
    /// Cores this process may use.
    pub cores: u32,
    /// Process to name with PR_SET_PTRACER so that node-local peers may read our memory; 0: none.
    pub keeper_pid: u32,
}

/// A message as a BTL hands it up. Everything is valid during the callback only.
#[repr(C)]
pub struct RecvDesc {
    pub data: *const u8,
    pub len: u64,
    /// Index of the process it came from.
    pub proc: u32,
    /// Context (CRI) it came in on; its lock is held by the caller.
    pub ctx: u32,
    /// The receiving BTL module's `state`.
    pub module: *mut c_void,
    /// Where `ctx` is the service context: what `service_reply` names the request by. Means nothing elsewhere.
    pub link: u64,
}

/// Takes an active message. Runs under the CRI's lock; must not block and must not run user code. Returns one
/// of [`receive`].
pub type AmReceive = unsafe extern "C" fn(ctx: *mut c_void, msg: *const RecvDesc) -> u32;

/// Answers of a receive callback.
pub mod receive {
    /// The transport goes on as it likes.
    pub const CONTINUE: u32 = 0;
    /// The transport is asked to end this batch behind the message: its receiver has something to do before it wants the
    /// next one.
    pub const STOP: u32 = 1;
    /// A bit of what [`super::AmParts`] answers: the receiver takes the message by partial delivery, this part first.
    pub const TAKEN: u32 = 2;
}

/// One row of the instance's table of 256 active-message receivers. A BTL calls
/// `row.receive(row.ctx, ..)`; rows nobody registered report the tag and close the peer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AmEntry {
    pub receive: AmReceive,
    pub ctx: *mut c_void,
}

/// A part of a message, delivered before the rest of it has come (partial delivery).
#[repr(C)]
pub struct PartDesc {
    /// The whole message: where it lies once all of it is there, and how long it is. It does not move while it comes.
    pub message: RecvDesc,
    /// The bytes from here ...
    pub from: u64,
    /// ... to here are there now, and have not been delivered before.
    pub to: u64,
}

/// Takes a message by partial delivery: in parts that follow each other, while the rest of it is on its way; otherwise as [`AmReceive`].
///
/// The first part is an offer, with as much of the message as is there. The answer without the bit [`receive::TAKEN`] refuses it: the message is delivered
/// whole by the tag's [`AmReceive`] when all of it is there, and may be offered again before that, with more. The answer with the bit takes it. Then the
/// other parts follow, and are always taken; the last one ends where the message does. Until then the transport delivers nothing else from
/// that process on that context.
pub type AmParts = unsafe extern "C" fn(ctx: *mut c_void, part: *const PartDesc) -> u32;

/// First tag of each framework's active messages: three bits framework, five bits its own. One-sided components have the
/// tags that `HostServices::osc_tags` allots; those of the host no component can register.
pub mod am_tag {
    pub const HOST: u8 = 0x00;
    pub const BTL: u8 = 0x20;
    pub const PML: u8 = 0x40;
    pub const OSC: u8 = 0x60;
    pub const USER: u8 = 0x80;
}

/// Bits of [`HostTable::cri_modes`].
pub mod cri_mode {
    /// A thread's messages go on an instance of its own; without this bit and the next, a message's instance
    /// follows from its communicator and tag.
    pub const DEDICATED: u32 = 1;
    /// Each message goes on the next instance.
    pub const ROUND_ROBIN: u32 = 2;
    /// One thread at a time progresses, whatever the number of instances.
    pub const SERIAL_PROGRESS: u32 = 4;
}

/// A turn of a layer; returns the number of events. Called by any thread that makes progress, which holds nothing.
pub type ProgressFn = extern "C" fn(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32;
/// Prepares a thread to sleep: adds to the set what will change when there is something to do. OK: sleep on that; PENDING: there is something
/// to do already; NO_RESOURCE: the set is full.
pub type ArmFn = extern "C" fn(ctx: *mut c_void, thread: *mut ThreadCtx, set: *mut WaitSet) -> Status;
/// Follows every call of an [`ArmFn`]: the thread is awake.
pub type DisarmFn = extern "C" fn(ctx: *mut c_void, thread: *mut ThreadCtx);

/// A function of a layer (PML, OSC, COLL) that turns of progress call, holding nothing.
///
/// The layer says by `work` whether there is anything to do: while the word is 0 the function is not called, and nobody sleeps
/// less long for it. A layer that changes it from 0 is in a turn of progress, or makes one afterwards; so no sleeper has to be told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayerFunction {
    pub size: u32,
    /// 1: called in every turn in which there is work; 0: in every eighth of a thread.
    pub every: u32,
    /// With `context` the name of the registration.
    pub function: ProgressFn,
    /// First argument of the three functions.
    pub context: *mut c_void,
    /// Not 0 while there is work; null: always. Valid until the component is finalized.
    pub work: *const AtomicU32,
    /// `None`: what the layer waits for wakes no sleeper, and while there is work nobody sleeps long.
    pub arm: Option<ArmFn>,
    pub disarm: Option<DisarmFn>,
}

impl LayerFunction {
    /// A function that is called in every turn while `work` is not 0, and that nothing wakes a sleeper for.
    pub fn new(function: ProgressFn, context: *mut c_void, work: *const AtomicU32) -> LayerFunction {
        let size = core::mem::size_of::<LayerFunction>() as u32;
        LayerFunction { size, every: 1, function, context, work, arm: None, disarm: None }
    }
}

/// The table. Grows at the end; `size` says how far this host's goes.
#[repr(C)]
pub struct HostTable {
    pub size: u32,
    pub abi_minor: u32,
    /// First argument of every function below.
    pub instance: *mut c_void,
    pub job: *const JobInfo,
    /// 1 once more than one thread may make MPI calls (level MULTIPLE); may rise, never falls.
    pub threaded: *const AtomicU32,
    pub cris: *const Cri,
    pub num_cris: u32,
    /// How the process uses them: bits of [`cri_mode`].
    pub cri_modes: u32,
    /// 256 rows; rows may be set while nothing is received yet, i.e. before the first progress.
    pub am_table: *const AmEntry,

    /// Level: 0 error, 1 warning, 2 info, 3 debug; printed if the framework's verbosity says so.
    pub log: extern "C" fn(*mut c_void, level: i32, component: StrRef, message: StrRef),
    /// Prints a named paragraph of the component's help.txt once per job, `%1`…`%9` replaced.
    pub help: extern "C" fn(*mut c_void, component: StrRef, topic: StrRef, args: SliceRef<StrRef>),
    /// The instance cannot go on: reports and ends the job. Does not return.
    pub fatal: extern "C" fn(*mut c_void, component: StrRef, message: StrRef) -> !,
    pub am_register: extern "C" fn(*mut c_void, tag: u8, entry: AmEntry) -> Status,
    /// Adds a layer's function to progress. BAD_PARAM: it is there already.
    pub progress_register: extern "C" fn(*mut c_void, function: *const LayerFunction) -> Status,
    /// Takes it out; a turn that has begun may still call it. NOT_FOUND: it is not there.
    pub progress_unregister: extern "C" fn(*mut c_void, f: ProgressFn, ctx: *mut c_void) -> Status,
    /// Runs progress once, from inside a component that waits (never under a lock).
    pub progress: extern "C" fn(*mut c_void, thread: *mut ThreadCtx) -> i32,
    /// A request completed that had `sync` attached.
    pub sync_update: extern "C" fn(*mut c_void, sync: usize),
    /// Gives a new request object its slot; called once per object when a pool grows.
    pub request_slot: extern "C" fn(*mut c_void, req: *mut RequestHeader) -> Status,
    /// Blocks until the request is complete (progressing); the calling thread holds no lock.
    pub wait: extern "C" fn(*mut c_void, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status,
    /// Publishes this process's address blob of a component (before the exchange).
    pub exchange_put: extern "C" fn(*mut c_void, component: StrRef, data: SliceRef<u8>) -> Status,
    /// Fetches a process's blob; `len` in: capacity, out: length. NOT_FOUND if it published none.
    pub exchange_get:
        extern "C" fn(*mut c_void, component: StrRef, proc: u32, data: *mut u8, len: *mut usize) -> Status,
    /// A peer broke the protocol or died; `fatal` 1: the job cannot go on without it.
    pub peer_error: extern "C" fn(*mut c_void, component: StrRef, proc: u32, fatal: u32, message: StrRef),
    /// 256 rows beside those of `am_table`, with the same first argument: who takes messages by partial delivery, where somebody does.
    pub am_parts: *const Option<AmParts>,
    /// To be called behind `am_register` for the same tag, and not later than that may be.
    pub am_register_parts: extern "C" fn(*mut c_void, tag: u8, take: AmParts) -> Status,
    /// Services that are not on a message's path.
    pub services: *const HostServices,

    /// How CRIs are entered.
    pub locking: LockTable,
    /// Something of the calling thread will come, or waits for room, on the CRIs of a set, by bits: the thread progresses them, too, until another
    /// one does. `thread` is its context, or null, which changes nothing. May be called with a CRI held.
    pub expect: extern "C" fn(*mut c_void, thread: *mut ThreadCtx, set: u64),
}

/// A component's safe view of [`HostTable`].
#[derive(Clone, Copy)]
pub struct Host {
    table: *const HostTable,
    component: &'static str,
}

// SAFETY: the table is immutable while the component is open and its functions may be called from
// any thread.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Host {
    /// # Safety
    /// `table` must be what `open` got, and stays valid until the component's modules are gone.
    pub unsafe fn new(table: *const HostTable, component: &'static str) -> Host {
        Host { table, component }
    }

    #[inline(always)]
    pub fn table(&self) -> &HostTable {
        // SAFETY: see `new`.
        unsafe { &*self.table }
    }

    pub fn job(&self) -> &JobInfo {
        // SAFETY: lives as long as the table.
        unsafe { &*self.table().job }
    }

    /// Whether locks must be taken. Look once per call: a thread level rises only at points where
    /// no call is on the message path without a lock (runtime: `ThreadLevel`).
    #[inline(always)]
    pub fn threaded(&self) -> bool {
        // SAFETY: lives as long as the table.
        unsafe { &*self.table().threaded }.load(Ordering::Relaxed) != 0
    }

    #[inline(always)]
    pub fn cri(&self, index: u32) -> &Cri {
        debug_assert!(index < self.table().num_cris);
        // SAFETY: `num_cris` of them stand there for the life of the table.
        unsafe { &*self.table().cris.add(index as usize) }
    }

    /// For biased locks of this component's own.
    pub fn locks(&self) -> *const LockServices {
        self.table().locking.services
    }

    pub fn num_cris(&self) -> u32 {
        self.table().num_cris
    }
    /// Whether a bit of [`cri_mode`] is set.
    pub fn has_mode(&self, mode: u32) -> bool {
        self.table().cri_modes & mode != 0
    }

    /// The receiver of an active-message tag.
    #[inline(always)]
    pub fn am(&self, tag: u8) -> AmEntry {
        // SAFETY: the table has a row for every value of a u8.
        unsafe { *self.table().am_table.add(tag as usize) }
    }

    /// The receiver that takes messages of that tag by partial delivery, if there is one; its first argument is that of the tag's receiver.
    #[inline]
    pub fn am_parts(&self, tag: u8) -> Option<AmParts> {
        // SAFETY: as above.
        unsafe { *self.table().am_parts.add(tag as usize) }
    }

    pub fn error(&self, message: &str) {
        self.log(0, message)
    }
    pub fn warn(&self, message: &str) {
        self.log(1, message)
    }
    pub fn info(&self, message: &str) {
        self.log(2, message)
    }
    pub fn debug(&self, message: &str) {
        self.log(3, message)
    }
    fn log(&self, level: i32, message: &str) {
        let t = self.table();
        (t.log)(t.instance, level, StrRef::of(self.component), StrRef::of(message))
    }

    /// Prints a named paragraph of this component's help.txt, once per job.
    pub fn help(&self, topic: &str, args: &[&str]) {
        let refs: Vec<StrRef> = args.iter().map(|a| StrRef::of(a)).collect();
        let t = self.table();
        (t.help)(
            t.instance,
            StrRef::of(self.component),
            StrRef::of(topic),
            SliceRef { ptr: refs.as_ptr(), len: refs.len() },
        )
    }

    pub fn fatal(&self, message: &str) -> ! {
        let t = self.table();
        (t.fatal)(t.instance, StrRef::of(self.component), StrRef::of(message))
    }

    /// The first of the [`OSC_TAGS`](crate::services::OSC_TAGS) consecutive tags that are this one-sided component's.
    pub fn osc_tags(&self) -> Result<u8, Status> {
        let t = self.table();
        let mut first = 0;
        (self.services().osc_tags)(t.instance, &mut first).ok()?;
        Ok(first)
    }

    pub fn am_register(&self, tag: u8, receive: AmReceive, ctx: *mut c_void) -> Status {
        let t = self.table();
        (t.am_register)(t.instance, tag, AmEntry { receive, ctx })
    }
    /// Behind [`Host::am_register`].
    pub fn am_register_parts(&self, tag: u8, take: AmParts) -> Status {
        let t = self.table();
        (t.am_register_parts)(t.instance, tag, take)
    }

    /// Adds a layer's function to progress. BAD_PARAM: it is there already.
    pub fn progress_register(&self, function: &LayerFunction) -> Status {
        let t = self.table();
        (t.progress_register)(t.instance, function)
    }

    /// Has the thread progress the CRIs of a set, by bits, where something of it will come or waits for room. See [`HostTable::expect`].
    ///
    /// # Safety
    /// `thread` is the context of the calling thread, or null.
    #[inline(always)]
    pub unsafe fn expect(&self, thread: *mut ThreadCtx, set: u64) {
        // SAFETY: the caller's promise.
        let lacking = unsafe { thread.as_ref() }.map_or(0, |thread| set & !thread.attended.get());
        if lacking != 0 {
            let t = self.table();
            (t.expect)(t.instance, thread, lacking)
        }
    }

    pub fn progress_unregister(&self, f: ProgressFn, ctx: *mut c_void) -> Status {
        let t = self.table();
        (t.progress_unregister)(t.instance, f, ctx)
    }

    pub fn progress(&self, thread: *mut ThreadCtx) -> i32 {
        let t = self.table();
        (t.progress)(t.instance, thread)
    }

    pub fn sync_update(&self, sync: usize) {
        let t = self.table();
        (t.sync_update)(t.instance, sync)
    }

    /// # Safety
    /// `req` must be a header in memory that stays for the life of the instance.
    pub unsafe fn request_slot(&self, req: *mut RequestHeader) -> Status {
        let t = self.table();
        (t.request_slot)(t.instance, req)
    }

    /// # Safety
    /// `req` must be a live request; the caller holds no lock.
    pub unsafe fn wait(&self, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status {
        let t = self.table();
        (t.wait)(t.instance, thread, req)
    }

    pub fn exchange_put(&self, data: &[u8]) -> Status {
        let t = self.table();
        let data = SliceRef { ptr: data.as_ptr(), len: data.len() };
        (t.exchange_put)(t.instance, StrRef::of(self.component), data)
    }

    pub fn exchange_get(&self, proc: u32) -> Result<Vec<u8>, Status> {
        let t = self.table();
        let mut blob = vec![0u8; 256];
        loop {
            let mut len = blob.len();
            let s =
                (t.exchange_get)(t.instance, StrRef::of(self.component), proc, blob.as_mut_ptr(), &mut len);
            match s {
                Status::NO_RESOURCE if len > blob.len() => blob.resize(len, 0),
                s if s.is_err() => return Err(s),
                _ => {
                    blob.truncate(len);
                    return Ok(blob);
                }
            }
        }
    }

    /// The services that are not on a message's path.
    pub fn services(&self) -> &HostServices {
        // SAFETY: lives as long as the table.
        unsafe { &*self.table().services }
    }

    pub fn peer_error(&self, proc: u32, fatal: bool, message: &str) {
        let t = self.table();
        let (component, message) = (StrRef::of(self.component), StrRef::of(message));
        (t.peer_error)(t.instance, component, proc, fatal as u32, message)
    }
}

const _: () = {
    assert!(core::mem::size_of::<JobInfo>() == 48);
    assert!(core::mem::size_of::<RecvDesc>() == 40);
    assert!(core::mem::size_of::<AmEntry>() == 16);
    assert!(core::mem::offset_of!(HostTable, log) == 56);
    assert!(core::mem::size_of::<PartDesc>() == 56);
    assert!(core::mem::size_of::<HostTable>() == 240);
};

impl RequestHeader {
    /// Completes and tells the waiter, if one is attached. The header may be reused at once.
    ///
    /// # Safety
    /// `this` must be a live header that is completed once per start.
    #[inline(always)]
    pub unsafe fn complete(this: *const RequestHeader, host: &Host, threaded: bool) {
        // SAFETY: live by the caller's promise; the reference ends before anyone can reuse it.
        let completion = unsafe { &(*this).completion };
        if threaded {
            let sync = completion.finish();
            if sync != 0 {
                host.sync_update(sync);
            }
        } else {
            completion.finish_alone();
        }
    }
}
