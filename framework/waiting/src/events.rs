//! Events: what a user's sync object is told when the requests attached to it complete.
//!
//! A [`SyncObject`] is for one thread that waits, and lives as long as the wait.
//! An [`Events`] stays: requests are attached to it as they are started, with a word of the user's, and any
//! number of threads take out what has completed, oldest first. Nobody looks at the requests that have
//! not completed, so a look costs the same however many there are.
//!
//! **Objects.** An [`Event`] stands for one attached request. Its memory and that of an [`Events`] is never
//! given back, so a completer that is late touches something that is there.
//!
//! **Life of an event.** `FREE` → `ATTACHED` (its address, with the bit [`EVENT`], is in the request's
//! completion word) → the completer finds it there and pushes it → taken out, `FREE`. Between `attach` and
//! the push nobody but the completer touches its cells; between the push and the end the holder of the lock
//! `taken`; after that the taker.
//!
//! **The queue.** Completers push on a stack (`pushed`) by compare-and-swap: they may hold locks of the
//! transports and must never wait. Takers share the lock `taken`; the holder takes the whole stack by one
//! swap, which has no ABA, and turns it over into a list. So events leave in the order of their pushes.
//! *Quiet* events (nobody wants to hear of them, or the operation was cancelled) go the same way, because
//! a completer cannot give a request back, but are not counted and not handed to the user. A holder who needs the
//! request of a quiet event takes that one out by itself ([`Event::take_back`]).
//!
//! **Counts.** One word holds how many are attached and not complete (low half) and how many events can be
//! taken (high half), so both are one load and a completer changes both at once, behind its push. A taker may
//! be faster than that: then the high half is -1 for a moment, and reads as 0.
//!
//! The counts publish the push before each subtraction, to a waiter for none; everything else about an event goes
//! with its push. `FREE` publishes nothing: who takes an event out has the request by that, and hands it on as requests are
//! handed on.
//!
//! **Waiting for none.** A thread that waits until nothing is outstanding puts a sync object of its own on
//! the stack `waiting` and then looks at the counts once more; the completer that brings the low half to
//! zero swaps the stack out and tells all that are on it. Push and swap are read-modify-writes of one word, so they have
//! an order: if the swap comes second it takes the waiter out; if the push does, it reads what the swap wrote, and with it
//! come the counts, so the waiter sees zero and swaps the stack itself. The thread that swaps tells each exactly once. A
//! completer may be late and tell waiters of a later round: they look at the counts and wait again.

use crate::lock::{Mutex, lock};
use crate::sync::SyncObject;
use oxmpi_mca::RequestHeader;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::{AtomicU32, AtomicU64, AtomicUsize, Cell, Ordering, yield_now};
use std::ptr::{null, null_mut, with_exposed_provenance};

/// In a completion word: this is the address of an event, not of a sync object.
const EVENT: usize = 2;

/// State of an event that stands for no request.
const FREE: u32 = 0;
/// State of an event that stands for an attached request, until it is taken out.
const ATTACHED: u32 = 1;

/// One event that can be taken, in the counts.
const ONE_EVENT: u64 = 1 << 32;
/// One request that is attached and not complete, in the counts.
const ONE_ATTACHED: u64 = 1;

/// Tells the sync object or event that stood in the completion word of a request which has completed. That may be gone
/// when this returns.
///
/// # Safety
/// `word` was found there by the caller, who completed the request.
pub unsafe fn tell(word: usize) {
    if word & EVENT == 0 {
        // SAFETY: what is attached and is no event is a sync object.
        unsafe { SyncObject::update(with_exposed_provenance(word), 1) }
    } else {
        let event: *const Event = with_exposed_provenance(word & !EVENT);
        // SAFETY: events are never given back; the completer has this one to itself.
        unsafe { &*event }.complete();
    }
}

/// An attached request. One per request object, as long as the process lives.
#[repr(align(64))]
pub struct Event {
    state: AtomicU32,
    /// Address of the [`Events`]; others may look whether it is theirs.
    queue: AtomicUsize,
    request: Cell<*mut RequestHeader>,
    data: Cell<usize>,
    quiet: Cell<bool>,
    next: Cell<*const Event>,
}

// SAFETY: who may touch the cells when stands at the module's head.
unsafe impl Sync for Event {}
// SAFETY: a request's address and numbers belong to no thread.
unsafe impl Send for Event {}

impl Default for Event {
    fn default() -> Event {
        Event {
            state: AtomicU32::new(FREE),
            queue: AtomicUsize::new(0),
            request: Cell::new(null_mut()),
            data: Cell::new(0),
            quiet: Cell::new(false),
            next: Cell::new(null()),
        }
    }
}

/// Result of [`Event::take_back`].
#[derive(Debug, PartialEq, Eq)]
pub enum TakenBack {
    Now,
    /// Another thread is about to push it, or has taken it and is about to end its request.
    Later,
    /// It waits to be taken by whoever asks for events.
    Never,
}

impl Event {
    /// The request that the event stands for. For the taker only.
    pub fn request(&self) -> *mut RequestHeader {
        self.request.get()
    }
    /// The value that the user gave when the request was attached. For the taker only.
    pub fn data(&self) -> usize {
        self.data.get()
    }
    /// Whether the user does not want to hear of the event. For the taker only.
    pub fn is_quiet(&self) -> bool {
        self.quiet.get()
    }

    /// Whether the event's request is attached to `queue`, or was and the event is not taken out yet.
    pub fn is_attached_to(&self, queue: &Events) -> bool {
        // SYNC POINT with `attach`.
        self.state.load(Ordering::Acquire) == ATTACHED
            && self.queue.load(Ordering::Relaxed) == queue.address()
    }

    /// The queue that the event's request is, or was, attached to.
    fn queue(&self) -> &'static Events {
        // SAFETY: queues are never given back, and who asks knows that it is attached or was.
        unsafe { &*with_exposed_provenance(self.queue.load(Ordering::Relaxed)) }
    }

    /// Takes the event of a completed request out of its queue if the event is quiet, whatever lies before it. After
    /// `Now` the request is the caller's.
    pub fn take_back(&'static self) -> TakenBack {
        // SYNC POINT with `attach`: its request may have been complete before, so nothing else tells us where it is attached.
        if self.state.load(Ordering::Acquire) != ATTACHED {
            return TakenBack::Later;
        }
        let queue = self.queue();
        let mut list = lock(&queue.taken);
        queue.take_pushed(&mut list);
        if !self.is_attached_to(queue) || !list.has(self) {
            return TakenBack::Later;
        }
        if !self.quiet.get() {
            return TakenBack::Never;
        }
        list.unlink(self);
        self.state.store(FREE, Ordering::Relaxed);
        TakenBack::Now
    }

    /// The value of a request's completion word while this event is attached: its address, marked as that of an event.
    fn word(&self) -> usize {
        (self as *const Event).expose_provenance() | EVENT
    }

    /// Pushes the event on its queue, because its request has completed, and counts it unless it is quiet.
    fn complete(&self) {
        let queue = self.queue();
        // SAFETY: the request is complete and cannot be given back before the event is taken.
        let cancelled = unsafe { (*self.request.get()).status.cancelled } & 1 != 0;
        self.quiet.set(self.quiet.get() || cancelled);
        let change = if self.quiet.get() { 0 } else { ONE_EVENT };
        queue.push(self);
        // From here on the event is the takers'.
        queue.one_less(change);
    }
}

/// A queue of events: how many requests are attached and not complete, and the events of those that have completed.
#[repr(align(128))]
#[derive(Default)]
pub struct Events {
    counts: AtomicU64,
    /// Completed and not yet in the list, newest first: an address, or 0.
    pushed: AtomicUsize,
    /// Threads that wait for none to be outstanding: the address of an [`Enrolled`], or 0.
    waiting: AtomicUsize,
    taken: Mutex<List>,
}

/// Events of completed requests, oldest first.
struct List {
    head: *const Event,
    tail: *const Event,
}

impl Default for List {
    fn default() -> List {
        List { head: null(), tail: null() }
    }
}

// SAFETY: events are never given back.
unsafe impl Send for List {}

/// A thread that waits for none to be outstanding.
struct Enrolled {
    sync: SyncObject,
    next: Cell<usize>,
}

/// Events that were taken out, oldest first.
pub struct Taken {
    next: *const Event,
}

impl Iterator for Taken {
    type Item = &'static Event;
    fn next(&mut self) -> Option<&'static Event> {
        // SAFETY: events are never given back.
        let event = unsafe { self.next.as_ref() }?;
        // Read now: once the caller has given the request back the event may be used again.
        self.next = event.next.get();
        Some(event)
    }
}

/// The low half of a word, as a signed number.
fn signed_half(half: u64) -> i32 {
    (half as u32).cast_signed()
}

impl Events {
    /// The queue's address, by which events name it.
    fn address(&self) -> usize {
        (self as *const Events).expose_provenance()
    }

    /// Number of requests that are attached and not complete.
    pub fn outstanding(&self) -> u32 {
        // SYNC POINT with `one_less`.
        self.counts.load(Ordering::Acquire) as u32
    }

    /// Number of events that can be taken, quiet ones not among them: a hint, since others may take them.
    pub fn ready(&self) -> u32 {
        // A hint of what `take` will find, which looks for itself.
        signed_half(self.counts.load(Ordering::Relaxed) >> 32).max(0).cast_unsigned()
    }

    /// Whether there may be an event to take, a quiet one included.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.ready() > 0 || self.pushed.load(Ordering::Relaxed) != 0
    }

    /// Attaches an active request by way of its event; `data` comes back with that. If the request is complete
    /// already, the event is in the queue at once.
    ///
    /// # Safety
    /// `event` is that of this request object and not attached; `request` is live, active and attached to
    /// nothing, and its owner gives it up until the event is taken or detached.
    pub unsafe fn attach(
        &'static self,
        event: &'static Event,
        request: *mut RequestHeader,
        data: usize,
        quiet: bool,
    ) {
        event.queue.store(self.address(), Ordering::Relaxed);
        event.request.set(request);
        event.data.set(data);
        event.quiet.set(quiet);
        // SYNC POINT with `is_attached_to` and `take_back`, which may be asked by any thread.
        event.state.store(ATTACHED, Ordering::Release);
        // The completer's subtraction comes behind this by way of the completion word.
        self.counts.fetch_add(ONE_ATTACHED, Ordering::Relaxed);
        // SAFETY: live by the caller's promise. SYNC POINT with `Completion::finish` of the completer, which sees
        // the cells.
        let word = unsafe { &(*request).completion };
        if word.attach(event.word()) == Attach::AlreadyComplete {
            event.complete();
        }
    }

    /// Takes a request off the queue again, whether it is complete or not. False: its event was taken already, or it
    /// is attached elsewhere.
    pub fn detach(&self, event: &'static Event) -> bool {
        if !event.is_attached_to(self) {
            return false;
        }
        // SAFETY: the header of a request object lives as long as the instance.
        let word = unsafe { &(*event.request.get()).completion };
        if word.detach(event.word()) {
            event.state.store(FREE, Ordering::Relaxed);
            self.one_less(0);
            return true;
        }
        loop {
            {
                let mut list = lock(&self.taken);
                self.take_pushed(&mut list);
                if event.state.load(Ordering::Relaxed) != ATTACHED {
                    return false;
                }
                if list.unlink(event) {
                    event.state.store(FREE, Ordering::Relaxed);
                    if !event.quiet.get() {
                        self.counts.fetch_sub(ONE_EVENT, Ordering::Relaxed);
                    }
                    return true;
                }
            }
            // Its completer is between the completion word and the push.
            yield_now();
        }
    }

    /// Takes out up to `most` events, oldest first, and all quiet ones before, between and right behind them.
    pub fn take(&self, most: usize) -> Taken {
        let mut list = lock(&self.taken);
        self.take_pushed(&mut list);
        let (first, mut last, mut loud) = (list.head, null::<Event>(), 0);
        // SAFETY: events are never given back.
        while let Some(event) = unsafe { list.head.as_ref() } {
            if !event.quiet.get() {
                if loud == most {
                    break;
                }
                loud += 1;
            }
            event.state.store(FREE, Ordering::Relaxed);
            last = event;
            list.head = event.next.get();
        }
        if list.head.is_null() {
            list.tail = null();
        }
        // SAFETY: an event of the list, or null; they are never given back.
        let Some(last) = (unsafe { last.as_ref() }) else { return Taken { next: null() } };
        last.next.set(null());
        drop(list);
        self.counts.fetch_sub(loud as u64 * ONE_EVENT, Ordering::Relaxed);
        Taken { next: first }
    }

    /// Waits until no attached request is incomplete, at some moment. `wait` returns when the sync object that it gets
    /// is done.
    pub fn wait_for_none(&self, mut wait: impl FnMut(&SyncObject)) {
        while self.outstanding() != 0 {
            let me = Enrolled { sync: SyncObject::new(1), next: Cell::new(0) };
            let address = (&raw const me).expose_provenance();
            let mut head = self.waiting.load(Ordering::Relaxed);
            loop {
                me.next.set(head);
                // SYNC POINT with `tell_waiting`, both ways: it is to see this object, or we the counts.
                match self.waiting.compare_exchange(head, address, Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => head = now,
                }
            }
            // Behind the swap of who brought it to zero, this is seen; before it, the swap takes us out.
            if self.outstanding() == 0 {
                self.tell_waiting();
            }
            wait(&me.sync);
        }
    }

    /// Pushes an event on the stack of completed ones, by compare-and-swap.
    fn push(&self, event: &Event) {
        let mut head = self.pushed.load(Ordering::Relaxed);
        let address = (event as *const Event).expose_provenance();
        loop {
            event.next.set(with_exposed_provenance(head));
            // SYNC POINT with `take_pushed`. The event that was pushed before is a number here and not looked at.
            match self.pushed.compare_exchange(head, address, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Counts one request less as outstanding, and adds `and` to the counts; tells the waiters when none is left.
    fn one_less(&self, and: u64) {
        // SYNC POINT with `outstanding` in `wait_for_none`: a chain of read-modify-writes, so it sees every push.
        let before = self.counts.fetch_add(and.wrapping_sub(ONE_ATTACHED), Ordering::Release);
        if before as u32 == 1 {
            self.tell_waiting();
        }
    }

    /// Takes all threads off the stack of those that wait for none to be outstanding, and completes their sync
    /// objects.
    fn tell_waiting(&self) {
        // SYNC POINT with `wait_for_none`: who swaps an object out owes it its one completion.
        let mut at = self.waiting.swap(0, Ordering::AcqRel);
        while at != 0 {
            let waiter: *const Enrolled = with_exposed_provenance(at);
            // SAFETY: its thread does not go before it was told, which is our next step.
            at = unsafe { (*waiter).next.get() };
            // SAFETY: it is told by this alone, so it is there until now; it may be gone afterwards.
            unsafe { SyncObject::update(&raw const (*waiter).sync, 1) };
        }
    }

    /// Moves the events on the stack to the end of the list, oldest first. The caller holds the lock of `taken`.
    fn take_pushed(&self, list: &mut List) {
        if self.pushed.load(Ordering::Relaxed) == 0 {
            return;
        }
        // SYNC POINT with `push`.
        let mut at: *const Event = with_exposed_provenance(self.pushed.swap(0, Ordering::Acquire));
        let (newest, mut row) = (at, null::<Event>());
        // SAFETY: events are never given back.
        while let Some(event) = unsafe { at.as_ref() } {
            at = event.next.get();
            event.next.set(row);
            row = event;
        }
        // SAFETY: the last event of the list, or null; they are never given back.
        match unsafe { list.tail.as_ref() } {
            Some(tail) => tail.next.set(row),
            None => list.head = row,
        }
        list.tail = newest;
    }
}

impl List {
    /// Whether an event is in the list.
    fn has(&self, event: &Event) -> bool {
        let mut at = self.head;
        // SAFETY: events are never given back.
        while let Some(here) = unsafe { at.as_ref() } {
            if std::ptr::eq(here, event) {
                return true;
            }
            at = here.next.get();
        }
        false
    }

    /// Removes an event from the list. False: it is not there.
    fn unlink(&mut self, event: &Event) -> bool {
        let (mut before, mut at) = (null::<Event>(), self.head);
        // SAFETY: events are never given back.
        while let Some(here) = unsafe { at.as_ref() } {
            if std::ptr::eq(here, event) {
                let next = here.next.get();
                // SAFETY: the event before it, or null; they are never given back.
                match unsafe { before.as_ref() } {
                    Some(before) => before.next.set(next),
                    None => self.head = next,
                }
                if next.is_null() {
                    self.tail = before;
                }
                return true;
            }
            before = here;
            at = here.next.get();
        }
        false
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
