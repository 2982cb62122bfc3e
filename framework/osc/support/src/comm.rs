//! The services of a window's communicator are wrapped as calls: ranks and their places, waiting with progress, and messages while a window is made.

use core::ffi::c_void;
use oxmpi_mca::{Entry, Host, RequestHeader, SliceRef, Status, ThreadCtx};
use oxmpi_osc::{Mapped, Place, Reach, WinComm, WinServices};

/// A window's communicator is reached by this, and so are the services that its host provides.
///
/// Calls that wait borrow the call's [`Entry`] and bring it up to date.
#[derive(Clone, Copy)]
pub struct Comm(*const WinComm, Host);

// SAFETY: nothing that it leads to is bound to a thread.
unsafe impl Send for Comm {}
// SAFETY: the host's description is immutable while the window lives, and its services may be called by several threads at a time.
unsafe impl Sync for Comm {}

/// A message that the host has begun.
struct Begun(*mut RequestHeader);

fn answer<T>(status: Status, value: T) -> Result<T, Status> {
    if status.is_err() { Err(status) } else { Ok(value) }
}

impl Comm {
    /// Wraps what the host has described.
    ///
    /// # Safety
    /// `comm`, and what it leads to, must stay valid as long as the result, or a copy of it, is used.
    pub unsafe fn new(host: Host, comm: *const WinComm) -> Comm {
        Comm(comm, host)
    }
    /// Gives the host's description.
    #[inline]
    pub fn get(&self) -> &WinComm {
        // SAFETY: see `new`.
        unsafe { &*self.0 }
    }
    /// Gives the host.
    #[inline]
    pub fn host(&self) -> &Host {
        &self.1
    }
    /// Gives the table of services.
    #[inline]
    pub fn services(&self) -> &WinServices {
        // SAFETY: what the description leads to is valid as long as that (`new`).
        unsafe { &*self.get().services }
    }
    /// Tells which rank this process is.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.get().rank
    }
    /// Tells how many ranks there are.
    #[inline]
    pub fn num_ranks(&self) -> u32 {
        self.get().num_ranks
    }
    /// Tells where a rank is.
    pub fn place(&self, rank: u32) -> Result<Place, Status> {
        let mut place = Place::default();
        answer((self.services().place)(self.get().comm, rank, &mut place), place)
    }
    /// Tells where this process can load and store a rank's memory, if it can.
    pub fn mapped(&self, rank: u32) -> Option<Mapped> {
        let mut mapped = Mapped { base: core::ptr::null_mut(), bytes: 0, disp_unit: 1 };
        let status = (self.services().mapped)(self.get().comm, rank, &mut mapped);
        status.is_ok().then_some(mapped)
    }
    /// Lists the transports that reach a rank, best first.
    pub fn reach(&self, rank: u32) -> Result<&'static [Reach], Status> {
        let mut list = SliceRef { ptr: core::ptr::null(), len: 0 };
        let status = (self.services().reach)(self.get().comm, rank, &mut list);
        // SAFETY: the host's list stays as long as the instance.
        answer(status, ()).map(|()| unsafe { list.get() })
    }
    /// Agrees with all ranks on a status: each gets a failure if any has one.
    pub fn agree(&self, entry: &mut Entry, own: Status) -> Status {
        self.waiting(entry, |comm, thread| (self.services().agree)(comm, thread, own))
    }
    /// Waits until all ranks are here.
    pub fn barrier(&self, entry: &mut Entry) -> Status {
        self.waiting(entry, |comm, thread| (self.services().barrier)(comm, thread))
    }
    /// Tells all ranks the same number of words, and learns theirs. Panics if `all` has no room for exactly those.
    pub fn allgather(&self, entry: &mut Entry, mine: &[u64], all: &mut [u64]) -> Status {
        assert_eq!(all.len(), mine.len() * self.num_ranks() as usize, "each rank's words have a place");
        let (from, bytes, to) = (mine.as_ptr().cast(), size_of_val(mine) as u64, all.as_mut_ptr().cast());
        self.waiting(entry, |comm, thread| (self.services().allgather)(comm, thread, from, bytes, to))
    }
    /// Makes one turn of progress.
    pub fn progress(&self, entry: &mut Entry) {
        self.waiting(entry, |comm, thread| (self.services().progress)(comm, thread));
    }

    /// Makes progress until the question is answered with yes. The caller holds nothing.
    pub fn until(&self, entry: &mut Entry, mut question: impl FnMut() -> bool) -> Status {
        extern "C" fn ask<F: FnMut() -> bool>(ctx: *mut c_void) -> u32 {
            // SAFETY: the question below, which outlives the wait.
            let question = unsafe { &mut *ctx.cast::<F>() };
            question().into()
        }
        fn of<F: FnMut() -> bool>(_: &F) -> extern "C" fn(*mut c_void) -> u32 {
            ask::<F>
        }
        if question() {
            return Status::OK;
        }
        let predicate = of(&question);
        let asked = (&raw mut question).cast();
        self.waiting(entry, |comm, thread| (self.services().wait_until)(comm, thread, predicate, asked))
    }

    /// Makes progress until nothing is under way on any context: the question answers with those on which something is, by bit. Threads that own
    /// those contexts may compute. The caller holds nothing.
    pub fn until_idle(&self, entry: &mut Entry, mut question: impl FnMut() -> u64) -> Status {
        extern "C" fn ask<F: FnMut() -> u64>(ctx: *mut c_void) -> u64 {
            // SAFETY: the question below, which outlives the wait.
            let question = unsafe { &mut *ctx.cast::<F>() };
            question()
        }
        fn of<F: FnMut() -> u64>(_: &F) -> extern "C" fn(*mut c_void) -> u64 {
            ask::<F>
        }
        if question() == 0 {
            return Status::OK;
        }
        let outstanding = of(&question);
        let asked = (&raw mut question).cast();
        self.waiting(entry, |comm, thread| (self.services().wait_contexts)(comm, thread, outstanding, asked))
    }

    /// Sends bytes to a rank, and waits until the memory is free.
    pub fn send(&self, entry: &mut Entry, bytes: &[u8], to: u32, tag: i32) -> Status {
        let (s, comm, mut request) = (self.services(), self.get().comm, core::ptr::null_mut());
        let (byte, len, at) = ((s.byte_type)(comm), bytes.len() as u64, bytes.as_ptr());
        let started = (s.isend)(comm, entry.thread(), at, len, byte, to, tag, &mut request);
        if started.is_err() { started } else { self.finish(entry, Begun(request)) }
    }

    /// Receives as many bytes from a rank.
    pub fn receive(&self, entry: &mut Entry, bytes: &mut [u8], from: u32, tag: i32) -> Status {
        match self.begin_receive(entry, bytes, from, tag) {
            Ok(begun) => self.finish(entry, begun),
            Err(status) => status,
        }
    }

    /// Begins to receive; the bytes are the message's until that is finished.
    fn begin_receive(
        &self,
        entry: &mut Entry,
        bytes: &mut [u8],
        from: u32,
        tag: i32,
    ) -> Result<Begun, Status> {
        let (s, comm, mut request) = (self.services(), self.get().comm, core::ptr::null_mut());
        let (byte, len, at) = ((s.byte_type)(comm), bytes.len() as u64, bytes.as_mut_ptr());
        let started = (s.irecv)(comm, entry.thread(), at, len, byte, from as i32, tag, &mut request);
        answer(started, Begun(request))
    }

    /// Waits for a message.
    fn finish(&self, entry: &mut Entry, begun: Begun) -> Status {
        self.waiting(entry, |comm, thread| {
            (self.services().wait)(comm, thread, begun.0, core::ptr::null_mut())
        })
    }

    /// Makes a call of a service that waits or makes progress, whose first arguments these are.
    #[inline]
    pub fn waiting<R>(&self, entry: &mut Entry, call: impl FnOnce(*mut c_void, *mut ThreadCtx) -> R) -> R {
        let answer = call(self.get().comm, entry.thread());
        entry.raise(self.1.threaded());
        answer
    }

    /// Receives from one rank while it sends to another.
    pub fn exchange(
        &self,
        entry: &mut Entry,
        (out, to): (&[u8], u32),
        (into, from): (&mut [u8], u32),
        tag: i32,
    ) -> Status {
        let begun = match self.begin_receive(entry, into, from, tag) {
            Ok(begun) => begun,
            Err(status) => return status,
        };
        let sent = self.send(entry, out, to, tag);
        let came = self.finish(entry, begun);
        if sent.is_err() { sent } else { came }
    }
}
