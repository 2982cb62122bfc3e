//! Put and get by the device: fast ones (FMA) up to a limit, others by its engine (BTE), and flush.
//!
//! A put is complete when the target's node has acknowledged it, so flush waits for what is under way and asks nobody. Gets have to be
//! aligned to four bytes at the target (on Gemini at the source as well): the ends of one that is not land in a place of the device's own and are
//! copied, or the whole of it does. Operations of a context go over its device (its number modulo theirs), or over all in turn; whoever
//! reads a device's queue hands completions on to the lanes whose operations they are of.

use crate::abi::{MemHandle, device as kind, mem, post, rc};
use crate::context::{Context, Holder};
use crate::device::Device;
use crate::lane::Lane;
use crate::link::UgniEndpoint;
use crate::memory::{CHANGES, Handle};
use crate::nic::{Calls, Ep, Taken};
use crate::pending_operations::Issued;
use crate::posts::{Copied, Detour, Flying, LANDING, Operation, Piece, Posts, Slot};
use crate::rail::Rail;
use core::sync::atomic::Ordering;
use oxmpi_btl::{Completion, Entered, RmaDesc, Vouched, access};
use oxmpi_btl_support::Pages;
use oxmpi_mca::Status;
use std::sync::Arc;

/// Most bytes of a put: a window of a fast transfer, which the engine takes as well.
pub const PUT_LIMIT: u64 = 1 << 30;
/// Posts that are made together.
const STEP: usize = 32;
/// Completions taken at once.
const BATCH: usize = 64;
/// Alignment of gets.
const WORD: u64 = 4;

/// The posts of an operation.
pub struct Plan {
    pub pieces: Vec<Piece>,
    pub detour: Option<Detour>,
}

/// Refusals behind which there is room again.
fn is_busy(code: i32) -> bool {
    matches!(code, rc::ERROR_RESOURCE | rc::NOT_DONE | rc::ERROR_NOMEM)
}

fn status_of(code: i32) -> Status {
    match code {
        rc::PERMISSION_ERROR => Status::NO_PERMISSION,
        rc::INVALID_PARAM => Status::NO_PERMISSION,
        _ => Status::INTERNAL,
    }
}

impl Rail {
    /// Put or get.
    pub fn transfer(
        &self,
        at: &mut Entered<'_, Context>,
        to: &UgniEndpoint,
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
        is_put: bool,
    ) -> Status {
        let limit = if is_put { PUT_LIMIT } else { self.settings.get_limit };
        if rma.len > limit || rma.local_handle.is_null() || rma.remote_handle.is_null() {
            return Status::BAD_PARAM;
        }
        if rma.len == 0 {
            return Status::OK;
        }
        // SAFETY: the descriptor is vouched for: what it names, and is not null, are the bytes of a handle of this module.
        let local = Handle::read(unsafe { &*rma.local_handle.cast() });
        // SAFETY: the same of a peer's handle.
        let remote = Handle::read(unsafe { &*rma.remote_handle.cast() });
        let right = if is_put { access::REMOTE_WRITE } else { access::REMOTE_READ };
        if !remote.allows(rma.remote, rma.len, right) {
            return Status::NO_PERMISSION;
        }
        let place = rma.local.expose_provenance() as u64;
        if !local.allows(place, rma.len, 0) || (!is_put && local.rights & CHANGES == 0) {
            return Status::BAD_PARAM;
        }
        let plan = match is_put {
            true => Ok(self.put_plan(&rma, place, &local, &remote)),
            false => self.get_plan(&rma, place, &local, &remote),
        };
        match plan {
            Ok(plan) => self.issue(at, to, plan, done),
            Err(status) => status,
        }
    }

    /// `from` is the local address.
    fn put_plan(&self, rma: &RmaDesc, from: u64, local: &Handle, remote: &Handle) -> Plan {
        let fast = rma.len <= self.settings.fma_put_limit;
        let piece = Piece {
            kind: if fast { post::FMA_PUT } else { post::RDMA_PUT },
            fast,
            local: from,
            local_handle: local.gni,
            remote: rma.remote,
            remote_handle: remote.gni,
            len: rma.len,
            command: 0,
            operands: [0; 2],
            lands: false,
            copied: None,
        };
        Plan { pieces: vec![piece], detour: None }
    }

    /// `to` is the local address.
    fn get_plan(&self, rma: &RmaDesc, to: u64, local: &Handle, remote: &Handle) -> Result<Plan, Status> {
        let (begin, end) = (rma.remote, rma.remote + rma.len);
        let get = |to: u64, from: u64, len: u64, handle: MemHandle| {
            let fast = len <= self.settings.fma_get_limit;
            Piece {
                kind: if fast { post::FMA_GET } else { post::RDMA_GET },
                fast,
                local: to,
                local_handle: handle,
                remote: from,
                remote_handle: remote.gni,
                len,
                command: 0,
                operands: [0; 2],
                lands: false,
                copied: None,
            }
        };
        // The words from `first` on, of which the bytes from `from` to `until` are wanted.
        let landed = |first: u64, from: u64, until: u64| {
            let last = until.next_multiple_of(WORD);
            let copied = Copied {
                skip: (from - first) as usize,
                to: to + (from - begin),
                len: (until - from) as usize,
            };
            Piece { lands: true, copied: Some(copied), ..get(0, first, last - first, MemHandle::default()) }
        };
        let first = begin & !(WORD - 1);
        if end.next_multiple_of(WORD) - first <= LANDING as u64
            && !(begin.is_multiple_of(WORD) && end.is_multiple_of(WORD) && self.takes(to))
        {
            return Ok(Plan { pieces: vec![landed(first, begin, end)], detour: None });
        }
        let (middle, middle_end) = (begin.next_multiple_of(WORD), end & !(WORD - 1));
        let middle_to = to + (middle - begin);
        if !self.takes(middle_to) {
            return self.get_by_detour(rma, to, first, get);
        }
        let mut pieces = vec![get(middle_to, middle, middle_end - middle, local.gni)];
        if begin < middle {
            pieces.push(landed(first, begin, middle));
        }
        if middle_end < end {
            pieces.push(landed(middle_end, middle_end, end));
        }
        Ok(Plan { pieces, detour: None })
    }

    /// Whether gets may land there.
    fn takes(&self, local: u64) -> bool {
        self.kind == kind::ARIES || local.is_multiple_of(WORD)
    }

    /// A get whose both ends can not be aligned at once: into memory that is registered for it.
    fn get_by_detour(
        &self,
        rma: &RmaDesc,
        to: u64,
        first: u64,
        get: impl Fn(u64, u64, u64, MemHandle) -> Piece,
    ) -> Result<Plan, Status> {
        let len = (rma.remote + rma.len).next_multiple_of(WORD) - first;
        let pages = Pages::new(len as usize).map_err(|_| Status::NO_RESOURCE)?;
        let base = pages.base().expose_provenance() as u64;
        let nic = self.devices[0].nic.lock();
        // SAFETY: the pages stay until they are deregistered, when the get is over.
        let handle = unsafe { nic.register(base, pages.len() as u64, None, mem::READWRITE) };
        let handle = handle.map_err(|_| Status::NO_RESOURCE)?;
        let piece = get(base, first, len, handle);
        let skip = (rma.remote - first) as usize;
        let detour = Detour { pages, handle, skip, to, len: rma.len as usize };
        Ok(Plan { pieces: vec![piece], detour: Some(detour) })
    }

    /// Posts an operation, or has done nothing.
    pub fn issue(
        &self,
        at: &mut Entered<'_, Context>,
        to: &UgniEndpoint,
        plan: Plan,
        done: Completion,
    ) -> Status {
        let core = &to.process.core;
        if core.loss.is_declared() {
            return self.give_up(plan.detour, Status::PEER_FAILED);
        }
        let Some(card) = core.card.get() else { return self.give_up(plan.detour, Status::UNREACHABLE) };
        let (ctx, operations) = (at.number(), &mut at.operations);
        let turn = if self.settings.bind_devices { u64::from(ctx) } else { operations.next_number() };
        let number = (turn % self.devices.len() as u64) as usize;
        let device = &self.devices[number];
        let to = (card.address, card.insts[number % card.insts.len()]);
        let Plan { pieces, detour } = plan;
        let mut locked = device.nic.lock();
        let (calls, posts) = locked.parts();
        if posts.free.len() < pieces.len() && !self.grow(device, calls, posts) {
            drop(locked);
            return self.give_up(detour, Status::NO_RESOURCE);
        }
        let op = Arc::new(Operation::new(ctx as u16, operations.next_ticket(), core.clone(), pieces.len()));
        for (n, piece) in pieces.iter().enumerate() {
            let Some(id) = posts.free.pop() else { break };
            let slot = &mut posts.slots[id as usize];
            slot.flying = Some(Flying { operation: op.clone(), piece: *piece, to, retries: 0 });
            match post_slot(calls, slot, id) {
                Ok(()) => {}
                // Pieces have been posted already: the rest goes out when there is room.
                Err(code) if n > 0 && is_busy(code) => {
                    posts.waiting.push(id);
                    device.has_waiting.store(true, Ordering::Release);
                }
                Err(code) => {
                    slot.flying = None;
                    posts.free.push(id);
                    let status = if is_busy(code) { Status::NO_RESOURCE } else { status_of(code) };
                    if n == 0 {
                        drop(locked);
                        return self.give_up(detour, status);
                    }
                    op.fail(status);
                    op.is_over();
                }
            }
        }
        drop(locked);
        // A thread that finds it over meanwhile leaves it for the holder of this context.
        operations.began(Issued {
            number: operations.next_number(),
            proc: core.proc,
            device: number,
            detour,
            done,
        });
        Status::PENDING
    }

    /// An operation is not issued.
    fn give_up(&self, detour: Option<Detour>, status: Status) -> Status {
        if let Some(detour) = detour {
            let _ = self.devices[0].nic.lock().deregister(detour.handle);
        }
        status
    }

    /// Makes more posts. False: there are as many as there may be.
    fn grow(&self, device: &Device, calls: &Calls<'_>, posts: &mut Posts<Ep>) -> bool {
        let count = STEP.min(device.most - posts.slots.len().min(device.most));
        if count == 0 {
            return false;
        }
        let Ok(pages) = Pages::new(count * LANDING) else { return false };
        let base = pages.base().expose_provenance() as u64;
        let flags = mem::READWRITE | mem::RELAXED_PI_ORDERING;
        // SAFETY: the pages stay until they are deregistered, with the device.
        let Ok(handle) = (unsafe { calls.register(base, pages.len() as u64, None, flags) }) else {
            return false;
        };
        for n in 0..count {
            let Ok(ep) = calls.ep(Some(&device.completions), None) else { break };
            posts.free.push(posts.slots.len() as u32);
            posts.slots.push(Slot {
                descriptor: Box::new(crate::abi::PostDescriptor::empty()),
                ep,
                bound: None,
                landing: base + (n * LANDING) as u64,
                landing_handle: handle,
                flying: None,
            });
        }
        posts.landings.push((pages, handle));
        !posts.free.is_empty()
    }

    /// Takes completions of a lane's operations, and tells the host. How many.
    pub fn complete_operations<C: Holder>(&self, lane: &Lane, at: &mut Entered<'_, C>) -> i32 {
        let operations = &at.context().operations;
        if operations.is_empty() {
            return 0;
        }
        for (number, _) in operations.on_device.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.read_completions(number);
        }
        let finished = lane.take_finished();
        let handled = finished.len() as i32;
        let mut over = Vec::new();
        for op in finished {
            let status = op.status();
            let detour = at.context().operations.ended(op.ticket, status, &mut over);
            if let Some(detour) = detour {
                let _ = self.devices[0].nic.lock().deregister(detour.handle);
                if status.is_ok() {
                    // SAFETY: all its posts are over, and the host is told below.
                    unsafe { detour.copy() };
                }
            }
        }
        over.into_iter().for_each(|(done, status)| at.complete(done, status));
        handled
    }

    /// Reads a device's queue of completions, and hands operations that are over to their lanes.
    pub fn read_completions(&self, number: usize) {
        let device = &self.devices[number];
        let suspect = device.is_suspect.load(Ordering::Acquire);
        if !suspect && !device.has_waiting.load(Ordering::Acquire) && !device.completions.has_entry() {
            return;
        }
        let mut round = Round { rail: self, device, over: Vec::new(), lost: Vec::new() };
        let mut locked = device.nic.lock();
        let (calls, posts) = locked.parts();
        let overran = round.take(calls, posts);
        if overran || suspect {
            round.recover(calls, posts);
        }
        round.post_waiting(calls, posts);
        drop(locked);
        for op in round.lost {
            self.fail(&op.core, "its node does not take or answer puts and gets");
        }
        for op in round.over {
            self.lanes[usize::from(op.lane)].finish(op);
        }
    }
}

/// One reading of a device's queue, under its lock.
struct Round<'a> {
    rail: &'a Rail,
    device: &'a Device,
    /// Operations that are over, and those whose process is lost.
    over: Vec<Arc<Operation>>,
    lost: Vec<Arc<Operation>>,
}

impl Round<'_> {
    /// True: the queue has overrun.
    fn take(&mut self, calls: &Calls<'_>, posts: &mut Posts<Ep>) -> bool {
        let mut overran = false;
        for _ in 0..BATCH {
            let event = match calls.take_event(&self.device.completions) {
                Taken::Nothing => break,
                Taken::Event(event) | Taken::Failed(event) => event,
                Taken::Overrun(event) => {
                    overran = true;
                    event
                }
                Taken::Broken(code) => {
                    self.rail.host.error(&format!("a queue of completions: {}", calls.text(code)));
                    break;
                }
            };
            self.complete(calls, posts, event);
        }
        overran
    }

    fn complete(&mut self, calls: &Calls<'_>, posts: &mut Posts<Ep>, event: u64) {
        let Some(descriptor) = calls.completed(&self.device.completions, event) else { return };
        // SAFETY: a descriptor of ours, which the library is through with.
        let id = unsafe { (*descriptor).post_id } as u32;
        let Some(slot) = posts.slots.get_mut(id as usize) else { return };
        if !core::ptr::eq(&*slot.descriptor, descriptor) {
            return;
        }
        let Some(mut flying) = slot.flying.take() else { return };
        let Some((status, again)) = calls.failure(event, self.rail.kind) else {
            // SAFETY: its completion has come, and the operation is not over before this post of it is.
            unsafe { slot.copy(&flying.piece) };
            return self.end(posts, id, flying);
        };
        let repeats = again
            && flying.piece.may_be_repeated()
            && flying.retries < self.rail.settings.rdma_max_retries
            && !flying.operation.core.loss.is_declared();
        if repeats {
            flying.retries += 1;
            slot.flying = Some(flying);
            posts.waiting.push(id);
            self.device.has_waiting.store(true, Ordering::Release);
            return;
        }
        if status == Status::PEER_FAILED {
            self.lost.push(flying.operation.clone());
        }
        flying.operation.fail(status);
        self.end(posts, id, flying);
    }

    fn end(&mut self, posts: &mut Posts<Ep>, id: u32, flying: Flying) {
        posts.free.push(id);
        if flying.operation.is_over() {
            self.over.push(flying.operation);
        }
    }

    /// Posts what waits, until there is no room.
    fn post_waiting(&mut self, calls: &Calls<'_>, posts: &mut Posts<Ep>) {
        while let Some(&id) = posts.waiting.last() {
            match post_slot(calls, &mut posts.slots[id as usize], id) {
                Err(code) if is_busy(code) => return,
                outcome => {
                    posts.waiting.pop();
                    if let Err(code) = outcome
                        && let Some(flying) = posts.slots[id as usize].flying.take()
                    {
                        flying.operation.fail(status_of(code));
                        self.end(posts, id, flying);
                    }
                }
            }
        }
        self.device.has_waiting.store(false, Ordering::Release);
    }

    /// Finds posts whose completion was lost: the library is through with them, and the queue does not tell. Puts and gets are posted again;
    /// whether an atomic was carried out is not known, so it fails.
    fn recover(&mut self, calls: &Calls<'_>, posts: &mut Posts<Ep>) {
        let mut through = Vec::new();
        for (id, slot) in posts.slots.iter_mut().enumerate() {
            if slot.flying.is_none() || posts.waiting.contains(&(id as u32)) {
                continue;
            }
            let idle = calls.is_idle(&slot.ep).unwrap_or_else(|| {
                let unbound = calls.unbind(&slot.ep).is_ok();
                slot.bound = slot.bound.filter(|_| !unbound);
                unbound
            });
            if idle {
                through.push(id as u32);
            }
        }
        // Completions that were on their way to the queue are there now.
        while calls.has_entry(&self.device.completions) {
            self.take(calls, posts);
        }
        for id in through {
            let slot = &mut posts.slots[id as usize];
            if slot.flying.is_none() || posts.waiting.contains(&id) {
                continue;
            }
            // A new endpoint: the library keeps a request for the old one.
            calls.end(&slot.ep);
            slot.bound = None;
            let repeated = slot.flying.as_ref().is_some_and(|f| f.piece.may_be_repeated());
            match calls.ep(Some(&self.device.completions), None) {
                Ok(ep) => slot.ep = ep,
                Err(code) => self.rail.host.error(&format!("an endpoint: {}", calls.text(code))),
            }
            if repeated {
                posts.waiting.push(id);
                self.device.has_waiting.store(true, Ordering::Release);
            } else if let Some(flying) = slot.flying.take() {
                self.rail
                    .host
                    .warn("the completion of an atomic was lost: whether it was carried out is not known");
                flying.operation.fail(Status::INTERNAL);
                self.end(posts, id, flying);
            }
        }
        let suspect = posts.slots.iter().any(|slot| slot.flying.is_some());
        self.device.is_suspect.store(suspect, Ordering::Release);
    }
}

/// Posts what a slot carries.
fn post_slot(calls: &Calls<'_>, slot: &mut Slot<Ep>, id: u32) -> Result<(), i32> {
    let Some((to, fast)) = slot.flying.as_ref().map(|f| (f.to, f.piece.fast)) else { return Ok(()) };
    if slot.bound != Some(to) {
        if slot.bound.is_some() {
            calls.unbind(&slot.ep)?;
            slot.bound = None;
        }
        calls.bind(&slot.ep, to.0, to.1)?;
        slot.bound = Some(to);
    }
    slot.describe(id);
    // SAFETY: the descriptor is boxed and left alone until its completion; memory by the contract of operations.
    unsafe { calls.post(&slot.ep, &mut *slot.descriptor, fast) }
}
