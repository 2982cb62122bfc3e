//! Verbs objects, each freed when its last owner goes, those in others before them.
//!
//! Functions that post and poll are called through pointers taken when the object was made, as verbs.h's inline functions do. Objects of a thread
//! domain, and completion queues for one thread, have no lock in the library: they are used, and pairs on such queues are destroyed,
//! by the holder of the lane alone (`lane.rs`).

use crate::library::Api;
use crate::sys::called;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use oxmpi_verbs_abi::numbers::cq_flags;
use oxmpi_verbs_abi::*;
use std::os::fd::RawFd;
use std::sync::Arc;

type PostSend = unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int;
type PostSrq = unsafe extern "C" fn(*mut Srq, *mut RecvWr, *mut *mut RecvWr) -> c_int;
type PostRecv = unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int;
type Poll = unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int;
type Notify = unsafe extern "C" fn(*mut Cq, c_int) -> c_int;
type CreateCqEx = unsafe extern "C" fn(*mut Context, *mut CqInitAttrEx) -> *mut CqEx;
type AllocTd = unsafe extern "C" fn(*mut Context, *mut TdInitAttr) -> *mut Td;
type DeallocTd = unsafe extern "C" fn(*mut Td) -> c_int;
type AllocParent = unsafe extern "C" fn(*mut Context, *mut ParentDomainInitAttr) -> *mut Pd;
type QueryPort = unsafe extern "C" fn(*mut Context, u8, *mut c_void, usize) -> c_int;

/// A request that the library or the device has refused: the operation and the system's reason.
pub type Refused = String;

macro_rules! shared_by_threads {
    ($($t:ident),*) => { $(
        // SAFETY: the library may be called from any thread; which objects need one at a time is kept by their users.
        unsafe impl Send for $t {}
        // SAFETY: as above.
        unsafe impl Sync for $t {}
    )* };
}
shared_by_threads!(
    OpenDevice,
    Domain,
    ThreadDomain,
    Region,
    Channel,
    Completions,
    SharedReceives,
    Pair,
    Address
);

/// An open device.
pub struct OpenDevice {
    pub api: Arc<Api>,
    raw: *mut Context,
}

impl OpenDevice {
    /// # Safety
    /// A device of the library's list.
    pub unsafe fn open(api: &Arc<Api>, device: *mut Device) -> Result<Arc<OpenDevice>, Refused> {
        // SAFETY: the caller's promise.
        let (raw, why) = called(|| unsafe { (api.open_device)(device) });
        if raw.is_null() {
            return Err(format!("cannot open the device: {why}"));
        }
        Ok(Arc::new(OpenDevice { api: api.clone(), raw }))
    }

    /// Another context of the same device.
    pub fn reopen(&self) -> Result<Arc<OpenDevice>, Refused> {
        // SAFETY: the device of an open context.
        unsafe { OpenDevice::open(&self.api, (*self.raw).device) }
    }

    fn op(&self, slot: usize) -> usize {
        // SAFETY: an open context.
        unsafe { (*self.raw).ops[slot] }
    }

    /// A slot of the extended table in front of the context, if it is there.
    fn ext(&self, distance: usize) -> Option<*const ()> {
        // SAFETY: the table is there if the context says so, as long as it says in its last word.
        unsafe {
            if (*self.raw).abi_compat != usize::MAX {
                return None;
            }
            let word = |distance: usize| self.raw.byte_sub(distance).cast::<usize>().read();
            if word(ext::SZ) < size_of::<Context>() + distance {
                return None;
            }
            let at = word(distance) as *const ();
            (!at.is_null()).then_some(at)
        }
    }

    pub fn attributes(&self) -> Result<DeviceAttr, Refused> {
        // SAFETY: any bits are attributes.
        let mut attr = unsafe { core::mem::zeroed::<DeviceAttr>() };
        // SAFETY: an open context and a place.
        let (status, why) = called(|| unsafe { (self.api.query_device)(self.raw, &mut attr) });
        if status == 0 { Ok(attr) } else { Err(format!("cannot ask the device: {why}")) }
    }

    pub fn port(&self, number: u8) -> Result<PortAttr, Refused> {
        let mut attr = PortAttr::default();
        let place = (&raw mut attr).cast::<c_void>();
        // SAFETY: an open context; the slot has this type, and fills as much as it is told. The plain function fills the old struct,
        // which is shorter.
        let (status, why) = called(|| unsafe {
            match self.ext(ext::QUERY_PORT) {
                Some(f) => {
                    let f: QueryPort = core::mem::transmute(f);
                    f(self.raw, number, place, size_of::<PortAttr>())
                }
                None => (self.api.query_port)(self.raw, number, place),
            }
        });
        if status == 0 { Ok(attr) } else { Err(format!("cannot ask port {number}: {why}")) }
    }

    /// A GID, with its type where the library can tell.
    pub fn gid(&self, port: u8, index: u32) -> Option<(Gid, Option<u32>)> {
        if let Some(ask) = self.api.query_gid_ex {
            let mut entry = GidEntry::default();
            // SAFETY: an open context and a place of that size.
            let status = unsafe { ask(self.raw, port.into(), index, &mut entry, 0, size_of::<GidEntry>()) };
            return (status == 0 && entry.gid != [0; 16]).then_some((entry.gid, Some(entry.gid_type)));
        }
        let mut gid = [0; 16];
        // SAFETY: an open context and a place.
        let status = unsafe { (self.api.query_gid)(self.raw, port, index as c_int, &mut gid) };
        (status == 0 && gid != [0; 16]).then_some((gid, None))
    }

    /// A partition key, in the processor's byte order.
    pub fn partition(&self, port: u8, index: u32) -> Option<u16> {
        let mut key = 0;
        // SAFETY: as above.
        let status = unsafe { (self.api.query_pkey)(self.raw, port, index as c_int, &mut key) };
        (status == 0).then(|| u16::from_be(key))
    }

    pub fn async_fd(&self) -> RawFd {
        // SAFETY: an open context.
        unsafe { (*self.raw).async_fd }
    }

    /// The next asynchronous event, acknowledged; its descriptor must not block.
    pub fn next_event(&self) -> Option<AsyncEvent> {
        let mut event = AsyncEvent::default();
        // SAFETY: an open context and a place; what was got is acknowledged.
        unsafe {
            if (self.api.get_async_event)(self.raw, &mut event) != 0 {
                return None;
            }
            (self.api.ack_async_event)(&mut event);
        }
        Some(event)
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: open, and nothing of it is left.
        unsafe { (self.api.close_device)(self.raw) };
    }
}

/// A thread domain: its pairs have a doorbell register of their own, and no lock.
pub struct ThreadDomain {
    raw: *mut Td,
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
            alloc(device.raw, &mut attr)
        };
        (!raw.is_null()).then(|| Arc::new(ThreadDomain { raw, device: device.clone() }))
    }
}

impl Drop for ThreadDomain {
    fn drop(&mut self) {
        if let Some(f) = self.device.ext(ext::DEALLOC_TD) {
            // SAFETY: the slot has this type; no parent domain names it any more.
            unsafe {
                let f: DeallocTd = core::mem::transmute(f);
                f(self.raw);
            }
        }
    }
}

/// A protection domain, or a parent domain over one and a thread domain.
pub struct Domain {
    raw: *mut Pd,
    pub device: Arc<OpenDevice>,
    _parts: Option<(Arc<Domain>, Arc<ThreadDomain>)>,
}

impl Domain {
    pub fn new(device: &Arc<OpenDevice>) -> Result<Arc<Domain>, Refused> {
        // SAFETY: an open context.
        let (raw, why) = called(|| unsafe { (device.api.alloc_pd)(device.raw) });
        if raw.is_null() {
            return Err(format!("cannot make a protection domain: {why}"));
        }
        Ok(Arc::new(Domain { raw, device: device.clone(), _parts: None }))
    }

    pub fn under(pd: &Arc<Domain>, td: &Arc<ThreadDomain>) -> Option<Arc<Domain>> {
        let f = pd.device.ext(ext::ALLOC_PARENT_DOMAIN)?;
        let mut attr = ParentDomainInitAttr {
            pd: pd.raw,
            td: td.raw,
            comp_mask: 0,
            alloc: 0,
            free: 0,
            pd_context: null_mut(),
        };
        // SAFETY: the slot has this type; both parts are of the open context.
        let raw = unsafe {
            let f: AllocParent = core::mem::transmute(f);
            f(pd.device.raw, &mut attr)
        };
        let parts = Some((pd.clone(), td.clone()));
        (!raw.is_null()).then(|| Arc::new(Domain { raw, device: pd.device.clone(), _parts: parts }))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // SAFETY: nothing of it is left. A parent goes before its parts.
        unsafe { (self.device.api.dealloc_pd)(self.raw) };
    }
}

/// Registered memory.
pub struct Region {
    raw: *mut Mr,
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
        let (raw, why) = called(|| unsafe { (api.reg_mr)(domain.raw, at.cast(), len, rights as c_int) });
        if raw.is_null() {
            return Err(format!("cannot register {len} bytes: {why}"));
        }
        Ok(Region { raw, domain: domain.clone() })
    }
    pub fn lkey(&self) -> u32 {
        // SAFETY: registered.
        unsafe { (*self.raw).lkey }
    }
    pub fn rkey(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.raw).rkey }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: registered, once.
        unsafe { (self.domain.device.api.dereg_mr)(self.raw) };
    }
}

/// A completion channel, whose descriptor does not block.
pub struct Channel {
    raw: *mut CompChannel,
    device: Arc<OpenDevice>,
}

impl Channel {
    pub fn new(device: &Arc<OpenDevice>) -> Result<Arc<Channel>, Refused> {
        // SAFETY: an open context.
        let (raw, why) = called(|| unsafe { (device.api.create_comp_channel)(device.raw) });
        if raw.is_null() {
            return Err(format!("cannot make a completion channel: {why}"));
        }
        let channel = Channel { raw, device: device.clone() };
        // SAFETY: the channel's descriptor is open as long as it.
        unsafe { crate::sys::never_block(channel.fd()) }
            .map_err(|e| format!("cannot set up a completion channel: {e}"))?;
        Ok(Arc::new(channel))
    }
    pub fn fd(&self) -> RawFd {
        // SAFETY: alive.
        unsafe { (*self.raw).fd }
    }
    /// Takes all events that are there, and acknowledges them. Whether there was one.
    pub fn drain(&self) -> bool {
        let (mut cq, mut context) = (null_mut(), null_mut());
        let mut any = false;
        // SAFETY: alive; an event names a queue that is there.
        unsafe {
            while (self.device.api.get_cq_event)(self.raw, &mut cq, &mut context) == 0 {
                (self.device.api.ack_cq_events)(cq, 1);
                any = true;
            }
        }
        any
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: its queues hold it, so none is left.
        unsafe { (self.device.api.destroy_comp_channel)(self.raw) };
    }
}

/// A completion queue.
pub struct Completions {
    raw: *mut Cq,
    poll: Poll,
    notify: Notify,
    device: Arc<OpenDevice>,
    pub channel: Option<Arc<Channel>>,
}

impl Completions {
    /// `alone`: one thread at a time uses it, as far as the library can make use of that.
    pub fn new(
        device: &Arc<OpenDevice>,
        entries: u32,
        channel: Option<Arc<Channel>>,
        alone: bool,
    ) -> Result<Arc<Completions>, Refused> {
        let raw_channel = channel.as_ref().map_or(null_mut(), |c| c.raw);
        let extended = device.ext(ext::CREATE_CQ_EX).filter(|_| alone).map_or(null_mut(), |f| {
            let mut attr = CqInitAttrEx {
                cqe: entries,
                cq_context: null_mut(),
                channel: raw_channel,
                comp_vector: 0,
                wc_flags: 0,
                comp_mask: cq_flags::MASK_FLAGS,
                flags: cq_flags::SINGLE_THREADED,
                parent_domain: null_mut(),
            };
            // SAFETY: the slot has this type; an open context and its channel.
            unsafe {
                let f: CreateCqEx = core::mem::transmute(f);
                f(device.raw, &mut attr)
            }
        });
        let mut raw = extended.cast::<Cq>();
        if raw.is_null() {
            let plain = || {
                // SAFETY: as above.
                unsafe { (device.api.create_cq)(device.raw, entries as c_int, null_mut(), raw_channel, 0) }
            };
            let (made, why) = called(plain);
            if made.is_null() {
                return Err(format!("cannot make a completion queue of {entries} entries: {why}"));
            }
            raw = made;
        }
        // SAFETY: slots of the context's table have these types.
        let (poll, notify) = unsafe {
            (
                core::mem::transmute::<usize, Poll>(device.op(op::POLL_CQ)),
                core::mem::transmute::<usize, Notify>(device.op(op::REQ_NOTIFY_CQ)),
            )
        };
        Ok(Arc::new(Completions { raw, poll, notify, device: device.clone(), channel }))
    }

    /// How many entries were written to the front of `out`. Err: the queue is lost.
    #[inline]
    pub fn poll(&self, out: &mut [Wc]) -> Result<usize, ()> {
        // SAFETY: alive, and room for so many.
        let got = unsafe { (self.poll)(self.raw, out.len() as c_int, out.as_mut_ptr()) };
        usize::try_from(got).map_err(|_| ())
    }

    /// The next entry is reported on the channel.
    pub fn notify(&self) {
        // SAFETY: alive.
        unsafe { (self.notify)(self.raw, 0) };
    }
}

impl Drop for Completions {
    fn drop(&mut self) {
        if let Some(channel) = &self.channel {
            // A queue with an event that is not acknowledged is waited for.
            channel.drain();
        }
        // SAFETY: its pairs hold it, so none is left.
        unsafe { (self.device.api.destroy_cq)(self.raw) };
    }
}

/// Receive requests that several pairs share.
pub struct SharedReceives {
    raw: *mut Srq,
    post: PostSrq,
    domain: Arc<Domain>,
}

impl SharedReceives {
    pub fn new(domain: &Arc<Domain>, most: u32) -> Result<Arc<SharedReceives>, Refused> {
        let attr = SrqAttr { max_wr: most, max_sge: 1, srq_limit: 0 };
        let mut init = SrqInitAttr { srq_context: null_mut(), attr };
        let api = &domain.device.api;
        // SAFETY: a domain and attributes.
        let (raw, why) = called(|| unsafe { (api.create_srq)(domain.raw, &mut init) });
        if raw.is_null() {
            return Err(format!("cannot make a shared receive queue of {most} entries: {why}"));
        }
        // SAFETY: the slot has this type.
        let post = unsafe { core::mem::transmute::<usize, PostSrq>(domain.device.op(op::POST_SRQ_RECV)) };
        Ok(Arc::new(SharedReceives { raw, post, domain: domain.clone() }))
    }

    /// Any thread. False: it is full.
    #[inline]
    pub fn post(&self, id: u64, mut sge: Sge) -> bool {
        let mut wr = RecvWr { wr_id: id, next: null_mut(), sg_list: &mut sge, num_sge: 1 };
        // SAFETY: alive; the entry is read during the call.
        unsafe { (self.post)(self.raw, &mut wr, &mut null_mut()) == 0 }
    }
}

impl Drop for SharedReceives {
    fn drop(&mut self) {
        // SAFETY: its pairs hold it, so none is left.
        unsafe { (self.domain.device.api.destroy_srq)(self.raw) };
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
    raw: *mut Qp,
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
        let cq = shape.completions.raw;
        let mut init = QpInitAttr {
            qp_context: null_mut(),
            send_cq: cq,
            recv_cq: cq,
            srq: shape.receives.map_or(null_mut(), |s| s.raw),
            cap,
            qp_type: shape.kind,
            sq_sig_all: 0,
        };
        let device = &shape.domain.device;
        // SAFETY: objects of one open context.
        let (raw, why) = called(|| unsafe { (device.api.create_qp)(shape.domain.raw, &mut init) });
        if raw.is_null() {
            return Err(format!("cannot make a queue pair: {why}"));
        }
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
        unsafe { (*self.raw).qp_num }
    }

    pub fn modify(&self, attr: &mut QpAttr, mask: u32) -> Result<(), Refused> {
        // SAFETY: alive, and attributes.
        let (status, why) =
            called(|| unsafe { (self.domain.device.api.modify_qp)(self.raw, attr, mask as c_int) });
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
    pub unsafe fn post(&self, wr: *mut SendWr) -> Result<(), i32> {
        let mut bad = null_mut();
        // SAFETY: the caller's promise.
        let status = unsafe { (self.post)(self.raw, wr, &mut bad) };
        if status == 0 { Ok(()) } else { Err(status) }
    }

    /// Posts one receive request.
    pub fn receive(&self, id: u64, mut sge: Sge) -> bool {
        let mut wr = RecvWr { wr_id: id, next: null_mut(), sg_list: &mut sge, num_sge: 1 };
        // SAFETY: alive; the entry is read during the call.
        unsafe { (self.post_recv)(self.raw, &mut wr, &mut null_mut()) == 0 }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: alive, once.
        unsafe { (self.domain.device.api.destroy_qp)(self.raw) };
    }
}

/// The way to a port, for datagrams.
pub struct Address {
    raw: *mut Ah,
    domain: Arc<Domain>,
}

impl Address {
    pub fn new(domain: &Arc<Domain>, mut attr: AhAttr) -> Result<Address, Refused> {
        // SAFETY: a domain and attributes.
        let (raw, why) = called(|| unsafe { (domain.device.api.create_ah)(domain.raw, &mut attr) });
        if raw.is_null() {
            return Err(format!("cannot make an address: {why}"));
        }
        Ok(Address { raw, domain: domain.clone() })
    }
    pub fn raw(&self) -> *mut Ah {
        self.raw
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        // SAFETY: alive, once.
        unsafe { (self.domain.device.api.destroy_ah)(self.raw) };
    }
}
