//! How a receiver learns that a ring has something, at the least cost to the sender: the notification
//! word of a ring, the bell of an inbox, and the fences between them.
//!
//! **Three ways, one word per ring.** The receiver writes the word, the sender reads it after every
//! message it published:
//!
//! * [`WATCHED`]: the receiver polls this ring. The sender does nothing more: a compiler fence and a
//!   load that hits its own cache.
//! * [`NEED_BIT`] (a new ring's state): the sender sets its ready bit, a read-modify-write in memory of
//!   the receiver, and if the bit was clear looks at the bell, a futex word: 1 means the receiver sleeps
//!   or is about to, and whoever changes it back to 0 wakes it.
//! * [`WATCHED_FENCED`]: as `WATCHED`, by a receiver whose kernel has no membarrier: the sender executes
//!   a full fence and reads the word again before it believes it.
//!
//! **The race** is at leaving a watched state: the receiver stops polling because it found nothing,
//! while the sender finds "watched" and says nothing. Each side writes one word and then reads the
//! other's (message, notification): without a full barrier between on both sides both may read old
//! values, because a store may wait in the store buffer while a later load is done.
//!
//! * Receiver: write `NEED_BIT` to the words of all watched rings (and 1 to the bell, if it will sleep),
//!   then the *heavy* barrier, then look at those rings and the summary once more.
//! * Sender: publish, the *light* barrier, read the word.
//!
//! Heavy is `membarrier(GLOBAL_EXPEDITED)`: it runs a full barrier on every core that runs a thread of
//! a registered process, at some moment between its call and its return. Light is a compiler fence.
//! Take the moment on the sender's core (a thread that is not running has passed a full barrier when it
//! was switched out). If the sender's load comes after it in program order, it sees `NEED_BIT`, which
//! was written before the call, and sets its bit. If the load came before it, then so did the publishing
//! store, and the barrier drained it: the receiver's second look sees the message. Nothing else can
//! happen. *In a model this is the same as a full fence between store and load on both sides*: any
//! execution with the asymmetric pair is one where the sender's fence stands at that moment or earlier
//! in its program, with only its own later loads after it. That is how `model.rs` states it to loom;
//! `tests/store_buffers.rs` walks through all executions of a machine with store buffers and a real
//! asymmetric barrier, and finds the lost wake-up when the barrier is left out.
//!
//! **Entering** a watched state needs no barrier: a sender that still reads `NEED_BIT` sets a bit too
//! many, which finds an empty ring.
//!
//! **Bit and bell** are an ordinary pair: the sender's read-modify-writes are full barriers (SeqCst)
//! before it loads the bell, and the receiver has its barrier between writing the bell and reading the
//! summary. A sender whose bit was set already may leave: the receiver has not taken that bit, so it
//! will not fall asleep (`ready.rs`).
//!
//! **A lack of membarrier** is nobody else's business. A receiver that lacks it says `WATCHED_FENCED`
//! and uses a plain fence as heavy barrier. A sender that could not register (so nobody's membarrier
//! reaches it) treats `WATCHED` like `WATCHED_FENCED`; its own fence then meets the receiver's, because
//! the heavy barrier contains a fence in any case. Both facts are known before the first message, and no
//! start-up order matters: a ring is born with `NEED_BIT`, and only its receiver changes that. If
//! membarrier fails later (a filter installed after the start), the receiver stays awake and keeps
//! watching what it watches.
//!
//! **The bell** has two values. Only the receiver writes 1, and it writes 0 when it is up again; senders
//! exchange 1 for 0. A late sender may ring for an earlier sleep: one spurious wake-up. Futex calls are
//! shared between processes.

use crate::ring::{Consumer, RingMem};
use crate::segment::inbox::InboxMem;
use crate::segment::ready;
use crate::wire::{NEED_BIT, WATCHED, WATCHED_FENCED};
use oxmpi_mca::sync::{AtomicU32, Ordering, compiler_fence, fence};

/// The bell of a receiver that is asleep, or about to be.
pub const ASLEEP: u32 = 1;
/// The bell of a receiver that is awake.
const AWAKE: u32 = 0;

/// Runs the sender's barrier between publishing a message and reading the notification word: a compiler fence.
#[inline(always)]
pub fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// The barriers by which this process orders its messages and notification words against other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barriers {
    /// We are registered, and may issue membarrier.
    pub membarrier: bool,
}

impl Barriers {
    /// The notification word with which a sender of this process needs no fence.
    pub fn quiet_word(self) -> u32 {
        // No ring says u32::MAX, so a sender that nobody's membarrier reaches always looks closer.
        if self.membarrier { WATCHED } else { u32::MAX }
    }

    /// The notification word that this process, as a receiver, writes into a ring that it polls.
    pub fn watched(self) -> u32 {
        if self.membarrier { WATCHED } else { WATCHED_FENCED }
    }

    /// Executes the receiver's full barrier: a fence and, where this process is registered for it, membarrier, which runs a
    /// barrier on the senders' cores. False: membarrier has failed, so the receiver must neither sleep nor stop polling a
    /// ring, since a sender may not see what it wrote.
    #[must_use]
    pub fn full_barrier(self) -> bool {
        fence(Ordering::SeqCst);
        #[cfg(not(loom))]
        if self.membarrier {
            return crate::sys::membarrier();
        }
        true
    }
}

/// Tells the receiver of a ring about a message, after the sender did not find its quiet word: sets the ready bit and
/// takes the bell to awake, unless a fence shows that the ring is watched. True: wake the sleeper on the bell.
pub fn notify(notification: &AtomicU32, inbox: &impl InboxMem, source: u32) -> bool {
    if matches!(notification.load(Ordering::Relaxed), WATCHED | WATCHED_FENCED) {
        // SYNC POINT with `Barriers::full_barrier`.
        fence(Ordering::SeqCst);
        if matches!(notification.load(Ordering::Relaxed), WATCHED | WATCHED_FENCED) {
            return false;
        }
    }
    if !ready::mark(inbox, source) {
        return false;
    }
    // loom gives SeqCst operations no order among themselves, fences it does.
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    // SYNC POINT with `arm`: either this load sees ASLEEP, or `arm` sees our bit.
    inbox.bell().load(Ordering::SeqCst) != AWAKE && inbox.bell().swap(AWAKE, Ordering::SeqCst) != AWAKE
}

/// Writes into a ring's notification word that the receiver polls it from now on.
pub fn watch<M: RingMem>(ring: &Consumer<M>, barriers: Barriers) {
    ring.mem().notification().store(barriers.watched(), Ordering::Relaxed);
}

/// Writes into a ring's notification word that senders must set the ready bit, and runs the full barrier. The caller
/// looks into the ring once more afterwards. False: the barrier failed, and the ring is still watched.
#[must_use]
pub fn unwatch<M: RingMem>(ring: &Consumer<M>, barriers: Barriers) -> bool {
    ring.mem().notification().store(NEED_BIT, Ordering::Relaxed);
    // SYNC POINT with `light_barrier` and the fence in `notify`.
    if barriers.full_barrier() {
        return true;
    }
    watch(ring, barriers);
    false
}

/// Writes into a ring's notification word that senders must set the ready bit, without a barrier. A message that comes
/// at this moment may come in silence: the receiver closes, or makes sure in another way that it looks again.
pub fn abandon<M: RingMem>(ring: &Consumer<M>) {
    ring.mem().notification().store(NEED_BIT, Ordering::Relaxed);
}

/// Announces sleep for the owner of `inbox`, who polls `watched`. True: nothing has arrived, so it may sleep while the
/// bell says [`ASLEEP`]. Either way [`disarm`] follows. `first`: no other inbox with the same bell is announced; the
/// others must not say [`ASLEEP`] again, since the bell may have been rung for the first.
pub fn arm<'a, M: RingMem + 'a>(
    inbox: &impl InboxMem,
    watched: impl Iterator<Item = &'a Consumer<M>> + Clone,
    barriers: Barriers,
    first: bool,
) -> bool {
    if first {
        inbox.bell().store(ASLEEP, Ordering::Relaxed);
    }
    let mut any_watched = false;
    for ring in watched.clone() {
        any_watched = true;
        ring.mem().notification().store(NEED_BIT, Ordering::Relaxed);
    }
    // SYNC POINT with `light_barrier`, and with `notify`'s fence and read-modify-writes. Where no ring
    // is watched every sender makes the latter, and they need only a fence of ours.
    let ordered = if any_watched {
        barriers.full_barrier()
    } else {
        fence(Ordering::SeqCst);
        true
    };
    ordered && !ready::any(inbox) && watched.into_iter().all(Consumer::is_empty)
}

/// Announces that the owner of `inbox` is awake and polls the rings `watched` again.
pub fn disarm<'a, M: RingMem + 'a>(
    inbox: &impl InboxMem,
    watched: impl Iterator<Item = &'a Consumer<M>>,
    barriers: Barriers,
) {
    inbox.bell().store(AWAKE, Ordering::Relaxed);
    for ring in watched {
        watch(ring, barriers);
    }
}
