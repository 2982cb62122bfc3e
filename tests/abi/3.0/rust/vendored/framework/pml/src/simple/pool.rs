//! Requests of one kind for all operations, in a pool that grows and never shrinks.
//!
//! **States.** Free → *open* (`send`, `receive`, `start`): somebody has the [`Open`], which is the right to end it and the only way to the user's buffer →
//! complete ([`Open::complete`]) → free (the host's release). A request that the host releases while it is open is free when it completes. A persistent one is
//! complete, and inactive, from the beginning, and opened again by each start. All changes but the completion word's are under the pool's lock, a leaf.

use crate::author::{Care, Incoming, Outgoing, Pml, operations};
use crate::table::{RecvArgs, SendArgs};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{Host, MsgStatus, Object, Owner, RequestHeader, RequestOps, Status};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A request of a pool.
#[repr(C)]
pub struct Pooled {
    header: UnsafeCell<RequestHeader>,
    /// Guarded by the pool's lock, or by being free or open: then whoever took it, or has its [`Open`], is alone with it.
    inner: UnsafeCell<Inner>,
    pool: *const Shared,
}

/// The state of an operation.
struct Inner {
    /// Different for each start of each request.
    id: u64,
    released: bool,
    open: bool,
    data: Data,
}

/// The user's buffer, and the type that describes it.
struct Data {
    base: *mut u8,
    count: u64,
    dtype: Option<TypeRef>,
}

impl Data {
    const NONE: Data = Data { base: null_mut(), count: 0, dtype: None };

    fn of(base: *mut u8, count: u64, dtype: *const TypeDesc) -> Data {
        // SAFETY: the type is alive for the verb that this is called in, since its arguments are vouched for.
        let dtype = unsafe { dtype.as_ref().map(|dtype| TypeRef::retain(dtype)) };
        Data { base, count, dtype }
    }
}

// SAFETY: the header's completion word is atomic; all else is under the pool's lock, or belongs to who has the request to itself (the text of `inner`). Raw pointers are
// the host's, handed back to it, and the user's buffer, which any thread may touch for it.
unsafe impl Sync for Pooled {}
// SAFETY: as for `Sync`: nothing in it is tied to a thread.
unsafe impl Send for Pooled {}

// SAFETY: the header is the first field of a `repr(C)` type, and pools leak their requests.
unsafe impl Object for Pooled {
    fn header(&self) -> *mut RequestHeader {
        self.header.get()
    }
}

impl Pooled {
    /// The number of the operation that it stands for: different for each start of each request.
    pub fn id(&'static self) -> u64 {
        let _lists = self.shared().lock();
        // SAFETY: under the lock.
        unsafe { (*self.inner.get()).id }
    }

    /// A number that the request has for ever, whatever it is used for.
    pub fn number(&'static self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    fn is_send(&self) -> bool {
        // SAFETY: it is set when the request is taken, and constant until it is free.
        unsafe { (*self.header.get()).kind == RequestHeader::SEND }
    }

    fn shared(&self) -> &Shared {
        // SAFETY: a pool leaks what its requests share.
        unsafe { &*self.pool }
    }
}

/// The part that the requests of a pool share.
struct Shared {
    host: Host,
    owner: Owner,
    operations: &'static RequestOps,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    free: Vec<&'static Pooled>,
    last: u64,
    /// Open sends that the host has released.
    abandoned: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The requests of a layer.
pub struct Pool {
    host: Host,
    shared: OnceLock<&'static Shared>,
}

impl Pool {
    /// A pool without requests.
    pub const fn new(host: Host) -> Pool {
        Pool { host, shared: OnceLock::new() }
    }

    /// Gives the pool to the layer `T`, whose verbs `release`, `cancel` and `start` the host then calls for its requests. From `enable`.
    pub fn serve<T: Pml<Request = Pooled>>(&self, care: &Care) {
        let shared = Shared {
            host: self.host,
            owner: care.owner(),
            operations: operations::<T>(),
            lists: Mutex::default(),
        };
        // Leaked, since requests outlive the layer. A second call changes nothing.
        self.shared.get_or_init(|| Box::leak(Box::new(shared)));
    }

    /// Opens a request for a send. INTERNAL: [`Pool::serve`] was not called. NO_RESOURCE: the host has no slot for one more request.
    pub fn send(&self, args: Outgoing<'_>) -> Result<Open, Status> {
        let SendArgs { buf, count, dtype, host_comm, .. } = *args;
        self.take(RequestHeader::SEND, host_comm, Data::of(buf.cast_mut(), count, dtype)).map(Open)
    }

    /// Opens a request for an empty message, whatever the arguments say. Errors are those of [`Pool::send`].
    pub fn send_nothing(&self, args: Outgoing<'_>) -> Result<Open, Status> {
        self.take(RequestHeader::SEND, args.host_comm, Data::NONE).map(Open)
    }

    /// Opens a request for a receive. Errors are those of [`Pool::send`].
    pub fn receive(&self, args: Incoming<'_>) -> Result<Open, Status> {
        let RecvArgs { buf, count, dtype, host_comm, .. } = *args;
        self.take(RequestHeader::RECV, host_comm, Data::of(buf, count, dtype)).map(Open)
    }

    /// Makes an inactive persistent request of one that was opened for the purpose.
    pub fn rest(&self, open: Open) -> &'static Pooled {
        let request = open.0;
        let _lists = request.shared().lock();
        // SAFETY: it is open, and ours.
        unsafe {
            (*request.inner.get()).open = false;
            (*request.header.get()).flags = RequestHeader::PERSISTENT;
            (*request.header.get()).completion.finish_alone();
        }
        request
    }

    /// Opens an inactive persistent request. `None`: it is open.
    pub fn start(&self, request: &'static Pooled) -> Option<Open> {
        let mut lists = request.shared().lock();
        // SAFETY: under the lock; the host starts inactive requests, of which it is alone to know.
        let inner = unsafe { &mut *request.inner.get() };
        if inner.open {
            return None;
        }
        lists.last += 1;
        (inner.open, inner.id) = (true, lists.last);
        // SAFETY: as above.
        let header = unsafe { &mut *request.header.get() };
        header.status = MsgStatus::EMPTY;
        header.flags |= RequestHeader::ACTIVE;
        header.completion.rearm();
        Some(Open(request))
    }

    /// The host is done with a request.
    pub fn give_back(&self, request: &'static Pooled) {
        let mut lists = request.shared().lock();
        // SAFETY: under the lock.
        let inner = unsafe { &mut *request.inner.get() };
        if inner.open {
            inner.released = true;
            lists.abandoned += usize::from(request.is_send());
        } else {
            free(&mut lists, request);
        }
    }

    /// True where a send is under way that the host has released already: its data still has to reach its receiver.
    pub fn has_abandoned_sends(&self) -> bool {
        self.shared.get().is_some_and(|shared| shared.lock().abandoned > 0)
    }

    fn take(&self, kind: u32, comm: *mut c_void, data: Data) -> Result<&'static Pooled, Status> {
        let shared = *self.shared.get().ok_or(Status::INTERNAL)?;
        let mut lists = shared.lock();
        lists.last += 1;
        let id = lists.last;
        let request = match lists.free.pop() {
            Some(request) => request,
            None => {
                let header = UnsafeCell::new(RequestHeader::new(kind, shared.operations, shared.owner));
                let inner = Inner { id, released: false, open: false, data: Data::NONE };
                let made: &'static Pooled =
                    Box::leak(Box::new(Pooled { header, inner: UnsafeCell::new(inner), pool: shared }));
                // SAFETY: the request stays for ever.
                let status = unsafe { shared.host.request_slot(made.header()) };
                if status.is_err() {
                    lists.free.push(made);
                    return Err(status);
                }
                made
            }
        };
        // SAFETY: free, so nobody else has it.
        unsafe {
            *request.inner.get() = Inner { id, released: false, open: true, data };
            let header = &mut *request.header.get();
            (header.kind, header.comm, header.flags) = (kind, comm, 0);
            header.status = MsgStatus::EMPTY;
            header.completion.rearm();
        }
        Ok(request)
    }
}

/// Puts a request among the free ones, and gives its type up.
fn free(lists: &mut Lists, request: &'static Pooled) {
    // SAFETY: under the lock that `lists` is from; neither open nor the host's any more.
    unsafe { (*request.inner.get()).data = Data::NONE };
    lists.free.push(request);
}

/// An operation that is under way: the right to end it, once, and its buffer until then.
#[must_use = "an operation that nobody ends is waited for for ever"]
pub struct Open(&'static Pooled);

impl Open {
    /// The request that the host gets.
    pub fn request(&self) -> &'static Pooled {
        self.0
    }

    /// The number of the operation ([`Pooled::id`]).
    pub fn id(&self) -> u64 {
        // SAFETY: it is open, and ours.
        unsafe { (*self.0.inner.get()).id }
    }

    fn data(&self) -> &Data {
        // SAFETY: it is open, and ours: nobody changes the data before it completes, which consumes us.
        unsafe { &(*self.0.inner.get()).data }
    }

    /// Bytes of the packed message: of a send its length, of a receive the most that it takes.
    pub fn packed(&self) -> u64 {
        let data = self.data();
        data.dtype.as_ref().map_or(0, |dtype| dtype.packed.saturating_mul(data.count))
    }

    /// Packs as many bytes as `to` has, or as there are, from byte `from` of the packed message on; returns how many.
    pub fn pack(&self, from: u64, to: &mut [u8]) -> u64 {
        let data = self.data();
        let len = (to.len() as u64).min(self.packed().saturating_sub(from));
        let Some(dtype) = data.dtype.as_ref().filter(|_| len > 0) else { return 0 };
        // SAFETY: the user's buffer stays until the operation is complete; no byte behind its packed length is asked for.
        unsafe { oxmpi_datatype::pack(dtype, data.count, data.base, from, to.as_mut_ptr(), len) }
    }

    /// Unpacks bytes to where they belong, from byte `from` of the packed message on; returns how many fit.
    pub fn unpack(&mut self, from: u64, bytes: &[u8]) -> u64 {
        let data = self.data();
        let len = (bytes.len() as u64).min(self.packed().saturating_sub(from));
        let Some(dtype) = data.dtype.as_ref().filter(|_| len > 0) else { return 0 };
        // SAFETY: the user's buffer stays until the operation is complete; no byte behind its packed length is written.
        unsafe { oxmpi_datatype::unpack(dtype, data.count, data.base, from, bytes.as_ptr(), len) }
    }

    /// Ends the operation.
    pub fn complete(self, status: MsgStatus) {
        let (request, shared) = (self.0, self.0.shared());
        let mut lists = shared.lock();
        // SAFETY: it is open, and ours; the host's release is decided under the lock.
        unsafe {
            (*request.header.get()).status = status;
            let inner = &mut *request.inner.get();
            inner.open = false;
            if inner.released {
                inner.released = false;
                lists.abandoned -= usize::from(request.is_send());
                return free(&mut lists, request);
            }
        }
        // SAFETY: live for ever, and completed once, since `self` is consumed.
        unsafe { RequestHeader::complete(request.header(), &shared.host, shared.host.threaded()) };
    }
}

// SAFETY: an open operation may be ended by any thread; what it reaches is its own until then.
unsafe impl Send for Open {}

const _: () = assert!(core::mem::offset_of!(Pooled, header) == 0);
