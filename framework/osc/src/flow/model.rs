//! Models under loom of a flow: operations that complete out of order under a lock, and a flush that reads counters without it.

use super::{Flow, Form, Token};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use oxmpi_mca::Status;
use std::sync::{Mutex as Plain, RwLock};

/// One model at a time.
static ALONE: Plain<()> = Plain::new(());
static FORM: RwLock<Option<Form>> = RwLock::new(None);

pub fn weakened(form: Form) -> bool {
    FORM.read().is_ok_and(|left_out| *left_out == Some(form))
}

struct World {
    /// The CRI's lock, with what is under way.
    device: Mutex<Vec<Token>>,
    flow: Flow,
    first: UnsafeCell<u64>,
}

// SAFETY: the cell is what the model is about.
unsafe impl Sync for World {}
// SAFETY: tokens are addresses of the flow beside them; who has one of them has the device's lock.
unsafe impl Send for World {}

impl World {
    fn issue(&self) {
        let mut device = self.device.lock().unwrap();
        let token = self.flow.next();
        device.push(token);
        self.flow.count(token);
    }

    /// `first`: it is the one that has a result.
    fn complete(&self, which: usize, first: bool) {
        let mut device = self.device.lock().unwrap();
        let token = device.remove(which);
        if first {
            // SAFETY: loom stops the model if somebody reads it.
            self.first.with_mut(|value| unsafe { *value = 42 });
        }
        // SAFETY: the flow stands beside; a token is taken out once.
        unsafe { Flow::done(token.done_ctx(), Status::OK) };
    }
}

/// A first operation is under way. One thread issues others and completes them before it, and the first at the end; another
/// flushes the first. `others`: how many.
fn flush(others: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = World { device: Mutex::new(Vec::new()), flow: Flow::new(), first: UnsafeCell::new(0) };
        let world = Arc::new(world);
        world.issue();
        let flusher = {
            let world = world.clone();
            thread::spawn(move || {
                let mark = world.flow.mark();
                while !world.flow.is_complete(mark) {
                    thread::yield_now();
                }
                // SAFETY: loom stops the model if somebody writes it.
                let value = world.first.with(|value| unsafe { *value });
                assert_eq!(value, 42, "the flush returned before its operation was complete");
            })
        };
        for _ in 0..others {
            world.issue();
            world.complete(1, false);
        }
        world.complete(0, true);
        world.issue();
        world.complete(0, false);
        flusher.join().unwrap();
    });
}

#[test]
fn model_flow_flush_beside_operations_that_overtake() {
    let _alone = ALONE.lock();
    flush(1);
}

#[test]
fn model_flow_flush_beside_several_that_overtake() {
    let _alone = ALONE.lock();
    flush(2);
}

/// Each of these is seen.
#[test]
fn model_flow_finds_what_is_left_out() {
    let _alone = ALONE.lock();
    for form in [Form::IssuedFirst, Form::Unpublished, Form::CountAlone] {
        *FORM.write().unwrap() = Some(form);
        let found = std::panic::catch_unwind(|| flush(1)).is_err();
        *FORM.write().unwrap() = None;
        assert!(found, "{form:?} does no harm in the model");
    }
}
