//! The device's verbs. Messages go through rings in the receiver's memory, from context to context; one-sided verbs go through
//! the agent thread (`agent.rs`) of both sides.

use crate::amo;
use crate::context::Table;
use crate::nic::{Link, Nic, Op, OperationKind, Work, held};
use crate::params::{Completions, Offered};
use crate::wire::{Address, HANDLE, Handle};
use core::sync::atomic::fence;
use oxmpi_btl::amo::operand;
use oxmpi_btl::{
    Arrival, AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPut, BtlSleep, Completion,
    Contexts, Entered, Memory, Message, Peer, ProcInfo, RegHandle, RmaDesc, Vouched, WaitFd, WaitSet, WaitWord,
    access,
};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Host, MemKind, Status, StrRef};
use rustix::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Messages and completions taken in one call.
const BATCH: i32 = 32;
/// In `FabricModule::procs`: not known yet.
const UNKNOWN: u32 = u32::MAX;
/// There: broke the rules, and is not listened to any more.
const CLOSED: u32 = u32::MAX - 1;

pub struct FabricModule {
    pub host: Host,
    pub nic: Arc<Nic>,
    /// Index of the process of each sender.
    procs: Box<[AtomicU32]>,
    /// Failures that the host knows.
    told: AtomicU32,
    agent: Mutex<Option<JoinHandle<()>>>,
    /// Where counts go in the end.
    counts: Option<PathBuf>,
}

/// The data of a context.
#[repr(align(128))]
#[derive(Default)]
pub struct Context {
    table: Table,
    out: Vec<u8>,
    /// Taken out while a message in it is handed up.
    inbound: Vec<u8>,
    calls: Vec<(Completion, Status)>,
    dice: u64,
}

impl Context {
    /// Context `ctx` of a device whose messages overtake each other by this seed.
    pub fn new(ctx: u32, seed: u64) -> Context {
        Context { dice: seed.wrapping_add(ctx.into()), ..Context::default() }
    }
}

type At<'a> = Entered<'a, Context>;
type To = Peer<FabricModule>;

pub struct Endpoint {
    number: usize,
    /// `None`: the process has ended, and all that it sent is here.
    link: Option<Arc<Link>>,
}

impl Endpoint {
    /// The way to the process. PEER_FAILED: there is none any more.
    fn link(&self) -> Result<&Link, Status> {
        match &self.link {
            Some(link) if !link.failed.load(Ordering::SeqCst) => Ok(link),
            _ => Err(Status::PEER_FAILED),
        }
    }
}

impl FabricModule {
    pub fn new(host: Host, nic: Arc<Nic>, agent: JoinHandle<()>, counts: Option<PathBuf>) -> FabricModule {
        FabricModule {
            procs: (0..nic.area.senders()).map(|_| AtomicU32::new(UNKNOWN)).collect(),
            told: AtomicU32::new(0),
            agent: Mutex::new(Some(agent)),
            counts,
            host,
            nic,
        }
    }

    /// Checks our own memory: registered, and all of it.
    fn is_ours(&self, handle: Option<Handle>, addr: u64, len: u64, access: u32) -> bool {
        handle.is_some_and(|h| self.nic.registry.reach(h, addr, len, access).is_ok())
    }

    /// Hands an operation to the agent.
    fn post(&self, at: &mut At<'_>, peer: &To, done: Completion, work: impl FnOnce(Op) -> Work) -> Status {
        if let Err(status) = peer.link() {
            return status;
        }
        if at.table.len() >= self.nic.settings.outstanding {
            return Status::NO_RESOURCE;
        }
        let ctx = at.number();
        let op = at.table.enter(ctx, peer.number, done);
        let (work, counts) = (work(op), &self.nic.counts);
        let count = match work.what {
            OperationKind::Put => &counts.puts,
            OperationKind::Get => &counts.gets,
            OperationKind::Atomic { .. } => &counts.atomics,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.nic.post(work);
        Status::PENDING
    }

    fn rma(
        &self,
        at: &mut At<'_>,
        peer: &To,
        (rma, done): (Vouched<'_, RmaDesc>, Completion),
        (what, local): (OperationKind, u32),
    ) -> Status {
        let (limit, align) = (self.nic.settings.rma_limit, self.nic.settings.alignment.max(1));
        let here = rma.local as u64;
        let aligned = [here, rma.remote, rma.len].iter().all(|x| x.is_multiple_of(align));
        // SAFETY: the caller's handles, of the size that the attributes say, or null.
        let (ours, theirs) = unsafe { (handle_of(rma.local_handle), handle_of(rma.remote_handle)) };
        let Some(handle) = theirs else { return Status::BAD_PARAM };
        if !aligned || (limit != 0 && rma.len > limit) || !self.is_ours(ours, here, rma.len, local) {
            return Status::BAD_PARAM;
        }
        let (peer_number, local_handle) = (peer.number, ours.unwrap_or_default());
        self.post(at, peer, done, |op| Work {
            op,
            peer: peer_number,
            what,
            handle,
            addr: rma.remote,
            local: here,
            local_handle,
            len: rma.len,
        })
    }

    fn complete(&self, at: &mut At<'_>) -> i32 {
        let mut handled = 0;
        while handled < BATCH {
            let Some(event) = self.nic.event(at.number()) else { break };
            handled += 1;
            let context: &mut Context = at;
            context.table.take(event, &mut context.calls);
            let mut calls = core::mem::take(&mut context.calls);
            calls.drain(..).for_each(|(done, status)| at.complete(done, status));
            // Its memory is used again.
            at.calls = calls;
        }
        handled
    }

    /// The process of a sender.
    fn proc_of(&self, sender: usize) -> Option<u32> {
        let known = self.procs[sender].load(Ordering::Relaxed);
        if known != UNKNOWN {
            return (known != CLOSED).then_some(known);
        }
        let address = self.nic.area.sender(sender)?;
        let (services, mut index) = (self.host.services(), 0);
        let status = (services.index_of)(self.host.table().instance, &address.name, &mut index);
        let proc = if status.is_err() { CLOSED } else { index };
        self.procs[sender].store(proc, Ordering::Relaxed);
        status.is_ok().then_some(index)
    }

    fn receive(&self, at: &mut At<'_>) -> i32 {
        let (ctx, mut handled) = (at.number(), 0);
        for sender in (0..self.procs.len()).filter(|s| *s != self.nic.number) {
            let ring = self.nic.area.ring(sender, ctx);
            if ring.is_empty() || self.skips(at) {
                continue;
            }
            let Some(proc) = self.proc_of(sender) else { continue };
            while handled < BATCH {
                let lying = match ring.look(self.nic.settings.max_send_size) {
                    Ok(Some(lying)) => lying,
                    Ok(None) => break,
                    Err(why) => {
                        self.procs[sender].store(CLOSED, Ordering::Relaxed);
                        self.host.peer_error(proc, true, &why);
                        break;
                    }
                };
                handled += 1;
                let mut bytes = core::mem::take(&mut at.inbound);
                bytes.resize(self.nic.settings.max_send_size, 0);
                ring.take(&lying, &mut bytes);
                let message = Arrival { proc, tag: lying.tag, bytes: bytes[..lying.len].into(), link: 0 };
                let answer = at.deliver(&self.host, message);
                at.inbound = bytes;
                if answer.stops() {
                    return handled;
                }
            }
        }
        handled
    }

    /// Whether messages of a sender are left for another turn: contexts and senders overtake each other.
    fn skips(&self, at: &mut Context) -> bool {
        if self.nic.settings.seed == 0 {
            return false;
        }
        at.dice = at.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        at.dice >> 33 & 3 == 0
    }

    fn tell_failures(&self) {
        let failures = self.nic.failures.load(Ordering::Relaxed);
        if self.told.swap(failures, Ordering::Relaxed) == failures {
            return;
        }
        for link in self.nic.untold() {
            let Some(proc) = self.proc_of(link.number) else { continue };
            let message = "the device lost its connection";
            let (instance, services) = (self.host.table().instance, self.host.services());
            (services.peer_failed)(instance, proc, Status::PEER_FAILED, StrRef::of(message));
        }
    }
}

/// A handle as it was given; None for a null pointer.
///
/// # Safety
/// It has `HANDLE` bytes, or is null.
unsafe fn handle_of(handle: *const RegHandle) -> Option<Handle> {
    // SAFETY: not null, so of `HANDLE` bytes by the caller's promise.
    (!handle.is_null()).then(|| unsafe { handle.cast::<Handle>().read_unaligned() })
}

impl Btl for FabricModule {
    type Context = Context;
    type Endpoint = Endpoint;
    type Lane = ();

    fn attrs(&self) -> BtlAttrs {
        let (s, mut a) = (&self.nic.settings, BtlAttrs::new());
        a.eager_limit = s.eager_limit as u64;
        a.rndv_eager_limit = s.eager_limit as u64;
        a.max_send_size = s.max_send_size as u64;
        if matches!(s.verbs, Offered::All | Offered::GetAlone) {
            a.min_get_size = s.min_rma_size as u64;
            a.get_limit = s.rma_limit;
            a.get_alignment = s.alignment;
        }
        if matches!(s.verbs, Offered::All | Offered::PutAlone) {
            a.min_put_size = s.min_rma_size as u64;
            a.put_limit = s.rma_limit;
            a.put_alignment = s.alignment;
        }
        if s.verbs == Offered::All {
            a.amo_ops = (1 << (oxmpi_btl::amo::COMPARE_SWAP + 1)) - 1;
            a.amo_operands = operand::ALL;
        }
        if s.verbs != Offered::Nothing {
            a.registration_handle_size = HANDLE as u32;
            a.registration_limit = s.registration_limit;
        }
        a.flags = BtlAttrs::AMO_COHERENT | BtlAttrs::STRIPES;
        if s.put_done_is_remote {
            a.flags |= BtlAttrs::PUT_DONE_IS_REMOTE;
        }
        if s.seed == 0 {
            a.flags |= BtlAttrs::PUTS_ORDERED;
        }
        a.exclusivity = s.exclusivity;
        a.latency = 20;
        a.bandwidth = 1000;
        a.device[..6].copy_from_slice(b"fabric");
        a
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Endpoint>, Status> {
        if proc.proc == self.host.job().rank {
            return Ok(None);
        }
        let blob = match self.host.exchange_get(proc.proc) {
            Ok(blob) => blob,
            // The peer does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        let refused = |why: String| {
            // A node that is made up is on this machine, and is reached; another machine is not, and says nothing wrong by that.
            if proc.local == 0 {
                return Ok(None);
            }
            self.host.warn(&format!("process {} is not reached: {why}", proc.proc));
            Ok(None)
        };
        let Some(address) = Address::of(&blob) else { return refused("its address is damaged".into()) };
        match self.nic.link(proc.proc as usize, &address) {
            Ok(link) => {
                self.procs[link.number].store(proc.proc, Ordering::Relaxed);
                Ok(Some(Endpoint { number: link.number, link: Some(link) }))
            }
            // It was here, and has ended: what it sent is taken.
            Err(why) if self.nic.area.knows(proc.proc as usize) => {
                self.host.debug(&format!("process {} has ended: {why}", proc.proc));
                Ok(Some(Endpoint { number: proc.proc as usize, link: None }))
            }
            Err(why) => refused(why),
        }
    }

    fn lane(&self, _: &Endpoint, _: u32) {}

    fn send(&self, at: &mut At<'_>, peer: &To, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.nic.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let (ctx, link) = match peer.link() {
            Ok(link) => (at.number(), link),
            Err(status) => return status,
        };
        if ctx >= link.area.contexts() {
            return Status::NOT_SUPPORTED;
        }
        at.out.resize(msg.total_len(), 0);
        msg.write(&mut at.out);
        if !link.area.ring(self.nic.number, ctx).push(msg.tag(), &at.out) {
            return Status::NO_RESOURCE;
        }
        self.nic.counts.messages.fetch_add(1, Ordering::Relaxed);
        link.area.ring_context(ctx);
        Status::OK
    }

    fn progress(&self, at: &mut At<'_>) -> i32 {
        self.tell_failures();
        self.complete(at) + self.receive(at)
    }

    /// Messages lie with their receivers already; the agent sends the answers that it owes.
    fn finalize(&self, _: &mut Contexts<'_, Context>) {
        self.nic.stop.store(true, Ordering::SeqCst);
        self.nic.area.ring_device();
        if let Some(agent) = held(&self.agent).take()
            && agent.join().is_err()
        {
            self.host.error("the device's thread panicked");
        }
        if let Some(path) = &self.counts
            && let Err(e) = std::fs::write(path, self.nic.counts.line())
        {
            self.host.error(&format!("{}: {e}", path.display()));
        }
    }
}

impl BtlGet for FabricModule {
    fn get(&self, at: &mut At<'_>, peer: &To, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.rma(at, peer, (rma, done), (OperationKind::Get, access::LOCAL_WRITE))
    }
}

impl BtlPut for FabricModule {
    fn put(&self, at: &mut At<'_>, peer: &To, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.rma(at, peer, (rma, done), (OperationKind::Put, 0))
    }
}

impl BtlFlush for FabricModule {
    fn flush(&self, at: &mut At<'_>, peer: Option<&To>, done: Completion) -> Status {
        at.table.flush(peer.map(|p| p.number), self.nic.settings.outstanding, done)
    }
}

impl BtlAtomics for FabricModule {
    fn atomic(&self, at: &mut At<'_>, peer: &To, op: Vouched<'_, AtomicDesc>, done: Completion) -> Status {
        let (local, width) = (op.result as u64, amo::width(op.flags));
        // SAFETY: the caller's handles, of the size that the attributes say, or null.
        let (ours, theirs) = unsafe { (handle_of(op.local_handle), handle_of(op.remote_handle)) };
        let Some(handle) = theirs else { return Status::BAD_PARAM };
        if !amo::is_known(op.op, op.flags) || !op.remote.is_multiple_of(width) {
            return Status::BAD_PARAM;
        }
        if local != 0 && !self.is_ours(ours, local, width, access::LOCAL_WRITE) {
            return Status::BAD_PARAM;
        }
        let what =
            OperationKind::Atomic { amo: op.op, flags: op.flags, operand: op.operand, compare: op.compare };
        let (number, addr) = (peer.number, op.remote);
        let local_handle = ours.unwrap_or_default();
        self.post(at, peer, done, |op| Work {
            op,
            peer: number,
            what,
            handle,
            addr,
            local,
            local_handle,
            len: width,
        })
    }
}

impl BtlMemory for FabricModule {
    const HANDLE_SIZE: usize = HANDLE;

    fn register(&self, memory: Memory, access: u32, handle: &mut [u8]) -> Status {
        if memory.kind != MemKind::HOST {
            return Status::NOT_SUPPORTED;
        }
        match self.nic.registry.add(memory.addr as u64, memory.len, access) {
            Ok(made) => {
                // SAFETY: the host gives as many bytes as the attributes say.
                unsafe { handle.as_mut_ptr().cast::<Handle>().write_unaligned(made) };
                Status::OK
            }
            Err(status) => status,
        }
    }

    fn deregister(&self, handle: &[u8]) -> Status {
        // SAFETY: a handle of ours has `HANDLE` bytes.
        unsafe { handle_of(handle.as_ptr().cast()) }.map_or(Status::BAD_PARAM, |h| self.nic.registry.remove(h))
    }
}

impl BtlSleep for FabricModule {
    /// SYNC POINT with `Area::ring_context`: says that it sleeps, then looks.
    fn arm(&self, at: &mut At<'_>, set: &mut WaitSet) -> Status {
        let ctx = at.number();
        let bell = &self.nic.area.head().bells[ctx as usize];
        if self.nic.settings.by_descriptor {
            self.drain(ctx);
        }
        bell.asleep.store(1, Ordering::SeqCst);
        let expected = bell.word.load(Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let untold = self.nic.failures.load(Ordering::SeqCst) != self.told.load(Ordering::Relaxed);
        let message = (0..self.procs.len()).any(|s| {
            self.procs[s].load(Ordering::Relaxed) != CLOSED && !self.nic.area.ring(s, ctx).is_empty()
        });
        if untold || message || self.nic.has_events(ctx) {
            return Status::PENDING;
        }
        if self.nic.settings.by_descriptor {
            let fd = self.nic.descriptors[ctx as usize].as_raw_fd();
            // POLLIN.
            return set.add_fd(WaitFd { fd, events: 1 });
        }
        set.add_word(WaitWord { addr: bell.word.as_ptr(), expected, reserved: 0 })
    }

    fn disarm(&self, at: &mut At<'_>) {
        let ctx = at.number();
        self.nic.area.head().bells[ctx as usize].asleep.store(0, Ordering::SeqCst);
        if self.nic.settings.by_descriptor {
            self.drain(ctx);
        }
    }
}

impl FabricModule {
    /// Takes what was written to a descriptor.
    fn drain(&self, ctx: u32) {
        let mut number = [0; 8];
        let _ = rustix::io::read(&self.nic.descriptors[ctx as usize], &mut number);
    }

    /// Whether completions come only by order.
    pub fn waits_for_orders(&self) -> bool {
        matches!(self.nic.settings.completion, Completions::OnDemand | Completions::Never)
    }
}
