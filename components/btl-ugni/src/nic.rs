//! A virtual device: a communication domain of this process, attached to the node's device.
//!
//! The library takes no locks: two threads may be in calls on different virtual devices, never on one. So every call on a device
//! and on what was made on it goes through [`Calls`], which only [`Locked`] gives, and that holds the device's lock. It is a leaf: nothing is
//! called while it is held. An object of another device is refused by a panic, since the lock is the wrong one.

use crate::abi::{
    DATAGRAM, MBOX_AUTO_RETRANSMIT, MemHandle, Object, PostDescriptor, Return, SMSG_ANY_TAG, SmsgAttr,
    cq_mode, device, event, post, rc,
};
use crate::library::Api;
use crate::posts::Posts;
use core::cell::Cell;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use oxmpi_mca::Status;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};

/// Identity of a job's processes to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub ptag: u8,
    pub cookie: u32,
    pub device: u32,
}

/// A handle of the library, as what owns it keeps it. It is good for being given to the library alone.
struct Kept(Object);

// SAFETY: the library ties nothing that it makes to a thread, so any thread may use a handle, and end what it names.
unsafe impl Send for Kept {}
// SAFETY: the handle itself does not change. The object that it names may be in one call at a time, and calls are made under the lock of its device
// (`Calls`, and the owners' `drop`); two are not, `Cq::has_entry` and `Nic::wait_for_datagram`, which the library permits beside others.
unsafe impl Sync for Kept {}

pub struct Nic {
    pub api: Arc<Api>,
    cdm: Kept,
    nic: Kept,
    /// Address of the node, and number of the domain on it: how peers reach the device.
    pub address: u32,
    pub inst: u32,
    /// The device's lock, with what is under way on it.
    posts: Mutex<Posts<Ep>>,
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
            // SAFETY: the domain was made above; places.
            match unsafe { (api.cdm_attach)(cdm, who.device, &mut address, &mut nic) } {
                rc::SUCCESS => {
                    return Ok(Nic {
                        api: api.clone(),
                        cdm: Kept(cdm),
                        nic: Kept(nic),
                        address,
                        inst,
                        posts: Mutex::new(Posts::new()),
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

    pub fn lock(self: &Arc<Nic>) -> Locked<'_> {
        let posts = match self.posts.try_lock() {
            Ok(posts) => posts,
            Err(TryLockError::Poisoned(poison)) => poison.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.tally.waits.fetch_add(1, Ordering::Relaxed);
                self.posts.lock().unwrap_or_else(|poison| poison.into_inner())
            }
        };
        self.tally.acquisitions.fetch_add(1, Ordering::Relaxed);
        Locked { calls: Calls { nic: self, one_thread: PhantomData }, posts }
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

    /// Bytes of a mailbox for so many messages of at most so many bytes.
    pub fn mailbox_size(&self, credits: u16, message: usize) -> Result<u32, Return> {
        let mut attr = SmsgAttr {
            msg_type: MBOX_AUTO_RETRANSMIT,
            msg_buffer: null_mut(),
            buff_size: 0,
            mem_hndl: MemHandle::default(),
            mbox_offset: 0,
            mbox_maxcredit: credits,
            msg_maxsize: message as u32,
        };
        let mut size = 0;
        // SAFETY: attributes, of which type and numbers alone are looked at, and a place.
        let code = unsafe { (self.api.smsg_buffer_size_needed)(&mut attr, &mut size) };
        if code == rc::SUCCESS && size > 0 { Ok(size) } else { Err(code) }
    }

    /// Waits until a datagram with an identifier is over, or for so long. Needs no lock, as consumers of the library have it.
    pub fn wait_for_datagram(&self, ms: u32) {
        let mut id = 0;
        // SAFETY: the device, and a place.
        unsafe { (self.api.post_data_probe_wait_by_id)(self.nic.0, ms, &mut id) };
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        // SAFETY: made by `attach`. Queues and channels made on it are gone, since they have this device; endpoints go with it, and calls on
        // them would need it.
        unsafe { (self.api.cdm_destroy)(self.cdm.0) };
    }
}

fn done(code: Return) -> Result<(), Return> {
    if code == rc::SUCCESS { Ok(()) } else { Err(code) }
}

/// An endpoint. Calls on it are methods of [`Calls`].
pub struct Ep {
    /// Where it was made. Weak, since posts, which the device has, have endpoints.
    nic: Weak<Nic>,
    /// Null: it was ended. Changed and looked at under the device's lock.
    handle: AtomicPtr<c_void>,
}

/// A completion queue.
pub struct Cq {
    nic: Arc<Nic>,
    handle: Kept,
}

impl Cq {
    pub fn new(nic: &Arc<Nic>, entries: u32, blocking: bool) -> Result<Cq, Return> {
        let _locked = nic.lock();
        let mut handle = null_mut();
        let mode = if blocking { cq_mode::BLOCKING } else { cq_mode::NOBLOCK };
        // SAFETY: the device, and a place.
        let code = unsafe { (nic.api.cq_create)(nic.nic.0, entries, 0, mode, None, null_mut(), &mut handle) };
        done(code)?;
        Ok(Cq { nic: nic.clone(), handle: Kept(handle) })
    }

    /// Whether an entry is there. No lock is needed.
    #[inline]
    pub fn has_entry(&self) -> bool {
        // SAFETY: the queue lives.
        unsafe { (self.nic.api.cq_test_event)(self.handle.0) != rc::NOT_DONE }
    }
}

impl Drop for Cq {
    fn drop(&mut self) {
        let _locked = self.nic.lock();
        // SAFETY: the queue lives until here. A queue that something still refers to stays until its domain goes.
        unsafe { (self.nic.api.cq_destroy)(self.handle.0) };
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
    handle: Kept,
    pub fd: i32,
}

impl Channel {
    /// `None`: the library has no channels.
    pub fn new(nic: &Arc<Nic>, queues: &[&Cq]) -> Result<Option<Channel>, Return> {
        let api = &nic.api;
        let (Some(create), Some(fd_of), Some(attach)) =
            (api.comp_chan_create, api.comp_chan_fd, api.cq_attach_comp_chan)
        else {
            return Ok(None);
        };
        let locked = nic.lock();
        let mut handle = null_mut();
        // SAFETY: the device, and a place.
        done(unsafe { create(nic.nic.0, &mut handle) })?;
        let mut channel = Channel { nic: nic.clone(), handle: Kept(handle), fd: -1 };
        // SAFETY: the channel was made above; a place.
        let mut code = unsafe { fd_of(handle, &mut channel.fd) };
        for queue in queues {
            if code == rc::SUCCESS {
                // SAFETY: queue and channel live, and are of the device whose lock is held.
                code = unsafe { attach(locked.queue(queue), handle) };
            }
        }
        // Before the channel, which takes the lock where it goes.
        drop(locked);
        done(code).map(|()| Some(channel))
    }

    /// Forgets what was reported, and has the next entry of these queues reported, or one that is there.
    pub fn arm(&self, queues: &[&Cq]) {
        let locked = self.nic.lock();
        let (Some(next), Some(arm)) = (self.nic.api.comp_chan_get_event, self.nic.api.cq_arm_comp_chan)
        else {
            return;
        };
        let mut which = null_mut();
        let mut handles: [Object; 4] = [null_mut(); 4];
        let n = queues.len().min(handles.len());
        for (handle, queue) in handles.iter_mut().zip(queues) {
            *handle = locked.queue(queue);
        }
        // SAFETY: the channel lives; a place.
        while unsafe { next(self.handle.0, &mut which) } == rc::SUCCESS {}
        // SAFETY: queues that live, as many as are said.
        unsafe { arm(handles.as_mut_ptr(), n as u32) };
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if let Some(destroy) = self.nic.api.comp_chan_destroy {
            let _locked = self.nic.lock();
            // SAFETY: made by `new`, and used no more.
            unsafe { destroy(self.handle.0) };
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
pub struct Locked<'a> {
    calls: Calls<'a>,
    posts: MutexGuard<'a, Posts<Ep>>,
}

impl<'a> Locked<'a> {
    /// Both at once, for as long as the lock is held.
    pub fn parts(&mut self) -> (&Calls<'a>, &mut Posts<Ep>) {
        (&self.calls, &mut self.posts)
    }
}

impl<'a> Deref for Locked<'a> {
    type Target = Calls<'a>;
    fn deref(&self) -> &Calls<'a> {
        &self.calls
    }
}

/// The library's calls on a device, for the holder of its lock.
pub struct Calls<'a> {
    nic: &'a Arc<Nic>,
    /// The thread that has taken the lock makes the calls: not `Sync`.
    one_thread: PhantomData<Cell<()>>,
}

impl Calls<'_> {
    fn api(&self) -> &Api {
        &self.nic.api
    }

    /// The library's handle of an endpoint of this device, which it is good for while the lock is held. An error: it was ended.
    #[inline]
    fn endpoint(&self, ep: &Ep) -> Result<Object, Return> {
        assert!(core::ptr::eq(ep.nic.as_ptr(), Arc::as_ptr(self.nic)), "an endpoint of another device");
        let handle = ep.handle.load(Ordering::Relaxed);
        if handle.is_null() { Err(rc::INVALID_PARAM) } else { Ok(handle) }
    }

    /// The library's handle of a queue of this device.
    #[inline]
    fn queue(&self, cq: &Cq) -> Object {
        assert!(Arc::ptr_eq(&cq.nic, self.nic), "a queue of another device");
        cq.handle.0
    }

    /// Makes an endpoint, bound unless `peer` is absent.
    pub fn ep(&self, cq: Option<&Cq>, peer: Option<(u32, u32)>) -> Result<Ep, Return> {
        let mut handle = null_mut();
        let cq = cq.map_or(null_mut(), |cq| self.queue(cq));
        // SAFETY: the device and a queue of it, and a place.
        done(unsafe { (self.api().ep_create)(self.nic.nic.0, cq, &mut handle) })?;
        let ep = Ep { nic: Arc::downgrade(self.nic), handle: AtomicPtr::new(handle) };
        if let Some((address, inst)) = peer {
            self.bind(&ep, address, inst).inspect_err(|_| self.end(&ep))?;
        }
        Ok(ep)
    }
    pub fn bind(&self, ep: &Ep, address: u32, inst: u32) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        // SAFETY: the endpoint lives.
        done(unsafe { (self.api().ep_bind)(ep, address, inst) })
    }
    /// Ends an endpoint; what is under way on it has no event any more, and calls on it are refused.
    pub fn end(&self, ep: &Ep) {
        let Ok(handle) = self.endpoint(ep) else { return };
        ep.handle.store(null_mut(), Ordering::Relaxed);
        // SAFETY: the endpoint lives.
        unsafe { (self.api().ep_unbind)(handle) };
        // SAFETY: it lives until here, and nobody finds its handle any more.
        unsafe { (self.api().ep_destroy)(handle) };
    }
    pub fn set_event_data(&self, ep: &Ep, local: u32, remote: u32) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        // SAFETY: the endpoint lives.
        done(unsafe { (self.api().ep_set_event_data)(ep, local, remote) })
    }

    /// # Safety
    /// `out` stays until the datagram is over or cancelled, or the endpoint ended.
    pub unsafe fn post_datagram(
        &self,
        ep: &Ep,
        data: &[u8; DATAGRAM],
        out: *mut u8,
        id: u64,
    ) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        let data = data.as_ptr().cast_mut().cast::<c_void>();
        let len = DATAGRAM as u16;
        // SAFETY: the endpoint lives; `data` is read during the call, `out` by the caller's promise.
        done(unsafe { (self.api().ep_post_data_w_id)(ep, data, len, out.cast(), len, id) })
    }
    /// The identifier of a datagram that is over.
    pub fn probe_datagram(&self) -> Option<u64> {
        let mut id = 0;
        // SAFETY: the device, and a place.
        (unsafe { (self.api().post_data_probe_by_id)(self.nic.nic.0, &mut id) } == rc::SUCCESS).then_some(id)
    }
    /// Takes a datagram that is over, by what `probe_datagram` has said; what came is in its place then.
    pub fn take_datagram(&self, ep: &Ep, id: u64) -> Result<Datagram, Return> {
        let ep = self.endpoint(ep)?;
        let mut d = Datagram { state: 0, address: 0, inst: 0 };
        // SAFETY: the endpoint lives; places. It is over, so this does not wait.
        let code = unsafe {
            (self.api().ep_post_data_wait_by_id)(ep, id, 1, &mut d.state, &mut d.address, &mut d.inst)
        };
        done(code).map(|()| d)
    }
    pub fn cancel_datagram(&self, ep: &Ep, id: u64) {
        let Ok(ep) = self.endpoint(ep) else { return };
        // SAFETY: the endpoint lives.
        unsafe { (self.api().ep_post_data_cancel_by_id)(ep, id) };
    }

    /// Registers so many bytes of memory from address `at` on.
    ///
    /// # Safety
    /// The memory is the caller's until it is deregistered.
    pub unsafe fn register(
        &self,
        at: u64,
        len: u64,
        cq: Option<&Cq>,
        flags: u32,
    ) -> Result<MemHandle, Return> {
        let mut handle = MemHandle::default();
        let cq = cq.map_or(null_mut(), |cq| self.queue(cq));
        // SAFETY: the device and its queue; the memory by the caller's promise.
        let code =
            unsafe { (self.api().mem_register)(self.nic.nic.0, at, len, cq, flags, u32::MAX, &mut handle) };
        done(code).map(|()| handle)
    }
    pub fn deregister(&self, mut handle: MemHandle) -> Result<(), Return> {
        // SAFETY: the device, and a handle.
        done(unsafe { (self.api().mem_deregister)(self.nic.nic.0, &mut handle) })
    }

    pub fn take_event(&self, cq: &Cq) -> Taken {
        let mut event = 0;
        // SAFETY: the queue lives; a place.
        let code = unsafe { (self.api().cq_get_event)(self.queue(cq), &mut event) };
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
    /// The descriptor is there, and it and what it names stay as they are until the last event is taken or the endpoint ended.
    pub unsafe fn post(&self, ep: &Ep, descriptor: *mut PostDescriptor, fast: bool) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        let post = if fast { self.api().post_fma } else { self.api().post_rdma };
        // SAFETY: the caller's promise.
        let kind = unsafe { (*descriptor).kind };
        // SAFETY: the endpoint lives; the rest by the caller's promise.
        done(unsafe { post(ep, descriptor) })?;
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
        unsafe { (self.api().get_completed)(self.queue(cq), event, &mut at) };
        (!at.is_null()).then_some(at)
    }
    /// Whether nothing is under way on an endpoint, as far as the library can say.
    pub fn is_idle(&self, ep: &Ep) -> Option<bool> {
        let idle = self.api().ep_idle?;
        // SAFETY: the endpoint lives.
        self.endpoint(ep).ok().map(|ep| unsafe { idle(ep) } == rc::SUCCESS)
    }
    pub fn unbind(&self, ep: &Ep) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        // SAFETY: the endpoint lives.
        done(unsafe { (self.api().ep_unbind)(ep) })
    }

    /// Joins the mailboxes of two ends.
    ///
    /// # Safety
    /// `local` names a registered mailbox of that size, which stays and is nobody else's until the endpoint is ended. `remote` is where the peer
    /// says that its own is, which its device checks.
    pub unsafe fn join(&self, ep: &Ep, mut local: SmsgAttr, mut remote: SmsgAttr) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        // SAFETY: the endpoint lives; the attributes by the caller's promise.
        done(unsafe { (self.api().smsg_init)(ep, &mut local, &mut remote) })
    }
    pub fn set_max_retransmits(&self, times: u16) -> Result<(), Return> {
        // SAFETY: the device.
        done(unsafe { (self.api().smsg_set_max_retrans)(self.nic.nic.0, times) })
    }
    /// # Safety
    /// The message has so many bytes, and stays as it is until the event with this `id` or until the endpoint is ended.
    pub unsafe fn send(&self, ep: &Ep, message: *mut u8, len: u32, id: u32, tag: u8) -> Result<(), Return> {
        let ep = self.endpoint(ep)?;
        // SAFETY: the endpoint lives; the message by the caller's promise.
        done(unsafe { (self.api().smsg_send_w_tag)(ep, message.cast(), len, null_mut(), 0, id, tag) })?;
        self.nic.tally.messages.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    /// The next message of a mailbox with its tag. It stays until `release`.
    pub fn next_message(&self, ep: &Ep) -> Result<Option<(*const u8, u8)>, Return> {
        let ep = self.endpoint(ep)?;
        let (mut at, mut tag) = (null_mut(), SMSG_ANY_TAG);
        // SAFETY: the endpoint lives; places.
        match unsafe { (self.api().smsg_get_next_w_tag)(ep, &mut at, &mut tag) } {
            rc::SUCCESS => Ok(Some((at.cast(), tag))),
            rc::NOT_DONE => Ok(None),
            code => Err(code),
        }
    }
    pub fn release(&self, ep: &Ep) {
        let Ok(ep) = self.endpoint(ep) else { return };
        // SAFETY: the endpoint lives.
        unsafe { (self.api().smsg_release)(ep) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn an_endpoint_is_of_one_device_until_it_is_ended() {
        let exe = std::env::current_exe().expect("the path of this test");
        let beside = exe.ancestors().skip(1).take(2).map(|dir| dir.join("liboxmpi_ugni_emulation.so"));
        // SAFETY: no other test here has something look at the environment but by this library's `std`.
        unsafe { std::env::set_var("OXMPI_UGNI", format!("fabric=nic{}", std::process::id())) };
        let library = beside.into_iter().find(|path| path.is_file()).expect("the library");
        let api = Api::open(library.to_str().expect("a path")).expect("it opens");
        let who = Credentials { ptag: 10, cookie: 10, device: 0 };
        let nic = || Arc::new(Nic::attach(&api, who, 0, std::process::id() << 8).expect("a device"));
        let (one, other) = (nic(), nic());
        let to = (one.address, one.inst);
        let ep = one.lock().ep(None, None).expect("an endpoint");
        assert_eq!(one.lock().bind(&ep, to.0, to.1), Ok(()));
        let elsewhere = catch_unwind(AssertUnwindSafe(|| _ = other.lock().bind(&ep, to.0, to.1)));
        assert!(elsewhere.is_err(), "the wrong lock");
        one.lock().end(&ep);
        one.lock().end(&ep);
        assert_eq!(one.lock().set_event_data(&ep, 1, 2), Err(rc::INVALID_PARAM));
        assert_eq!(one.lock().bind(&ep, to.0, to.1), Err(rc::INVALID_PARAM));
    }
}
