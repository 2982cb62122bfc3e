//! Processes that part for good: what is kept of them goes, what still comes of them is dropped, and all else goes on.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_pml::mode;

const SAYS: [usize; 4] = [8, 3000, 5000, 50_000];

/// A communicator of two processes, at each of them.
fn pair(w: &World, a: usize, b: usize) -> [Comm; 2] {
    let procs = [a as u32, b as u32];
    let make = |p: usize, my_rank| {
        w.add_comm(p, &CommSpec { gid: [a as u64, b as u64], procs: &procs, my_rank, ..CommSpec::default() })
    };
    [make(a, 0), make(b, 1)]
}

/// Messages of all lengths, in both directions.
fn talk(w: &World, c: [Comm; 2]) {
    for (from, len) in SAYS.into_iter().flat_map(|len| [(0, len), (1, len)]) {
        let (data, mut buf) = (pattern(len, 5), vec![0; len]);
        let s = w.isend(c[from], &data, 1 - from as i32, 4, mode::STANDARD);
        let r = w.irecv(c[1 - from], &mut buf, from as i32, 4);
        assert_eq!((w.wait(r).error, w.wait(s).error), (Status::OK, Status::OK));
        assert!(buf == data);
    }
}

/// The host knows the process no more, and says so.
fn part(w: &World, at: usize, proc: u32) {
    w.procs[at].parted.store(proc, Ordering::Relaxed);
    let (t, s) = w.table(at);
    assert_eq!((t.peer_parted)(s, proc), Status::OK);
}

fn nothing_was_said(w: &World) {
    w.assert_clean();
    assert_eq!(*w.procs[0].helps.lock(), Vec::<String>::new());
}

fn setups() -> Vec<Setup> {
    let rdma = Setup { procs: 3, min_get: 4096, handle: 24, ..Setup::default() };
    let copies = Setup { procs: 3, offers_get: false, ..Setup::default() };
    vec![copies, rdma, Setup { cris: 4, threaded: true, ..copies }, Setup { room: 2, ..copies }]
}

#[test]
fn what_comes_late_is_dropped() {
    for setup in setups() {
        let w = World::new(setup);
        let (gone, stays) = (pair(&w, 0, 1), pair(&w, 0, 2));
        talk(&w, gone);
        talk(&w, stays);
        w.settle();
        // The other side is behind: it still has the communicator, whose index here it knows, and one that is not here any more.
        w.del_comm(gone[0]);
        part(&w, 0, 1);
        let other = w.add_comm(1, &CommSpec { gid: [7, 7], my_rank: 1, ..CommSpec::default() });
        let mut sends = Vec::new();
        let data = pattern(50_000, 1);
        for comm in [gone[1], other] {
            sends.extend(SAYS.map(|len| w.isend(comm, &data[..len], 0, 4, mode::STANDARD)));
        }
        w.settle();
        nothing_was_said(&w);
        talk(&w, stays);
        // Nor was anything kept of it: a communicator like that one finds no message.
        let empty = w.add_comm(0, &CommSpec { gid: [7, 7], ..CommSpec::default() });
        assert!(w.probe(empty, 1, 4).is_none());
        sends.iter().for_each(Req::release);
        w.settle();
        nothing_was_said(&w);
    }
}

/// Credit that found no room goes with the peer, and a transport is not asked again.
#[test]
fn what_waits_for_room_is_dropped() {
    let w = World::new(Setup { procs: 3, credit: 4000, offers_get: false, ..Setup::default() });
    let (gone, stays) = (pair(&w, 0, 1), pair(&w, 0, 2));
    talk(&w, gone);
    let (data, mut buf) = (pattern(3000, 1), vec![0; 3000]);
    let s = w.isend(gone[1], &data, 0, 4, mode::STANDARD);
    w.settle();
    w.set_room(0);
    let r = w.irecv(gone[0], &mut buf, 1, 4);
    assert_eq!(w.wait(r).bytes, 3000);
    let (t, state) = w.table(0);
    assert_eq!((t.flush)(state), Status::PENDING, "credit waits for room");
    w.del_comm(gone[0]);
    part(&w, 0, 1);
    assert_eq!((t.flush)(state), Status::OK, "and nothing of that process does any more");
    w.set_room(1 << 20);
    w.wait(s);
    talk(&w, stays);
    nothing_was_said(&w);
}

/// One that failed before parts as any: messages of others are looked at no closer than before.
#[test]
fn one_that_had_failed_parts() {
    let w = World::new(Setup { procs: 3, ..Setup::default() });
    let (gone, stays) = (pair(&w, 0, 1), pair(&w, 0, 2));
    talk(&w, gone);
    let (t, state) = w.table(0);
    assert_eq!((t.peer_failed)(state, 1), Status::OK);
    w.settle();
    w.del_comm(gone[0]);
    part(&w, 0, 1);
    assert_eq!((t.peer_parted)(state, 1), Status::OK, "twice is no matter");
    assert_eq!((t.peer_failed)(state, 1), Status::OK, "nor is a failure that is heard of late");
    talk(&w, stays);
    nothing_was_said(&w);
}
