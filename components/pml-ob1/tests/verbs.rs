//! Wildcards, probes, cancelling, persistent requests, releasing what is pending, sleeping, credits.

mod common;

use common::*;
use oxmpi_btl::{WaitSet, WaitWord};
use oxmpi_mca::{MsgStatus, Status};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

#[test]
fn wildcards_take_the_oldest_and_leave_negative_tags() {
    let w = World::new(Setup::default());
    let c = w.world();
    for tag in [-7, 3, 1, 2] {
        w.send(c[0], &[tag as u8], 1, tag, mode::STANDARD).unwrap();
    }
    w.settle();
    let mut buf = [0];
    for (ask, got) in [(2, 2), (ANY_TAG, 3), (ANY_TAG, 1)] {
        assert_eq!(w.recv(c[1], &mut buf, ANY_SOURCE, ask).unwrap().tag, got);
    }
    let any = w.irecv(c[1], &mut buf, ANY_SOURCE, ANY_TAG);
    assert!(!any.is_complete(), "a library message was matched by MPI_ANY_TAG");
    let mut own = [0];
    assert_eq!(w.recv(c[1], &mut own, 0, -7).unwrap().tag, -7);
    w.send(c[0], &[9], 1, -9, mode::STANDARD).unwrap();
    w.settle();
    assert!(!any.is_complete());
    w.send(c[0], &[4], 1, 4, mode::STANDARD).unwrap();
    assert_eq!(w.wait(any).tag, 4);
}

#[test]
fn posted_receives_match_in_the_order_of_posting() {
    let w = World::new(Setup::default());
    let c = w.world();
    let mut bufs = [[0u8; 1]; 4];
    let asks = [(0, 5), (ANY_SOURCE, 5), (0, ANY_TAG), (ANY_SOURCE, ANY_TAG)];
    let reqs: Vec<Req> =
        bufs.iter_mut().zip(asks).map(|(b, (src, tag))| w.irecv(c[1], b, src, tag)).collect();
    for (i, tag) in [5, 6, 5, 5].into_iter().enumerate() {
        w.send(c[0], &[i as u8 + 1], 1, tag, mode::STANDARD).unwrap();
    }
    for r in reqs {
        w.wait(r);
    }
    assert_eq!(bufs, [[1], [3], [2], [4]]);
}

#[test]
fn probes_look_and_mprobes_take() {
    let w = World::new(Setup { min_get: 5000, ..Setup::default() });
    let c = w.world();
    assert_eq!(w.probe(c[1], ANY_SOURCE, ANY_TAG), None);
    let sizes = [0usize, 8, 64, 65, 3000, 4090, 20_000];
    let data: Vec<Vec<u8>> = sizes.iter().map(|&n| pattern(n, 1 + n as u64)).collect();
    let sends: Vec<Req> =
        data.iter().enumerate().map(|(i, d)| w.isend(c[0], d, 1, i as i32, mode::STANDARD)).collect();
    w.settle();
    let mut taken = Vec::new();
    for (i, d) in data.iter().enumerate() {
        let expected =
            MsgStatus { source: 0, tag: i as i32, error: Status::OK, cancelled: 0, bytes: d.len() as u64 };
        assert_eq!(w.probe(c[1], ANY_SOURCE, ANY_TAG), Some(expected));
        assert_eq!(w.probe(c[1], 0, i as i32), Some(expected));
        let (status, message) = w.improbe(c[1], ANY_SOURCE, ANY_TAG).unwrap();
        assert_eq!(status, expected);
        taken.push(message);
    }
    assert_eq!(w.improbe(c[1], ANY_SOURCE, ANY_TAG), None);
    // Received in another order than they came.
    for (i, message) in taken.into_iter().enumerate().rev() {
        let mut buf = vec![0; sizes[i]];
        let r = w.imrecv(c[1], message, &mut buf);
        let status = w.wait(r);
        assert_eq!((status.tag, status.error, status.bytes), (i as i32, Status::OK, sizes[i] as u64));
        assert!(buf == data[i]);
    }
    for s in sends {
        w.wait(s);
    }
    w.assert_clean();
}

#[test]
fn a_posted_receive_is_cancelled_and_a_matched_one_is_not() {
    let w = World::new(Setup::default());
    let c = w.world();
    let mut bufs = [[0u8; 1]; 3];
    let [a, b, d] = &mut bufs;
    let reqs = [w.irecv(c[1], a, 0, 1), w.irecv(c[1], b, 0, 1), w.irecv(c[1], d, 0, 1)];
    assert_eq!(reqs[1].cancel(), Status::OK);
    assert_eq!(w.wait(reqs[1]).cancelled, 1);
    w.send(c[0], &[1], 1, 1, mode::STANDARD).unwrap();
    w.settle();
    assert_eq!(reqs[0].cancel(), Status::PENDING);
    assert_eq!(w.wait(reqs[0]).cancelled, 0);
    w.send(c[0], &[2], 1, 1, mode::STANDARD).unwrap();
    assert_eq!(w.wait(reqs[2]).cancelled, 0);
    assert_eq!(bufs, [[1], [0], [2]]);
}

#[test]
fn a_send_that_waits_for_room_is_cancelled_and_one_under_way_is_not() {
    let w = World::new(Setup { room: 2, ..Setup::default() });
    let c = w.world();
    let data: Vec<[u8; 1]> = (0..5).map(|i| [i]).collect();
    let reqs: Vec<Req> = data.iter().map(|d| w.isend(c[0], d, 1, 0, mode::STANDARD)).collect();
    let sync = w.isend(c[0], &[9], 1, 0, mode::SYNCHRONOUS);
    assert_eq!(reqs[0].cancel(), Status::PENDING);
    assert_eq!(reqs[3].cancel(), Status::OK);
    assert_eq!(sync.cancel(), Status::OK);
    w.settle();
    for i in [0, 1, 2, 4] {
        let mut buf = [0];
        w.recv(c[1], &mut buf, 0, 0).unwrap();
        assert_eq!(buf, [i]);
        w.wait(reqs[i as usize]);
    }
    assert_eq!(w.probe(c[1], 0, 0), None);
    assert_eq!(w.wait(reqs[3]).cancelled + w.wait(sync).cancelled, 2);
    w.assert_clean();
}

/// A message may go any way: the receiver gives it back if it has not received it, and others keep their order.
#[test]
fn a_send_that_lies_unmatched_at_its_receiver_is_cancelled() {
    let ways = [(4, mode::SYNCHRONOUS), (3000, mode::SYNCHRONOUS), (20_000, mode::STANDARD)];
    for (min_get, (len, how)) in [0, 5000, u64::MAX].into_iter().flat_map(|g| ways.map(|way| (g, way))) {
        let w = World::new(Setup { min_get, ..Setup::default() });
        let c = w.world();
        let data: Vec<Vec<u8>> = (0..5).map(|i| vec![i; len]).collect();
        let reqs: Vec<Req> = data.iter().map(|d| w.isend(c[0], d, 1, 0, how)).collect();
        if len == 4 {
            // One that nobody may ask back, between them.
            w.send(c[0], b"free", 1, 0, mode::STANDARD).unwrap();
        }
        w.settle();
        for i in [1, 4, 4] {
            assert_eq!(reqs[i].cancel(), Status::PENDING);
        }
        assert!(!reqs[1].is_complete(), "its receiver has not been asked yet");
        w.settle();
        assert_eq!(w.wait(reqs[1]).cancelled + w.wait(reqs[4]).cancelled, 2);
        let mut buf = vec![9; len];
        for i in [0, 2, 3] {
            w.wait(w.irecv(c[1], &mut buf, 0, 0));
            assert_eq!(buf, data[i]);
            assert_eq!(w.wait(reqs[i]).cancelled, 0);
        }
        if len == 4 {
            w.recv(c[1], &mut buf, 0, 0).unwrap();
            assert_eq!(buf, b"free");
        }
        assert_eq!(w.probe(c[1], 0, 0), None);
        // Too late: it was received, but the sender has not heard of that.
        let late = w.isend(c[0], &data[3], 1, 0, how);
        let got = w.irecv(c[1], &mut buf, 0, 0);
        w.progress_one(1);
        late.cancel();
        assert_eq!(w.wait(got).cancelled + w.wait(late).cancelled, 0);
        assert_eq!(buf, data[3]);
        w.assert_clean();
    }
}

fn init(w: &World, c: Comm, send: Option<&[u8]>, recv: Option<&mut [u8]>, peer: i32) -> Req {
    let (t, s) = w.table(c.proc);
    let mut ptr = core::ptr::null_mut();
    let status = match (send, recv) {
        (Some(d), _) => (t.send_init)(s, &w.send_args(c, bytes(d), peer, 1, mode::STANDARD), &mut ptr),
        (_, Some(b)) => {
            let n = b.len() as u64;
            (t.recv_init)(s, &w.recv_args(c, b, byte(), n, peer, 1), &mut ptr)
        }
        _ => unreachable!(),
    };
    assert_eq!(status, Status::PENDING);
    Req(ptr)
}

#[test]
fn persistent_requests_start_again_and_again() {
    let w = World::new(Setup { min_get: 5000, ..Setup::default() });
    let c = w.world();
    for len in [8usize, 1000, 4090, 20_000] {
        let mut data = vec![0u8; len];
        let mut buf = vec![0u8; len];
        let (data_ptr, buf_ptr) = (data.as_mut_ptr(), buf.as_ptr());
        let s = init(&w, c[0], Some(&data), None, 1);
        let r = init(&w, c[1], None, Some(&mut buf), 0);
        assert!(s.is_complete() && r.is_complete(), "inactive requests are complete");
        assert_eq!(r.status(), MsgStatus::EMPTY);
        for round in 0..6u8 {
            // SAFETY: the buffers live to the end of the scope; the requests are inactive.
            unsafe { core::ptr::write_bytes(data_ptr, round + 1, len) };
            let order = if round % 2 == 0 { [s, r] } else { [r, s] };
            for req in order {
                assert_eq!(req.start(), Status::OK);
                w.settle();
            }
            for _ in 0..1000 {
                w.progress();
            }
            assert!(s.is_complete() && r.is_complete());
            assert_eq!((r.status().bytes, r.status().error), (len as u64, Status::OK));
            // SAFETY: the receive is complete, and the buffer lives to the end of the scope.
            assert_eq!(unsafe { *buf_ptr.add(len - 1) }, round + 1);
        }
        s.release();
        r.release();
    }
    w.assert_clean();
}

#[test]
fn requests_released_while_pending_finish_and_are_used_again() {
    for threaded in [false, true] {
        let w = World::new(Setup { threaded, ..Setup::default() });
        let c = w.world();
        let (t, s) = w.table(0);
        let data = pattern(20_000, 1);
        for _ in 0..300 {
            let mut buf = vec![0; data.len()];
            w.isend(c[0], &data, 1, 1, mode::STANDARD).release();
            assert_eq!((t.flush)(s), Status::PENDING, "a released send is under way");
            w.irecv(c[1], &mut buf, 0, 1).release();
            w.settle();
            assert!(buf == data);
            assert_eq!((t.flush)(s), Status::OK);
        }
        for p in 0..2 {
            let made = w.procs[p].slots.load(std::sync::atomic::Ordering::SeqCst);
            assert_eq!(made, 64, "released requests did not come back to their pool");
            assert_eq!(w.procs[p].synced.load(std::sync::atomic::Ordering::SeqCst), 0);
        }
        w.assert_clean();
    }
}

#[test]
fn an_attached_sync_object_is_told() {
    let w = World::new(Setup { threaded: true, ..Setup::default() });
    let c = w.world();
    let mut buf = [0; 8];
    let r = w.irecv(c[1], &mut buf, 0, 1);
    // SAFETY: headers live for ever.
    let attached = unsafe { &(*r.0).completion }.attach(0x1000);
    assert_eq!(attached, oxmpi_mca::request::Attach::Attached);
    w.send(c[0], &[1; 8], 1, 1, mode::STANDARD).unwrap();
    w.wait(r);
    assert_eq!(w.procs[1].synced.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn arming_looks_at_queues_and_transports() {
    let w = World::new(Setup { room: 1, ..Setup::default() });
    let c = w.world();
    let engine = &w.procs[0].engine;
    let mut words = [WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 4];
    let mut set = WaitSet::new(&mut words, &mut []);
    // SAFETY: a call without a context, in the only thread.
    let none = &mut unsafe { w.procs[0].entry(core::ptr::null_mut()) };
    assert_eq!(engine.arm(none, &mut set), Some(Status::OK));
    assert_eq!(set.words().iter().map(|w| (w.expected, w.addr.is_null())).collect::<Vec<_>>(), [(7, false)]);
    assert_eq!(set.fds(), []);
    assert_eq!(w.procs[0].armed.load(std::sync::atomic::Ordering::SeqCst), 1);
    engine.disarm(none);
    engine.disarm(none);
    assert_eq!(w.procs[0].armed.load(std::sync::atomic::Ordering::SeqCst), 0);
    // A message is there.
    w.send(c[1], b"x", 0, 0, mode::STANDARD).unwrap();
    assert_eq!(engine.arm(none, &mut set), Some(Status::PENDING));
    w.settle();
    // Something waits for room, which nobody announces.
    let reqs = [w.isend(c[0], b"a", 1, 0, mode::STANDARD), w.isend(c[0], b"b", 1, 0, mode::STANDARD)];
    assert_eq!(engine.arm(none, &mut set), Some(Status::PENDING));
    for r in reqs {
        w.wait(r);
    }
    assert_eq!(engine.arm(none, &mut set), Some(Status::OK));
    engine.disarm(none);
    // No place in the set for what the transport adds.
    let mut full = WaitSet::new(&mut [], &mut []);
    assert_eq!(engine.arm(none, &mut full), Some(Status::NO_RESOURCE));
    engine.disarm(none);
    w.assert_clean();
    // A transport that cannot wake anybody.
    let w = World::new(Setup { sleeps: false, ..Setup::default() });
    let engine = &w.procs[0].engine;
    assert_eq!(engine.arm(none, &mut set), Some(Status::NOT_SUPPORTED));
}

#[test]
fn credit_bounds_what_waits_and_comes_back() {
    let credit = 10_000;
    let w = World::new(Setup { credit, ..Setup::default() });
    let c = w.world();
    let data = pattern(1000, 1);
    // No receive: ten fit, the others announce themselves, small ones always go.
    let sends: Vec<Req> = (0..50).map(|_| w.isend(c[0], &data, 1, 1, mode::STANDARD)).collect();
    let done = |sends: &[Req]| sends.iter().filter(|r| r.is_complete()).count();
    w.settle();
    assert_eq!(done(&sends), 10);
    assert!(w.send(c[0], &[1; 64], 1, 2, mode::STANDARD).unwrap().is_none());
    w.settle();
    for _ in 0..50 {
        let mut buf = vec![0; 1000];
        let r = w.irecv(c[1], &mut buf, 0, 1);
        assert_eq!(w.wait(r).bytes, 1000);
        assert!(buf == data);
    }
    for s in &sends {
        w.wait(*s);
    }
    w.settle();
    // At least half of it is back.
    let sends: Vec<Req> = (0..50).map(|_| w.isend(c[0], &data, 1, 1, mode::STANDARD)).collect();
    assert!(done(&sends) >= 5, "{}", done(&sends));
    for s in sends {
        let mut buf = vec![0; 1000];
        let r = w.irecv(c[1], &mut buf, 0, 1);
        w.wait(r);
        w.wait(s);
    }
    // Received as it comes, it never runs out for long.
    for _ in 0..200 {
        let mut buf = vec![0; 1000];
        let r = w.irecv(c[1], &mut buf, 0, 1);
        assert!(w.send(c[0], &data, 1, 1, mode::STANDARD).unwrap().is_none(), "no credit came back");
        w.wait(r);
        w.settle();
    }
    w.assert_clean();
}

#[test]
fn a_world_without_credit_works() {
    let w = World::new(Setup { credit: 0, ..Setup::default() });
    let c = w.world();
    for len in [0usize, 8, 64, 65, 4000, 50_000] {
        let data = pattern(len, 2);
        let mut buf = vec![0; len];
        let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
        let r = w.irecv(c[1], &mut buf, 0, 1);
        w.wait(r);
        w.wait(s);
        assert!(buf == data);
    }
    w.assert_clean();
}
