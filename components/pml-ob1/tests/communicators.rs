//! How two sides agree on a communicator's index, early messages, several ranks in one process.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_TAG, mode};

fn pair(w: &World, gid: [u64; 2]) -> [Comm; 2] {
    let make = |p: usize| w.add_comm(p, &CommSpec { gid, my_rank: p as i32, ..CommSpec::default() });
    [make(0), make(1)]
}

fn ping(w: &World, from: Comm, to: Comm, dst: i32, len: usize) {
    let data = pattern(len, 11);
    let mut buf = vec![0; len];
    let r = w.irecv(to, &mut buf, 1 - dst, 8);
    let s = w.isend(from, &data, dst, 8, mode::STANDARD);
    assert_eq!(w.wait(r).bytes, len as u64);
    w.wait(s);
    assert!(buf == data);
}

/// Indices differ on the two sides because one has more communicators than the other.
#[test]
fn indices_are_exchanged_on_first_contact() {
    let w = World::new(Setup { min_get: 5000, ..Setup::default() });
    w.world();
    for i in 0..5 {
        w.add_comm(1, &CommSpec { gid: [100 + i, 0], my_rank: 1, ..CommSpec::default() });
    }
    let c = pair(&w, [3, 4]);
    for len in [0, 8, 64, 65, 4024, 4025, 4096, 4500, 9000, 100_000] {
        ping(&w, c[0], c[1], 1, len);
        ping(&w, c[1], c[0], 0, len);
    }
    w.assert_clean();
}

/// All protocols with the prefix: a new communicator for every message.
#[test]
fn every_protocol_can_be_the_first_message() {
    for (offers_get, min_get) in [(false, u64::MAX), (true, 4096)] {
        let w = World::new(Setup { offers_get, min_get, ..Setup::default() });
        for (i, len) in [0usize, 8, 64, 65, 4024, 4048, 4049, 10_000].into_iter().enumerate() {
            for (k, m) in [mode::STANDARD, mode::SYNCHRONOUS].into_iter().enumerate() {
                let c = pair(&w, [i as u64, k as u64]);
                let data = pattern(len, 5);
                let s = w.isend(c[0], &data, 1, 8, m);
                w.settle();
                let mut buf = vec![0; len];
                let r = w.irecv(c[1], &mut buf, 0, ANY_TAG);
                assert_eq!(w.wait(r).error, Status::OK);
                w.wait(s);
                assert!(buf == data);
            }
        }
        w.assert_clean();
    }
}

#[test]
fn messages_before_the_answer_keep_their_order_with_those_after() {
    let w = World::new(Setup::default());
    let c = pair(&w, [1, 2]);
    for i in 0..100u8 {
        assert!(w.send(c[0], &[i], 1, 0, mode::STANDARD).is_ok());
        if i % 10 == 9 {
            w.settle();
        }
    }
    w.settle();
    for i in 0..100u8 {
        let mut buf = [0];
        w.recv(c[1], &mut buf, 0, 0).unwrap();
        assert_eq!(buf[0], i);
    }
}

#[test]
fn an_index_is_told_once_and_then_used() {
    let w = World::new(Setup::default());
    let c = pair(&w, [1, 2]);
    for i in 0..3 {
        w.send(c[0], &[i], 1, 0, mode::STANDARD).unwrap();
    }
    w.settle();
    assert_eq!(w.sent(), 4, "three messages, one answer");
    w.send(c[0], &[3], 1, 0, mode::STANDARD).unwrap();
    w.settle();
    assert_eq!(w.sent(), 5, "the index is known, and was told again");
}

#[test]
fn messages_for_communicators_to_come_are_kept() {
    let w = World::new(Setup { min_get: 5000, ..Setup::default() });
    // One with a global id, one with a fixed index; the receiver makes both late.
    let early = w.add_comm(0, &CommSpec { gid: [5, 5], ..CommSpec::default() });
    let world = w.add_comm(0, &CommSpec { gid: [1, 1], fixed: Some(0), ..CommSpec::default() });
    let big = pattern(20_000, 4);
    let mut sends = Vec::new();
    for i in 0..20u8 {
        for c in [early, world] {
            sends.push(w.isend(c, &[i; 100], 1, 1, mode::STANDARD));
        }
    }
    for c in [early, world] {
        sends.push(w.isend(c, &big, 1, 1, mode::STANDARD));
    }
    w.settle();
    let early1 = w.add_comm(1, &CommSpec { gid: [5, 5], my_rank: 1, ..CommSpec::default() });
    let world1 = w.add_comm(1, &CommSpec { gid: [1, 1], my_rank: 1, fixed: Some(0), ..CommSpec::default() });
    for c in [world1, early1] {
        for i in 0..20u8 {
            let mut buf = [0; 100];
            assert_eq!(w.recv(c, &mut buf, 0, 1).unwrap().bytes, 100);
            assert_eq!(buf, [i; 100]);
        }
        let mut buf = vec![0; big.len()];
        let r = w.irecv(c, &mut buf, 0, 1);
        w.wait(r);
        assert!(buf == big);
    }
    for s in sends {
        w.wait(s);
    }
    w.assert_clean();
}

/// Ranks 0 and 2 live in process 0, ranks 1 and 3 in process 1.
#[test]
fn several_ranks_of_a_communicator_in_one_process() {
    for fixed in [None, Some(0)] {
        let w = World::new(Setup::default());
        let make = |rank: i32| {
            let spec = CommSpec {
                gid: [9, 9],
                procs: &[0, 1, 0, 1],
                endpoints: &[0, 0, 1, 1],
                my_rank: rank,
                my_endpoint: rank as u16 / 2,
                fixed,
                ..CommSpec::default()
            };
            w.add_comm(rank as usize % 2, &spec)
        };
        let c: Vec<Comm> = (0..4).map(make).collect();
        for from in 0..4 {
            for to in 0..4i32 {
                for len in [1, 100, 30_000] {
                    let data = pattern(len, (from * 4 + to as usize) as u64 + 1);
                    let mut buf = vec![0; len];
                    let r = w.irecv(c[to as usize], &mut buf, from as i32, 1);
                    let s = w.isend(c[from], &data, to, 1, mode::STANDARD);
                    assert_eq!(w.wait(r).source, from as i32);
                    w.wait(s);
                    assert!(buf == data);
                }
            }
        }
        for c in c {
            w.del_comm(c);
        }
        w.assert_clean();
    }
}

#[test]
fn indices_are_used_again_and_late_messages_are_dropped() {
    let w = World::new(Setup { credit: 10_000, ..Setup::default() });
    for round in 0..50u64 {
        let c = pair(&w, [round, 1]);
        ping(&w, c[0], c[1], 1, 100);
        // Process 0 knows the index from here on.
        w.settle();
        // Two messages that nobody receives: one waits, one is under way when the communicator goes.
        for _ in 0..2 {
            let s = w.isend(c[0], &[0; 1000], 1, 9, mode::STANDARD);
            assert!(s.is_complete(), "round {round}: the credit of messages nobody received is lost");
            s.release();
            if w.in_flight(1) > 0 && round % 2 == 0 {
                w.settle();
            }
        }
        w.del_comm(c[1]);
        w.settle();
        w.del_comm(c[0]);
    }
    w.assert_clean();
}

#[test]
fn released_operations_survive_their_communicator() {
    let w = World::new(Setup { room: 1, ..Setup::default() });
    let c = pair(&w, [2, 2]);
    ping(&w, c[0], c[1], 1, 10);
    let mut buf = [0u8; 4];
    let r = w.irecv(c[1], &mut buf, 0, 3);
    r.release();
    w.del_comm(c[1]);
    for i in 0..3u8 {
        // The later ones wait for room.
        w.isend(c[0], &[i; 4], 1, 3, mode::STANDARD).release();
    }
    w.del_comm(c[0]);
    w.settle();
    assert_eq!(buf, [0; 4]);
    let (t, s) = w.table(0);
    assert_eq!((t.flush)(s), Status::OK);
    // Both are gone now: the next deletion clears them up.
    let c = pair(&w, [2, 3]);
    ping(&w, c[0], c[1], 1, 10);
    w.del_comm(c[0]);
    w.del_comm(c[1]);
    w.assert_clean();
}

#[test]
fn a_process_nobody_reaches_is_refused() {
    let w = World::new(Setup::default());
    let mut card = w.card(0);
    card[12] = 2;
    w.set_card(2, Some(card));
    let c = w.add_comm(0, &CommSpec { procs: &[0, 1, 2], ..CommSpec::default() });
    assert_eq!(w.send(c, b"x", 2, 0, mode::STANDARD).err(), Some(Status::UNREACHABLE));
    assert_eq!(w.procs[0].helps.lock().len(), 0, "the host says why");
    assert_eq!(w.send(c, b"x", 3, 0, mode::STANDARD).err(), Some(Status::BAD_PARAM));
    assert_eq!(w.send(c, b"x", -1, 0, mode::STANDARD).err(), Some(Status::BAD_PARAM));
}

#[test]
fn another_wire_version_is_refused_before_the_first_message() {
    let w = World::new(Setup::default());
    let c = pair(&w, [1, 1]);
    let mut card = w.card(1);
    card[4] = 99;
    w.set_card(1, Some(card));
    assert_eq!(w.send(c[0], b"x", 1, 0, mode::STANDARD).err(), Some(Status::UNREACHABLE));
    assert_eq!(w.procs[0].helps.lock()[0], "wire-version 1 | 99 | 10");
    w.set_card(1, None);
    assert_eq!(w.send(c[0], b"x", 1, 0, mode::STANDARD).err(), Some(Status::UNREACHABLE));
    assert_eq!(w.procs[0].helps.lock()[1], "no-card 1 | not found");
    assert_eq!(w.sent(), 0);
}

/// The receiver has freed the communicator before it hears that the message on it is asked back: nobody can have
/// received it, and the sender is told so.
#[test]
fn a_send_is_cancelled_whose_receiver_has_freed_the_communicator() {
    let w = World::new(Setup::default());
    for arrives_first in [true, false] {
        let c = pair(&w, [5, arrives_first as u64]);
        ping(&w, c[0], c[1], 1, 10);
        w.settle();
        let s = w.isend(c[0], b"nobody", 1, 9, mode::SYNCHRONOUS);
        if arrives_first {
            w.settle();
        }
        w.del_comm(c[1]);
        assert_eq!(s.cancel(), Status::PENDING);
        assert_eq!(w.wait(s).cancelled, 1);
        w.settle();
        w.del_comm(c[0]);
    }
    w.assert_clean();
}

/// It was received before the communicator went, and what asks for it back comes behind that: it has one answer, not two.
#[test]
fn a_send_is_not_cancelled_that_was_received_before_the_communicator_went() {
    for len in [8, 20_000] {
        let w = World::new(Setup { min_get: 5000, ..Setup::default() });
        let c = pair(&w, [6, len as u64]);
        ping(&w, c[0], c[1], 1, 10);
        w.settle();
        let data = pattern(len, 7);
        let s = w.isend(c[0], &data, 1, 9, mode::SYNCHRONOUS);
        let mut buf = vec![0; len];
        let r = w.irecv(c[1], &mut buf, 0, 9);
        // It may come in parts.
        (0..9).for_each(|_| _ = w.progress_one(1));
        assert!(r.is_complete());
        r.release();
        assert!(buf == data);
        // The answer is on its way, and the sender has not seen it.
        assert_eq!(s.cancel(), Status::PENDING);
        w.del_comm(c[1]);
        w.progress_one(1);
        assert_eq!(w.wait(s).cancelled, 0);
        w.settle();
        w.del_comm(c[0]);
        w.assert_clean();
    }
}

/// The receiver has not heard of the communicator yet: the message is given back all the same, and those beside it arrive.
#[test]
fn a_send_is_cancelled_whose_receiver_does_not_know_the_communicator() {
    let w = World::new(Setup::default());
    let spec = |p: i32| CommSpec { gid: [8, 8], my_rank: p, ..CommSpec::default() };
    let from = w.add_comm(0, &spec(0));
    let sends = [0, 1, 2u8].map(|i| w.isend(from, &[i; 4], 1, 9, mode::SYNCHRONOUS));
    w.settle();
    assert_eq!(sends[1].cancel(), Status::PENDING);
    assert_eq!(w.wait(sends[1]).cancelled, 1);
    let to = w.add_comm(1, &spec(1));
    for i in [0, 2u8] {
        let mut buf = [9; 4];
        let r = w.irecv(to, &mut buf, 0, 9);
        assert_eq!(w.wait(r).error, Status::OK);
        assert_eq!(buf, [i; 4]);
        assert_eq!(w.wait(sends[i as usize]).cancelled, 0);
    }
    assert_eq!(w.probe(to, 0, 9), None);
    w.del_comm(from);
    w.del_comm(to);
    w.assert_clean();
}
