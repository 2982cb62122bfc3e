//! Work that waits on a CRI beside messages: a word of marks, and the requests whose pieces have landed.
//!
//! A get, put or flush that a transport has under way ends inside the transport's progress, where nothing may go on with it:
//! it is only counted, and its request listed, until that progress has returned (`long/rdma.rs`). All of this belongs to the holder of
//! the CRI; others may read the marks as a hint.

use crate::requests::request::Request;
use core::ptr::null;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{CriGuard, OfCri};
use oxmpi_pml::work;

/// The work that waits on one CRI.
#[repr(align(128))]
pub struct Work {
    marks: AtomicU32,
    flight: OfCri<Flight>,
}

/// Pieces that transports have under way, or have ended.
struct Flight {
    /// Requests of which pieces have landed, linked.
    landed: Option<&'static Request>,
    /// Pieces under way.
    flying: u32,
}

impl Work {
    /// A mark: peers in the CRI's backlog have something that waits for room.
    pub const BACKLOG: u32 = 1;
    /// A mark: pieces of the requests that are listed have landed.
    pub const LANDED: u32 = 2;
    /// A mark: requests of gathered messages are complete behind the next turn of the transports.
    pub const GATHERED: u32 = 4;
    /// A mark that stays once it is set: receives may have to be swept out (`revoke.rs`).
    pub const SWEEP: u32 = 1 << 16;
    /// A mark: messages came before their sender's SWITCH (`receive/switched.rs`).
    pub const EARLY: u32 = 1 << 17;

    /// Makes the work of a CRI where nothing waits.
    pub fn new(ctx: u32) -> Work {
        Work { marks: AtomicU32::new(0), flight: OfCri::new(ctx, Flight { landed: None, flying: 0 }) }
    }

    /// Gives the word of marks, which the host's engine reads: not 0 while there is any.
    pub fn word(&self) -> *const AtomicU32 {
        &raw const self.marks
    }

    /// Whether there is any mark.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.marks.load(Ordering::Relaxed) != 0
    }
    /// Whether something waits for room, or for its request to go on. Any thread may ask where a hint is enough.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.marks.load(Ordering::Relaxed) & work::URGENT != 0
    }
    /// Whether a mark is set.
    pub fn has(&self, mark: u32) -> bool {
        self.marks.load(Ordering::Relaxed) & mark != 0
    }
    /// Sets a mark. By the holder of the CRI.
    pub fn mark(&self, mark: u32) {
        self.marks.store(self.marks.load(Ordering::Relaxed) | mark, Ordering::Relaxed);
    }
    /// Clears a mark. By the holder of the CRI.
    pub fn unmark(&self, mark: u32) {
        self.marks.store(self.marks.load(Ordering::Relaxed) & !mark, Ordering::Relaxed);
    }

    /// Whether the transports have pieces under way.
    pub fn is_flying(&self, held: &mut CriGuard<'_>) -> bool {
        self.flight.get(held).flying != 0
    }
    /// Counts a piece of a request that a transport has under way.
    pub fn take_off(&self, held: &mut CriGuard<'_>, req: &Request) {
        req.pulls.set(req.pulls.get() + 1);
        self.flight.get(held).flying += 1;
    }
    /// Counts a piece of a request that has ended, and lists the request unless it is listed.
    pub fn land(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        let flight = self.flight.get(held);
        req.pulls.set(req.pulls.get() - 1);
        flight.flying -= 1;
        if !req.listed.replace(true) {
            req.next.set(flight.landed.replace(req).map_or(null(), core::ptr::from_ref));
            self.mark(Work::LANDED);
        }
    }
    /// Takes all requests off the list, the last one first. Each may be listed again once it has come out.
    pub fn take_landed(&self, held: &mut CriGuard<'_>) -> impl Iterator<Item = &'static Request> + use<> {
        self.unmark(Work::LANDED);
        let mut next = self.flight.get(held).landed.take();
        core::iter::from_fn(move || {
            let req = next?;
            // SAFETY: null, or the request that `land` found at the head of the list; requests are never freed.
            next = unsafe { req.next.get().as_ref() };
            req.listed.set(false);
            Some(req)
        })
    }
}
