//! A virtual device: a communication domain of this process, attached to the node's device.
//!
//! The library takes no locks: two threads may be in calls on different virtual devices, never on one. So every call on a device
//! and on what was made on it goes through [`Entered`], which holds the device's lock. It is a leaf: nothing is called while it is held.

use crate::abi::{
    DATAGRAM, Ep, MemHandle, Object, PostDescriptor, Return, SMSG_ANY_TAG, SmsgAttr, cq_mode, device, event,
    post, rc,
};
use crate::library::Api;
use crate::posts::Posts;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_mca::Status;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Identity of a job's processes to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub ptag: u8,
    pub cookie: u32,
    pub device: u32,
}

pub struct Nic {
    pub api: Arc<Api>,
    cdm: Object,
    nic: Object,
    /// Address of the node, and number of the domain on it: how peers reach the device.
    pub address: u32,
    pub inst: u32,
    lock: Mutex<Posts>,
    tally: Tally,
}

/// Counts of a device, which are logged at its end.
#[derive(Default)]
struct Tally {
    /// How often the lock was taken, and how often another thread had it then.
    acquisitions: AtomicU64,
    waits: AtomicU64,
    /// Posts that the library has taken.
    fast_puts: AtomicU64,
    bulk_puts: AtomicU64,
    others: AtomicU64,
    messages: AtomicU64,
}

// SAFETY: handles of the library, used under the lock.
unsafe impl Send for Nic {}
// SAFETY: as above.
unsafe impl Sync for Nic {}

/// Numbers that are tried for a domain before the node counts as full.
const TRIES: u32 = 4096;

impl Nic {
    /// Attaches a domain with the first number from `first` on that nobody on this node has.
    pub fn attach(api: &Arc<Api>, who: Credentials, modes: u32, first: u32) -> Result<Nic, Return> {
        for number in 0..TRIES {
            let inst = first.wrapping_add(number);
            let (mut cdm, mut nic, mut address) = (null_mut(), null_mut(), 0);
            // SAFETY: places for what is made.
            let code = unsafe { (api.cdm_create)(inst, who.ptag, who.cookie, modes, &mut cdm) };
            if code != rc::SUCCESS {
                return Err(code);
            }
            // SAFETY: as above.
            match unsafe { (api.cdm_attach)(cdm, who.device, &mut address, &mut nic) } {
                rc::SUCCESS => {
                    return Ok(Nic {
                        api: api.clone(),
                        cdm,
                        nic,
                        address,
                        inst,
                        lock: Mutex::default(),
                        tally: Tally::default(),
                    });
                }
                code => {
                    // SAFETY: made above, and used no more.
                    unsafe { (api.cdm_destroy)(cdm) };
                    // The number is another domain's.
                    if code != rc::INVALID_STATE {
                        return Err(code);
                    }
                }
            }
        }
        Err(rc::ERROR_RESOURCE)
    }

    pub fn enter(&self) -> Entered<'_> {
        let posts = match self.lock.try_lock() {
            Ok(posts) => posts,
            Err(TryLockError::Poisoned(poison)) => poison.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.tally.waits.fetch_add(1, Ordering::Relaxed);
                self.lock.lock().unwrap_or_else(|poison| poison.into_inner())
            }
        };
        self.tally.acquisitions.fetch_add(1, Ordering::Relaxed);
        Entered { calls: Calls { nic: self }, posts }
    }

    pub fn acquisitions(&self) -> u64 {
        self.tally.acquisitions.load(Ordering::Relaxed)
    }

    /// The counts as pairs of a name and a number, which a test reads.
    pub fn counted(&self) -> String {
        let Tally { acquisitions, waits, fast_puts, bulk_puts, others, messages } = &self.tally;
        let [taken, waits, fast, bulk, others, messages] =
            [acquisitions, waits, fast_puts, bulk_puts, others, messages].map(|n| n.load(Ordering::Relaxed));
        format!(
            "locks={taken} waits={waits} fast_puts={fast} bulk_puts={bulk} other_posts={others} messages={messages}"
        )
    }

    /// Bytes of a mailbox with these attributes.
    pub fn mailbox_size(&self, mut attr: SmsgAttr) -> Result<u32, Return> {
        let mut size = 0;
        // SAFETY: attributes and a place.
        let code = unsafe { (self.api.smsg_buffer_size_needed)(&mut attr, &mut size) };
        if code == rc::SUCCESS && size > 0 { Ok(size) } else { Err(code) }
    }

    /// Waits until a datagram with an identifier is over, or for so long. Needs no lock, as consumers of the library have it.
    pub fn wait_for_datagram(&self, ms: u32) {
        let mut id = 0;
        // SAFETY: the device, and a place.
        unsafe { (self.api.post_data_probe_wait_by_id)(self.nic, ms, &mut id) };
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        // SAFETY: what was made on it is gone, since it has this device.
        unsafe { (self.api.cdm_destroy)(self.cdm) };
    }
}

fn done(code: Return) -> Result<(), Return> {
    if code == rc::SUCCESS { Ok(()) } else { Err(code) }
}

/// A completion queue.
pub struct Cq {
    nic: Arc<Nic>,
    handle: Object,
}

// SAFETY: a handle, used under its device's lock.
unsafe impl Send for Cq {}
// SAFETY: as above.
unsafe impl Sync for Cq {}

impl Cq {
    pub fn new(nic: &Arc<Nic>, entries: u32, blocking: bool) -> Result<Cq, Return> {
        let entered = nic.enter();
        let mut handle = null_mut();
        let mode = if blocking { cq_mode::BLOCKING } else { cq_mode::NOBLOCK };
        // SAFETY: the device, and a place.
        let code = unsafe {
            (nic.api.cq_create)(entered.calls.nic.nic, entries, 0, mode, None, null_mut(), &mut handle)
        };
        done(code)?;
        Ok(Cq { nic: nic.clone(), handle })
    }

    /// Whether an entry is there. No lock is needed.
    #[inline]
    pub fn has_entry(&self) -> bool {
        // SAFETY: the queue lives.
        unsafe { (self.nic.api.cq_test_event)(self.handle) != rc::NOT_DONE }
    }
}

impl Drop for Cq {
    fn drop(&mut self) {
        let _entered = self.nic.enter();
        // SAFETY: the queue lives until here. A queue that something still refers to stays until its domain goes.
        unsafe { (self.nic.api.cq_destroy)(self.handle) };
    }
}

/// Result of reading a completion queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Nothing,
    Event(u64),
    /// The operation of the event has failed.
    Failed(u64),
    /// Entries were lost; this one is there.
    Overrun(u64),
    /// The queue cannot be read.
    Broken(Return),
}

/// A descriptor that becomes readable when an armed queue gets an entry.
pub struct Channel {
    nic: Arc<Nic>,
    handle: Object,
    pub fd: i32,
}

// SAFETY: a handle, used under its device's lock.
unsafe impl Send for Channel {}
// SAFETY: as above.
unsafe impl Sync for Channel {}

impl Channel {
    /// `None`: the library has no channels.
    pub fn new(nic: &Arc<Nic>, queues: &[&Cq]) -> Result<Option<Channel>, Return> {
        let api = &nic.api;
        let (Some(create), Some(fd_of), Some(attach)) =
            (api.comp_chan_create, api.comp_chan_fd, api.cq_attach_comp_chan)
        else {
            return Ok(None);
        };
        let entered = nic.enter();
        let mut channel = Channel { nic: nic.clone(), handle: null_mut(), fd: -1 };
        // SAFETY: the device and places; queues of the device.
        unsafe {
            if let Err(code) = done(create(entered.calls.nic.nic, &mut channel.handle)) {
                drop(entered);
                return Err(code);
            }
            let mut code = fd_of(channel.handle, &mut channel.fd);
            for queue in queues {
                if code == rc::SUCCESS {
                    code = attach(queue.handle, channel.handle);
                }
            }
            drop(entered);
            done(code)?;
        }
        Ok(Some(channel))
    }

    /// Forgets what was reported, and has the next entry of these queues reported, or one that is there.
    pub fn arm(&self, queues: &[&Cq]) {
        let _entered = self.nic.enter();
        let (Some(next), Some(arm)) = (self.nic.api.comp_chan_get_event, self.nic.api.cq_arm_comp_chan)
        else {
            return;
        };
        let mut which = null_mut();
        let mut handles: [Object; 4] = [null_mut(); 4];
        let n = queues.len().min(handles.len());
        for (handle, queue) in handles.iter_mut().zip(queues) {
            *handle = queue.handle;
        }
        // SAFETY: the channel and its queues live.
        unsafe {
            while next(self.handle, &mut which) == rc::SUCCESS {}
            arm(handles.as_mut_ptr(), n as u32);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if let (Some(destroy), false) = (self.nic.api.comp_chan_destroy, self.handle.is_null()) {
            let _entered = self.nic.enter();
            // SAFETY: made by `new`, and used no more.
            unsafe { destroy(self.handle) };
        }
    }
}

/// A datagram that is over.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    pub state: i32,
    pub address: u32,
    pub inst: u32,
}

/// The right to call the library on a device, and what is under way on it.
pub struct Entered<'a> {
    pub calls: Calls<'a>,
    pub posts: MutexGuard<'a, Posts>,
}

impl<'a> core::ops::Deref for Entered<'a> {
    type Target = Calls<'a>;
    fn deref(&self) -> &Calls<'a> {
        &self.calls
    }
}

/// The library's calls on a device, for the holder of its lock.
pub struct Calls<'a> {
    nic: &'a Nic,
}

impl Calls<'_> {
    fn api(&self) -> &Api {
        &self.nic.api
    }

    /// Makes an endpoint, bound unless `peer` is absent.
    pub fn ep(&self, cq: Option<&Cq>, peer: Option<(u32, u32)>) -> Result<Ep, Return> {
        let mut ep = null_mut();
        let cq = cq.map_or(null_mut(), |c| c.handle);
        // SAFETY: the device and a queue of it, and a place.
        done(unsafe { (self.api().ep_create)(self.nic.nic, cq, &mut ep) })?;
        if let Some((address, inst)) = peer {
            self.bind(Ep(ep), address, inst).inspect_err(|_| self.destroy(Ep(ep)))?;
        }
        Ok(Ep(ep))
    }
    pub fn bind(&self, ep: Ep, address: u32, inst: u32) -> Result<(), Return> {
        // SAFETY: the endpoint lives.
        done(unsafe { (self.api().ep_bind)(ep.0, address, inst) })
    }
    /// Ends an endpoint; what is under way on it has no event any more.
    pub fn destroy(&self, ep: Ep) {
        // SAFETY: the endpoint lives, and is used no more.
        unsafe {
            (self.api().ep_unbind)(ep.0);
            (self.api().ep_destroy)(ep.0);
        }
    }
    pub fn set_event_data(&self, ep: Ep, local: u32, remote: u32) -> Result<(), Return> {
        // SAFETY: the endpoint lives.
        done(unsafe { (self.api().ep_set_event_data)(ep.0, local, remote) })
    }

    /// # Safety
    /// `out` stays until the datagram is over or cancelled.
    pub unsafe fn post_datagram(
        &self,
        ep: Ep,
        data: &[u8; DATAGRAM],
        out: *mut u8,
        id: u64,
    ) -> Result<(), Return> {
        let data = data.as_ptr().cast_mut().cast::<c_void>();
        let len = DATAGRAM as u16;
        // SAFETY: `data` is read during the call, `out` by the caller's promise.
        done(unsafe { (self.api().ep_post_data_w_id)(ep.0, data, len, out.cast(), len, id) })
    }
    /// The identifier of a datagram that is over.
    pub fn probe_datagram(&self) -> Option<u64> {
        let mut id = 0;
        // SAFETY: the device, and a place.
        (unsafe { (self.api().post_data_probe_by_id)(self.nic.nic, &mut id) } == rc::SUCCESS).then_some(id)
    }
    /// Takes a datagram that is over, by what `probe_datagram` has said; what came is in its place then.
    pub fn take_datagram(&self, ep: Ep, id: u64) -> Result<Datagram, Return> {
        let mut d = Datagram { state: 0, address: 0, inst: 0 };
        // SAFETY: the endpoint lives; places. It is over, so this does not wait.
        let code = unsafe {
            (self.api().ep_post_data_wait_by_id)(ep.0, id, 1, &mut d.state, &mut d.address, &mut d.inst)
        };
        done(code).map(|()| d)
    }
    pub fn cancel_datagram(&self, ep: Ep, id: u64) {
        // SAFETY: the endpoint lives.
        unsafe { (self.api().ep_post_data_cancel_by_id)(ep.0, id) };
    }

    /// # Safety
    /// The memory is the caller's until it is deregistered.
    pub unsafe fn register(
        &self,
        at: *mut u8,
        len: u64,
        cq: Option<&Cq>,
        flags: u32,
    ) -> Result<MemHandle, Return> {
        let mut handle = MemHandle::default();
        let cq = cq.map_or(null_mut(), |c| c.handle);
        // SAFETY: the device and its queue; the memory by the caller's promise.
        let code = unsafe {
            (self.api().mem_register)(self.nic.nic, at as u64, len, cq, flags, u32::MAX, &mut handle)
        };
        done(code).map(|()| handle)
    }
    pub fn deregister(&self, mut handle: MemHandle) -> Result<(), Return> {
        // SAFETY: the device, and a handle.
        done(unsafe { (self.api().mem_deregister)(self.nic.nic, &mut handle) })
    }

    pub fn take_event(&self, cq: &Cq) -> Taken {
        let mut event = 0;
        // SAFETY: the queue lives; a place.
        let code = unsafe { (self.api().cq_get_event)(cq.handle, &mut event) };
        // SAFETY: a function of a number.
        let overrun = code != rc::NOT_DONE && unsafe { (self.api().cq_overrun)(event) != 0 };
        match code {
            rc::NOT_DONE => Taken::Nothing,
            rc::ERROR_RESOURCE => Taken::Overrun(event),
            _ if overrun => Taken::Overrun(event),
            rc::SUCCESS => Taken::Event(event),
            rc::TRANSACTION_ERROR => Taken::Failed(event),
            code => Taken::Broken(code),
        }
    }

    /// Number of the message whose event this is.
    pub fn message_id(&self, event: u64) -> Option<u32> {
        // SAFETY: functions of a number.
        unsafe {
            let is_message = (self.api().cq_get_type)(event) == event::SMSG;
            is_message.then(|| (self.api().cq_get_msg_id)(event) as u32)
        }
    }
    /// Number in an event of a remote queue.
    pub fn index(&self, event: u64) -> u32 {
        // SAFETY: a function of a number.
        unsafe { (self.api().cq_get_inst_id)(event) as u32 }
    }
    pub fn has_entry(&self, cq: &Cq) -> bool {
        cq.has_entry()
    }
    /// Status of a failed post, from its event, and whether the post may be tried again. `None`: it has not failed.
    pub fn failure(&self, event: u64, kind: i32) -> Option<(Status, bool)> {
        // SAFETY: a function of a number.
        let status = unsafe { (self.api().cq_get_status)(event) };
        let forbidden = match kind {
            // Descriptor, bounds, permission.
            device::GEMINI => (6..=10).contains(&status),
            _ => (0x0d..=0x1e).contains(&status),
        };
        match status {
            0 => None,
            _ if forbidden => Some((Status::NO_PERMISSION, false)),
            _ if self.api().is_recoverable(event) => Some((Status::PEER_FAILED, true)),
            _ => Some((Status::INTERNAL, false)),
        }
    }
    pub fn text(&self, code: Return) -> String {
        self.api().code_text(code)
    }

    /// Posts a transfer or an atomic; `fast` says by which engine.
    ///
    /// # Safety
    /// The descriptor and what it names stay as they are until the last event is taken.
    pub unsafe fn post(&self, ep: Ep, descriptor: *mut PostDescriptor, fast: bool) -> Result<(), Return> {
        let post = if fast { self.api().post_fma } else { self.api().post_rdma };
        // SAFETY: the caller's promise.
        let kind = unsafe { (*descriptor).kind };
        // SAFETY: the endpoint lives; the rest by the caller's promise.
        done(unsafe { post(ep.0, descriptor) })?;
        let tally = &self.nic.tally;
        let count = match kind {
            post::FMA_PUT => &tally.fast_puts,
            post::RDMA_PUT => &tally.bulk_puts,
            _ => &tally.others,
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    /// The descriptor whose post an event completes.
    pub fn completed(&self, cq: &Cq, event: u64) -> Option<*mut PostDescriptor> {
        let mut at = null_mut();
        // SAFETY: the queue lives; a place.
        unsafe { (self.api().get_completed)(cq.handle, event, &mut at) };
        (!at.is_null()).then_some(at)
    }
    /// Whether nothing is under way on an endpoint, as far as the library can say.
    pub fn is_idle(&self, ep: Ep) -> Option<bool> {
        // SAFETY: the endpoint lives.
        self.api().ep_idle.map(|idle| unsafe { idle(ep.0) } == rc::SUCCESS)
    }
    pub fn unbind(&self, ep: Ep) -> Result<(), Return> {
        // SAFETY: the endpoint lives.
        done(unsafe { (self.api().ep_unbind)(ep.0) })
    }

    /// Joins the mailboxes of two ends.
    pub fn join(&self, ep: Ep, mut local: SmsgAttr, mut remote: SmsgAttr) -> Result<(), Return> {
        // SAFETY: the endpoint lives; attributes.
        done(unsafe { (self.api().smsg_init)(ep.0, &mut local, &mut remote) })
    }
    pub fn set_max_retransmits(&self, times: u16) -> Result<(), Return> {
        // SAFETY: the device.
        done(unsafe { (self.api().smsg_set_max_retrans)(self.nic.nic, times) })
    }
    /// # Safety
    /// The message stays as it is until the event with this `id`.
    pub unsafe fn send(&self, ep: Ep, message: *mut u8, len: u32, id: u32, tag: u8) -> Result<(), Return> {
        // SAFETY: the endpoint lives; the message by the caller's promise.
        done(unsafe { (self.api().smsg_send_w_tag)(ep.0, message.cast(), len, null_mut(), 0, id, tag) })?;
        self.nic.tally.messages.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    /// The next message of a mailbox with its tag. It stays until `release`.
    pub fn next_message(&self, ep: Ep) -> Result<Option<(*const u8, u8)>, Return> {
        let (mut at, mut tag) = (null_mut(), SMSG_ANY_TAG);
        // SAFETY: the endpoint lives; places.
        match unsafe { (self.api().smsg_get_next_w_tag)(ep.0, &mut at, &mut tag) } {
            rc::SUCCESS => Ok(Some((at.cast(), tag))),
            rc::NOT_DONE => Ok(None),
            code => Err(code),
        }
    }
    pub fn release(&self, ep: Ep) {
        // SAFETY: the endpoint lives.
        unsafe { (self.api().smsg_release)(ep.0) };
    }
}
