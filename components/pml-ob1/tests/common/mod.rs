//! A job for tests: several processes in one thread (or a few), each with its own instance of pml-ob1,
//! opened through its descriptor and driven through its table.
//!
//! The transport keeps messages in queues of bounded length, so back-pressure is real; its `get` can be
//! told to work, to finish later, or to refuse; and tests may put any bytes into a queue.

#![allow(dead_code, reason = "each test binary uses its part of the harness")]

mod host;
pub mod hostile;
mod keeps;
mod net;
mod places;
mod spin;

use core::ffi::c_void;
use core::ptr::null_mut;
pub use host::Proc;
use net::Queues;
pub use net::{Get, Net, Setup};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{MsgStatus, Status, ThreadCtx};
use oxmpi_pml::{RecvArgs, SendArgs};
use oxmpi_progress::thread::lasting_context;
#[allow(unused_imports, reason = "each test binary uses its part of the harness")]
pub use oxmpi_testing::data::{byte, pattern, strided};
pub use oxmpi_testing::{CommSpec, Req};
use oxmpi_testing::{Registry, Unflushed};
use spin::Spin;
use std::collections::VecDeque;

/// The context of a thread. It stays: locks name the seat in it.
pub fn new_thread(index: u32) -> *mut ThreadCtx {
    lasting_context(0, index)
}

/// A communicator of one rank.
#[derive(Clone, Copy)]
pub struct Comm {
    pub proc: usize,
    pub ptr: *mut c_void,
    len: usize,
    arrays: Arrays,
}

/// The arrays that a description pointed to.
#[derive(Clone, Copy)]
struct Arrays {
    procs: *mut u32,
    endpoints: *mut u16,
    len: usize,
}

/// Elements to send: a buffer, a type, and how many of it.
#[derive(Clone, Copy)]
pub struct Elements<'a>(pub &'a [u8], pub &'a TypeDesc, pub u64);

/// All of a buffer.
pub fn bytes(buf: &[u8]) -> Elements<'_> {
    Elements(buf, byte(), buf.len() as u64)
}

/// A job.
pub struct World {
    pub procs: Vec<&'static mut Proc>,
    pub net: Box<Net>,
}

impl World {
    pub fn new(setup: Setup) -> World {
        World::with_each(setup, |_, _| {})
    }
    /// `differ` changes what one process is told; there are never more instances than `setup` says.
    pub fn with_each(setup: Setup, differ: impl Fn(u32, &mut Setup)) -> World {
        // Made before there are threads: not every tool sees how std has only one of them make it.
        byte();
        let (n, places) = (setup.procs as usize, (setup.procs * setup.cris) as usize);
        let unflushed = || if setup.put_is_remote { Unflushed::at_once() } else { Unflushed::default() };
        let queues = Queues {
            messages: (0..n).map(|_| (0..places).map(|_| VecDeque::new()).collect()).collect(),
            done: (0..places).map(|_| Vec::new()).collect(),
            aloft: (0..places).map(|_| Vec::new()).collect(),
            unflushed: (0..places).map(|_| unflushed()).collect(),
            ..Queues::default()
        };
        let net = Box::new(Net {
            setup,
            get: Spin::new(setup.get),
            room: AtomicU32::new(setup.room as u32),
            ended: AtomicU32::new(u32::MAX),
            queues: Spin::new(queues),
            cards: Spin::default(),
            registry: Spin::new(Registry::new(setup.handle)),
        });
        let setups: Vec<Setup> = (0..setup.procs)
            .map(|rank| {
                let mut own = setup;
                differ(rank, &mut own);
                own
            })
            .collect();
        let procs = setups.iter().zip(0..).map(|(own, rank)| Proc::new(rank, &*net, own));
        let mut procs: Vec<&mut Proc> = procs.collect();
        for (p, own) in procs.iter_mut().zip(&setups) {
            p.open(own, &setups);
        }
        World { procs, net }
    }

    pub fn set_get(&self, get: Get) {
        *self.net.get.lock() = get;
    }
    pub fn set_room(&self, room: u32) {
        self.net.room.store(room, Ordering::Relaxed);
    }
    /// A process has ended: what is sent to it fails.
    pub fn end_of(&self, proc: u32) {
        self.net.ended.store(proc, Ordering::Relaxed);
    }
    pub fn puts(&self) -> u64 {
        self.net.queues.lock().puts
    }
    /// How many pieces and flushes a process has under way that the test keeps in the air.
    pub fn aloft(&self, proc: usize) -> usize {
        self.net.queues.lock().aloft[proc * self.net.setup.cris as usize].len()
    }
    /// Lets the oldest of those come to its end in the process's next turn.
    pub fn land(&self, proc: usize, status: Status) {
        let at = proc * self.net.setup.cris as usize;
        let mut q = self.net.queues.lock();
        let mut landing = q.aloft[at].remove(0);
        landing.status = status;
        if status.is_err() {
            landing.transfer = None;
        }
        q.done[at].push(landing);
    }
    /// How much memory is registered.
    pub fn registered(&self) -> usize {
        self.net.registry.lock().count()
    }
    pub fn gets(&self) -> u64 {
        self.net.queues.lock().gets
    }
    pub fn sent(&self) -> u64 {
        self.net.queues.lock().sent
    }
    /// Gives the transport so many buffers that it needs to make none.
    pub fn stock_buffers(&self, count: usize) {
        let size = self.net.setup.max_send as usize;
        let mut q = self.net.queues.lock();
        q.spare.extend((0..count).map(|_| Vec::with_capacity(size)));
        q.spare.reserve(count);
        for from in q.messages.iter_mut().flatten() {
            from.reserve(count);
        }
    }
    pub fn inject(&self, from: usize, to: usize, bytes: &[u8]) {
        self.inject_on(from, to, 0, bytes);
    }
    /// On one of several FIFOs.
    pub fn inject_on(&self, from: usize, to: usize, ctx: usize, bytes: &[u8]) {
        let from = from * self.net.setup.cris as usize + ctx;
        self.net.queues.lock().messages[to][from].push_back(bytes.to_vec());
    }
    pub fn set_card(&self, proc: u32, card: Option<Vec<u8>>) {
        let mut cards = self.net.cards.lock();
        match card {
            Some(c) => drop(cards.insert(proc, c)),
            None => drop(cards.remove(&proc)),
        }
    }
    pub fn card(&self, proc: u32) -> Vec<u8> {
        self.net.cards.lock()[&proc].clone()
    }
    /// Messages on their way to a process on one FIFO.
    pub fn waiting_on(&self, to: usize, ctx: usize) -> usize {
        let cris = self.net.setup.cris as usize;
        self.net.queues.lock().messages[to].iter().skip(ctx).step_by(cris).map(|q| q.len()).sum()
    }
    /// Messages on their way to a process.
    pub fn in_flight(&self, to: usize) -> usize {
        self.net.queues.lock().messages[to].iter().map(|q| q.len()).sum()
    }

    pub fn table(&self, proc: usize) -> (&'static oxmpi_pml::PmlTable, *mut c_void) {
        let pml = self.procs[proc].pml.unwrap();
        // SAFETY: tables live for ever.
        (unsafe { &*pml.table }, pml.state)
    }
    fn thread(&self, proc: usize) -> *mut ThreadCtx {
        self.procs[proc].thread
    }

    pub fn add_comm(&self, proc: usize, spec: &CommSpec<'_>) -> Comm {
        let procs: &'static mut [u32] = spec.procs.to_vec().leak();
        let endpoints: &'static mut [u16] = spec.endpoints.to_vec().leak();
        let desc = CommSpec { procs, endpoints, ..spec.clone() }.desc();
        let (t, s) = self.table(proc);
        let mut ptr = null_mut();
        assert_eq!((t.add_comm)(s, &desc, &mut ptr), Status::OK);
        let arrays =
            Arrays { procs: procs.as_mut_ptr(), endpoints: endpoints.as_mut_ptr(), len: endpoints.len() };
        Comm { proc, ptr, len: procs.len(), arrays }
    }

    /// World of all processes, index 0, on each of them.
    pub fn world(&self) -> Vec<Comm> {
        let procs: Vec<u32> = (0..self.procs.len() as u32).collect();
        let spec =
            |r| CommSpec { gid: [1, 1], procs: &procs, my_rank: r, fixed: Some(0), ..CommSpec::default() };
        (0..self.procs.len()).map(|p| self.add_comm(p, &spec(p as i32))).collect()
    }

    pub fn del_comm(&self, c: Comm) {
        let (t, s) = self.table(c.proc);
        assert_eq!((t.del_comm)(s, c.ptr), Status::OK);
        // The host's arrays are gone from now on. SAFETY: leaked by `add_comm`; nobody else writes them.
        unsafe {
            std::slice::from_raw_parts_mut(c.arrays.procs, c.len).fill(0xDEAD);
            std::slice::from_raw_parts_mut(c.arrays.endpoints, c.arrays.len).fill(0xDEAD);
        }
    }

    pub fn progress(&self) -> i32 {
        (0..self.procs.len()).map(|p| self.progress_one(p)).sum()
    }
    pub fn progress_one(&self, proc: usize) -> i32 {
        let own = &self.procs[proc];
        // SAFETY: a test that is not threaded has one thread, and contexts of tests stay.
        own.engine.turn(&mut unsafe { own.entry(self.thread(proc)) })
    }
    /// Until nothing moves. A turn of progress leaves resource instances to those whose messages come there, so what is
    /// on others is taken by flushing. Messages that a process does not read any more stay for ever.
    pub fn settle(&self) {
        let (mut quiet, mut unread) = (0, 0);
        while quiet < 3 {
            let left: usize = (0..self.procs.len()).map(|p| self.in_flight(p)).sum();
            for proc in 0..self.procs.len() {
                let (t, s) = self.table(proc);
                (t.flush)(s);
            }
            if self.progress() > 0 {
                (quiet, unread) = (0, 0);
            } else if left > 0 && unread < 1000 {
                (quiet, unread) = (0, unread + 1);
            } else {
                quiet += 1;
            }
        }
    }

    pub fn send_args(&self, c: Comm, data: Elements<'_>, dst: i32, tag: i32, mode: u32) -> SendArgs {
        let Elements(buf, ty, count) = data;
        SendArgs {
            comm: c.ptr,
            thread: self.thread(c.proc),
            buf: buf.as_ptr(),
            count,
            dtype: ty,
            dst,
            tag,
            mode,
            reserved: 0,
            host_comm: null_mut(),
        }
    }
    pub fn recv_args(
        &self,
        c: Comm,
        buf: &mut [u8],
        ty: &TypeDesc,
        count: u64,
        src: i32,
        tag: i32,
    ) -> RecvArgs {
        RecvArgs {
            comm: c.ptr,
            thread: self.thread(c.proc),
            buf: buf.as_mut_ptr(),
            count,
            dtype: ty,
            src,
            tag,
            host_comm: null_mut(),
        }
    }

    /// Blocking form: `None` is done.
    pub fn send(&self, c: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Result<Option<Req>, Status> {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let args = self.send_args(c, bytes(buf), dst, tag, mode);
        Req::of((t.send)(s, &args, &mut out), out)
    }
    pub fn isend(&self, c: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Req {
        self.isend_typed(c, bytes(buf), dst, tag, mode)
    }
    pub fn isend_typed(&self, c: Comm, data: Elements<'_>, dst: i32, tag: i32, mode: u32) -> Req {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let args = self.send_args(c, data, dst, tag, mode);
        Req::of((t.isend)(s, &args, &mut out), out).unwrap().expect("isend gives a request")
    }
    pub fn recv(&self, c: Comm, buf: &mut [u8], src: i32, tag: i32) -> Result<MsgStatus, Req> {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let mut status = MsgStatus::EMPTY;
        let n = buf.len() as u64;
        let args = self.recv_args(c, buf, byte(), n, src, tag);
        match Req::of((t.recv)(s, &args, &mut status, &mut out), out).unwrap() {
            None => Ok(status),
            Some(req) => Err(req),
        }
    }
    pub fn irecv(&self, c: Comm, buf: &mut [u8], src: i32, tag: i32) -> Req {
        let n = buf.len() as u64;
        self.irecv_typed(c, buf, byte(), n, src, tag)
    }
    pub fn irecv_typed(&self, c: Comm, buf: &mut [u8], ty: &TypeDesc, n: u64, src: i32, tag: i32) -> Req {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let args = self.recv_args(c, buf, ty, n, src, tag);
        Req::of((t.irecv)(s, &args, &mut out), out).unwrap().expect("irecv gives a request")
    }
    pub fn probe(&self, c: Comm, src: i32, tag: i32) -> Option<MsgStatus> {
        let (t, s) = self.table(c.proc);
        let mut status = MsgStatus::EMPTY;
        let args = self.recv_args(c, &mut [], byte(), 0, src, tag);
        ((t.probe)(s, &args, &mut status, null_mut()) == Status::OK).then_some(status)
    }
    pub fn improbe(&self, c: Comm, src: i32, tag: i32) -> Option<(MsgStatus, *mut c_void)> {
        let (t, s) = self.table(c.proc);
        let mut status = MsgStatus::EMPTY;
        let mut message = null_mut();
        let args = self.recv_args(c, &mut [], byte(), 0, src, tag);
        ((t.probe)(s, &args, &mut status, &mut message) == Status::OK).then_some((status, message))
    }
    pub fn imrecv(&self, c: Comm, message: *mut c_void, buf: &mut [u8]) -> Req {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let n = buf.len() as u64;
        let args = self.recv_args(c, buf, byte(), n, 0, 0);
        Req::of((t.imrecv)(s, message, &args, &mut out), out).unwrap().expect("a request")
    }

    /// Waits, releases, and gives the status.
    pub fn wait(&self, req: Req) -> MsgStatus {
        for _ in 0..200_000 {
            if req.is_complete() {
                let status = req.status();
                req.release();
                return status;
            }
            self.progress();
        }
        panic!("stuck: a request does not complete");
    }

    /// Errors that a process complained about.
    pub fn errors(&self, proc: usize) -> Vec<(u32, String)> {
        self.procs[proc].errors.lock().clone()
    }
    pub fn assert_clean(&self) {
        for p in 0..self.procs.len() {
            assert_eq!(self.errors(p), vec![]);
            assert_eq!(self.procs[p].armed.load(Ordering::SeqCst), 0);
        }
        assert_eq!(self.registered(), 0, "memory is still registered");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for p in 0..self.procs.len() {
            let (t, s) = self.table(p);
            assert_eq!((t.finalize)(s), Status::OK);
        }
    }
}
