//! Posts: fast transfers (FMA), bulk transfers (BTE), atomics, writes into queues, chains.
//!
//! Rules are checked in the order type, events, sizes and alignment, resources. A fast operation's handles and bounds are not looked at
//! here: what is wrong with them comes as an event. A post that is refused leaves its descriptor as it was.

use super::queues::local_queue;
use crate::amo::Amo;
use crate::config::config;
use crate::counters::{self, Counter};
use crate::cq::{Cq, Request};
use crate::domain::{Bound, Ep, Nic};
use crate::engine::{self, Command};
use crate::handles;
use crate::layouts::{CtAmo, CtCqWrite, CtGet, CtPut, PostDescriptor};
use crate::memory::{self, Access};
use crate::numbers::{BTE_MAX, FMA_MAX, Return, cqmode, dlvmode, event, mode, post, rc, rdmamode, statistic};
use crate::operation::{Chain, Completion, Operation, Piece, RemoteEvent, Work};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// Posts of the process, by which the set-up's faults are planned.
static POSTS: AtomicU64 = AtomicU64::new(0);

/// Rules of alignment (§3.1 of the facts): gets and atomics.
fn check_alignment(d: &PostDescriptor, local: u64) -> Result<(), Return> {
    let aligned = |n: u64| if n.is_multiple_of(4) { Ok(()) } else { Err(rc::ALIGNMENT_ERROR) };
    aligned(d.remote_addr)?;
    aligned(d.length)?;
    if config().is_gemini() || config().strict { aligned(local) } else { Ok(()) }
}

/// Work of a fast post.
fn fast_work(d: &PostDescriptor, nic: &Nic) -> Result<Work, Return> {
    match d.kind {
        post::FMA_PUT | post::FMA_PUT_W_SYNCFLAG if d.length > FMA_MAX => Err(rc::INVALID_PARAM),
        post::FMA_PUT | post::FMA_PUT_W_SYNCFLAG => {
            let piece = if config().late {
                Piece::Memory { address: d.local_addr, length: d.length }
            } else {
                let mut bytes = vec![0; d.length as usize];
                memory::read(d.local_addr, &mut bytes).map_err(|_| rc::INVALID_PARAM)?;
                Piece::Bytes(bytes)
            };
            let sync = (d.kind == post::FMA_PUT_W_SYNCFLAG).then_some((d.sync_flag_addr, d.sync_flag_value));
            if sync.is_some_and(|(address, _)| !address.is_multiple_of(8)) {
                return Err(rc::ALIGNMENT_ERROR);
            }
            counters::add(Counter::FmaPuts, 1);
            Ok(Work::Put { source: vec![piece], sync })
        }
        post::FMA_GET => {
            if d.length == 0 || d.length > FMA_MAX {
                return Err(rc::INVALID_PARAM);
            }
            check_alignment(d, d.local_addr)?;
            counters::add(Counter::FmaGets, 1);
            Ok(Work::Get { to: landing(d, d.length, nic.cookie) })
        }
        post::AMO => {
            let amo = Amo::of(d.amo_cmd, config().is_gemini()).ok_or(rc::ILLEGAL_OP)?;
            if amo.cached && nic.modes & mode::CACHED_AMO_ENABLED == 0 {
                return Err(rc::ILLEGAL_OP);
            }
            let bytes = amo.bytes as u64;
            if d.length == 0 {
                return Err(rc::INVALID_PARAM);
            }
            let local = if amo.fetches { d.local_addr } else { 0 };
            if !d.length.is_multiple_of(bytes)
                || !d.remote_addr.is_multiple_of(bytes)
                || !local.is_multiple_of(bytes)
            {
                return Err(rc::ALIGNMENT_ERROR);
            }
            counters::add(Counter::Amos, 1);
            let operands = [d.first_operand, d.second_operand];
            let to = amo.fetches.then(|| landing(d, bytes, nic.cookie));
            Ok(Work::Amo { command: d.amo_cmd, operands, to })
        }
        _ => Err(rc::INVALID_PARAM),
    }
}

/// The memory that a get or a fetching atomic fills.
fn landing(d: &PostDescriptor, length: u64, cookie: u32) -> Access {
    Access { handle: d.local_mem_hndl, address: d.local_addr, length, write: true, cookie }
}

/// Status of an operation whose result could not land; it comes as an event.
fn local_fault(work: &Work) -> u8 {
    match work {
        Work::Get { to } | Work::Amo { to: Some(to), .. } => to.check().err().unwrap_or(0),
        _ => 0,
    }
}

/// Where a post's completion comes, and what is told.
struct Plan {
    cq: Option<Arc<Cq>>,
    local: bool,
    global: bool,
    remote: bool,
}

/// Takes a request and makes the operation of a post.
fn make(
    ep: &Arc<Ep>,
    bound: Bound,
    d: &mut PostDescriptor,
    work: Work,
    plan: Plan,
    bulk: bool,
) -> Result<Operation, Return> {
    let tells = plan.local || plan.global;
    let mut completion = None;
    if tells {
        let cq = plan.cq.ok_or(rc::INVALID_PARAM)?;
        let events = u8::from(plan.local) + u8::from(plan.global);
        let request = Request::Post { descriptor: d, post_id: d.post_id, events, status: rc::SUCCESS };
        let Some(tid) = cq.begin(ep.handle, request) else {
            ep.nic.count(statistic::REQ_STALL);
            return Err(rc::ERROR_RESOURCE);
        };
        d.next_descr = core::ptr::null_mut();
        d.status = rc::NOT_DONE as u64;
        d.post_id = tid.into();
        let data = bound.local_event;
        let (local, global, ep) = (plan.local, plan.global, ep.clone());
        completion = Some(Completion { ep, cq, tid, kind: event::POST, local, global, data, chain: None });
        if let Some(c) = &completion {
            c.ep.state().outstanding += 1;
        }
    }
    let fault = local_fault(&work);
    Ok(Operation {
        target: (bound.address, bound.inst),
        inst: ep.nic.inst,
        cookie: ep.nic.cookie,
        handle: d.remote_mem_hndl,
        address: d.remote_addr,
        length: d.length,
        work,
        event: plan.remote.then_some(RemoteEvent { data: bound.remote_event, message: false }),
        bulk,
        in_order: d.dlvr_mode & dlvmode::IN_ORDER == dlvmode::IN_ORDER,
        completion,
        modes: ep.nic.modes,
        sent: 0,
        fault,
        retries: 0,
    })
}

/// Whether the set-up refuses the next post, which then counts as one.
fn is_refused() -> bool {
    let every = config().refuse;
    let refused = every != 0 && (POSTS.load(Ordering::Relaxed) + 1).is_multiple_of(every);
    if refused {
        POSTS.fetch_add(1, Ordering::Relaxed);
        counters::add(Counter::Refusals, 1);
    }
    refused
}

/// Counts an operation and hands it to the engine, unless it fails already: by the set-up, or because its result cannot land.
fn submit(mut operation: Operation) {
    let number = POSTS.fetch_add(1, Ordering::Relaxed) + 1;
    if number == config().error_at {
        operation.fault = config().error_status;
    }
    counters::add(Counter::Doorbells, 1);
    counters::add(Counter::Bytes, operation.length);
    if operation.fault != 0 {
        operation.end(0);
    } else {
        engine::submit(Command::Post(Box::new(operation)));
    }
}

fn events(d: &PostDescriptor) -> (bool, bool, bool) {
    let has = |bit| d.cq_mode & bit != 0;
    (has(cqmode::LOCAL_EVENT), has(cqmode::GLOBAL_EVENT), has(cqmode::REMOTE_EVENT))
}

/// The endpoint and descriptor of a post.
unsafe fn parts<'a>(
    ep: *mut c_void,
    d: *mut PostDescriptor,
) -> Result<(Arc<Ep>, Bound, &'a mut PostDescriptor), Return> {
    let ep = handles::ep(ep).ok_or(rc::INVALID_PARAM)?;
    // SAFETY: NULL, or the program's descriptor, which it leaves alone from here to its last event.
    let d = unsafe { d.as_mut() }.ok_or(rc::INVALID_PARAM)?;
    let bound = ep.state().bound.ok_or(rc::INVALID_PARAM)?;
    Ok((ep, bound, d))
}

fn code(outcome: Result<(), Return>) -> Return {
    outcome.err().unwrap_or(rc::SUCCESS)
}

/// Posts a fast transfer or an atomic.
///
/// # Safety
/// `d` is NULL or a descriptor that stays where it is until its last event; its local memory likewise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_PostFma(ep: *mut c_void, d: *mut PostDescriptor) -> Return {
    // SAFETY: promised.
    code(unsafe { post_fma(ep, d) })
}

unsafe fn post_fma(ep: *mut c_void, d: *mut PostDescriptor) -> Result<(), Return> {
    // SAFETY: the entry point's.
    let (ep, bound, d) = unsafe { parts(ep, d) }?;
    let _entered = ep.nic.enter();
    let (local, global, remote) = events(d);
    if local {
        return Err(rc::INVALID_PARAM);
    }
    let work = fast_work(d, &ep.nic)?;
    if is_refused() || !ep.nic.has_fma() {
        return Err(rc::ERROR_RESOURCE);
    }
    let plan = Plan { cq: ep.cq.clone(), local, global, remote };
    submit(make(&ep, bound, d, work, plan, false)?);
    Ok(())
}

/// Posts a bulk transfer.
///
/// # Safety
/// As GNI_PostFma.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_PostRdma(ep: *mut c_void, d: *mut PostDescriptor) -> Return {
    // SAFETY: promised.
    code(unsafe { post_rdma(ep, d) })
}

unsafe fn post_rdma(ep: *mut c_void, d: *mut PostDescriptor) -> Result<(), Return> {
    // SAFETY: the entry point's.
    let (ep, bound, d) = unsafe { parts(ep, d) }?;
    let _entered = ep.nic.enter();
    let (local, global, remote) = events(d);
    let modes = ep.nic.modes;
    if !matches!(d.kind, post::RDMA_PUT | post::RDMA_GET)
        || (local && global && modes & mode::DUAL_EVENTS == 0)
    {
        return Err(rc::INVALID_PARAM);
    }
    let fences = d.rdma_mode & rdmamode::FENCE != 0 && modes & mode::BTE_SINGLE_CHANNEL == 0;
    if fences || d.rdma_mode & rdmamode::PHYS_ADDR != 0 || d.length == 0 || d.length > BTE_MAX {
        return Err(rc::INVALID_PARAM);
    }
    let is_get = d.kind == post::RDMA_GET;
    let destination = if is_get { d.local_mem_hndl } else { d.remote_mem_hndl };
    if memory::is_read_only(destination) {
        return Err(rc::PERMISSION_ERROR);
    }
    if is_get {
        check_alignment(d, d.local_addr)?;
    }
    if !memory::is_whole(d.remote_mem_hndl)
        || (Access { write: is_get, ..landing(d, d.length, ep.nic.cookie) }).check().is_err()
    {
        return Err(rc::INVALID_PARAM);
    }
    if is_refused() {
        return Err(rc::ERROR_RESOURCE);
    }
    let mut cq = ep.cq.clone();
    if !d.src_cq_hndl.is_null() {
        cq = Some(local_queue(d.src_cq_hndl).ok_or(rc::INVALID_PARAM)?);
    }
    let handle = cq.as_ref().map_or(0, |c| c.handle);
    let work = if is_get {
        counters::add(Counter::BteGets, 1);
        Work::Get { to: landing(d, d.length, ep.nic.cookie) }
    } else {
        counters::add(Counter::BtePuts, 1);
        Work::Put { source: vec![Piece::Memory { address: d.local_addr, length: d.length }], sync: None }
    };
    if ep.state().outstanding >= config().bte as usize {
        return Err(rc::ERROR_RESOURCE);
    }
    let mut operation = make(&ep, bound, d, work, Plan { cq, local, global, remote }, true)?;
    d.src_cq_hndl = handle as *mut c_void;
    // With a fence, and on one channel, transfers go out as they came.
    operation.in_order |= modes & mode::BTE_SINGLE_CHANNEL != 0;
    submit(operation);
    Ok(())
}

/// Writes six bytes into the queue at a peer's memory.
///
/// # Safety
/// As GNI_PostFma.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_PostCqWrite(ep: *mut c_void, d: *mut PostDescriptor) -> Return {
    // SAFETY: promised.
    code(unsafe { post_cq_write(ep, d) })
}

unsafe fn post_cq_write(ep: *mut c_void, d: *mut PostDescriptor) -> Result<(), Return> {
    // SAFETY: the entry point's.
    let (ep, bound, d) = unsafe { parts(ep, d) }?;
    let _entered = ep.nic.enter();
    let plan = cq_write_plan(&ep, d)?;
    let operation = make_cq_write(&ep, bound, d, plan)?;
    submit(operation);
    Ok(())
}

/// Checks a write into a queue, or the first of a chain of them.
fn cq_write_plan(ep: &Ep, d: &PostDescriptor) -> Result<Plan, Return> {
    let (local, global, _) = events(d);
    if d.kind != post::CQWRITE || local {
        return Err(rc::INVALID_PARAM);
    }
    if is_refused() {
        return Err(rc::ERROR_RESOURCE);
    }
    Ok(Plan { cq: ep.cq.clone(), local, global, remote: false })
}

fn make_cq_write(
    ep: &Arc<Ep>,
    bound: Bound,
    d: &mut PostDescriptor,
    plan: Plan,
) -> Result<Operation, Return> {
    let work = Work::CqWrite { value: d.cqwrite_value & ((1 << 48) - 1) };
    let mut operation = make(ep, bound, d, work, plan, false)?;
    // The value goes to the queue, wherever in the memory the descriptor points.
    operation.address = (d.remote_mem_hndl.qword1 & ((1 << 52) - 1)) << 12;
    operation.length = 0;
    counters::add(Counter::CqWrites, 1);
    Ok(operation)
}

/// Posts a chain of writes into queues, which has one completion.
///
/// # Safety
/// As GNI_PostFma, for every element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CtPostCqWrite(ep: *mut c_void, d: *mut PostDescriptor) -> Return {
    // SAFETY: promised.
    code(unsafe { post_cq_write_chain(ep, d) })
}

unsafe fn post_cq_write_chain(ep: *mut c_void, d: *mut PostDescriptor) -> Result<(), Return> {
    // SAFETY: the entry point's.
    let (ep, bound, d) = unsafe { parts(ep, d) }?;
    let _entered = ep.nic.enter();
    let mut rest = Vec::new();
    let mut next = d.next_descr;
    while !next.is_null() {
        // SAFETY: the program's elements.
        let element = unsafe { &*next.cast::<CtCqWrite>() };
        let at = handles::ep(element.ep_hndl).ok_or(rc::INVALID_PARAM)?;
        let to = at.state().bound.ok_or(rc::INVALID_PARAM)?;
        // SAFETY: a descriptor consists of integers and pointers, for which zeros are values.
        let mut one: PostDescriptor = unsafe { core::mem::zeroed() };
        (one.remote_mem_hndl, one.cqwrite_value) = (element.remote_mem_hndl, element.cqwrite_value);
        rest.push((one, at, to));
        next = element.next_descr;
    }
    let plan = cq_write_plan(&ep, d)?;
    let first = make_cq_write(&ep, bound, d, plan)?;
    submit_chain(first, rest, make_cq_write)
}

/// Posts a chain of puts, gets or atomics, which has one completion.
///
/// # Safety
/// As GNI_PostFma, for every element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CtPostFma(ep: *mut c_void, d: *mut PostDescriptor) -> Return {
    // SAFETY: promised.
    code(unsafe { post_chain(ep, d) })
}

/// An element behind the first as a descriptor of its own, with its endpoint and the one behind it.
unsafe fn element(first: &PostDescriptor, at: *mut c_void) -> (PostDescriptor, *mut c_void, *mut c_void) {
    // SAFETY: a descriptor consists of integers and pointers, for which zeros are values.
    let mut d: PostDescriptor = unsafe { core::mem::zeroed() };
    (d.kind, d.dlvr_mode) = (first.kind, first.dlvr_mode);
    // SAFETY: elements of all kinds begin with the fields of a put.
    let put = unsafe { &*at.cast::<CtPut>() };
    (d.length, d.remote_addr, d.remote_mem_hndl, d.local_addr) =
        (put.length, put.remote_addr, put.remote_mem_hndl, put.local_addr);
    if matches!(first.kind, post::FMA_GET | post::AMO) {
        // SAFETY: an element of a chain of gets or atomics has it.
        d.local_mem_hndl = unsafe { &*at.cast::<CtGet>() }.local_mem_hndl;
    }
    if first.kind == post::AMO {
        // SAFETY: an element of a chain of atomics.
        let amo = unsafe { &*at.cast::<CtAmo>() };
        (d.amo_cmd, d.first_operand, d.second_operand) = (amo.amo_cmd, amo.first_operand, amo.second_operand);
    }
    (d, put.ep_hndl, put.next_descr)
}

unsafe fn post_chain(ep: *mut c_void, d: *mut PostDescriptor) -> Result<(), Return> {
    // SAFETY: the entry point's.
    let (ep, bound, d) = unsafe { parts(ep, d) }?;
    let _entered = ep.nic.enter();
    let (local, global, remote) = events(d);
    if local
        || !matches!(d.kind, post::FMA_PUT | post::FMA_GET | post::AMO)
        || d.dlvr_mode & dlvmode::ORDERED_TAIL != 0
    {
        return Err(rc::INVALID_PARAM);
    }
    let mut total = d.length;
    let mut rest = Vec::new();
    let mut next = d.next_descr;
    while !next.is_null() {
        // SAFETY: the program's elements.
        let (descriptor, handle, behind) = unsafe { element(d, next) };
        let at = handles::ep(handle).ok_or(rc::INVALID_PARAM)?;
        let to = at.state().bound.ok_or(rc::INVALID_PARAM)?;
        total = total.saturating_add(descriptor.length);
        let work = fast_work(&descriptor, &ep.nic)?;
        rest.push((descriptor, at, to, work));
        next = behind;
    }
    if total > if ep.nic.dedicated { FMA_MAX } else { 1 << 20 } {
        return Err(rc::SIZE_ERROR);
    }
    let work = fast_work(d, &ep.nic)?;
    if is_refused() || !ep.nic.has_fma() {
        return Err(rc::ERROR_RESOURCE);
    }
    let first = make(&ep, bound, d, work, Plan { cq: ep.cq.clone(), local, global, remote }, false)?;
    let (elements, mut works): (Vec<_>, Vec<_>) =
        rest.into_iter().map(|(descriptor, at, to, work)| ((descriptor, at, to), work)).unzip();
    works.reverse();
    submit_chain(first, elements, |at, to, d, plan| {
        let work = works.pop().expect("a work for each element");
        make(at, to, d, work, Plan { remote, ..plan }, false)
    })
}

/// Hands the operations of a chain to the engine: the first, and those that `make` makes of the others, with one completion for all.
fn submit_chain(
    mut first: Operation,
    rest: Vec<(PostDescriptor, Arc<Ep>, Bound)>,
    mut make: impl FnMut(&Arc<Ep>, Bound, &mut PostDescriptor, Plan) -> Result<Operation, Return>,
) -> Result<(), Return> {
    let chain = Arc::new(Chain { left: AtomicUsize::new(rest.len() + 1), worst: AtomicU8::new(0) });
    let of_chain = first.completion.as_mut().map(|c| {
        c.chain = Some(chain.clone());
        (c.ep.clone(), c.cq.clone(), c.tid, c.data, c.global)
    });
    let mut all = vec![first];
    for (mut descriptor, at, to) in rest {
        let silent = Plan { cq: None, local: false, global: false, remote: false };
        let mut operation = make(&at, to, &mut descriptor, silent)?;
        operation.completion = of_chain.clone().map(|(ep, cq, tid, data, global)| Completion {
            ep,
            cq,
            tid,
            kind: event::POST,
            local: false,
            global,
            data,
            chain: Some(chain.clone()),
        });
        all.push(operation);
    }
    all.into_iter().for_each(submit);
    Ok(())
}
