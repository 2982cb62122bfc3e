//! Communicators that are revoked and processes that failed: everything under way with them ends with PEER_FAILED, later
//! operations do, too, and all else goes on.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

const FAILED: Status = Status::PEER_FAILED;

fn revoke(w: &World, c: Comm) {
    let (t, s) = w.table(c.proc);
    assert_eq!((t.revoke)(s, c.ptr), Status::OK);
}
fn fail(w: &World, at: usize, proc: u32) {
    let (t, s) = w.table(at);
    assert_eq!((t.peer_failed)(s, proc), Status::OK);
}

/// A second communicator of all processes.
fn second(w: &World) -> Vec<Comm> {
    let procs: Vec<u32> = (0..w.procs.len() as u32).collect();
    let of = |p: usize| w.add_comm(p, &CommSpec { procs: &procs, my_rank: p as i32, ..CommSpec::default() });
    (0..w.procs.len()).map(of).collect()
}

fn ping(w: &World, from: Comm, to: Comm, tag: i32) {
    for len in [8, 3000, 50_000] {
        let (data, mut buf) = (pattern(len, 5), vec![0; len]);
        let s = w.isend(from, &data, to.proc as i32, tag, mode::STANDARD);
        let r = w.irecv(to, &mut buf, from.proc as i32, tag);
        assert_eq!((w.wait(r).error, w.wait(s).error), (Status::OK, Status::OK));
        assert!(buf == data);
    }
}

/// All ways that data may go.
fn setups() -> Vec<Setup> {
    let rdma = Setup { min_get: 4096, offers_vector: false, handle: 24, ..Setup::default() };
    let put = Setup { offers_get: false, offers_put: true, min_put: 4096, ..rdma };
    let copies = Setup { offers_get: false, ..Setup::default() };
    let several = Setup { threaded: true, cris: 4, ..copies };
    vec![
        copies,
        Setup { parts: false, room: 2, ..copies },
        rdma,
        put,
        several,
        Setup { cris: 3, threaded: true, ..rdma },
        Setup { places: true, ..copies },
        Setup { places: true, claims: true, ..copies },
        Setup { keeps: true, places: true, ..copies },
        Setup { keeps: true, room: 2, ..copies },
    ]
}

#[test]
fn what_is_posted_ends_and_what_is_posted_later() {
    for setup in setups() {
        let w = World::new(setup);
        let (c, d) = (w.world(), second(&w));
        ping(&w, d[0], d[1], 1);
        let mut bufs = vec![vec![0; 100]; 6];
        let mut bufs = bufs.iter_mut();
        let mut recv = |comm, src, tag| w.irecv(comm, bufs.next().unwrap(), src, tag);
        let ours = [recv(d[1], 0, 1), recv(d[1], ANY_SOURCE, 2), recv(d[1], 0, ANY_TAG)];
        let theirs = recv(c[1], 0, 1);
        revoke(&w, d[1]);
        revoke(&w, d[1]);
        for req in ours {
            assert!(req.is_complete());
            assert_eq!(w.wait(req).error, FAILED);
        }
        let later = [recv(d[1], 0, 1), recv(d[1], ANY_SOURCE, ANY_TAG)];
        for req in later {
            assert_eq!(w.wait(req).error, FAILED);
        }
        for m in [mode::STANDARD, mode::SYNCHRONOUS] {
            assert_eq!(w.send(d[1], &[1; 8], 0, 1, m).err(), Some(FAILED));
            assert_eq!(w.send(d[1], &[1; 50_000], 0, 1, m).err(), Some(FAILED));
        }
        assert!(!theirs.is_complete());
        w.send(c[0], &[7; 100], 1, 1, mode::STANDARD).unwrap();
        assert_eq!((w.wait(theirs).error, w.wait(theirs_again(&w, &c)).error), (Status::OK, Status::OK));
        w.assert_clean();
        for comm in [d[0], d[1]] {
            w.del_comm(comm);
        }
        ping(&w, c[0], c[1], 9);
        w.assert_clean();
    }
}

fn theirs_again(w: &World, c: &[Comm]) -> Req {
    w.send(c[1], &[7; 8], 0, 3, mode::STANDARD).unwrap();
    w.irecv(c[0], Box::leak(Box::new([0; 8])), 1, 3)
}

/// Long messages at every stage, revoked at either end first or at both. An operation that the other end does not know to be revoked
/// yet ends when that end hears of it.
#[test]
fn long_messages_at_every_stage() {
    for setup in setups() {
        for turns in 0..12 {
            for first in [0, 1] {
                for received in [false, true] {
                    let w = World::new(setup);
                    let (c, d) = (w.world(), second(&w));
                    ping(&w, d[0], d[1], 1);
                    let data = pattern(200_000, 1);
                    let (mut buf, mut small) = (vec![0; 200_000], vec![0; 8]);
                    let mut reqs = vec![
                        w.isend(d[0], &data, 1, 1, mode::STANDARD),
                        w.isend(d[0], &data[..8], 1, 2, mode::SYNCHRONOUS),
                    ];
                    if received {
                        reqs.push(w.irecv(d[1], &mut buf, 0, 1));
                        reqs.push(w.irecv(d[1], &mut small, 0, 2));
                    }
                    for turn in 0..turns {
                        w.progress_one(turn % 2);
                    }
                    revoke(&w, d[first]);
                    w.settle();
                    revoke(&w, d[1 - first]);
                    for req in reqs {
                        let error = w.wait(req).error;
                        assert!(error == FAILED || error == Status::OK, "{error}");
                    }
                    w.settle();
                    ping(&w, c[0], c[1], 9);
                    ping(&w, c[1], c[0], 9);
                    for p in 0..2 {
                        assert_eq!(w.errors(p), vec![]);
                    }
                    assert_eq!(w.registered(), 0, "{turns} turns, {first} first, received: {received}");
                }
            }
        }
    }
}

/// The buffer of a receive that its sender may put to is not its user's before the sender says so.
#[test]
fn an_exposed_buffer_waits_for_its_sender() {
    let w = World::new(Setup {
        get: Get::Held,
        offers_get: false,
        offers_put: true,
        min_put: 4096,
        handle: 24,
        offers_vector: false,
        ..Setup::default()
    });
    let d = second(&w);
    let (data, mut buf) = (pattern(50_000, 1), vec![0; 50_000]);
    let r = w.irecv(d[1], &mut buf, 0, 1);
    let s = w.isend(d[0], &data, 1, 1, mode::STANDARD);
    w.settle();
    revoke(&w, d[1]);
    w.settle();
    assert!(!r.is_complete());
    revoke(&w, d[0]);
    w.settle();
    assert!(!s.is_complete() && !r.is_complete());
    while w.aloft(0) > 0 {
        w.land(0, Status::OK);
        w.settle();
    }
    assert_eq!((w.wait(s).error, w.wait(r).error), (FAILED, FAILED));
    assert_eq!(w.net.registry.lock().late, 0);
    w.assert_clean();
}

/// Messages that nobody received cost no credit, and their senders hear of it.
#[test]
fn what_waits_is_refused() {
    for setup in setups() {
        let w = World::new(Setup { credit: 20_000, ..setup });
        let (c, d) = (w.world(), second(&w));
        ping(&w, d[0], d[1], 1);
        let data = pattern(50_000, 1);
        let mut sends: Vec<Req> =
            (0..8).map(|_| w.isend(d[0], &data[..2000], 1, 1, mode::STANDARD)).collect();
        let long = w.isend(d[0], &data, 1, 1, mode::STANDARD);
        let sync = w.isend(d[0], &data[..8], 1, 1, mode::SYNCHRONOUS);
        w.settle();
        let (_, message) = w.improbe(d[1], 0, 1).expect("it is there");
        revoke(&w, d[1]);
        w.settle();
        assert_eq!((w.wait(long).error, w.wait(sync).error), (FAILED, FAILED));
        // Messages whose sender does not know of it yet are refused when they come.
        sends.extend((0..30).map(|_| w.isend(d[0], &data[..2000], 1, 1, mode::STANDARD)));
        let args = w.recv_args(d[1], &mut [], byte(), 0, 0, 1);
        let (t, s) = w.table(1);
        assert_eq!((t.imrecv)(s, message, &args, &mut core::ptr::null_mut()), FAILED);
        w.settle();
        for req in sends {
            let error = w.wait(req).error;
            assert!(error == FAILED || error == Status::OK);
        }
        assert_eq!(w.probe(d[1], 0, 1), None);
        ping(&w, c[0], c[1], 9);
        w.assert_clean();
    }
}

#[test]
fn persistent_requests_of_a_revoked_communicator() {
    let w = World::new(Setup::default());
    let d = second(&w);
    let (t, state) = w.table(0);
    let args = w.send_args(d[0], bytes(&[1; 8]), 1, 1, mode::STANDARD);
    let mut ptr = core::ptr::null_mut();
    assert_eq!((t.send_init)(state, &args, &mut ptr), Status::PENDING);
    let s = Req(ptr);
    revoke(&w, d[0]);
    s.start();
    assert!(s.is_complete());
    assert_eq!(s.status().error, FAILED);
    s.release();
}

/// Receives that name a rank of the failed process end, unless their message is here; the others wait on.
#[test]
fn receives_from_a_process_that_failed() {
    for setup in setups() {
        let w = World::new(Setup { procs: 3, ..setup });
        let c = w.world();
        ping(&w, c[1], c[0], 1);
        ping(&w, c[2], c[0], 1);
        w.send(c[1], &[5; 8], 0, 7, mode::STANDARD).unwrap();
        w.settle();
        let mut bufs = vec![vec![0; 8]; 8];
        let mut bufs = bufs.iter_mut();
        let mut recv = |src, tag| w.irecv(c[0], bufs.next().unwrap(), src, tag);
        let dead = [recv(1, 1), recv(1, 2)];
        let alive = [recv(2, 1), recv(ANY_SOURCE, 3), recv(2, 2)];
        fail(&w, 0, 1);
        for req in dead {
            assert_eq!(w.wait(req).error, FAILED);
        }
        assert_eq!(w.wait(recv(1, 7)).error, Status::OK, "its message had come");
        assert_eq!(w.wait(recv(1, 1)).error, FAILED);
        assert_eq!(w.send(c[0], &[1; 8], 1, 1, mode::STANDARD).err(), Some(FAILED));
        assert!(alive.iter().all(|req| !req.is_complete()));
        for tag in [1, 3, 2] {
            w.send(c[2], &[1; 8], 0, tag, mode::STANDARD).unwrap();
        }
        for req in alive {
            assert_eq!(w.wait(req).error, Status::OK);
        }
        ping(&w, c[2], c[0], 4);
        // A process that nobody talked to before.
        fail(&w, 2, 1);
        assert_eq!(w.send(c[2], &[1; 8], 1, 1, mode::STANDARD).err(), Some(FAILED));
    }
}

/// Where something failed a waiter may still sleep.
#[test]
fn arming_after_a_failure() {
    let w = World::new(Setup::default());
    let (_c, d) = (w.world(), second(&w));
    revoke(&w, d[0]);
    let mut words = [oxmpi_btl::WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 4];
    let mut set = oxmpi_btl::WaitSet::new(&mut words, &mut []);
    // SAFETY: a call without a context, in the only thread.
    let none = &mut unsafe { w.procs[0].entry(core::ptr::null_mut()) };
    assert_eq!(w.procs[0].engine.arm(none, &mut set), Some(Status::OK));
    w.procs[0].engine.disarm(none);
}
