//! Verbs objects, each freed when its last owner goes, those in others before them.
//!
//! Functions that post and poll are called through pointers taken when the object was made, as verbs.h's inline functions do. Objects of a thread
//! domain, and completion queues for one thread, have no lock in the library: they are used, and pairs on such queues are destroyed,
//! by the holder of the lane alone (`context.rs`).

mod completions;
mod open_device;

pub use completions::{Channel, Completions, Poller};
pub use open_device::{OpenDevice, Refused};

use crate::sys::called;
use core::ffi::c_int;
use core::ptr::null_mut;
use open_device::Raw;
use oxmpi_verbs_abi::*;
use std::sync::Arc;

type PostSend = unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int;
type PostSrq = unsafe extern "C" fn(*mut Srq, *mut RecvWr, *mut *mut RecvWr) -> c_int;
type PostRecv = unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int;
type AllocTd = unsafe extern "C" fn(*mut Context, *mut TdInitAttr) -> *mut Td;
type DeallocTd = unsafe extern "C" fn(*mut Td) -> c_int;
type AllocParent = unsafe extern "C" fn(*mut Context, *mut ParentDomainInitAttr) -> *mut Pd;

/// A thread domain: its pairs have a doorbell register of their own, and no lock.
pub struct ThreadDomain {
    raw: Raw<Td>,
    device: Arc<OpenDevice>,
}

impl ThreadDomain {
    /// `sharing`: 1 or 2 threads for a page of registers, by the extension of 2018, which few libraries have; `None`: as the library has it.
    pub fn new(device: &Arc<OpenDevice>, sharing: Option<u32>) -> Option<Arc<ThreadDomain>> {
        let alloc = device.ext(ext::ALLOC_TD)?;
        device.ext(ext::DEALLOC_TD)?;
        let comp_mask = if sharing.is_some() { TdInitAttr::SHARING } else { 0 };
        let mut attr = TdInitAttr { comp_mask, sharing: sharing.unwrap_or(0) };
        // SAFETY: the slot has this type; an open context.
        let raw = unsafe {
            let alloc: AllocTd = core::mem::transmute(alloc);
            alloc(device.raw.at(), &mut attr)
        };
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }?;
        Some(Arc::new(ThreadDomain { raw, device: device.clone() }))
    }
}

impl Drop for ThreadDomain {
    fn drop(&mut self) {
        if let Some(f) = self.device.ext(ext::DEALLOC_TD) {
            // SAFETY: the slot has this type; no parent domain names it any more.
            unsafe {
                let f: DeallocTd = core::mem::transmute(f);
                f(self.raw.at());
            }
        }
    }
}

/// A protection domain, or a parent domain over one and a thread domain.
pub struct Domain {
    raw: Raw<Pd>,
    pub device: Arc<OpenDevice>,
    _parts: Option<(Arc<Domain>, Arc<ThreadDomain>)>,
}

impl Domain {
    pub fn new(device: &Arc<OpenDevice>) -> Result<Arc<Domain>, Refused> {
        // SAFETY: an open context.
        let (raw, why) = called(|| unsafe { (device.api.alloc_pd)(device.raw.at()) });
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }.ok_or_else(|| format!("cannot make a protection domain: {why}"))?;
        Ok(Arc::new(Domain { raw, device: device.clone(), _parts: None }))
    }

    pub fn under(pd: &Arc<Domain>, td: &Arc<ThreadDomain>) -> Option<Arc<Domain>> {
        let f = pd.device.ext(ext::ALLOC_PARENT_DOMAIN)?;
        let mut attr = ParentDomainInitAttr {
            pd: pd.raw.at(),
            td: td.raw.at(),
            comp_mask: 0,
            alloc: 0,
            free: 0,
            pd_context: null_mut(),
        };
        // SAFETY: the slot has this type; both parts are of the open context.
        let raw = unsafe {
            let f: AllocParent = core::mem::transmute(f);
            f(pd.device.raw.at(), &mut attr)
        };
        let parts = Some((pd.clone(), td.clone()));
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }?;
        Some(Arc::new(Domain { raw, device: pd.device.clone(), _parts: parts }))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // SAFETY: nothing of it is left. A parent goes before its parts.
        unsafe { (self.device.api.dealloc_pd)(self.raw.at()) };
    }
}

/// Registered memory.
pub struct Region {
    raw: Raw<Mr>,
    domain: Arc<Domain>,
}

impl Region {
    /// `rights`: bits of `ibv_access_flags`.
    ///
    /// # Safety
    /// The memory stays mapped as long as the region.
    pub unsafe fn new(domain: &Arc<Domain>, at: *mut u8, len: usize, rights: u32) -> Result<Region, Refused> {
        let api = &domain.device.api;
        // SAFETY: the caller's promise.
        let (raw, why) = called(|| unsafe { (api.reg_mr)(domain.raw.at(), at.cast(), len, rights as c_int) });
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }.ok_or_else(|| format!("cannot register {len} bytes: {why}"))?;
        Ok(Region { raw, domain: domain.clone() })
    }
    pub fn lkey(&self) -> u32 {
        // SAFETY: registered.
        unsafe { (*self.raw.at()).lkey }
    }
    pub fn rkey(&self) -> u32 {
        // SAFETY: registered; the library does not change it.
        unsafe { (*self.raw.at()).rkey }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: registered, once.
        unsafe { (self.domain.device.api.dereg_mr)(self.raw.at()) };
    }
}

/// Receive requests that several pairs share.
pub struct SharedReceives {
    raw: Raw<Srq>,
    post: PostSrq,
    domain: Arc<Domain>,
}

impl SharedReceives {
    pub fn new(domain: &Arc<Domain>, most: u32) -> Result<Arc<SharedReceives>, Refused> {
        let attr = SrqAttr { max_wr: most, max_sge: 1, srq_limit: 0 };
        let mut init = SrqInitAttr { srq_context: null_mut(), attr };
        let api = &domain.device.api;
        // SAFETY: a domain and attributes.
        let (raw, why) = called(|| unsafe { (api.create_srq)(domain.raw.at(), &mut init) });
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }
            .ok_or_else(|| format!("cannot make a shared receive queue of {most} entries: {why}"))?;
        // SAFETY: the slot has this type.
        let post = unsafe { core::mem::transmute::<usize, PostSrq>(domain.device.op(op::POST_SRQ_RECV)) };
        Ok(Arc::new(SharedReceives { raw, post, domain: domain.clone() }))
    }

    /// Any thread, since its domain is no thread domain. False: it is full.
    ///
    /// # Safety
    /// The memory is nobody else's until the device reports it.
    #[inline]
    pub unsafe fn post(&self, id: u64, mut sge: Sge) -> bool {
        let mut wr = RecvWr { wr_id: id, next: null_mut(), sg_list: &mut sge, num_sge: 1 };
        // SAFETY: alive; the entry is read during the call, and the memory is the device's by the caller's promise.
        unsafe { (self.post)(self.raw.at(), &mut wr, &mut null_mut()) == 0 }
    }
}

impl Drop for SharedReceives {
    fn drop(&mut self) {
        // SAFETY: its pairs hold it, so none is left.
        unsafe { (self.domain.device.api.destroy_srq)(self.raw.at()) };
    }
}

/// Parts and sizes of a new queue pair.
pub struct Shape<'a> {
    pub domain: &'a Arc<Domain>,
    pub completions: &'a Arc<Completions>,
    pub receives: Option<&'a Arc<SharedReceives>>,
    /// Of `qp_type`.
    pub kind: u32,
    pub sends: u32,
    pub own_receives: u32,
    pub inline: u32,
}

/// A queue pair.
pub struct Pair {
    raw: Raw<Qp>,
    post: PostSend,
    post_recv: PostRecv,
    /// Bytes that a request may carry.
    pub inline: u32,
    domain: Arc<Domain>,
    _completions: Arc<Completions>,
    _receives: Option<Arc<SharedReceives>>,
}

impl Pair {
    pub fn new(shape: &Shape<'_>) -> Result<Pair, Refused> {
        let cap = QpCap {
            max_send_wr: shape.sends,
            max_recv_wr: shape.own_receives,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: shape.inline,
        };
        let cq = shape.completions.raw.at();
        let mut init = QpInitAttr {
            qp_context: null_mut(),
            send_cq: cq,
            recv_cq: cq,
            srq: shape.receives.map_or(null_mut(), |s| s.raw.at()),
            cap,
            qp_type: shape.kind,
            sq_sig_all: 0,
        };
        let device = &shape.domain.device;
        // SAFETY: objects of one open context.
        let (raw, why) = called(|| unsafe { (device.api.create_qp)(shape.domain.raw.at(), &mut init) });
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }.ok_or_else(|| format!("cannot make a queue pair: {why}"))?;
        // SAFETY: slots of the context's table have these types.
        let (post, post_recv) = unsafe {
            (
                core::mem::transmute::<usize, PostSend>(device.op(op::POST_SEND)),
                core::mem::transmute::<usize, PostRecv>(device.op(op::POST_RECV)),
            )
        };
        Ok(Pair {
            raw,
            post,
            post_recv,
            inline: init.cap.max_inline_data,
            domain: shape.domain.clone(),
            _completions: shape.completions.clone(),
            _receives: shape.receives.cloned(),
        })
    }

    pub fn number(&self) -> u32 {
        // SAFETY: alive.
        unsafe { (*self.raw.at()).qp_num }
    }

    pub fn modify(&mut self, attr: &mut QpAttr, mask: u32) -> Result<(), Refused> {
        // SAFETY: alive, and attributes.
        let (status, why) =
            called(|| unsafe { (self.domain.device.api.modify_qp)(self.raw.at(), attr, mask as c_int) });
        if status == 0 {
            return Ok(());
        }
        Err(format!("cannot change a queue pair's state to {}: {why} ({status})", attr.qp_state))
    }

    /// Posts a list of requests. Err: the system's number; none that follows the refused one is taken, those before are.
    ///
    /// # Safety
    /// The list and its entries are readable; memory without `INLINE` stays as it is until completion.
    #[inline]
    pub unsafe fn post(&mut self, wr: *mut SendWr) -> Result<(), i32> {
        let mut bad = null_mut();
        // SAFETY: the caller's promise.
        let status = unsafe { (self.post)(self.raw.at(), wr, &mut bad) };
        if status == 0 { Ok(()) } else { Err(status) }
    }

    /// Posts one receive request. False: the queue is full.
    ///
    /// # Safety
    /// As of [`SharedReceives::post`].
    pub unsafe fn receive(&mut self, id: u64, mut sge: Sge) -> bool {
        let mut wr = RecvWr { wr_id: id, next: null_mut(), sg_list: &mut sge, num_sge: 1 };
        // SAFETY: alive; the entry is read during the call, and the memory is the device's by the caller's promise.
        unsafe { (self.post_recv)(self.raw.at(), &mut wr, &mut null_mut()) == 0 }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: alive, once.
        unsafe { (self.domain.device.api.destroy_qp)(self.raw.at()) };
    }
}

/// The way to a port, for datagrams.
pub struct Address {
    raw: Raw<Ah>,
    domain: Arc<Domain>,
}

impl Address {
    pub fn new(domain: &Arc<Domain>, mut attr: AhAttr) -> Result<Address, Refused> {
        // SAFETY: a domain and attributes.
        let (raw, why) = called(|| unsafe { (domain.device.api.create_ah)(domain.raw.at(), &mut attr) });
        // SAFETY: the library has just made it, for us.
        let raw = unsafe { Raw::of(raw) }.ok_or_else(|| format!("cannot make an address: {why}"))?;
        Ok(Address { raw, domain: domain.clone() })
    }
    pub fn raw(&self) -> *mut Ah {
        self.raw.at()
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        // SAFETY: alive, once.
        unsafe { (self.domain.device.api.destroy_ah)(self.raw.at()) };
    }
}
