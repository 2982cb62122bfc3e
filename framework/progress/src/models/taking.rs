//! A context whose owner comes back while a waiter, which saw no turn of it, takes its lock away and makes one.
//!
//! The contexts have no transport, and their hook stands for all that a turn does: it counts by a load and a store without an order of their own, so
//! two turns of one context at a time, or one that does not see the other, lose a count. (A cell that loom watches would end the process
//! where the model must fail, since a hook may not unwind.)

use crate::contexts::{Contexts, Crowding, Hook};
use crate::policy::Policy;
use crate::policy::own_first::{OwnFirst, help_idle_owner};
use crate::thread::{Slot, lasting_context};
use core::ffi::c_void;
use loom::thread;
use oxmpi_mca::biased::System;
use oxmpi_mca::sync::{AtomicU32, Ordering, fence};
use oxmpi_mca::{Cri, Entry, LockServices, ThreadCtx};
use oxmpi_pml::Words;

/// A fence on both sides stands for the barrier.
struct Modelled;

impl System for Modelled {
    fn has_barrier() -> bool {
        true
    }
    fn barrier() {
        fence(Ordering::SeqCst);
    }
    fn now() -> u64 {
        0
    }
}

/// The same without a barrier.
struct Careless;

impl System for Careless {
    fn has_barrier() -> bool {
        true
    }
    fn barrier() {}
    fn now() -> u64 {
        0
    }
}

extern "C" fn after_turn(state: *mut c_void, _: u32) -> i32 {
    // SAFETY: the count of the model, which stays.
    let made = unsafe { &*(state as *const AtomicU32) };
    made.store(made.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    1
}

struct World {
    _cris: Box<[Cri]>,
    contexts: Box<Contexts>,
    /// Turns that the hook has made; written by the holder of the lock.
    made: Box<AtomicU32>,
}

/// An address that crosses threads: the context of one that belongs to it.
struct Mine(*mut ThreadCtx);
// SAFETY: the thread that it is sent to alone uses it.
unsafe impl Send for Mine {}

impl Mine {
    /// The entry of a call among several threads.
    fn entry(&self) -> Entry {
        // SAFETY: the calling thread's, which stays.
        unsafe { Entry::of(true, self.0) }
    }
}

impl World {
    /// With one context, which the thread of `owner` owns. It stays: a panic of a model that must fail would end the process in its drop.
    fn owned_by(owner: &Mine, services: &'static LockServices) -> &'static World {
        let cris: Box<[Cri]> = Box::new([Cri::new(services)]);
        // SAFETY: the CRIs stay, in the same world.
        let contexts = unsafe { Contexts::new(&cris, &[], &|_| false, Crowding::default()) };
        let made = Box::new(AtomicU32::new(0));
        let state = core::ptr::from_ref(&*made).cast_mut().cast();
        // No word of a context, so the hook is called always.
        // SAFETY: the count stays, and there are no words.
        unsafe { contexts.set_hook(Hook { state, after_turn, words: Words::NONE }) };
        for _ in 0..2 {
            OwnFirst.first(&contexts, &mut owner.entry());
        }
        assert!(cris[0].is_anothers(None), "biased after two turns");
        Box::leak(Box::new(World { _cris: cris, contexts, made }))
    }

    fn made(&self) -> u32 {
        self.made.load(Ordering::Relaxed)
    }
}

/// The owner makes a turn while a waiter, to whom it seems idle, makes one in its place.
fn taken_from_an_owner(services: &'static LockServices) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let (owner, waiter) = (Mine(lasting_context(0, 0)), Mine(lasting_context(0, 1)));
        let world = World::owned_by(&owner, services);
        let begun = world.made();
        let helper = thread::spawn(move || {
            let waiter = waiter;
            let mut entry = waiter.entry();
            let (slot, entry) = Slot::and_entry(&mut entry);
            let attention = world.contexts.attention_of(slot.expect("a context of an instance has one"));
            // The first look only notes the number of turns.
            (0..2).map(|_| help_idle_owner(&world.contexts, entry, attention, 0)).sum::<i32>()
        });
        let own = OwnFirst.first(&world.contexts, &mut owner.entry());
        let helped = helper.join().expect("the waiter");
        assert_eq!(world.made(), begun + (own + helped).unsigned_abs(), "a turn was lost");
    });
}

#[test]
fn model_a_context_is_taken_from_an_idle_owner() {
    taken_from_an_owner(const { &LockServices::of::<Modelled>() });
}

#[test]
#[should_panic(expected = "a turn was lost")]
fn model_finds_a_context_that_is_taken_without_a_barrier() {
    taken_from_an_owner(const { &LockServices::of::<Careless>() });
}
