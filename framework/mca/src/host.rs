//! The host's table of functions and facts for a component, and a safe view of it.
//!
//! Components never resolve symbols from the library that loaded them; everything comes from here,
//! so an application may open libmpi as it likes. The table is valid from `open` until the instance
//! has closed the component, and is shared by all components of one instance.

use crate::biased::LockServices;
use crate::cri::{Cri, LockTable};
use crate::refs::{SliceRef, StrRef};
use crate::request::RequestHeader;
use crate::services::{HostServices, SharedSegment};
use crate::status::Status;
use crate::sync::{AtomicU32, Ordering};
use crate::thread::ThreadCtx;
use crate::wait::WaitSet;
use core::ffi::c_void;

/// The kind of memory that an address is in. Registration verbs carry it from the first version.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemKind(pub u32);

impl MemKind {
    /// Ordinary memory of the process, which its processors load and store.
    pub const HOST: MemKind = MemKind(0);
}

/// This instance's place in its job. One instance is one rank (several may live in one process).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct JobInfo {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Number of this process in the job, and how many there are.
    pub rank: u32,
    /// Processes of the job, at least 1.
    pub job_size: u32,
    /// Number of this process's node in the job, as the launcher counts nodes, from 0.
    pub node: u32,
    /// Number of this process among those of the job on its node, from 0.
    pub local_rank: u32,
    /// Processes of the job on this node, this one included.
    pub local_size: u32,
    /// Random number of the job, equal in all its processes.
    pub job_id: u64,
    /// The shared segment of this job on this node (a memfd), which is number 0 of `HostServices::segment`; -1: none.
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
    /// The message from its first byte, the sender's header, on; readable for `len` bytes.
    pub data: *const u8,
    /// Bytes of header and payload together.
    pub len: u64,
    /// Index of the process it came from.
    pub proc: u32,
    /// Context (CRI) it came in on; its lock is held by the caller.
    pub ctx: u32,
    /// The receiving BTL module's `state`.
    pub module: *mut c_void,
    /// Name of the request for `service_reply`, where `ctx` is the service context; name of a message that was claimed (`ClaimOf` of btl), or 0, where that is asked for or placed; it means nothing elsewhere.
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
    /// The function that takes messages of the tag; called under the lock of the CRI they came on.
    pub receive: AmReceive,
    /// First argument of `receive`, as it was registered.
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
    /// First tag of the host itself; no component can register those up to 0x1f.
    pub const HOST: u8 = 0x00;
    /// First of the 32 tags of transports for messages of their own.
    pub const BTL: u8 = 0x20;
    /// First of the 32 tags of the PML.
    pub const PML: u8 = 0x40;
    /// First of the 32 tags of one-sided components, which get them in groups of `services::OSC_TAGS`.
    pub const OSC: u8 = 0x60;
    /// First tag that belongs to no framework of the library; tags from here to 0xff are for components of others.
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
    /// Bytes of this struct as the component was built with it; shorter than the host's is refused with BAD_PARAM.
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
    /// Called behind every call of `arm`; `None` where `arm` is `None`, or where there is nothing to undo.
    pub disarm: Option<DisarmFn>,
}

impl LayerFunction {
    /// A function that is called in every turn while `work` is not 0, or always if that is `None`, and that nothing wakes a sleeper for. It
    /// gets the address of `context`.
    pub fn new<T>(function: ProgressFn, context: &T, work: Option<&AtomicU32>) -> LayerFunction {
        let size = core::mem::size_of::<LayerFunction>() as u32;
        let work = work.map_or(core::ptr::null(), core::ptr::from_ref);
        LayerFunction { size, every: 1, function, context: named(context), work, arm: None, disarm: None }
    }
}

/// The address of a layer function's context.
fn named<T>(context: &T) -> *mut c_void {
    core::ptr::from_ref(context).cast_mut().cast()
}

/// The table. Grows at the end; `size` says how far this host's goes.
#[repr(C)]
pub struct HostTable {
    /// Bytes of this table as the host was built with it.
    pub size: u32,
    /// `ABI_MINOR` of the host: tells which fields and functions it knows.
    pub abi_minor: u32,
    /// First argument of every function below.
    pub instance: *mut c_void,
    /// Facts of the job and of this process in it; they do not change while the table is valid.
    pub job: *const JobInfo,
    /// 1 once more than one thread may make MPI calls (level MULTIPLE); may rise, never falls.
    pub threaded: *const AtomicU32,
    /// The first of `num_cris` communication resources, side by side at a distance of [`LockTable::cri_stride`] bytes.
    pub cris: *const Cri,
    /// Number of communication resources, 1 to 64; fixed while the table is valid.
    pub num_cris: u32,
    /// The process's use of them: bits of [`cri_mode`].
    pub cri_modes: u32,
    /// 256 rows; rows may be set while nothing is received yet, i.e. before the first progress.
    pub am_table: *const AmEntry,

    /// Level: 0 error, 1 warning, 2 info, 3 debug; printed if the framework's verbosity says so.
    pub log: extern "C" fn(*mut c_void, level: i32, component: StrRef, message: StrRef),
    /// Prints a named paragraph of the component's help.txt once per job, `%1`…`%9` replaced.
    pub help: extern "C" fn(*mut c_void, component: StrRef, topic: StrRef, args: SliceRef<StrRef>),
    /// The instance cannot go on: reports and ends the job. Does not return.
    pub fatal: extern "C" fn(*mut c_void, component: StrRef, message: StrRef) -> !,
    /// Sets the receiver of a tag. BAD_PARAM: the tag is the host's, or somebody has it already.
    pub am_register: extern "C" fn(*mut c_void, tag: u8, entry: AmEntry) -> Status,
    /// Adds a layer's function to progress. BAD_PARAM: it is there already, or `size` is too small.
    pub progress_register: extern "C" fn(*mut c_void, function: *const LayerFunction) -> Status,
    /// Takes it out; a turn that has begun may still call it. NOT_FOUND: it is not there.
    pub progress_unregister: extern "C" fn(*mut c_void, f: ProgressFn, ctx: *mut c_void) -> Status,
    /// Runs progress once, from inside a component that waits (never under a lock).
    pub progress: extern "C" fn(*mut c_void, thread: *mut ThreadCtx) -> i32,
    /// A request completed that had `sync` attached.
    pub sync_update: extern "C" fn(*mut c_void, sync: usize),
    /// Gives a new request object its slot; called once per object when a pool grows. BAD_PARAM: null. NO_RESOURCE: all slots are taken.
    pub request_slot: extern "C" fn(*mut c_void, req: *mut RequestHeader) -> Status,
    /// Blocks until the request is complete (progressing); the calling thread holds no lock. Answers the error of its status, or BAD_PARAM: null.
    pub wait: extern "C" fn(*mut c_void, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status,
    /// Publishes this process's address blob of a component (before the exchange, which reports what is too long). Always OK.
    pub exchange_put: extern "C" fn(*mut c_void, component: StrRef, data: SliceRef<u8>) -> Status,
    /// Fetches a process's blob; `len` in: capacity, out: length. NOT_FOUND: it published none. NO_RESOURCE: it is longer than the capacity.
    /// PEER_FAILED: the node's daemon does not answer.
    pub exchange_get:
        extern "C" fn(*mut c_void, component: StrRef, proc: u32, data: *mut u8, len: *mut usize) -> Status,
    /// A peer broke the protocol or died; `fatal` 1: the job cannot go on without it.
    pub peer_error: extern "C" fn(*mut c_void, component: StrRef, proc: u32, fatal: u32, message: StrRef),
    /// 256 rows beside those of `am_table`, with the same first argument: who takes messages by partial delivery, where somebody does.
    pub am_parts: *const Option<AmParts>,
    /// To be called behind `am_register` for the same tag, and not later than that may be. BAD_PARAM: the tag has no receiver.
    pub am_register_parts: extern "C" fn(*mut c_void, tag: u8, take: AmParts) -> Status,
    /// Services that are not on a message's path.
    pub services: *const HostServices,

    /// The ways into CRIs.
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
    is_named: bool,
}

// SAFETY: the table is immutable while the component is open and its functions may be called from
// any thread.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Host {
    /// A view of the table for the component of that name, which is in the lines that it logs.
    ///
    /// # Safety
    /// `table` must be what `open` got, and stays valid until the component's modules are gone. The lock services that it names stay for as long as
    /// the process.
    pub unsafe fn new(table: *const HostTable, component: &'static str) -> Host {
        Host { table, component, is_named: false }
    }

    /// The view of a component that somebody has named, or not ([`OpenArgs::NAMED`](crate::OpenArgs::NAMED)).
    pub fn named(self, is_named: bool) -> Host {
        Host { is_named, ..self }
    }

    /// True where somebody has named the component in a list of those to use.
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// The host's table itself, for fields that have no method here.
    #[inline(always)]
    pub fn table(&self) -> &HostTable {
        // SAFETY: see `new`.
        unsafe { &*self.table }
    }

    /// The facts of the job, and of this process in it.
    pub fn job(&self) -> &JobInfo {
        // SAFETY: lives as long as the table.
        unsafe { &*self.table().job }
    }

    /// True where locks must be taken. Look once per call: a thread level rises only at points where
    /// no call is on the message path without a lock (runtime: `ThreadLevel`).
    #[inline(always)]
    pub fn threaded(&self) -> bool {
        // SAFETY: lives as long as the table.
        unsafe { &*self.table().threaded }.load(Ordering::Relaxed) != 0
    }

    /// The communication resource of that number.
    ///
    /// # Panics
    /// At a number that is not below [`Host::num_cris`].
    #[inline(always)]
    pub fn cri(&self, index: u32) -> &Cri {
        assert!(index < self.table().num_cris, "a CRI that is not there");
        // SAFETY: `num_cris` of them stand there for the life of the table.
        unsafe { &*self.table().cris.add(index as usize) }
    }

    /// For biased locks of this component's own.
    pub fn locks(&self) -> &'static LockServices {
        // SAFETY: constants of the host (see `new`).
        unsafe { &*self.table().locking.services }
    }

    /// Number of communication resources of this process, 1 to 64.
    pub fn num_cris(&self) -> u32 {
        self.table().num_cris
    }
    /// True where the process's use of CRIs has this bit of [`cri_mode`].
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

    /// Logs a failure with its exact cause, as one sentence without a line end. Printed from verbosity 0 on, the default.
    pub fn error(&self, message: &str) {
        self.log(0, message)
    }
    /// Logs something that works otherwise than the user asked for; printed from verbosity 1 on.
    pub fn warn(&self, message: &str) {
        self.log(1, message)
    }
    /// Logs a choice that was made, such as a component that is not used; printed from verbosity 10 (`component`) on.
    pub fn info(&self, message: &str) {
        self.log(2, message)
    }
    /// Logs a detail for developers; printed from verbosity 60 (`trace`) on.
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

    /// Reports that this instance cannot go on, and ends the job. It does not return, and runs no destructors.
    pub fn fatal(&self, message: &str) -> ! {
        let t = self.table();
        (t.fatal)(t.instance, StrRef::of(self.component), StrRef::of(message))
    }

    /// The first of the `services::OSC_TAGS` consecutive tags that are this one-sided component's.
    pub fn osc_tags(&self) -> Result<u8, Status> {
        let t = self.table();
        let mut first = 0;
        (self.services().osc_tags)(t.instance, &mut first).ok()?;
        Ok(first)
    }

    /// Makes `receive` the receiver of a tag, with `ctx` as its first argument, before the first progress. BAD_PARAM: the tag is the host's, or
    /// somebody has it already.
    ///
    /// # Safety
    /// From now on until the component has ended, `receive` may be called with `ctx` and a message, as [`AmReceive`] says, in any thread that progresses.
    pub unsafe fn am_register(&self, tag: u8, receive: AmReceive, ctx: *mut c_void) -> Status {
        let t = self.table();
        (t.am_register)(t.instance, tag, AmEntry { receive, ctx })
    }
    /// Has messages of a tag taken in parts by `take`, behind [`Host::am_register`] for the same tag. BAD_PARAM: the tag has no receiver.
    ///
    /// # Safety
    /// As there: `take` may be called, as [`AmParts`] says, with the context that the tag's receiver was registered with.
    pub unsafe fn am_register_parts(&self, tag: u8, take: AmParts) -> Status {
        let t = self.table();
        (t.am_register_parts)(t.instance, tag, take)
    }

    /// Adds a layer's function to progress. BAD_PARAM: it is there already.
    ///
    /// # Safety
    /// Until the component has ended, the function, and those that arm and disarm it, may be called with the context in any thread that makes turns, also if it is taken
    /// out before; so long its word may be read.
    pub unsafe fn progress_register(&self, function: &LayerFunction) -> Status {
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

    /// Takes the function with that context out of progress; a turn that has begun may still call it. NOT_FOUND: it is not there.
    pub fn progress_unregister<T>(&self, f: ProgressFn, context: &T) -> Status {
        let t = self.table();
        (t.progress_unregister)(t.instance, f, named(context))
    }

    /// Makes one turn of progress and returns the number of events it brought. `thread`: the calling thread's context, or null. The caller holds no
    /// lock, and is in no callback.
    pub fn progress(&self, thread: *mut ThreadCtx) -> i32 {
        let t = self.table();
        (t.progress)(t.instance, thread)
    }

    /// Tells the waiter whose sync object `finish` found in a completion word (not 0) that the request is complete. Any thread; may be called with a
    /// CRI held.
    pub fn sync_update(&self, sync: usize) {
        let t = self.table();
        (t.sync_update)(t.instance, sync)
    }

    /// Gives a new request object its slot in the host's table, for good; once for each object, when a pool grows. BAD_PARAM: `req` is null.
    /// NO_RESOURCE: all slots (2^22 in a process) are taken.
    ///
    /// # Safety
    /// `req` is null, or a header in memory that stays for the life of the instance, that nobody else knows yet, and that has no slot.
    pub unsafe fn request_slot(&self, req: *mut RequestHeader) -> Status {
        let t = self.table();
        (t.request_slot)(t.instance, req)
    }

    /// Makes progress until a request is complete, and returns its status' error. `thread`: the calling thread's context, or null. The request is
    /// the caller's still, who releases it. BAD_PARAM: `req` is null.
    ///
    /// # Safety
    /// `req` is null, or a request that the caller started and has not released. `thread` is the context of the calling thread, which has no entry
    /// that is not lent, holds no lock and is in no callback; or null.
    pub unsafe fn wait(&self, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status {
        let t = self.table();
        (t.wait)(t.instance, thread, req)
    }

    /// Publishes this process's bytes under the component's name, for [`Host::exchange_get`] of the others; to be called in `open`, before the start
    /// publishes them. A second call replaces the first one's bytes. Always OK; what is too long is reported by the start.
    pub fn exchange_put(&self, data: &[u8]) -> Status {
        let t = self.table();
        let data = SliceRef { ptr: data.as_ptr(), len: data.len() };
        (t.exchange_put)(t.instance, StrRef::of(self.component), data)
    }

    /// The bytes that this component has published in process `proc`; waits for the node's daemon, so nothing may be held. NOT_FOUND: it published
    /// none. PEER_FAILED: the daemon did not answer.
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

    /// Shared segment `number` of this node. NOT_FOUND: there is no such segment; NOT_SUPPORTED: the host is older than this service.
    pub fn segment(&self, number: u32) -> Result<SharedSegment, Status> {
        let (t, services) = (self.table(), self.services());
        if (services.size as usize) < core::mem::offset_of!(HostServices, segment) + size_of::<usize>() {
            return Err(Status::NOT_SUPPORTED);
        }
        let mut out = SharedSegment::default();
        (services.segment)(t.instance, number, &mut out).ok()?;
        Ok(out)
    }

    /// Reports that process `proc` broke the protocol or died, with one sentence on the cause. `fatal`: the job cannot go on without it, and this
    /// call ends the job; otherwise the sentence is logged as an error.
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
    /// `this` is the header of a request of the caller's, which was started, whose status is written, and which nobody else completes. `threaded` is
    /// true where another thread may make MPI calls. The caller does not touch the request afterwards.
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
