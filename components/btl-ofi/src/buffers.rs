//! Buffers of an endpoint, and the records by which completions are known.
//!
//! Every operation hands the library the address of a [`Record`], and gets it back in its completion. In front of it the library has room of its own
//! (modes FI_CONTEXT and FI_CONTEXT2), behind that stands what the operation was.

use crate::abi::{CONTEXT_BYTES, MR_LOCAL, READ, RECV, SEND, WRITE};
use crate::endpoints::Region;
use crate::objects::{Domain, Info};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl_support::Pages;
use std::sync::Arc;

/// The operation that a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A receive into the buffer of that number.
    Receive(u32),
    /// A send out of the buffer of that number.
    Send(u32),
    /// A put, get or atomic by its ticket.
    Operation(u32),
}

/// A record. It stays where it is while the operation is under way.
#[repr(C, align(64))]
pub struct Record {
    room: UnsafeCell<[u8; CONTEXT_BYTES]>,
    what: Purpose,
}

// SAFETY: the library writes to `room` in whatever thread works for it; nobody here reads that.
unsafe impl Send for Record {}

impl Record {
    pub fn new(what: Purpose) -> Record {
        Record { room: UnsafeCell::new([0; CONTEXT_BYTES]), what }
    }

    /// The address for the library.
    pub fn context(&self) -> *mut c_void {
        self.room.get().cast()
    }

    /// The operation of a completion. `None`: it had no record, as a message that was injected.
    ///
    /// # Safety
    /// Null, or the context of a record that lives.
    pub unsafe fn of(context: *mut c_void) -> Option<Purpose> {
        // SAFETY: the record begins with its room; `what` is not written to.
        (!context.is_null()).then(|| unsafe { (*context.cast::<Record>()).what })
    }
}

/// Receive buffers and, behind them, send buffers, all of one length.
pub struct Buffers {
    region: Option<Region>,
    pages: Pages,
    records: Box<[Record]>,
    size: usize,
    receives: usize,
    free: Vec<u32>,
    /// Links that the messages of send buffers go by.
    links: Box<[Route]>,
}

/// The link of a message that is under way, by its number on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// One that this process has called for.
    Out(u32),
    /// One that a peer has called for.
    In(u32),
}

impl Buffers {
    /// So many buffers of `size` bytes, registered where the provider wants that.
    pub fn new(
        domain: &Arc<Domain>,
        info: &Info,
        size: usize,
        receives: usize,
        sends: usize,
        key: u64,
    ) -> Result<Buffers, String> {
        let count = receives + sends;
        let pages = Pages::new(count * size).map_err(|e| format!("memory for buffers: {e}"))?;
        let wants = info.parts().domain.mr_mode & MR_LOCAL != 0;
        // SAFETY: the pages live longer than the region, which is dropped first.
        let register = || unsafe {
            let memory = (pages.base().cast_const().cast(), pages.len());
            Region::new(domain, memory, SEND | RECV | READ | WRITE, key, None)
        };
        let region = wants.then(register).transpose();
        let region =
            region.map_err(|code| format!("registering buffers: {}", domain.fabric.api.text(code)))?;
        let what = |n: usize| match n < receives {
            true => Purpose::Receive(n as u32),
            false => Purpose::Send((n - receives) as u32),
        };
        Ok(Buffers {
            region,
            pages,
            records: (0..count).map(|n| Record::new(what(n))).collect(),
            size,
            receives,
            free: (0..sends as u32).rev().collect(),
            links: vec![Route::Out(0); sends].into(),
        })
    }

    /// Bytes of a buffer.
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn receives(&self) -> u32 {
        self.receives as u32
    }

    /// By this the library knows the buffers.
    pub fn desc(&self) -> *mut c_void {
        self.region.as_ref().map_or(null_mut(), Region::desc)
    }

    fn at(&self, place: usize) -> (*mut u8, *mut c_void) {
        (self.pages.base().wrapping_add(place * self.size), self.records[place].context())
    }

    /// Address of a receive buffer, and its record.
    pub fn receive(&self, number: u32) -> (*mut u8, *mut c_void) {
        self.at(number as usize)
    }

    /// Address of a send buffer, and its record.
    pub fn send(&self, number: u32) -> (*mut u8, *mut c_void) {
        self.at(self.receives + number as usize)
    }

    /// A send buffer that is free.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// The message in a send buffer is on its way by that link.
    pub fn is_under_way(&mut self, number: u32, via: Route) {
        self.links[number as usize] = via;
    }

    /// Takes a send buffer back; the link that its message went by.
    pub fn give(&mut self, number: u32) -> Route {
        self.free.push(number);
        self.links[number as usize]
    }

    /// Messages that are under way.
    pub fn under_way(&self) -> usize {
        self.links.len() - self.free.len()
    }
}
