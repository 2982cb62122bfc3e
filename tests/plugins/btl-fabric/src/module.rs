//! The device's verbs. Messages go through rings in the receiver's memory, from context to context; one-sided verbs go through
//! the agent thread (`agent.rs`) of both sides.

use crate::amo;
use crate::context::{Callback, Table};
use crate::nic::{Link, Nic, Op, OperationKind, Work, held};
use crate::params::{Completions, Offered};
use crate::wire::{Address, HANDLE, Handle};
use core::cell::RefCell;
use core::ffi::c_void;
use core::sync::atomic::fence;
use oxmpi_btl::amo::operand;
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlMemory, BtlPut, BtlSleep, FlushDesc, Message,
    ProcInfo, RegHandle, RmaDesc, WaitFd, WaitSet, WaitWord, access,
};
use oxmpi_mca::host::receive::STOP;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Host, MemKind, RecvDesc, Status, StrRef};
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
    contexts: Box<[Context]>,
    /// Index of the process of each sender.
    procs: Box<[AtomicU32]>,
    /// Failures that the host knows.
    told: AtomicU32,
    agent: Mutex<Option<JoinHandle<()>>>,
    /// Where counts go in the end.
    counts: Option<PathBuf>,
}

#[repr(align(128))]
struct Context(RefCell<State>);

#[derive(Default)]
struct State {
    table: Table,
    out: Vec<u8>,
    inbound: Vec<u8>,
    calls: Vec<(Callback, Status)>,
    dice: u64,
}

// SAFETY: the contract of BTLs: the caller serialises all verbs of one context, and each verb borrows its own only.
unsafe impl Sync for Context {}
// SAFETY: callbacks and their arguments may be used from the thread that holds the context, whichever that is.
unsafe impl Send for Context {}

pub struct Peer {
    number: usize,
    /// `None`: the process has ended, and all that it sent is here.
    link: Option<Arc<Link>>,
}

impl Peer {
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
        let state = |ctx| State { dice: nic.settings.seed.wrapping_add(ctx), ..State::default() };
        FabricModule {
            contexts: (0..nic.area.contexts()).map(|c| Context(RefCell::new(state(c.into())))).collect(),
            procs: (0..nic.area.senders()).map(|_| AtomicU32::new(UNKNOWN)).collect(),
            told: AtomicU32::new(0),
            agent: Mutex::new(Some(agent)),
            counts,
            host,
            nic,
        }
    }

    fn state(&self, ctx: u32) -> &RefCell<State> {
        &self.contexts[ctx as usize].0
    }

    /// Checks our own memory: registered, and all of it.
    fn is_ours(&self, handle: *const RegHandle, addr: u64, len: u64, access: u32) -> bool {
        handle_of(handle).is_some_and(|h| self.nic.registry.reach(h, addr, len, access).is_ok())
    }

    /// Hands an operation to the agent.
    fn post(&self, peer: &Peer, ctx: u32, callback: Callback, work: impl FnOnce(Op) -> Work) -> Status {
        if let Err(status) = peer.link() {
            return status;
        }
        let mut state = self.state(ctx).borrow_mut();
        if state.table.len() >= self.nic.settings.outstanding {
            return Status::NO_RESOURCE;
        }
        let op = state.table.enter(ctx, peer.number, callback);
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

    fn rma(&self, peer: &Peer, ctx: u32, rma: &RmaDesc, what: OperationKind, local: u32) -> Status {
        let (limit, align) = (self.nic.settings.rma_limit, self.nic.settings.alignment.max(1));
        let here = rma.local as u64;
        let aligned = [here, rma.remote, rma.len].iter().all(|x| x.is_multiple_of(align));
        let Some(handle) = handle_of(rma.remote_handle) else { return Status::BAD_PARAM };
        if !aligned
            || (limit != 0 && rma.len > limit)
            || !self.is_ours(rma.local_handle, here, rma.len, local)
        {
            return Status::BAD_PARAM;
        }
        let callback = Callback { done: rma.done, ctx: rma.done_ctx };
        let (peer_number, local_handle) = (peer.number, handle_of(rma.local_handle).unwrap_or_default());
        self.post(peer, ctx, callback, |op| Work {
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

    fn complete(&self, ctx: u32) -> i32 {
        let mut handled = 0;
        while handled < BATCH {
            let Some(event) = self.nic.event(ctx) else { break };
            handled += 1;
            let mut calls = {
                let mut state = self.state(ctx).borrow_mut();
                let state = &mut *state;
                state.table.take(event, &mut state.calls);
                core::mem::take(&mut state.calls)
            };
            calls.drain(..).for_each(|(callback, status)| callback.call(status));
            // Its memory is used again.
            self.state(ctx).borrow_mut().calls = calls;
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

    fn receive(&self, ctx: u32) -> i32 {
        let mut handled = 0;
        for sender in (0..self.procs.len()).filter(|s| *s != self.nic.number) {
            let ring = self.nic.area.ring(sender, ctx);
            if ring.is_empty() || self.skips(ctx) {
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
                let mut bytes = core::mem::take(&mut self.state(ctx).borrow_mut().inbound);
                bytes.resize(self.nic.settings.max_send_size, 0);
                ring.take(&lying, &mut bytes);
                let row = self.host.am(lying.tag);
                let desc = RecvDesc {
                    data: bytes.as_ptr(),
                    len: lying.len as u64,
                    proc,
                    ctx,
                    module: self as *const FabricModule as *mut c_void,
                    link: 0,
                };
                let answer = (row.receive)(row.ctx, &desc);
                self.state(ctx).borrow_mut().inbound = bytes;
                if answer & STOP != 0 {
                    return handled;
                }
            }
        }
        handled
    }

    /// Whether messages of a sender are left for another turn: contexts and senders overtake each other.
    fn skips(&self, ctx: u32) -> bool {
        if self.nic.settings.seed == 0 {
            return false;
        }
        let mut state = self.state(ctx).borrow_mut();
        state.dice = state.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state.dice >> 33 & 3 == 0
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
fn handle_of(handle: *const RegHandle) -> Option<Handle> {
    // SAFETY: the caller's handle, of `HANDLE` bytes.
    (!handle.is_null()).then(|| unsafe { handle.cast::<Handle>().read_unaligned() })
}

impl Btl for FabricModule {
    type Endpoint = Peer;

    fn attrs(&self) -> BtlAttrs {
        let (s, mut a) = (&self.nic.settings, BtlAttrs::new());
        a.contexts = self.nic.area.contexts();
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

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<Peer>>, Status> {
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
                Ok(Some(Box::new(Peer { number: link.number, link: Some(link) })))
            }
            // It was here, and has ended: what it sent is taken.
            Err(why) if self.nic.area.knows(proc.proc as usize) => {
                self.host.debug(&format!("process {} has ended: {why}", proc.proc));
                Ok(Some(Box::new(Peer { number: proc.proc as usize, link: None })))
            }
            Err(why) => refused(why),
        }
    }

    fn send(&self, peer: &Peer, ctx: u32, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.nic.settings.max_send_size || ctx as usize >= self.contexts.len() {
            return Status::BAD_PARAM;
        }
        let link = match peer.link() {
            Ok(link) => link,
            Err(status) => return status,
        };
        if ctx >= link.area.contexts() {
            return Status::NOT_SUPPORTED;
        }
        let mut state = self.state(ctx).borrow_mut();
        state.out.clear();
        state.out.extend_from_slice(msg.header());
        state.out.resize(msg.total_len(), 0);
        let payload = state.out[msg.header().len()..].as_mut_ptr();
        // SAFETY: room for the payload.
        unsafe { msg.write_payload(payload) };
        if !link.area.ring(self.nic.number, ctx).push(msg.tag(), &state.out) {
            return Status::NO_RESOURCE;
        }
        self.nic.counts.messages.fetch_add(1, Ordering::Relaxed);
        link.area.ring_context(ctx);
        Status::OK
    }

    fn progress(&self, ctx: u32) -> i32 {
        if ctx as usize >= self.contexts.len() {
            return 0;
        }
        self.tell_failures();
        self.complete(ctx) + self.receive(ctx)
    }

    /// Messages lie with their receivers already; the agent sends the answers that it owes.
    fn finalize(&self) {
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
    fn get(&self, peer: &Peer, ctx: u32, rma: &RmaDesc) -> Status {
        self.rma(peer, ctx, rma, OperationKind::Get, access::LOCAL_WRITE)
    }
}

impl BtlPut for FabricModule {
    fn put(&self, peer: &Peer, ctx: u32, rma: &RmaDesc) -> Status {
        self.rma(peer, ctx, rma, OperationKind::Put, 0)
    }
}

impl BtlFlush for FabricModule {
    fn flush(&self, peer: Option<&Peer>, ctx: u32, flush: &FlushDesc) -> Status {
        let callback = Callback { done: flush.done, ctx: flush.done_ctx };
        let most = self.nic.settings.outstanding;
        self.state(ctx).borrow_mut().table.flush(peer.map(|p| p.number), most, callback)
    }
}

impl BtlAtomics for FabricModule {
    fn atomic(&self, peer: &Peer, ctx: u32, op: &AtomicDesc) -> Status {
        let (local, width) = (op.result as u64, amo::width(op.flags));
        let Some(handle) = handle_of(op.remote_handle) else { return Status::BAD_PARAM };
        if !amo::is_known(op.op, op.flags) || !op.remote.is_multiple_of(width) {
            return Status::BAD_PARAM;
        }
        if local != 0 && !self.is_ours(op.local_handle, local, width, access::LOCAL_WRITE) {
            return Status::BAD_PARAM;
        }
        let what =
            OperationKind::Atomic { amo: op.op, flags: op.flags, operand: op.operand, compare: op.compare };
        let (number, addr) = (peer.number, op.remote);
        let callback = Callback { done: op.done, ctx: op.done_ctx };
        let local_handle = handle_of(op.local_handle).unwrap_or_default();
        self.post(peer, ctx, callback, |op| Work {
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

    fn register(&self, addr: *mut u8, len: u64, access: u32, kind: MemKind, handle: &mut [u8]) -> Status {
        if kind != MemKind::HOST {
            return Status::NOT_SUPPORTED;
        }
        match self.nic.registry.add(addr as u64, len, access) {
            Ok(made) => {
                // SAFETY: the host gives as many bytes as the attributes say.
                unsafe { handle.as_mut_ptr().cast::<Handle>().write_unaligned(made) };
                Status::OK
            }
            Err(status) => status,
        }
    }

    fn deregister(&self, handle: &[u8]) -> Status {
        handle_of(handle.as_ptr().cast()).map_or(Status::BAD_PARAM, |h| self.nic.registry.remove(h))
    }
}

impl BtlSleep for FabricModule {
    /// SYNC POINT with `Area::ring_context`: says that it sleeps, then looks.
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
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

    fn disarm(&self, ctx: u32) {
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
