//! A job in one process, and its ranks as checks call them.

use crate::host::Rank;
use crate::net::Net;
use crate::setup::{Setup, Wire};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{Entry, MsgStatus, Status, ThreadCtx};
use oxmpi_pml::{PmlTable, RecvArgs, SendArgs, mode};
use oxmpi_progress::Engine;
use oxmpi_progress::thread::lasting_context;
use oxmpi_testing::data::{byte, pattern};
use oxmpi_testing::{CommSpec, Req};
use std::sync::Arc;
use std::time::Instant;

/// Turns in a row without an event behind which nothing moves any more.
const QUIET: u32 = 4;
/// Communication resources of a job with threads.
const CRIS: u32 = 4;

/// See the file's head.
pub struct Job {
    net: Arc<Net>,
    ranks: Vec<&'static Rank>,
    callers: Vec<Caller>,
    pub descriptor: *const oxmpi_mca::Descriptor,
    threads: bool,
    patience: Duration,
    expects_errors: core::sync::atomic::AtomicBool,
}

// SAFETY: every thread of a check uses callers of its own.
unsafe impl Sync for Job {}

/// One thread of a rank. Its methods are the verbs.
pub struct Caller {
    pub rank: u32,
    host: &'static Rank,
    ctx: *mut ThreadCtx,
    patience: Duration,
}

// SAFETY: one thread at a time uses a caller, and its context belongs to nobody else.
unsafe impl Send for Caller {}

/// A communicator of one rank.
#[derive(Clone, Copy)]
pub struct Comm(pub *mut c_void);

// SAFETY: an opaque handle.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

impl Job {
    pub(crate) fn new(setup: &Setup, wire: Wire, ranks: u32, threads: bool) -> Job {
        // Made before there are threads.
        byte();
        let net = Arc::new(Net::new(wire, ranks, if threads { CRIS } else { 1 }));
        let opened: Vec<_> = (0..ranks).map(|number| Rank::open(setup, &net, number, threads)).collect();
        let callers = opened.iter().map(|host| Caller::new(host, 0, setup.patience)).collect();
        Job {
            net,
            ranks: opened,
            callers,
            descriptor: setup.descriptor,
            threads,
            patience: setup.patience,
            expects_errors: false.into(),
        }
    }

    pub fn wire(&self) -> Wire {
        self.net.wire
    }
    pub fn size(&self) -> u32 {
        self.net.ranks
    }
    /// The first thread of a rank.
    pub fn rank(&self, rank: u32) -> &Caller {
        &self.callers[rank as usize]
    }
    /// Another thread of a rank; `index` counts from 1.
    pub fn thread(&self, rank: u32, index: u32) -> Caller {
        assert!(self.threads && index > 0);
        Caller::new(self.ranks[rank as usize], index, self.patience)
    }
    /// Bytes of messages that a rank has been handed.
    pub fn delivered(&self, rank: u32) -> u64 {
        self.net.delivered[rank as usize].load(Ordering::Relaxed)
    }
    /// From now on the transport reports failure for what is sent to or by a rank.
    pub fn fail(&self, rank: u32) {
        self.expects_errors.store(true, Ordering::Relaxed);
        self.net.fail(rank);
    }

    /// World of all ranks, index 0, at each of them.
    pub fn world(&self) -> Vec<Comm> {
        self.comms(&CommSpec { gid: [1, 1], fixed: Some(0), ..CommSpec::default() })
    }
    /// A communicator of all ranks, at each of them; ranks and processes are filled in.
    pub fn comms(&self, spec: &CommSpec<'_>) -> Vec<Comm> {
        let procs: Vec<u32> = (0..self.size()).collect();
        let of = |caller: &Caller| {
            caller.add_comm(&CommSpec { procs: &procs, my_rank: caller.rank.cast_signed(), ..spec.clone() })
        };
        self.callers.iter().map(of).collect()
    }

    /// One turn of every rank; events.
    pub fn turn(&self) -> i32 {
        self.callers.iter().map(Caller::progress).sum()
    }
    /// Until nothing moves.
    pub fn settle(&self) {
        let (mut quiet, until) = (0, Instant::now() + self.patience);
        while quiet < QUIET {
            let moved = self.turn() > 0
                || self.callers.iter().any(|c| c.flush() == Status::PENDING && self.net.in_flight() > 0);
            quiet = if moved { 0 } else { quiet + 1 };
            assert!(Instant::now() < until, "the job does not come to rest");
        }
    }
    /// Waits while all ranks make progress, releases the request, and gives its status.
    pub fn wait(&self, req: Req) -> MsgStatus {
        let until = Instant::now() + self.patience;
        while !req.is_complete() {
            self.turn();
            assert!(Instant::now() < until, "a request does not complete");
        }
        let status = req.status();
        req.release();
        status
    }

    /// A message there and back between two ranks, in each length that takes another way.
    pub fn ping(&self, comms: &[Comm], from: u32, to: u32, tag: i32) {
        for len in [0, 8, 3000, 50_000] {
            let (data, mut buf) = (pattern(len, u64::from(from) + 1), vec![0; len]);
            let s = self.rank(from).isend(comms[from as usize], &data, to.cast_signed(), tag, mode::STANDARD);
            let r = self.rank(to).irecv(comms[to as usize], &mut buf, from.cast_signed(), tag);
            assert_eq!((self.wait(r).error, self.wait(s).error), (Status::OK, Status::OK));
            assert!(buf == data, "{len} bytes from {from} to {to} came as others");
        }
    }

    /// The end of a check: nothing is left, and nobody complained.
    pub(crate) fn end(self) {
        let until = Instant::now() + self.patience;
        let mut left = true;
        while left && !self.expects_errors.load(Ordering::Relaxed) {
            self.turn();
            left = self.callers.iter().map(Caller::flush).any(|status| status == Status::PENDING);
            assert!(Instant::now() < until, "flush answers PENDING for ever");
        }
        for rank in &self.ranks {
            let errors = rank.errors.lock().unwrap_or_else(|e| e.into_inner()).clone();
            if !self.expects_errors.load(Ordering::Relaxed) {
                assert!(errors.is_empty(), "rank {} complained: {errors:?}", rank.number);
            }
            assert_eq!(rank.armed.load(Ordering::Relaxed), 0, "rank {} is still armed", rank.number);
            let (table, state) = rank.pml();
            assert_eq!((table.finalize)(state), Status::OK);
        }
        assert_eq!(self.net.registry().count(), 0, "memory is still registered");
    }
}

impl Caller {
    fn new(host: &'static Rank, index: u32, patience: Duration) -> Caller {
        let cri = index % host.desk.cris.len() as u32;
        Caller { rank: host.number, host, ctx: lasting_context(cri, index), patience }
    }

    /// The component's table and state.
    pub fn pml(&self) -> (&'static PmlTable, *mut c_void) {
        self.host.pml()
    }
    pub fn thread(&self) -> *mut ThreadCtx {
        self.ctx
    }
    /// The way in of a call of this thread.
    pub fn entry(&self) -> Entry {
        // SAFETY: a caller is used in the thread that it was made for, and its context stays.
        unsafe { self.host.entry(self.ctx) }
    }

    pub fn add_comm(&self, spec: &CommSpec<'_>) -> Comm {
        // The component keeps the addresses until `del_comm`; a test may leak them.
        let procs = spec.procs.to_vec().leak();
        let endpoints = spec.endpoints.to_vec().leak();
        let desc = CommSpec { procs, endpoints, ..spec.clone() }.desc();
        let ((table, state), mut out) = (self.pml(), null_mut());
        assert_eq!((table.add_comm)(state, &desc, &mut out), Status::OK, "add_comm");
        Comm(out)
    }
    pub fn del_comm(&self, comm: Comm) {
        let (table, state) = self.pml();
        assert_eq!((table.del_comm)(state, comm.0), Status::OK, "del_comm");
    }

    pub fn send_args(
        &self,
        comm: Comm,
        (buf, dtype, count): (&[u8], &TypeDesc, u64),
        to: (i32, i32),
        mode: u32,
    ) -> SendArgs {
        SendArgs {
            comm: comm.0,
            thread: self.thread(),
            buf: buf.as_ptr(),
            count,
            dtype,
            dst: to.0,
            tag: to.1,
            mode,
            reserved: 0,
            host_comm: null_mut(),
        }
    }
    pub fn recv_args(
        &self,
        comm: Comm,
        (buf, dtype, count): (&mut [u8], &TypeDesc, u64),
        from: (i32, i32),
    ) -> RecvArgs {
        RecvArgs {
            comm: comm.0,
            thread: self.thread(),
            buf: buf.as_mut_ptr(),
            count,
            dtype,
            src: from.0,
            tag: from.1,
            host_comm: null_mut(),
        }
    }

    /// The blocking form; `None`: done.
    pub fn send(&self, comm: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Result<Option<Req>, Status> {
        let ((table, state), mut out) = (self.pml(), null_mut());
        let args = self.send_args(comm, (buf, byte(), buf.len() as u64), (dst, tag), mode);
        Req::of((table.send)(state, &args, &mut out), out)
    }
    pub fn isend(&self, comm: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Req {
        self.isend_typed(comm, (buf, byte(), buf.len() as u64), (dst, tag), mode)
    }
    pub fn isend_typed(&self, comm: Comm, data: (&[u8], &TypeDesc, u64), to: (i32, i32), mode: u32) -> Req {
        let ((table, state), mut out) = (self.pml(), null_mut());
        let args = self.send_args(comm, data, to, mode);
        Req::of((table.isend)(state, &args, &mut out), out).expect("isend").expect("isend gives a request")
    }
    /// The blocking form: its status, or a request to wait for.
    pub fn recv(&self, comm: Comm, buf: &mut [u8], src: i32, tag: i32) -> Result<MsgStatus, Req> {
        let ((table, state), mut out, mut status) = (self.pml(), null_mut(), MsgStatus::EMPTY);
        let len = buf.len() as u64;
        let args = self.recv_args(comm, (buf, byte(), len), (src, tag));
        match Req::of((table.recv)(state, &args, &mut status, &mut out), out).expect("recv") {
            None => Ok(status),
            Some(req) => Err(req),
        }
    }
    pub fn irecv(&self, comm: Comm, buf: &mut [u8], src: i32, tag: i32) -> Req {
        let len = buf.len() as u64;
        self.irecv_typed(comm, (buf, byte(), len), (src, tag))
    }
    pub fn irecv_typed(&self, comm: Comm, data: (&mut [u8], &TypeDesc, u64), from: (i32, i32)) -> Req {
        let ((table, state), mut out) = (self.pml(), null_mut());
        let args = self.recv_args(comm, data, from);
        Req::of((table.irecv)(state, &args, &mut out), out).expect("irecv").expect("irecv gives a request")
    }
    pub fn send_init(&self, comm: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Req {
        let ((table, state), mut out) = (self.pml(), null_mut());
        let args = self.send_args(comm, (buf, byte(), buf.len() as u64), (dst, tag), mode);
        Req::of((table.send_init)(state, &args, &mut out), out).expect("send_init").expect("a request")
    }
    pub fn recv_init(&self, comm: Comm, buf: &mut [u8], src: i32, tag: i32) -> Req {
        let ((table, state), mut out, len) = (self.pml(), null_mut(), buf.len() as u64);
        let args = self.recv_args(comm, (buf, byte(), len), (src, tag));
        Req::of((table.recv_init)(state, &args, &mut out), out).expect("recv_init").expect("a request")
    }
    pub fn probe(&self, comm: Comm, src: i32, tag: i32) -> Option<MsgStatus> {
        let ((table, state), mut status) = (self.pml(), MsgStatus::EMPTY);
        let args = self.recv_args(comm, (&mut [], byte(), 0), (src, tag));
        ((table.probe)(state, &args, &mut status, null_mut()) == Status::OK).then_some(status)
    }
    /// Takes a message out of matching.
    pub fn improbe(&self, comm: Comm, src: i32, tag: i32) -> Option<(MsgStatus, *mut c_void)> {
        let ((table, state), mut status, mut message) = (self.pml(), MsgStatus::EMPTY, null_mut());
        let args = self.recv_args(comm, (&mut [], byte(), 0), (src, tag));
        ((table.probe)(state, &args, &mut status, &mut message) == Status::OK).then_some((status, message))
    }
    pub fn imrecv(&self, comm: Comm, message: *mut c_void, buf: &mut [u8]) -> Req {
        let ((table, state), mut out, len) = (self.pml(), null_mut(), buf.len() as u64);
        let args = self.recv_args(comm, (buf, byte(), len), (0, 0));
        Req::of((table.imrecv)(state, message, &args, &mut out), out).expect("imrecv").expect("a request")
    }

    pub fn engine(&self) -> &'static Engine {
        &self.host.engine
    }
    pub fn progress(&self) -> i32 {
        self.host.engine.turn(&mut self.entry())
    }
    pub fn flush(&self) -> Status {
        let (table, state) = self.pml();
        (table.flush)(state)
    }
    /// Waits while this rank alone makes progress, releases the request, and gives its status.
    pub fn wait(&self, req: Req) -> MsgStatus {
        let until = Instant::now() + self.patience;
        while !req.is_complete() {
            if self.progress() == 0 {
                std::thread::yield_now();
            }
            assert!(Instant::now() < until, "a request of rank {} does not complete", self.rank);
        }
        let status = req.status();
        req.release_by(self.thread());
        status
    }
}
