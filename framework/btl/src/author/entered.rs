//! A context that a verb has entered: exclusive access to what the module keeps for it, lent to the host while that calls back.
//!
//! The host enters a context by its CRI's lock and calls a verb, whose thunk makes an [`Entered`] of it. While a message is handed up or a completion
//! is told, the host may call verbs of the same context in the same thread, each with an `Entered` of its own. That is why those calls
//! borrow the `Entered` of the outer verb whole: of two of them only the innermost reaches the contents.

use super::message::Bytes;
use super::peer::Met;
use super::placer::{PayloadPlace, Placer};
use crate::placing::PlaceDesc;
use crate::services::SERVICE_CTX;
use crate::table::Done;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use oxmpi_mca::host::receive;
use oxmpi_mca::{Host, PartDesc, RecvDesc, Status};

/// A context of type `C`, entered. Its contents are reached by deref.
pub struct Entered<'a, C> {
    contents: NonNull<C>,
    /// The module's state, as its table's functions get it.
    module: *mut c_void,
    number: u32,
    alone: PhantomData<&'a mut C>,
}

impl<'a, C> Entered<'a, C> {
    /// Enters a context.
    ///
    /// # Safety
    /// The caller has the context to itself for `'a`, but for verbs that the host calls inside [`Entered::deliver`] and its like.
    #[inline(always)]
    pub(super) unsafe fn new(
        contents: &'a UnsafeCell<C>,
        number: u32,
        module: *mut c_void,
    ) -> Entered<'a, C> {
        // SAFETY: a reference is not null.
        let contents = unsafe { NonNull::new_unchecked(contents.get()) };
        Entered { contents, module, number, alone: PhantomData }
    }

    /// The number of the context; [`SERVICE_CTX`] of the service context.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The lane of a peer on this context. Panics on the service context, which has no lanes.
    #[inline(always)]
    pub fn lane<'s, E, L>(&'s mut self, peer: &'s Met<E, L>) -> &'s mut L {
        // SAFETY: this context is entered, so its number's lanes are ours; `self` is borrowed as long as the result.
        unsafe { peer.lane_of(self.number) }
    }

    /// The contents together with the lane of a peer on this context. Panics on the service context.
    #[inline(always)]
    pub fn with_lane<'s, E, L>(&'s mut self, peer: &'s Met<E, L>) -> (&'s mut C, &'s mut L) {
        // SAFETY: as in `lane`; contents and lane are different objects.
        unsafe { (self.contents.as_mut(), peer.lane_of(self.number)) }
    }

    /// Hands a message to the receiver of its tag, which may send on this context.
    #[inline(always)]
    pub fn deliver(&mut self, host: &Host, arrival: Arrival<'_>) -> Answer {
        let row = host.am(arrival.tag);
        // SAFETY: the context is entered and, since `self` is borrowed whole, nothing of it is borrowed.
        Answer(unsafe { (row.receive)(row.ctx, &self.describe(&arrival)) })
    }

    /// Offers, or goes on with, the partial delivery of a message of which the bytes from `from` to `to` are there now and were not delivered
    /// before. An answer that has not [taken](Answer::took) the first part wants the message whole. For modules with
    /// [`BtlAttrs::PARTIAL_DELIVERY`](crate::BtlAttrs::PARTIAL_DELIVERY); [`AmParts`](oxmpi_mca::AmParts) has the rules.
    pub fn deliver_part(&mut self, host: &Host, arrival: Arrival<'_>, from: u64, to: u64) -> Answer {
        let Some(take) = host.am_parts(arrival.tag) else { return Answer(receive::CONTINUE) };
        let part = PartDesc { message: self.describe(&arrival), from, to };
        // SAFETY: as in `deliver`.
        Answer(unsafe { take(host.am(arrival.tag).ctx, &part) })
    }

    /// Asks where the payload of a message of `len` bytes belongs, of which `start` has the first ones. `None`: nowhere; [`PlaceOf`](crate::PlaceOf) says
    /// what follows from that. The place is good until this verb ends, and until the host is called next.
    pub fn place_of(&mut self, placer: &Placer, start: &Arrival<'_>, len: u64) -> Option<PayloadPlace> {
        let mut desc = self.describe_placed(start, len, core::ptr::null_mut());
        // SAFETY: as in `deliver`; the functions are called with their own context.
        let placed = unsafe { (placer.by().place_of)(placer.by().ctx, &mut desc) } != 0;
        placed.then_some(PayloadPlace { header: desc.header.min(desc.there), at: desc.place })
    }

    /// Has the layer take a message of `len` bytes that has no place before it meets its receive: its place, and the name that is the `link` of its [`Arrival`] from then on, in
    /// [`Entered::place_of`] and [`Entered::deliver_placed`]. `None`: it is to be delivered whole. [`ClaimOf`](crate::ClaimOf) says when it may be asked.
    pub fn claim(&mut self, placer: &Placer, start: &Arrival<'_>, len: u64) -> Option<(PayloadPlace, u64)> {
        let claim = placer.by().claim?;
        let mut desc = self.describe_placed(start, len, core::ptr::null_mut());
        // SAFETY: as in `place_of`.
        let taken = unsafe { claim(placer.by().ctx, &mut desc) } != 0;
        let place = PayloadPlace { header: desc.header.min(desc.there), at: desc.place };
        taken.then_some((place, desc.message.link))
    }

    /// Hands up a message of `len` bytes whose payload lies at `place`, or has gone nowhere; `start` has its first bytes.
    pub fn deliver_placed(
        &mut self,
        placer: &Placer,
        start: &Arrival<'_>,
        len: u64,
        place: Option<PayloadPlace>,
    ) -> Answer {
        let mut desc =
            self.describe_placed(start, len, place.map_or(core::ptr::null_mut(), |place| place.at));
        desc.header = place.map_or(0, |place| place.header);
        // SAFETY: as in `place_of`.
        Answer(unsafe { (placer.by().placed)(placer.by().ctx, &desc) })
    }

    fn describe_placed(&self, start: &Arrival<'_>, len: u64, place: *mut u8) -> PlaceDesc {
        let message = RecvDesc { len, ..self.describe(start) };
        PlaceDesc { message, there: start.bytes.len(), header: 0, place }
    }

    #[inline(always)]
    fn describe(&self, arrival: &Arrival<'_>) -> RecvDesc {
        RecvDesc {
            data: arrival.bytes.as_ptr(),
            len: arrival.bytes.len(),
            proc: arrival.proc,
            ctx: self.number,
            module: self.module,
            link: arrival.link,
        }
    }

    /// Tells the end of a one-sided verb that answered PENDING. The context is the one that the verb was called on.
    #[inline(always)]
    pub fn complete(&mut self, completion: Completion, status: Status) {
        if let Some(done) = completion.done {
            // SAFETY: the descriptor's function and what it is called with (`new`), told once, since it is consumed; as in `deliver`.
            unsafe { done(completion.ctx, status) }
        }
    }
}

impl<C> Deref for Entered<'_, C> {
    type Target = C;
    #[inline(always)]
    fn deref(&self) -> &C {
        // SAFETY: the context is ours (`new`), and no borrow of the contents outlives the one of `self` that it came from.
        unsafe { self.contents.as_ref() }
    }
}

impl<C> DerefMut for Entered<'_, C> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut C {
        // SAFETY: as above.
        unsafe { self.contents.as_mut() }
    }
}

/// A message that came in. Its bytes lie outside the context.
pub struct Arrival<'a> {
    /// Index of the process it came from.
    pub proc: u32,
    /// The row of its receiver.
    pub tag: u8,
    /// Header and payload.
    pub bytes: Bytes<'a>,
    /// Of a request on a service link: the name by which the reply knows it. Of a message that was [claimed](Entered::claim): its name. 0 elsewhere.
    pub link: u64,
}

/// The answer of the receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer(u32);

impl Answer {
    /// The receiver has something to do before it wants the next message: the batch should end behind this one.
    #[inline(always)]
    pub fn stops(self) -> bool {
        self.0 & receive::STOP != 0
    }
    /// The part was taken (of [`Entered::deliver_part`]).
    #[inline(always)]
    pub fn took(self) -> bool {
        self.0 & receive::TAKEN != 0
    }
}

/// The right to tell the end of one verb, once. A verb that answers PENDING keeps it for [`Entered::complete`]; one that answers otherwise drops it.
#[derive(Debug)]
#[must_use = "whoever answers PENDING tells the end by it"]
pub struct Completion {
    done: Option<Done>,
    ctx: *mut c_void,
}

// SAFETY: the function runs in whichever thread has entered the context (contract of `Done`); the pointer is handed back to it.
unsafe impl Send for Completion {}

impl Completion {
    /// The completion of a descriptor.
    ///
    /// # Safety
    /// Both are of one descriptor that a verb was called with, of which no other completion is made.
    #[inline(always)]
    pub(super) unsafe fn new(done: Option<Done>, ctx: *mut c_void) -> Completion {
        Completion { done, ctx }
    }
}

/// The contexts of a module that ends, one at a time.
pub struct Contexts<'a, C> {
    all: &'a [UnsafeCell<C>],
    module: *mut c_void,
}

impl<'a, C> Contexts<'a, C> {
    /// All contexts.
    ///
    /// # Safety
    /// The caller has them all to itself for `'a`, as [`Entered::new`] says.
    pub(super) unsafe fn new(all: &'a [UnsafeCell<C>], module: *mut c_void) -> Contexts<'a, C> {
        Contexts { all, module }
    }

    /// Number of contexts.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Enters one. Panics where there is none of that number.
    pub fn enter(&mut self, number: u32) -> Entered<'_, C> {
        // SAFETY: all are ours (`new`), and `self` is borrowed as long as the result lives.
        unsafe { Entered::new(&self.all[number as usize], number, self.module) }
    }
}

const _: () = assert!(SERVICE_CTX == u32::MAX, "no ordinary context has the service context's number");
