//! The default policy: a thread polls the context where its own messages come, then those that it has to do with besides, and those of
//! others only while nobody progresses them.
//!
//! **Its own** first: the one where what it received last will come (`ThreadCtx::cri`). Then those that it *attends*: where it posted receives before,
//! where sends of its wait for room, and idle ones that brought something. (The dissertation's Algorithm 4 tries others in any case.) A context
//! that has something every time does not keep a thread from the others for ever.
//!
//! **Prefer own contexts.** Draining another thread's FIFO brings messages whose receives that thread has not posted yet, and moves its locks and lines
//! between cores. So other contexts are left alone as long as somebody progresses them, which their counts of turns say without any lock. One
//! that nobody has progressed for a while ([`IDLE`], [`IDLE_IN_A_CROWD`]) gets a turn of whoever waits; if that brings something that somebody waits
//! for, the waiter attends it until somebody else is at it again. So no message depends on its receiver's thread: the program may be outside
//! MPI with it for as long as it wants. Messages that nobody has posted a receive for can wait where they are, so of these such a turn takes one
//! batch, and the next one a while later.
//!
//! **When a context is idle.** An owner may only be without a core for the moment: where there are more threads than cores that takes as long as the others work.
//! Three kinds are looked at soon all the same: a context that this thread wanted something of lately and left to another that was at it, too; one whose
//! thread has gone to sleep (`Cri::asleep`); and one that is nobody's in particular (`Cri::shared`): the first while processes send everything
//! there, whatever its tag, and where persistent requests are, for whoever starts one does not say which thread it is.

use super::Policy;
use crate::attention::{Attention, add, has, remove};
use crate::contexts::{Contexts, FIRST, number};
use crate::thread::Slot;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_mca::Entry;
use oxmpi_mca::cri::set_of;
use std::time::Instant;

/// Time without a turn after which a context is idle.
const IDLE: Duration = Duration::from_micros(20);
/// The same where threads share cores.
const IDLE_IN_A_CROWD: Duration = Duration::from_millis(1);
/// Idle turns from one look at the clock to the next.
const TURNS_BETWEEN: u32 = 4;

/// The policy.
pub struct OwnFirst;

/// The yield of a turn of another thread's context.
struct TurnYield {
    events: i32,
    /// Some of it was more than messages that wait now for their receives.
    wanted: bool,
}

impl Policy for OwnFirst {
    fn first(&self, contexts: &Contexts, entry: &mut Entry) -> i32 {
        first(contexts, entry)
    }

    #[inline(never)]
    fn several(&self, contexts: &Contexts, slot: &Slot, entry: &mut Entry) -> i32 {
        let attention = contexts.attention_of(slot);
        let own = contexts.own(slot.cri());
        let (mut events, tired) = poll_own(contexts, entry, attention, own);
        if events == 0 || tired {
            events += poll_attended(contexts, entry, slot, own);
            if events == 0 || tired {
                events += look_after_others(contexts, entry, slot, own);
            }
        }
        events
    }

    fn covers_all(&self) -> bool {
        false
    }
}

/// Makes a turn of the first context, which is the only one in use. Returns the number of events.
#[inline(always)]
pub(super) fn first(contexts: &Contexts, entry: &mut Entry) -> i32 {
    if !contexts.is_anothers(FIRST, entry) {
        return contexts.try_turn(FIRST, entry, true).0;
    }
    match Slot::and_entry(entry) {
        (Some(slot), entry) => help_owner(contexts, entry, contexts.attention_of(slot), FIRST),
        (None, entry) => contexts.turn_of_all(entry),
    }
}

/// Makes a turn of the context where the thread's messages come, if it has no other owner, or an owner that does not
/// progress it. Returns the number of events, and whether it is time to look at other contexts all the same.
#[inline(always)]
fn poll_own(contexts: &Contexts, entry: &mut Entry, attention: &Attention, own: u32) -> (i32, bool) {
    if contexts.is_anothers(own, entry) {
        return (help_owner(contexts, entry, attention, own), true);
    }
    let done = contexts.try_turn(own, entry, true);
    attention.seen(own).set(contexts.cris().at(own).turns());
    done
}

/// Leaves the context where the thread's messages come to its owner for a while, then makes a turn of it if the owner
/// has made none. Returns the number of events.
#[inline(never)]
fn help_owner(contexts: &Contexts, entry: &mut Entry, attention: &Attention, own: u32) -> i32 {
    if attention.has_trusted_enough() { help_idle_owner(contexts, entry, attention, own) } else { 0 }
}

/// Makes a turn of a context, if it has had none since this thread last asked. Returns the number of events.
pub(crate) fn help_idle_owner(
    contexts: &Contexts,
    entry: &mut Entry,
    attention: &Attention,
    ctx: u32,
) -> i32 {
    let turns = contexts.cris().at(ctx).turns();
    if attention.seen(ctx).replace(turns) == turns {
        poll_neglected(contexts, entry, attention, ctx).events
    } else {
        0
    }
}

/// Makes a turn of a context that no thread progresses. An owner that does not progress it loses its lock.
fn poll_neglected(contexts: &Contexts, entry: &mut Entry, attention: &Attention, ctx: u32) -> TurnYield {
    let number = number(entry);
    let taken = match contexts.is_anothers(ctx, entry) {
        true => Some(contexts.cris().hold(entry, ctx)),
        false => contexts.cris().try_hold(entry, ctx),
    };
    let Some(mut held) = taken else {
        contexts.count_miss(ctx);
        return TurnYield { events: 0, wanted: false };
    };
    let unmatched = contexts.unmatched(ctx);
    let events = contexts.turn(&mut held, number);
    let unmatched = contexts.unmatched(ctx).wrapping_sub(unmatched);
    attention.seen(ctx).set(contexts.cris().at(ctx).turns());
    if events == 0 {
        held.leave_uncounted();
    }
    TurnYield { events, wanted: events.unsigned_abs() > unmatched }
}

/// Makes a turn of each context beside `own` that this thread attends; those that another thread progresses are
/// dropped from the set. Returns the number of events.
#[inline(always)]
fn poll_attended(contexts: &Contexts, entry: &mut Entry, slot: &Slot, own: u32) -> i32 {
    let mut rest = slot.attended().get();
    let mut events = 0;
    while rest != 0 {
        let first = rest.trailing_zeros();
        rest &= rest - 1;
        for ctx in (first..contexts.cris().len()).step_by(u64::BITS as usize) {
            if ctx != own {
                events += poll_one_attended(contexts, entry, slot, ctx);
            }
        }
    }
    events
}

/// Makes a turn of a context that this thread attends, or drops it from the set. Returns the number of events.
#[inline(always)]
fn poll_one_attended(contexts: &Contexts, entry: &mut Entry, slot: &Slot, ctx: u32) -> i32 {
    let (attended, attention) = (slot.attended(), &slot.attention);
    let turns = contexts.cris().at(ctx).turns();
    if attention.seen(ctx).replace(turns) != turns {
        remove(attended, ctx);
        return 0;
    }
    let brought = poll_neglected(contexts, entry, attention, ctx);
    if brought.events > 0 && !brought.wanted && !has(&attention.wanted, ctx) {
        remove(attended, ctx);
    }
    brought.events
}

/// Makes turns of the contexts of other threads that nobody progresses, if it is time to look. Returns the number of
/// events.
#[inline(always)]
fn look_after_others(contexts: &Contexts, entry: &mut Entry, slot: &Slot, own: u32) -> i32 {
    if Attention::is_turn(&slot.attention.idle, TURNS_BETWEEN) {
        look_after_others_now(contexts, entry, slot, own)
    } else {
        0
    }
}

/// Makes turns of the contexts that nobody has progressed for a while, soon those that are shared or wanted by this
/// thread. Returns the number of events.
#[inline(never)]
fn look_after_others_now(contexts: &Contexts, entry: &mut Entry, slot: &Slot, own: u32) -> i32 {
    let now = Instant::now();
    let attention = &slot.attention;
    let [soon, late] = &attention.looked;
    if !Attention::is_time(soon, now, IDLE) {
        return 0;
    }
    let all = Attention::is_time(late, now, if contexts.is_crowded() { IDLE_IN_A_CROWD } else { IDLE });
    let (attended, wanted) = (slot.attended(), &attention.wanted);
    let mut events = 0;
    for ctx in (0..contexts.cris().active()).filter(|&ctx| ctx != own && !has(attended, ctx)) {
        let cri = contexts.cris().at(ctx);
        if cri.asleep.load(Ordering::Relaxed) > 0 {
            contexts.expect_in(slot, set_of(ctx));
            continue;
        }
        if !(all || has(wanted, ctx) || cri.shared.load(Ordering::Relaxed) != 0) {
            continue;
        }
        let turns = cri.turns();
        if attention.seen(ctx).replace(turns) == turns {
            let brought = poll_neglected(contexts, entry, attention, ctx);
            if brought.wanted {
                add(attended, ctx);
            }
            events += brought.events;
        } else if all {
            remove(wanted, ctx);
        }
    }
    events
}
