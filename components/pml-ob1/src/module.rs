//! The module: the state of one instance, and the verbs of the contract handed to the files that
//! do them.
//!
//! **Locks.** The one of the ordered mode (`ordered.rs`), then CRI locks in rising order (of several, all:
//! who holds one takes no other), then a shard's, then the lock of the lane for calls without a context or the peers' lock (both leaves:
//! the peers' lock is taken under a CRI lock or under none). No CRI lock is taken under a shard lock. No
//! lock is taken below THREAD_MULTIPLE; [`Ob1::threaded`] is looked at once per call. Nothing the user
//! wrote runs under a lock: completions set a word and tell a sync object.

use crate::again::Way;
use crate::care::Shared;
use crate::coming;
use crate::comm::{Comm, CommTable};
use crate::fifos::FIFO;
use crate::guarded::{Guarded, Held};
use crate::numbered::{Assignment, Early};
use crate::ordered::Escalated;
use crate::orphan::Orphan;
use crate::owed::Owed;
use crate::paged::Paged;
use crate::params::Config;
use crate::peer::{Peer, btl_name};
use crate::pool::Pools;
use crate::progress::Armed;
use crate::receive;
use crate::request::{IdTable, Outcome, Request, State};
use crate::revoke::Retired;
use crate::stamp::Clock;
use crate::stripes::Ahead;
use crate::watch::{Asked, Nanoseconds};
use core::cell::{Cell, OnceCell};
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use oxmpi_btl::{BtlHandle, BtlServices, WaitSet};
use oxmpi_mca::host::{am_tag, cri_mode};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Host, Lock, MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::{CommDesc, Message, Pml, RecvArgs, SendArgs, Transports};
use std::collections::BTreeSet;
use std::time::Instant;

/// One accepted BTL module.
pub struct Transport {
    pub btl: &'static BtlHandle,
    /// It takes a process to itself: nothing comes through it that we did not send.
    pub own: bool,
}

impl Transport {
    /// Whether it has a context of that number.
    #[inline(always)]
    pub fn has(&self, ctx: u32) -> bool {
        ctx < self.btl.attrs().contexts
    }
}

/// Data of the holder of one CRI's lock.
#[repr(align(128))]
pub struct Cri {
    /// Its number.
    pub ctx: u32,
    /// The host's part, with the lock.
    base: NonNull<oxmpi_mca::Cri>,
    /// Peers with something waiting for room.
    pub backlog: Guarded<Vec<*const Peer>>,
    pub ids: Guarded<IdTable>,
    /// Messages for communicators to come.
    pub orphans: Guarded<Vec<Orphan>>,
    /// By process and the sender's request: messages that went with their communicator (`cancel.rs`).
    pub buried: Guarded<BTreeSet<(u32, u64)>>,
    /// Messages that came before their sender's MARK (`fan.rs`).
    pub early: Guarded<Vec<Orphan>>,
    /// Ids of requests that ended with their communicator.
    pub retired: Guarded<Retired>,
    /// Fragments that came ahead of their turn (`stripes.rs`).
    pub ahead: Guarded<Ahead>,
    /// How many of the lost peers were closed on this CRI.
    pub closed: Cell<u32>,
    pub turns: Cell<u32>,
    /// Messages that came and no receive fitted.
    pub kept: Cell<u32>,
    /// The answer of the transport's callback: `receive::STOP` where the receives that come next are to be posted first.
    pub stop: Cell<u32>,
    /// The receive that was posted last of those whose messages come here, as far as that is known. A hint: written
    /// without a lock.
    newest: AtomicPtr<Request>,
    /// Work that waits beside messages: [`Cri::BACKLOG`] … The holder of the lock writes it.
    pub waiting: AtomicU32,
    /// Requests of which pieces landed (`rdma.rs`), linked.
    pub landed: Cell<*const Request>,
    /// Pieces under way.
    pub flying: Cell<u32>,
    pub shared: Shared,
    /// Messages without stamp that were numbered.
    numbered: Cell<u64>,
    /// Where the last plain message of a process with several threads went (`again.rs`).
    pub way: Way,
    /// Times that a receive found its message waiting which came here: its thread is at it, though it has no need to
    /// progress it. A hint, not a count: written without a lock.
    visits: AtomicU64,
    /// Spent on matching what came here; the holder of the lock writes it.
    pub match_time: Nanoseconds,
}

impl Cri {
    /// In `waiting`: `backlog` has something, and so has `landed`.
    pub const BACKLOG: u32 = 1;
    pub const LANDED: u32 = 2;
    /// For good: receives may have to be swept out (`revoke.rs`).
    pub const SWEEP: u32 = 4;

    fn new(host: &Host, ctx: u32) -> Cri {
        Cri {
            ctx,
            base: NonNull::from(host.cri(ctx)),
            backlog: Guarded::default(),
            ids: Guarded::default(),
            orphans: Guarded::default(),
            buried: Guarded::default(),
            early: Guarded::default(),
            retired: Guarded::default(),
            ahead: Guarded::default(),
            closed: Cell::new(0),
            turns: Cell::new(0),
            kept: Cell::new(0),
            stop: Cell::new(0),
            newest: AtomicPtr::new(null_mut()),
            waiting: AtomicU32::new(0),
            landed: Cell::new(core::ptr::null()),
            flying: Cell::new(0),
            shared: Shared::default(),
            numbered: Cell::new(0),
            way: Way::default(),
            visits: AtomicU64::new(0),
            match_time: Nanoseconds::default(),
        }
    }

    /// Something waits for room, or to be gone on with. Any thread, where that is a hint.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) & !Cri::SWEEP != 0
    }
    /// Sets a bit of `waiting`.
    pub fn mark(&self, bit: u32) {
        self.waiting.store(self.waiting.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
    }
    pub fn unmark(&self, bit: u32) {
        self.waiting.store(self.waiting.load(Ordering::Relaxed) & !bit, Ordering::Relaxed);
    }
    /// The host's part, with the lock.
    #[inline(always)]
    pub fn base(&self) -> &oxmpi_mca::Cri {
        // SAFETY: the host's table outlives the module.
        unsafe { self.base.as_ref() }
    }
    /// The number of a message's arrival, above all that messages get otherwise and below any stamp
    /// (`spread.rs`).
    pub fn number(&self, _held: &Held<'_>) -> u64 {
        self.numbered.set(self.numbered.get() + 1);
        1 << 32 | self.numbered.get()
    }
    /// A message came that no receive fits. True: nor will one that follows it, since the receives that were posted here have
    /// their messages; better let their thread go on.
    pub fn count_kept(&self, _held: &Held<'_>) -> bool {
        self.kept.set(self.kept.get().wrapping_add(1));
        // SAFETY: null, or a request, which is never freed while messages come.
        unsafe { self.newest.load(Ordering::Relaxed).as_ref() }.is_some_and(Request::is_complete)
    }
    /// This receive was posted last of those whose messages come here.
    #[inline(always)]
    pub fn posted(&self, req: &'static Request) {
        self.newest.store(core::ptr::from_ref(req).cast_mut(), Ordering::Relaxed);
    }
    /// See `visits`.
    pub fn visit(&self) {
        self.visits.store(self.visits.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
    pub fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }
}

/// The next FIFO where messages go on one after the other. Every thread writes it.
#[repr(align(128))]
#[derive(Default)]
pub struct Rotation(pub AtomicU32);

/// See the module's head. What every message reads stands first.
#[repr(C)]
pub struct Ob1 {
    /// Whether locks must be taken: there are several threads, or a peer sends on several FIFOs.
    careful: AtomicU32,
    /// Peers that broke the protocol (their messages are dropped), CRIs with messages that came early, and 1 while
    /// matching is timed: while there are any, every message is looked at closer.
    pub watchful: AtomicU32,
    /// The one transport through which messages may come; null when there are several.
    pub lone: AtomicPtr<BtlHandle>,
    /// The transport to ourselves is progressed only once somebody uses it.
    pub self_active: AtomicBool,
    /// The info line about refused reads was written.
    pub told_no_get: AtomicBool,
    pub comms: Guarded<CommTable>,
    /// By exclusivity; set by `enable`, before anything else is called.
    btls: OnceCell<Vec<Transport>>,
    /// The host's, around transports; set by `enable`.
    services: Cell<*const BtlServices>,
    /// The state of CRI 0, and of the others.
    pub first: Cri,
    others: Box<[Cri]>,
    pub host: Host,
    pub config: Config,
    pub peers: Paged<AtomicPtr<Peer>>,
    /// Guards the making of peers and routes.
    pub peers_lock: Lock,
    /// FIFOs that we could use, by CRIs and transports; set by `enable`.
    width: AtomicU32,
    /// Messages may come on all of them.
    pub wide: AtomicBool,
    /// Peers that were lost.
    pub lost: AtomicU32,
    /// The number of the first thread that sent something, plus 1; [`Ob1::CROWD`]: there is another.
    pub senders: AtomicU32,
    pub clock: Clock,
    /// When it was made.
    pub born: Instant,
    pub assignment: Assignment,
    /// One thread at a time progresses (`progress.rs`).
    pub one_at_a_time: bool,
    pub progressing: Lock,
    pub rotation: Rotation,
    pub owed: Owed<(&'static Request, Early)>,
    pub escalated: Escalated,
    /// Somebody asks for the time of matching (`watch.rs`).
    pub timing: Asked,
    pub armed: Armed,
    pub pools: Pools,
}

// SAFETY: cells and guarded data belong to the holder of a lock as their files say; `btls` is set
// before the module is shared.
unsafe impl Sync for Ob1 {}
// SAFETY: as above; nothing is bound to a thread.
unsafe impl Send for Ob1 {}

impl Ob1 {
    pub fn new(host: Host, config: Config) -> Ob1 {
        Ob1 {
            careful: AtomicU32::new(0),
            watchful: AtomicU32::new(0),
            lone: AtomicPtr::new(core::ptr::null_mut()),
            self_active: AtomicBool::new(false),
            told_no_get: AtomicBool::new(false),
            services: Cell::new(core::ptr::null()),
            comms: Guarded::new(CommTable::new()),
            btls: OnceCell::new(),
            first: Cri::new(&host, FIFO),
            others: (1..host.num_cris()).map(|ctx| Cri::new(&host, ctx)).collect(),
            host,
            config,
            peers: Paged::new(host.job().job_size as usize),
            peers_lock: Lock::new(),
            width: AtomicU32::new(1),
            wide: AtomicBool::new(false),
            lost: AtomicU32::new(0),
            senders: AtomicU32::new(0),
            clock: Clock::new(host.num_cris() > 1),
            born: Instant::now(),
            assignment: Ob1::assignment_of(&host),
            one_at_a_time: host.has_mode(cri_mode::SERIAL_PROGRESS),
            progressing: Lock::new(),
            rotation: Rotation::default(),
            owed: Owed::default(),
            escalated: Escalated::default(),
            timing: Asked::new(false),
            armed: Armed::default(),
            pools: Pools::new(config.pool_step),
        }
    }

    /// How the process was told to spread its messages.
    pub fn assignment_of(host: &Host) -> Assignment {
        if host.has_mode(cri_mode::ROUND_ROBIN) {
            Assignment::RoundRobin
        } else if host.has_mode(cri_mode::DEDICATED) {
            Assignment::Dedicated
        } else {
            Assignment::Stream
        }
    }

    /// In `senders`.
    pub const CROWD: u32 = u32::MAX;

    /// Whether locks must be taken. Looked at once per call and passed down. The
    /// verbs of a message's path are branched on it before they begin, into two copies of their code: the one below
    /// MULTIPLE has neither locks nor tests for them.
    #[inline(always)]
    pub fn threaded(&self) -> bool {
        self.careful.load(Ordering::Relaxed) != 0
    }
    /// From the next call on, locks are taken. Nobody else is in a verb now.
    pub fn take_care(&self) {
        self.careful.store(1, Ordering::Relaxed);
    }

    /// FIFOs that we could use; CRI locks from 0 to this are all there are.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.width.load(Ordering::Relaxed)
    }

    /// The state of a CRI.
    #[inline(always)]
    pub fn cri(&self, ctx: u32) -> &Cri {
        match self.others.get((ctx as usize).wrapping_sub(1)) {
            Some(cri) => cri,
            None => &self.first,
        }
    }

    /// Whether anything waits on a CRI for room, or to be gone on with.
    #[inline(always)]
    pub fn has_backlog(&self, held: &Held<'_>) -> bool {
        self.cri(held.ctx).has_work()
    }

    /// The transports, best exclusivity first.
    #[inline(always)]
    pub fn transports(&self) -> &[Transport] {
        self.btls.get().map_or(&[], |b| b)
    }

    /// Whether messages may come through a transport.
    #[inline(always)]
    pub fn is_active(&self, transport: &Transport) -> bool {
        !transport.own || self.self_active.load(Ordering::Relaxed)
    }

    /// A transport to a peer failed for good: everything under way with it ends in an error.
    #[cold]
    pub fn peer_failed(&self, held: &Held<'_>, peer: &Peer, status: Status) {
        let first = self.lose(held, peer);
        if first {
            let message = format!("{} cannot send to process {}: {status}", btl_name(peer.btl), peer.proc);
            self.host.peer_error(peer.proc, true, &message);
        }
    }

    /// Closes a peer on the CRI whose lock is held; the other CRIs follow in their next turn. False: it was
    /// lost already.
    fn lose(&self, held: &Held<'_>, peer: &Peer) -> bool {
        let first = !peer.base.lost.swap(true, Ordering::AcqRel);
        if first {
            self.watchful.fetch_add(1, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Release);
        }
        self.cri(held.ctx).mark(Cri::SWEEP);
        if !peer.failed.replace(true) {
            self.close(held, peer);
        }
        first
    }

    /// The host says that a process failed. What is under way with it ends in the next turn of each CRI.
    fn lose_process(&self, proc: u32) -> Status {
        let Ok(peer) = self.peer(proc, self.threaded()) else { return Status::OK };
        let held = self.hold(FIFO, None, self.threaded());
        self.lose(&held, peer);
        Status::OK
    }

    /// The host's services around transports.
    pub fn btl_services(&self) -> &BtlServices {
        // SAFETY: `enable` set it, before any other verb; valid as long as the instance.
        unsafe { &*self.services.get() }
    }

    /// Closes on this CRI what was lost on another.
    #[cold]
    pub fn close_lost(&self, held: &Held<'_>) {
        self.cri(held.ctx).closed.set(self.lost.load(Ordering::Acquire));
        self.cri(held.ctx).mark(Cri::SWEEP);
        let lost = self.peers.iter().filter_map(|slot| {
            // SAFETY: peers stay until `finalize`.
            unsafe { slot.load(Ordering::Acquire).as_ref() }.filter(|p| p.base.lost.load(Ordering::Acquire))
        });
        for base in lost {
            if let Ok(peer) = self.flow_of(base, held.ctx, held.threaded)
                && !peer.failed.replace(true)
            {
                self.close(held, peer);
            }
        }
    }

    /// Fails what is under way with a peer on one FIFO.
    fn close(&self, held: &Held<'_>, peer: &Peer) {
        peer.drop_control(held);
        self.stop_coming(held, peer);
        let queued: Vec<&Request> = peer.queue.with(held, |q| q.drain(..).collect());
        peer.queue_changed(held);
        peer.queued.set(Peer::SHUT);
        let streams: Vec<&Request> = peer.streams.with(held, |q| q.drain(..).collect());
        streams.iter().for_each(|req| req.listed.set(false));
        let waiting = self.cri(held.ctx).ids.with(held, |t| t.of_proc(peer.proc));
        // A queued send may have its id already: it is in both lists, and fails once.
        for req in queued.into_iter().chain(streams).chain(waiting) {
            if req.state.get() == State::Done {
                continue;
            }
            self.drop_id(held, req);
            if req.pulls.get() > 0 || req.listed.get() {
                // The transport may still touch its buffer; it fails with the last piece.
                req.outcome.set(Outcome::Revoked);
            } else {
                self.fail(held, req, Status::PEER_FAILED);
            }
        }
    }

    /// Completes a request with an error.
    pub fn fail(&self, held: &Held<'_>, req: &'static Request, status: Status) {
        self.release_memory(req);
        req.set_error(status);
        self.complete(req, held.threaded);
    }

    /// A header that makes no sense: the peer is closed, and the sentence says what was wrong.
    #[cold]
    pub fn bad_header(&self, held: &Held<'_>, proc: u32, what: &str) {
        if let Ok(peer) = self.flow(proc, held.ctx, held.threaded)
            && !self.lose(held, peer)
        {
            return;
        }
        let message = format!("process {proc} sent a message that pml ob1 cannot accept: {what}");
        self.host.peer_error(proc, true, &message);
    }
}

impl Pml for Ob1 {
    #[inline(always)]
    fn is_threaded(&self) -> bool {
        self.threaded()
    }
    fn enable(&self, transports: &Transports) -> Result<u64, Status> {
        // SAFETY: the host's list; accepted handles live as long as the instance.
        let btls = unsafe { transports.btls.get() }.iter().map(|&btl| unsafe { &*btl });
        let sorted: Vec<Transport> = btls.map(|btl| Transport { btl, own: btl.name() == "self" }).collect();
        let polled = sorted.iter().fold(0, |set, t| set | 1 << t.btl.index);
        self.services.set(transports.services);
        if sorted.len() > 64 || self.btls.set(sorted).is_err() {
            return Err(Status::BAD_PARAM);
        }
        let mut others = self.transports().iter().filter(|t| !t.own);
        if let (Some(only), None) = (others.next(), others.next()) {
            self.lone.store(core::ptr::from_ref(only.btl).cast_mut(), Ordering::Relaxed);
        }
        // As many as the widest has: to a peer there are as many as its transport has (`width_to`).
        let contexts = self.transports().iter().map(|t| t.btl.attrs().contexts.max(1)).max().unwrap_or(1);
        self.width.store(self.host.num_cris().min(contexts).max(1), Ordering::Relaxed);
        self.careful.store(self.host.threaded() as u32, Ordering::Relaxed);
        self.host.am_register(am_tag::PML, receive::entry, self as *const Ob1 as *mut c_void).ok()?;
        self.host.am_register_parts(am_tag::PML, coming::entry_parts).ok()?;
        Ok(polled)
    }
    fn add_comm(&self, desc: &CommDesc) -> Result<*mut c_void, Status> {
        self.add_communicator(desc).map(|c| c.cast())
    }
    fn del_comm(&self, comm: *mut c_void) -> Status {
        self.del_communicator(comm.cast::<Comm>())
    }
    #[inline(always)]
    fn send<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.send_blocking(args, SEVERAL)
    }
    #[inline(always)]
    fn isend<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.send_immediate(args, SEVERAL)
    }
    #[inline(always)]
    fn recv<const SEVERAL: bool>(
        &self,
        args: &RecvArgs,
        status: &mut MsgStatus,
    ) -> Result<*mut RequestHeader, Status> {
        self.recv_blocking(args, status, SEVERAL)
    }
    #[inline(always)]
    fn irecv<const SEVERAL: bool>(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.recv_immediate(args, SEVERAL)
    }
    #[inline(always)]
    fn irecv_among(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        self.recv_among(args, out)
    }
    fn send_init(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.send_persistent(args)
    }
    fn recv_init(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.recv_persistent(args)
    }
    fn probe(&self, args: &RecvArgs, status: &mut MsgStatus, take: bool) -> Option<*mut Message> {
        self.look(args, status, take)
    }
    fn imrecv(&self, message: *mut Message, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.recv_message(message, args)
    }
    #[inline(always)]
    fn progress(&self, thread: *mut ThreadCtx) -> i32 {
        self.poll(thread)
    }
    fn progress_context(&self, thread: *mut ThreadCtx, ctx: u32) -> i32 {
        self.poll_context(thread, ctx)
    }
    fn arm(&self, thread: *mut ThreadCtx, set: &mut WaitSet) -> Status {
        self.arm_transports(thread, set)
    }
    fn disarm(&self, thread: *mut ThreadCtx) {
        self.disarm_transports(thread)
    }
    fn threads_begin(&self) -> Status {
        self.take_care();
        Status::OK
    }
    fn flush(&self) -> Status {
        self.flush_queues()
    }
    fn peer_failed(&self, proc: u32) -> Status {
        self.lose_process(proc)
    }
    fn revoke(&self, comm: *mut c_void) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        self.revoke_communicator(unsafe { Comm::of(comm) })
    }

    fn set_flags(&self, comm: *mut c_void, flags: u32) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        unsafe { Comm::of(comm) }.set_assertions(flags, self.threaded());
        Status::OK
    }
    fn counts(&self, comm: *mut c_void) -> Option<oxmpi_pml::Counts> {
        let mut sum = oxmpi_pml::Counts::default();
        let (mut waiting, mut home) = (0, 0);
        // SAFETY: the host passes a communicator that is alive.
        let comm = unsafe { Comm::of(comm) };
        comm.shards.each(self.threaded(), |shard| {
            sum.unexpected += shard.waiting.kept;
            sum.most_waiting = sum.most_waiting.max(shard.waiting.most());
            sum.posted += shard.posted(home);
            waiting += shard.waiting.now();
            sum.posted_now += shard.engine.posted_len() as u64;
            if shard.spreading.home {
                sum.spreads = shard.spreading.count;
                home = shard.stamp;
            }
        });
        for kept in comm.all_inbound().map(|i| i.with(|s| s.kept())) {
            sum.out_of_sequence += kept.all;
            sum.out_of_sequence_now += kept.now;
            sum.most_out_of_sequence = sum.most_out_of_sequence.max(kept.most);
        }
        sum.waiting = waiting.max(0) as u64;
        sum.match_time = self.match_time();
        Some(sum)
    }
    fn measure(&self, on: bool) -> Status {
        self.measure_matching(on);
        Status::OK
    }

    /// Gives endpoints back and frees what no handle of the host refers to. Requests stay.
    fn finalize(&self) -> Status {
        let all = self.hold_all(self.width(), false);
        self.comms.with(&all.held(FIFO), |t| t.clear());
        all.each().for_each(|held| self.forget_retired(&held));
        for slot in self.peers.iter() {
            let peer = slot.swap(null_mut(), Ordering::AcqRel);
            // SAFETY: peers stay until here.
            let Some(first) = (unsafe { peer.as_ref() }) else { continue };
            let base = core::ptr::from_ref(first.base).cast_mut();
            // SAFETY: made by Box::into_raw or Box::leak; this is the last call. FIFO 0 is among the flows.
            unsafe {
                for flow in (*base).flows.iter().map(|f| f.swap(null_mut(), Ordering::AcqRel)) {
                    if !flow.is_null() {
                        drop(Box::from_raw(flow));
                    }
                }
                drop(Box::from_raw(base));
            }
        }
        Status::OK
    }
}
