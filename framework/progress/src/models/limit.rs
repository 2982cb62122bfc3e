//! Threads at a limit: no more are inside than may, and those that were refused leave no trace.

use crate::limit::Limit;
use loom::thread;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use std::sync::Arc;

/// Enters twice. Counts those that are inside by a word of its own, which is asked only while inside.
fn visits(limit: &Limit, inside: &AtomicU32, most: u32, leaves_early: bool) {
    for _ in 0..2 {
        let Some(place) = limit.enter() else { continue };
        if leaves_early {
            drop(place);
            assert!(inside.fetch_add(1, Ordering::Relaxed) < most, "one too many");
            inside.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        assert!(inside.fetch_add(1, Ordering::Relaxed) < most, "one too many");
        inside.fetch_sub(1, Ordering::Relaxed);
        drop(place);
    }
}

fn threads_at_a_limit(most: u32, others: usize, leaves_early: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Arc::new((Limit::new(most), AtomicU32::new(0)));
        let spawn = |_| {
            let shared = shared.clone();
            thread::spawn(move || visits(&shared.0, &shared.1, most, leaves_early))
        };
        let others: Vec<_> = (0..others).map(spawn).collect();
        visits(&shared.0, &shared.1, most, leaves_early);
        others.into_iter().for_each(|other| other.join().expect("a visitor"));
        let all: Vec<_> = (0..most).map(|_| shared.0.enter()).collect();
        assert!(all.iter().all(Option::is_some), "somebody is still counted");
        assert!(shared.0.enter().is_none());
    });
}

#[test]
fn model_one_of_two_threads_is_inside() {
    threads_at_a_limit(1, 1, false);
}

#[test]
fn model_two_of_three_threads_are_inside() {
    threads_at_a_limit(2, 2, false);
}

#[test]
#[should_panic(expected = "one too many")]
fn model_finds_a_thread_that_leaves_before_its_turn_ends() {
    threads_at_a_limit(1, 1, true);
}
