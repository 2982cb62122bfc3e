//! Models of the ring, the proxy's sleep word and the completion word under loom. Those that leave a step out must fail.

use super::completion::Completion;
use super::doze::Doze;
use super::ring::Ring;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A record: plain memory that the ring or the completion word publishes.
struct ModelState {
    ring: Ring<2>,
    doze: Doze,
    records: [UnsafeCell<u32>; 4],
    done: Completion,
}

impl ModelState {
    fn new() -> Arc<ModelState> {
        let records = std::array::from_fn(|_| UnsafeCell::new(0));
        Arc::new(ModelState { ring: Ring::new(), doze: Doze::new(), records, done: Completion::new() })
    }

    fn issue(&self, index: u32) {
        self.records[index as usize].with_mut(|r| {
            // SAFETY: loom reports a conflict if the record is not this thread's.
            unsafe { *r = 100 + index }
        });
        self.ring.push(index, thread::yield_now);
    }

    fn take(&self) -> Option<u32> {
        let index = self.ring.pop()?;
        self.records[index as usize].with(|r| {
            // SAFETY: as above.
            assert_eq!(unsafe { *r }, 100 + index);
        });
        Some(index)
    }
}

/// Explored in full: two producers, and a consumer that looks as often as it takes to miss a command, and then once more for each when all are
/// published. The ring has room, so nobody waits.
#[test]
fn model_commands_of_two_threads_arrive_whole_and_once() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = None;
    model.check(|| {
        let shared = ModelState::new();
        let other = shared.clone();
        let producer = thread::spawn(move || other.issue(0));
        let mut seen = Vec::new();
        seen.extend(shared.take());
        shared.issue(1);
        seen.extend(shared.take());
        producer.join().unwrap();
        while let Some(index) = shared.take() {
            seen.push(index);
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1], "a command is lost or came twice");
    });
}

/// Explored in full: a ring of two cells whose tickets come around, with one producer that finds it full.
#[test]
fn model_a_cell_is_not_written_before_it_was_read() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = None;
    // The producer's turns while the ring is full.
    model.max_branches = 10_000;
    model.check(|| {
        let shared = ModelState::new();
        shared.issue(0);
        shared.issue(1);
        let other = shared.clone();
        let producer = thread::spawn(move || other.issue(2));
        assert_eq!(shared.take(), Some(0));
        assert_eq!(shared.take(), Some(1));
        producer.join().unwrap();
        assert_eq!(shared.take(), Some(2));
        assert_eq!(shared.take(), None);
    });
}

/// Three producers' commands and a full ring, with one switch from thread to thread that nothing asks for: the two above are whole.
#[test]
fn model_commands_of_two_threads_arrive_once_and_in_order() {
    // A full ring has its producers wait for the proxy, which takes more steps than the checker allows by itself.
    let mut model = loom::model::Builder::new();
    model.max_branches = 10_000;
    model.preemption_bound = Some(1);
    model.check(|| {
        let shared = ModelState::new();
        let other = shared.clone();
        let producer = thread::spawn(move || {
            other.issue(0);
            other.issue(1);
        });
        let third = shared.clone();
        let second = thread::spawn(move || third.issue(2));
        let mut order = Vec::new();
        while order.len() < 3 {
            match shared.take() {
                Some(index) => order.push(index),
                None => thread::yield_now(),
            }
        }
        let at = |i| order.iter().position(|o| *o == i).expect("it came");
        assert!(at(0) < at(1) && at(2) < 3);
        producer.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn model_a_sleeping_proxy_is_woken_for_every_command() {
    loom::model(|| {
        let shared = ModelState::new();
        let other = shared.clone();
        let client = thread::spawn(move || {
            other.issue(0);
            other.doze.must_wake()
        });
        // One round of the proxy: look, announce, look again, and sleep or not.
        let mut taken = shared.take();
        let mut sleeps = false;
        if taken.is_none() {
            shared.doze.announce();
            taken = shared.take();
            sleeps = taken.is_none();
            if !sleeps {
                shared.doze.awake();
            }
        }
        let woken = client.join().unwrap();
        assert!(taken.is_some() || sleeps && woken, "a command is left with a proxy that sleeps on");
    });
}

#[test]
#[should_panic(expected = "sleeps on")]
fn model_finds_a_proxy_that_does_not_look_again() {
    loom::model(|| {
        let shared = ModelState::new();
        let other = shared.clone();
        let client = thread::spawn(move || {
            other.issue(0);
            other.doze.must_wake()
        });
        let taken = shared.take();
        if taken.is_none() {
            shared.doze.announce();
        }
        let woken = client.join().unwrap();
        assert!(taken.is_some() || woken, "a command is left with a proxy that sleeps on");
    });
}

#[test]
fn model_a_result_is_seen_whole_and_its_sleeper_is_woken() {
    loom::model(|| {
        let shared = ModelState::new();
        shared.done.arm();
        let other = shared.clone();
        let proxy = thread::spawn(move || {
            other.records[3].with_mut(|r| {
                // SAFETY: loom reports a conflict if the client reads it now.
                unsafe { *r = 7 }
            });
            other.done.complete()
        });
        let sleeps = !shared.done.is_done() && shared.done.announce();
        let woken = proxy.join().unwrap();
        assert_eq!(sleeps, woken, "who announced is woken, and nobody else");
        assert!(shared.done.is_done());
    });
}

#[test]
fn model_a_poll_that_sees_done_sees_the_result() {
    loom::model(|| {
        let shared = ModelState::new();
        shared.done.arm();
        let other = shared.clone();
        let proxy = thread::spawn(move || {
            other.records[3].with_mut(|r| {
                // SAFETY: as above.
                unsafe { *r = 7 }
            });
            other.done.complete()
        });
        let seen = shared.done.is_done() || !shared.done.announce();
        if seen {
            shared.records[3].with(|r| {
                // SAFETY: as above.
                assert_eq!(unsafe { *r }, 7);
            });
        }
        proxy.join().unwrap();
    });
}
