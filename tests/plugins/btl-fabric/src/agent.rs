//! The device's work: one thread per process, which plays its NIC. It executes the operations of this process and those of peers
//! on this process's memory, so a target needs no MPI call.
//!
//! **States of an operation** at its initiator: posted (`Nic::work`) → a job that is cut into packets (`out`) → under way
//! (`ops`) → ended, when the peer's answer or the last byte of a get is here. Every operation ends once with
//! [`Phase::Whole`], by success, by the peer's refusal, or by failure of the peer; a put's local memory is free earlier, and
//! that is told by [`Phase::Local`]. An operation that has ended is in no table any more, so nothing touches its memory.
//!
//! **The thread never waits for room:** what does not fit in a lane stays a job, and lanes are emptied in every turn, so two
//! devices that send to each other cannot block each other.

use crate::amo;
use crate::area::Lane;
use crate::nic::{Event, Link, Nic, Op, OperationKind, Phase, Work};
use crate::params::Completions;
use crate::wire::{DATA, Handle, Header, kind};
use core::ptr::copy_nonoverlapping;
use oxmpi_btl::access;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;
use rustix::thread::futex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Packets to or from one peer in a turn.
const BATCH: usize = 32;
/// A device with nothing to do looks for peers that are gone so often.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
/// Answers for peers are still sent for so long after the end.
const FAREWELL: Duration = Duration::from_secs(1);

/// Something that is on its way into a lane.
enum Job {
    /// Data of a put: from our memory, or from a copy, where the operation failed and lands late.
    Put {
        work: Work,
        at: u64,
        copy: Option<Vec<u8>>,
    },
    Request {
        work: Work,
    },
    /// Data for a peer's get.
    Data {
        op: Op,
        handle: Handle,
        addr: u64,
        total: u64,
        at: u64,
    },
    Answer {
        op: Op,
        status: Status,
        value: u64,
    },
}

enum Step {
    /// The lane is full.
    NoRoom,
    More,
    Done,
}

/// A completion that does not come yet; without a time it comes by order.
struct Held {
    due: Option<Instant>,
    event: Event,
    peer: usize,
}

/// A put of a peer of which parts are here.
#[derive(Default)]
struct Coming {
    bytes: u64,
    failed: Option<Status>,
}

pub struct Agent {
    nic: Arc<Nic>,
    links: Vec<Option<Arc<Link>>>,
    out: Vec<VecDeque<Job>>,
    /// Under way, and how much of a get is here.
    ops: HashMap<Op, (Work, u64)>,
    held: Vec<Held>,
    landing: Vec<Job>,
    coming: HashMap<(usize, Op), Coming>,
    taken: Vec<u64>,
    dice: u64,
}

impl Agent {
    pub fn new(nic: Arc<Nic>) -> Agent {
        let peers = nic.area.senders();
        Agent {
            links: vec![None; peers],
            out: (0..peers).map(|_| VecDeque::new()).collect(),
            ops: HashMap::new(),
            held: Vec::new(),
            landing: Vec::new(),
            coming: HashMap::new(),
            taken: vec![0; peers],
            dice: nic.settings.seed,
            nic,
        }
    }

    /// The thread's body.
    pub fn run(mut self) {
        let nic = self.nic.clone();
        let head = nic.area.head();
        let mut end: Option<Instant> = None;
        loop {
            let seen = head.device.load(Ordering::SeqCst);
            let busy = self.turn();
            if nic.stop.load(Ordering::SeqCst) {
                let end = *end.get_or_insert_with(|| Instant::now() + FAREWELL);
                if self.out.iter().all(VecDeque::is_empty) || Instant::now() > end {
                    break;
                }
            }
            if !busy {
                self.sleep(seen);
            }
        }
        head.gone.store(1, Ordering::SeqCst);
        // A peer that waits for an answer looks whether we are still there.
        self.links.iter().flatten().for_each(|l| l.area.ring_device());
    }

    fn turn(&mut self) -> bool {
        let mut busy = self.follow_orders();
        for work in self.nic.posted() {
            busy = true;
            self.begin(work);
        }
        for peer in 0..self.out.len() {
            busy |= self.take_in(peer);
            busy |= self.push_out(peer);
        }
        busy |= self.release_due();
        self.interrupt();
        busy
    }

    /// SYNC POINT with `Area::ring_device`: says that it sleeps, then compares the word that ringers change.
    fn sleep(&mut self, seen: u32) {
        for peer in 0..self.links.len() {
            let gone =
                self.links[peer].as_ref().is_some_and(|l| l.area.head().gone.load(Ordering::SeqCst) != 0);
            if gone && self.ops.values().any(|(w, _)| w.peer == peer) {
                self.fail(peer);
            }
        }
        let now = Instant::now();
        let next = self.held.iter().filter_map(|h| h.due).min();
        let nap = next.map_or(LONGEST_SLEEP, |due| due.saturating_duration_since(now).min(LONGEST_SLEEP));
        let nap = futex::Timespec { tv_sec: 0, tv_nsec: nap.subsec_nanos().into() };
        let head = self.nic.area.head();
        head.device_sleeps.store(1, Ordering::SeqCst);
        let _ = futex::wait(&head.device, futex::Flags::empty(), seen, Some(&nap));
        head.device_sleeps.store(0, Ordering::SeqCst);
    }

    /// Writes to the descriptors of contexts whose sleepers are to be woken.
    fn interrupt(&self) {
        let head = self.nic.area.head();
        let wanted = head.interrupts.swap(0, Ordering::SeqCst);
        for (ctx, fd) in self.nic.descriptors.iter().enumerate() {
            if wanted & (1 << ctx) != 0 && head.bells[ctx].asleep.load(Ordering::SeqCst) != 0 {
                let _ = rustix::io::write(fd, &1u64.to_ne_bytes());
            }
        }
    }

    /// A number below `n`; 0 where operations keep their order.
    fn roll(&mut self, n: usize) -> usize {
        if self.nic.settings.seed == 0 || n < 2 {
            return 0;
        }
        self.dice = self.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.dice >> 33) as usize % n
    }

    // ---------------------------------------------------------------- completions

    /// An operation got so far; when that is told is a parameter.
    fn deliver(&mut self, peer: usize, event: Event) {
        let late = self.nic.settings.late;
        let due = match self.nic.settings.completion {
            Completions::Prompt => return self.nic.tell(event),
            Completions::Late => {
                let micros = self.roll(late.as_micros() as usize).max(1) as u64;
                Some(
                    Instant::now()
                        + if self.nic.settings.seed == 0 { late } else { Duration::from_micros(micros) },
                )
            }
            Completions::OnDemand | Completions::Never => None,
        };
        self.held.push(Held { due, event, peer });
    }

    fn release_due(&mut self) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let now = Instant::now();
        let (come, stay) = self.held.drain(..).partition(|h| h.due.is_some_and(|due| due <= now));
        self.held = stay;
        let come: Vec<Held> = come;
        come.iter().for_each(|h| self.nic.tell(h.event));
        !come.is_empty()
    }

    fn follow_orders(&mut self) -> bool {
        let orders = self.nic.orders();
        for _ in 0..orders.release.min(self.held.len() as u64) {
            if self.nic.settings.completion != Completions::Never {
                let which = self.roll(self.held.len());
                let held = self.held.remove(which);
                self.nic.tell(held.event);
            }
        }
        orders.fail.iter().for_each(|&peer| self.fail(peer));
        if orders.land {
            for job in std::mem::take(&mut self.landing) {
                if let Job::Put { work, .. } = &job {
                    self.out[work.peer].push_back(job);
                }
            }
        }
        false
    }

    /// The peer is lost: its operations end with an error, and local memory is not touched any more.
    fn fail(&mut self, peer: usize) {
        let Some(link) = self.links.get(peer).and_then(|l| l.clone()).or_else(|| self.find(peer)) else {
            return;
        };
        if !link.failed.swap(true, Ordering::SeqCst) {
            self.nic.failures.fetch_add(1, Ordering::SeqCst);
            // Every context's progress may be the one that tells the host.
            (0..self.nic.area.contexts()).for_each(|ctx| self.nic.area.ring_context(ctx));
        }
        for job in std::mem::take(&mut self.out[peer]) {
            match job {
                Job::Put { work, at, copy: None } if self.ops.contains_key(&work.op) => {
                    if self.nic.settings.late_landing {
                        let mut data = vec![0; work.len as usize];
                        for (from, part) in (0..).step_by(DATA).zip(data.chunks_mut(DATA)) {
                            // SAFETY: the part has that room. Nothing is read where the memory is registered no more.
                            unsafe { read_local(&self.nic, &work, from, part.as_mut_ptr(), part.len()) };
                        }
                        self.landing.push(Job::Put { work, at, copy: Some(data) });
                    }
                }
                Job::Put { copy: None, .. } | Job::Request { .. } => {}
                other => self.out[peer].push_back(other),
            }
        }
        // Operations that completed before are told now, whatever held them.
        let (come, stay) = self.held.drain(..).partition(|h| h.peer == peer);
        self.held = stay;
        let come: Vec<Held> = come;
        come.iter().for_each(|h| self.nic.tell(h.event));
        let mut lost: Vec<Op> =
            self.ops.iter().filter(|(_, (w, _))| w.peer == peer).map(|(op, _)| *op).collect();
        lost.sort_unstable();
        for op in lost {
            self.ops.remove(&op);
            self.nic.tell(Event { op, phase: Phase::Whole, status: Status::PEER_FAILED });
        }
    }

    // ---------------------------------------------------------------- out

    fn find(&mut self, peer: usize) -> Option<Arc<Link>> {
        let slot = self.links.get_mut(peer)?;
        if slot.is_none() {
            let address = self.nic.area.sender(peer).filter(|a| a.version != 0);
            // A peer that we talked to first said nothing yet; then it is mapped already.
            *slot = self.nic.mapped(peer).or_else(|| self.nic.link(peer, &address?).ok());
        }
        slot.clone()
    }

    fn begin(&mut self, work: Work) {
        let peer = work.peer;
        self.ops.insert(work.op, (work, 0));
        self.taken[peer] += 1;
        let limit = self.nic.settings.fail_after;
        let job = match work.what {
            OperationKind::Put => Job::Put { work, at: 0, copy: None },
            _ => Job::Request { work },
        };
        self.out[peer].push_back(job);
        let failed = self.find(peer).is_none_or(|l| l.failed.load(Ordering::SeqCst));
        if failed || (limit != 0 && self.taken[peer] > limit) {
            self.fail(peer);
        }
    }

    fn push_out(&mut self, peer: usize) -> bool {
        if self.out[peer].is_empty() {
            return false;
        }
        let Some(link) = self.find(peer) else { return false };
        let lane = link.area.lane(self.nic.number);
        let mut pushed = false;
        for _ in 0..BATCH {
            let many = self.out[peer].len();
            if many == 0 {
                break;
            }
            let which = self.roll(many);
            let Some(mut job) = self.out[peer].remove(which) else { break };
            let step = self.step(&lane, &mut job);
            if !matches!(step, Step::Done) {
                self.out[peer].insert(which, job);
            }
            if matches!(step, Step::NoRoom) {
                break;
            }
            pushed = true;
        }
        if pushed {
            link.area.ring_device();
        }
        pushed
    }

    /// One packet of a job.
    fn step(&mut self, lane: &Lane, job: &mut Job) -> Step {
        match job {
            Job::Put { work, at, copy } => {
                let n = (work.len - *at).min(DATA as u64);
                let header = Header { at: *at, len: n as u32, ..request(work, kind::PUT) };
                let (nic, mut status) = (self.nic.clone(), Status::OK);
                let fill = |to| match copy {
                    // SAFETY: a packet has room for `DATA`.
                    Some(copy) => unsafe {
                        copy_nonoverlapping(copy.as_ptr().wrapping_add(*at as usize), to, n as usize)
                    },
                    // SAFETY: as above; the operation's local memory.
                    None => status = unsafe { read_local(&nic, work, *at, to, n as usize) },
                };
                if !lane.push(&header, fill) {
                    return Step::NoRoom;
                }
                if status.is_err() {
                    // It was registered when the operation was posted, and is to stay so until the end.
                    eprintln!("btl fabric: the local memory of a put is registered no more: {status}");
                    std::process::abort();
                }
                *at += n;
                if *at < work.len {
                    return Step::More;
                }
                if copy.is_none() && !self.nic.settings.put_done_is_remote && self.ops.contains_key(&work.op)
                {
                    let event = Event { op: work.op, phase: Phase::Local, status: Status::OK };
                    self.deliver(work.peer, event);
                }
                Step::Done
            }
            Job::Request { work } => {
                let header = match work.what {
                    OperationKind::Atomic { amo, flags, operand, compare } => {
                        Header { amo, amo_flags: flags, operand, compare, ..request(work, kind::ATOMIC) }
                    }
                    _ => request(work, kind::GET),
                };
                if lane.push(&header, |_| ()) { Step::Done } else { Step::NoRoom }
            }
            Job::Data { op, handle, addr, total, at } => {
                let n = (*total - *at).min(DATA as u64);
                let from = addr.wrapping_add(*at);
                let reached = self.nic.registry.reach(*handle, from, n, access::REMOTE_READ);
                let Ok(reached) = reached else {
                    *job = Job::Answer { op: *op, status: Status::NO_PERMISSION, value: 0 };
                    return Step::More;
                };
                let header = Header {
                    kind: kind::GET_DATA,
                    op: *op,
                    at: *at,
                    len: n as u32,
                    total: *total,
                    ..Header::default()
                };
                let mut status = Status::OK;
                // SAFETY: what was reached; a packet has room for `DATA`.
                if !lane.push(&header, |to| status = unsafe { reached.read(to, n as usize) }) {
                    return Step::NoRoom;
                }
                if status.is_err() {
                    eprintln!("btl fabric: registered memory cannot be read: {status}");
                    std::process::abort();
                }
                *at += n;
                if *at < *total { Step::More } else { Step::Done }
            }
            Job::Answer { op, status, value } => {
                let header = Header {
                    kind: kind::ANSWER,
                    op: *op,
                    status: status.0,
                    operand: *value,
                    ..Header::default()
                };
                if lane.push(&header, |_| ()) { Step::Done } else { Step::NoRoom }
            }
        }
    }

    // ---------------------------------------------------------------- in

    fn take_in(&mut self, peer: usize) -> bool {
        let nic = self.nic.clone();
        let lane = nic.area.lane(peer);
        let (mut taken, mut blocked) = (false, false);
        for _ in 0..BATCH {
            let Some(waits) = lane.pop(|header, data| self.packet(peer, header, data)) else { break };
            taken = true;
            blocked |= waits;
        }
        if blocked && let Some(link) = self.find(peer) {
            link.area.ring_device();
        }
        taken
    }

    fn packet(&mut self, peer: usize, h: &Header, data: *const u8) {
        let fits = h.len as usize <= DATA && h.at.checked_add(h.len.into()).is_some_and(|end| end <= h.total);
        match h.kind {
            kind::PUT if fits => self.put(peer, h, data),
            kind::GET => self.out[peer].push_back(Job::Data {
                op: h.op,
                handle: h.handle,
                addr: h.addr,
                total: h.total,
                at: 0,
            }),
            kind::ATOMIC => {
                let done = self.update(h);
                let (status, value) = (done.err().unwrap_or(Status::OK), done.unwrap_or(0));
                self.out[peer].push_back(Job::Answer { op: h.op, status, value });
            }
            kind::GET_DATA if fits => self.got(peer, h, data),
            kind::ANSWER => self.answered(peer, h),
            // Nothing that a device of ours sends.
            _ => {}
        }
    }

    fn update(&self, h: &Header) -> Result<u64, Status> {
        let len = amo::width(h.amo_flags);
        let _reached = self.nic.registry.reach(h.handle, h.addr, len, access::REMOTE_ATOMIC)?;
        // SAFETY: registered memory, which stays so while `_reached` is held.
        unsafe { amo::apply(h.addr, h.amo, h.amo_flags, h.operand, h.compare) }
    }

    fn put(&mut self, peer: usize, h: &Header, data: *const u8) {
        let coming = self.coming.entry((peer, h.op)).or_default();
        let addr = h.addr.checked_add(h.at);
        let reached = addr
            .ok_or(Status::BAD_PARAM)
            .and_then(|addr| self.nic.registry.reach(h.handle, addr, h.len.into(), access::REMOTE_WRITE));
        match reached {
            // SAFETY: what was reached; the packet has `len` bytes.
            Ok(reached) => match unsafe { reached.write(data, h.len as usize) } {
                Status::OK => {}
                status => coming.failed = Some(status),
            },
            Err(status) => coming.failed = Some(status),
        }
        coming.bytes += u64::from(h.len);
        if coming.bytes >= h.total {
            let status = coming.failed.unwrap_or(Status::OK);
            self.coming.remove(&(peer, h.op));
            self.out[peer].push_back(Job::Answer { op: h.op, status, value: 0 });
        }
    }

    fn got(&mut self, peer: usize, h: &Header, data: *const u8) {
        // Of an operation that has ended already, or that was never ours.
        let Some((work, bytes)) = self.ops.get_mut(&h.op) else { return };
        if work.peer != peer || !matches!(work.what, OperationKind::Get) || h.total != work.len {
            return;
        }
        let (at, len) = (work.local + h.at, u64::from(h.len));
        let reached = self.nic.registry.reach(work.local_handle, at, len, access::LOCAL_WRITE);
        // SAFETY: what was reached; the packet has `len` bytes.
        let written = reached.and_then(|reached| unsafe { reached.write(data, len as usize) }.ok());
        if let Err(status) = written {
            eprintln!("btl fabric: the local memory of a get is registered no more: {status}");
            std::process::abort();
        }
        *bytes += u64::from(h.len);
        if *bytes >= work.len {
            self.ops.remove(&h.op);
            self.deliver(peer, Event { op: h.op, phase: Phase::Whole, status: Status::OK });
        }
    }

    fn answered(&mut self, peer: usize, h: &Header) {
        let Some(&(work, _)) = self.ops.get(&h.op).filter(|(w, _)| w.peer == peer) else { return };
        // Only data ends a get well.
        if matches!(work.what, OperationKind::Get) && h.status >= 0 {
            return;
        }
        self.ops.remove(&h.op);
        if let OperationKind::Atomic { flags, .. } = work.what
            && work.local != 0
            && h.status == 0
        {
            // SAFETY: the operation's result, as wide as the operand, which is its own until it ends.
            unsafe {
                match amo::width(flags) {
                    4 => (work.local as *mut u32).write_unaligned(h.operand as u32),
                    _ => (work.local as *mut u64).write_unaligned(h.operand),
                }
            }
        }
        let status = if h.status <= 0 { Status(h.status) } else { Status::INTERNAL };
        self.deliver(peer, Event { op: h.op, phase: Phase::Whole, status });
    }
}

/// Copies from an operation's local memory.
///
/// # Safety
/// `to` has room for `n` bytes.
unsafe fn read_local(nic: &Nic, work: &Work, at: u64, to: *mut u8, n: usize) -> Status {
    match nic.registry.reach(work.local_handle, work.local + at, n as u64, 0) {
        // SAFETY: what was reached; the rest is the caller's promise.
        Ok(reached) => unsafe { reached.read(to, n) },
        Err(status) => status,
    }
}

fn request(work: &Work, kind: u32) -> Header {
    Header { kind, op: work.op, handle: work.handle, addr: work.addr, total: work.len, ..Header::default() }
}
