//! Every engine at every SIMD level against a plain model (`harness.rs`): each history gives the same pairs in the
//! same order. `memory` counts what the engines take; `receive/histories.rs` does the same with a communicator that is
//! spread over shards and gathered again.

mod memory;
mod times;

use super::harness::*;
use super::*;
use core::ptr::NonNull;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engines_agree_with_the_model(history in prop::collection::vec(any::<u8>(), 0..300)) {
        every_engine(&history);
    }
}

#[test]
fn names_lead_to_engines() {
    for choice in Choice::ALL {
        assert_eq!(Choice::by_name(choice.name()), Some(choice));
    }
    assert_eq!(Choice::by_name(""), None);
    assert_eq!(Choice::by_name("quantum"), None);
}

/// A queue that stays long but loses its nodes out of order keeps its memory in proportion.
#[test]
fn holes_are_reclaimed() {
    for choice in Choice::ALL {
        let mut comm = Comm::new(setting(choice));
        // A long-lived receive and message in every stretch, others come and go between them.
        for round in 0..200 {
            for i in 0..100 {
                comm.receive((1, i), 0);
                comm.arrive(2, i, 0);
            }
            for i in 0..100 {
                if i != round % 100 {
                    comm.arrive(1, i, 0);
                    comm.receive((2, i), 0);
                }
            }
        }
        assert_eq!((comm.model.posted.len(), comm.model.waiting.len()), (200, 200));
        // 20000 of each were there, never more than 300 at a time.
        let bytes = comm.engine.bytes();
        assert!(bytes < 120_000, "{}: {bytes} bytes for at most 300 of each", choice.name());
        comm.finish();
    }
}

/// After a long queue has been emptied and short ones have come, the list is in front again; and its
/// index keeps what it has allocated.
#[test]
fn the_adaptive_engine_returns_to_its_list() {
    let mut comm = Comm::new(setting(Choice::Adaptive));
    let at_rest = comm.engine.bytes();
    let mut peaks = Vec::new();
    for _ in 0..3 {
        (0..1000).for_each(|i| comm.receive((1, i), 0));
        (0..1000).rev().for_each(|i| comm.arrive(1, i, 0));
        peaks.push(comm.engine.bytes());
    }
    assert!(peaks[0] > at_rest, "a search of 1000 has made an index");
    assert!(comm.engine.posted.uses_index(), "the last filling was long");
    comm.receive((1, 1), 0);
    comm.arrive(1, 1, 0);
    assert!(!comm.engine.posted.uses_index(), "the last filling was short");
    assert_eq!(peaks[0], peaks[2], "no allocation in the steady state");
    assert!(!comm.engine.waiting.uses_index());
    comm.finish();
}
