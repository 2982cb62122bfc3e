//! Slots: what the client has of a request or a message.
//!
//! A request is a record in the segment and a slot here, at the same place of a range that this process reserved; the slot's address
//! is the handle. So handles cannot be mistaken for the library's, and both are found without a table.
//!
//! States of a slot: free → active → (complete → free), or for a persistent one inactive ⇄ active → free.

use super::buffers::Staged;
use super::comm::EpComm;
use super::envelope::Message;
use super::state::{Client, Proxy, Words};
use super::{error, lock};
use crate::abi::*;
use crate::protocol::record::Record;
use crate::protocol::segment::{PROXIES, RECORDS};
use crate::protocol::sys;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Transfer,
    Persistent,
    /// A matched message, for MPI_Mrecv.
    Message,
}

/// Work that is still to be done when the proxy is done.
#[derive(Default)]
pub enum FollowUpWork {
    #[default]
    Nothing,
    /// The handle of a duplicate goes here.
    Comm(*mut Comm, &'static EpComm),
    /// A reduction with an operation of the program's is carried out here.
    Run(Box<dyn FnMut() -> Result<(), c_int>>),
}

#[repr(C, align(256))]
pub struct Slot {
    pub kind: Kind,
    /// Its command is under way, or complete and not looked at.
    pub active: bool,
    /// The data has gone where it belongs.
    pub delivered: bool,
    pub inline_used: bool,
    /// The data that comes may be less than the buffer holds.
    pub(super) limited: bool,
    pub(super) sends: bool,
    pub index: u32,
    pub proxy: &'static Proxy,
    pub client: &'static Client,
    pub errhandler: Errhandler,
    pub comm: Comm,
    pub name: &'static str,
    pub staged: [Option<Staged>; 2],
    pub lists: Option<Words>,
    pub hints: Option<Words>,
    pub follow_up: FollowUpWork,
    /// The message, in the proxy.
    pub message: u64,
    /// The message that each start of a persistent buffered send copies.
    pub buffered: Option<Buffered>,
    /// A number that no other operation has, while it is one of a window.
    pub ticket: AtomicU64,
    /// Of a window's operation that has a request: held while its data is delivered and when it ends, since a flush delivers, too.
    pub guard: Option<Arc<Mutex<()>>>,
}

/// The message of a persistent buffered send, with a datatype of its own.
pub struct Buffered(pub Message);

impl Drop for Buffered {
    fn drop(&mut self) {
        if !is_predefined(self.0.dtype) {
            // SAFETY: a duplicate that was made for this.
            unsafe { crate::pmpi::MPI_Type_free(&raw mut self.0.dtype) };
        }
    }
}

pub(super) const SIZE: usize = size_of::<Slot>();

const RANGE: usize = PROXIES * RECORDS * SIZE;

pub(super) static RANGE_AT: AtomicUsize = AtomicUsize::new(usize::MAX);

pub(super) static ORPHANS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

pub(super) static ORPHANED: AtomicUsize = AtomicUsize::new(0);

pub fn begin() -> Result<(), String> {
    let at = sys::reserve(RANGE + SIZE).map_err(|e| format!("cannot reserve {RANGE} bytes: {e}"))?;
    RANGE_AT.store((at as usize).next_multiple_of(SIZE.next_power_of_two().min(256)), Ordering::Release);
    Ok(())
}

/// Is this handle of a request or a message one of endpoints?
#[inline]
pub fn is_ours(handle: usize) -> bool {
    handle.wrapping_sub(RANGE_AT.load(Ordering::Relaxed)) < RANGE
}

/// The slot of a handle.
///
/// # Safety
/// The handle is of a request that is not free, and no other thread uses it.
#[inline]
pub unsafe fn find<'a>(handle: usize) -> Option<&'a mut Slot> {
    // SAFETY: the caller's promise.
    is_ours(handle).then(|| unsafe { &mut *(handle as *mut Slot) })
}

impl Slot {
    pub fn handle(&self) -> Request {
        core::ptr::from_ref(self) as usize
    }

    /// Its record. The proxy's while the command is under way, but for the completion word.
    pub fn record(&self) -> &'static mut Record {
        // SAFETY: inside the segment; who may touch what is in `protocol`.
        unsafe { &mut *self.client.record(self.proxy.number, self.index) }
    }

    /// Hints that go with the command.
    pub fn attach_hints(&mut self, hints: Option<Words>) {
        self.record().hints = hints.as_ref().map_or(0, Words::address);
        self.hints = hints;
    }

    pub fn issue(&mut self) {
        self.active = true;
        self.delivered = false;
        // SAFETY: the record is filled in.
        unsafe { self.proxy.issue(self.record(), self.index) };
    }

    pub fn is_done(&self) -> bool {
        self.record().state.is_done()
    }

    pub fn wait(&self) {
        // SAFETY: the command was issued.
        unsafe { self.proxy.wait(self.client, self.record()) };
    }

    /// The status of a complete request; MPI_ERROR is left alone.
    pub fn status(&self, status: *mut Status) {
        if !status.is_null() {
            // SAFETY: the caller's place.
            unsafe { *status = Status { error: (*status).error, ..self.record().status } };
        }
    }

    /// Raises an error of this request.
    pub fn raise(errhandler: Errhandler, comm: Comm, name: &str, class: c_int) -> c_int {
        if class == SUCCESS { SUCCESS } else { error::raise(errhandler, comm, name, class) }
    }

    /// Gives the record back.
    pub fn free(&mut self) {
        let (proxy, index) = (self.proxy, self.index);
        if let Some(guard) = self.guard.take() {
            let _held = lock(&guard);
            self.ticket.store(0, Ordering::Relaxed);
        }
        // SAFETY: the slot holds a value, and is not used again before the record is taken.
        unsafe { core::ptr::drop_in_place(self) };
        proxy.give_back(index);
    }

    /// The program does not want to hear of it any more.
    pub fn orphan(&mut self) {
        lock(&ORPHANS).push(self.handle());
        ORPHANED.fetch_add(1, Ordering::Relaxed);
    }
}
