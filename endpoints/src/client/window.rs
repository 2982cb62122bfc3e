//! Windows of endpoints: handles, and what the client keeps of each.
//!
//! A handle is an address inside a range that this process reserved, as those of communicators are. A window has a communicator
//! of its own in the proxy; its object here has the window's attributes, name, group and error handler.
//!
//! **Operations under way.** A put or a get is a command of its own that completes by itself; it stands in the window's list until a
//! call that completes it waits for it (`Window::settle`) and delivers what came. One that has a request of the program's
//! ends with that, and is only delivered here.

use super::comm::EpComm;
use super::epoch::Epoch;
use super::slot::{self, Slot};
use super::{heap, lock};
use crate::abi::*;
use crate::protocol::record::Record;
use crate::protocol::sys;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The part of one rank in memory that ranks share.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub bytes: isize,
    pub unit: c_int,
    pub base: *mut u8,
}

/// An operation that the window's list has.
pub struct Pending {
    target: c_int,
    handle: Request,
    ticket: u64,
    /// The program has no request of it.
    ends: bool,
}

/// Values of the predefined attributes, which the program gets pointers to.
pub struct Facts {
    pub base: *mut u8,
    pub bytes: isize,
    pub unit: c_int,
    pub flavor: c_int,
    pub model: c_int,
}

pub struct Window {
    pub handle: Win,
    pub comm: &'static EpComm,
    /// The proxy's number of it.
    pub number: i64,
    pub facts: Facts,
    /// A block of the heap that is freed with it.
    pub block: *mut u8,
    /// Of a window whose memory ranks share.
    pub shares: Vec<Share>,
    pub epoch: Mutex<Epoch>,
    /// The program's hint, which the proxy does not pass on.
    pub no_locks: AtomicBool,
    pending: Mutex<VecDeque<Pending>>,
    settling: Arc<Mutex<()>>,
}

// SAFETY: addresses of memory whose use the program orders; everything else has its lock.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

/// Operations in a list before those that are complete are taken off, and before the oldest is waited for.
const MANY: usize = 512;
const MOST: usize = 8192;

const SLOTS: usize = 1 << 14;
const RANGE: usize = SLOTS * size_of::<AtomicPtr<Window>>();
/// The integer that MPI_Win_toint gives for the first slot.
const NUMBERS: c_int = 0x7d00_0000;

static RANGE_AT: AtomicUsize = AtomicUsize::new(usize::MAX);
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));
static TICKETS: AtomicU64 = AtomicU64::new(1);

/// Reserves the range of handles.
pub fn begin() -> Result<(), String> {
    let at = sys::reserve(RANGE).map_err(|e| format!("cannot reserve {RANGE} bytes: {e}"))?;
    RANGE_AT.store(at as usize, Ordering::Release);
    Ok(())
}

/// The window of endpoints with this handle.
#[inline]
pub fn find(win: Win) -> Option<&'static Window> {
    let base = RANGE_AT.load(Ordering::Relaxed);
    let offset = win.wrapping_sub(base);
    if offset >= RANGE {
        return None;
    }
    // SAFETY: inside the reserved range; zeros are null pointers, and what is not null is an object.
    unsafe { (*((base + offset) as *const AtomicPtr<Window>)).load(Ordering::Acquire).as_ref() }
}

/// A handle for the library: one of a window that was freed means nothing to it.
pub fn native(win: Win) -> Win {
    if win.wrapping_sub(RANGE_AT.load(Ordering::Relaxed)) < RANGE { WIN_NULL } else { win }
}

/// Gives a window its handle.
pub fn register(
    comm: &'static EpComm,
    number: i64,
    facts: Facts,
    block: *mut u8,
    shares: Vec<Share>,
    no_locks: bool,
) -> Result<Win, c_int> {
    let slot = {
        let mut free = lock(&FREE);
        match free.0.pop() {
            Some(slot) => slot,
            None if free.1 == SLOTS => return Err(ERR_NO_MEM),
            None => {
                free.1 += 1;
                free.1 - 1
            }
        }
    };
    let handle = RANGE_AT.load(Ordering::Relaxed) + slot * size_of::<AtomicPtr<Window>>();
    comm.shown.store(handle, Ordering::Relaxed);
    let window = Box::new(Window {
        handle,
        comm,
        number,
        facts,
        block,
        shares,
        epoch: Mutex::new(Epoch::default()),
        no_locks: AtomicBool::new(no_locks),
        pending: Mutex::new(VecDeque::new()),
        settling: Arc::new(Mutex::new(())),
    });
    // SAFETY: a slot of the range that was free.
    unsafe { (*(handle as *const AtomicPtr<Window>)).store(Box::into_raw(window), Ordering::Release) };
    Ok(handle)
}

/// Gives the handle up, and the memory that was the window's.
pub fn forget(window: &'static Window) {
    let handle = window.handle;
    // SAFETY: a slot in use; nobody else uses a window that is being freed, and nobody its memory.
    unsafe {
        let object = (*(handle as *const AtomicPtr<Window>)).swap(core::ptr::null_mut(), Ordering::AcqRel);
        if !(*object).block.is_null() {
            heap::free((*object).block);
        }
        drop(Box::from_raw(object));
    }
    lock(&FREE).0.push((handle - RANGE_AT.load(Ordering::Relaxed)) / size_of::<AtomicPtr<Window>>());
}

impl Window {
    /// Runs a command about this window.
    pub fn command<R>(
        &self,
        code: u32,
        fill: impl FnOnce(&mut Record),
        read: impl FnOnce(&Record) -> Result<R, c_int>,
    ) -> Result<R, c_int> {
        let fill = |record: &mut Record| {
            record.root = -1;
            fill(record);
            record.args[3] = self.number;
        };
        self.comm.command(code, fill, read)
    }

    /// Enters an operation in the list, before it is issued. `ends`: the program has no request of it.
    pub fn enter(&self, slot: &mut Slot, target: c_int, ends: bool) -> Result<(), c_int> {
        let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
        slot.ticket = AtomicU64::new(ticket);
        slot.guard = (!ends).then(|| self.settling.clone());
        let entry = Pending { target, handle: slot.handle(), ticket, ends };
        let oldest = {
            let mut pending = lock(&self.pending);
            pending.push_back(entry);
            if pending.len() >= MOST { pending.pop_front() } else { None }
        };
        match oldest {
            Some(entry) => {
                let _held = lock(&self.settling);
                self.end(&entry)
            }
            None => Ok(()),
        }
    }

    /// Takes off what is complete where the list is long, so that its records are there for others.
    pub fn tidy(&self) -> Result<(), c_int> {
        let length = lock(&self.pending).len();
        if length < MANY || !length.is_multiple_of(MANY / 8) {
            return Ok(());
        }
        let _held = lock(&self.settling);
        let mut done = Vec::new();
        {
            let mut pending = lock(&self.pending);
            for entry in core::mem::take(&mut *pending) {
                // SAFETY: an entry that ends here is nobody else's.
                let complete = entry.ends && unsafe { slot::find(entry.handle) }.is_none_or(|s| s.is_done());
                if complete { done.push(entry) } else { pending.push_back(entry) }
            }
        }
        done.iter().try_for_each(|entry| self.end(entry))
    }

    /// Waits for all operations to a target, or all at all, and delivers what came. The first error of any.
    pub fn settle(&self, target: Option<c_int>) -> Result<(), c_int> {
        // Held to the end: another thread's operations may be among them, and it must not go on before they are complete.
        let _held = lock(&self.settling);
        let entries: VecDeque<Pending> = {
            let mut pending = lock(&self.pending);
            let all = core::mem::take(&mut *pending).into_iter();
            let (now, later) = all.partition(|e| target.is_none_or(|t| e.target == t));
            *pending = later;
            now
        };
        let mut result = Ok(());
        for entry in &entries {
            result = result.and(self.end(entry));
        }
        result
    }

    /// By a thread that settles.
    fn end(&self, entry: &Pending) -> Result<(), c_int> {
        // SAFETY: slots stay mapped; one with this ticket has not ended, and does not without the guard.
        let Some(slot) = (unsafe { slot::find(entry.handle) }) else { return Ok(()) };
        if slot.ticket.load(Ordering::Relaxed) != entry.ticket {
            return Ok(());
        }
        slot.wait();
        let class = match entry.ends {
            true => slot.end(&mut slot.handle(), core::ptr::null_mut()),
            false => {
                slot.deliver_held();
                SUCCESS
            }
        };
        if class == SUCCESS { Ok(()) } else { Err(class) }
    }
}

// SAFETY: the names are the standard's.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn MPI_Win_toint(win: Win) -> c_int {
    match find(win) {
        Some(window) => {
            NUMBERS + ((window.handle - RANGE_AT.load(Ordering::Relaxed)) / size_of::<usize>()) as c_int
        }
        // SAFETY: the caller's handle.
        None => unsafe { crate::pmpi::MPI_Win_toint(win) },
    }
}

// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn MPI_Win_fromint(win: c_int) -> Win {
    let slot = win.wrapping_sub(NUMBERS);
    let handle =
        RANGE_AT.load(Ordering::Relaxed).wrapping_add((slot as usize).wrapping_mul(size_of::<usize>()));
    if (0..SLOTS as c_int).contains(&slot) && find(handle).is_some() {
        return handle;
    }
    // SAFETY: the caller's number.
    unsafe { crate::pmpi::MPI_Win_fromint(win) }
}
