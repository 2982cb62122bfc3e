//! Every protocol, with every way it can go.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

/// Sends `len` bytes both before and after the receive is posted, and checks them.
fn exchange(w: &World, c: &[Comm], len: usize, mode: u32) {
    for posted_first in [true, false] {
        let data = pattern(len, len as u64 + 1);
        let mut buf = vec![0u8; len];
        let (s, r);
        if posted_first {
            r = w.irecv(c[1], &mut buf, 0, 5);
            s = w.isend(c[0], &data, 1, 5, mode);
        } else {
            s = w.isend(c[0], &data, 1, 5, mode);
            w.settle();
            r = w.irecv(c[1], &mut buf, 0, 5);
        }
        let status = w.wait(r);
        assert_eq!((status.source, status.tag, status.error, status.bytes), (0, 5, Status::OK, len as u64));
        assert_eq!(w.wait(s).error, Status::OK);
        assert!(buf == data, "{len} bytes differ");
    }
    w.assert_clean();
}

const SIZES: [usize; 16] =
    [0, 1, 8, 63, 64, 65, 1000, 4047, 4048, 4072, 4073, 4096, 8192, 20_000, 100_000, 1_000_000];

#[test]
fn all_sizes_by_copies() {
    let w = World::new(Setup { offers_get: false, ..Setup::default() });
    let c = w.world();
    for len in SIZES {
        for m in [mode::STANDARD, mode::SYNCHRONOUS, mode::READY, mode::BUFFERED] {
            exchange(&w, &c, len, m);
        }
    }
    assert_eq!(w.gets(), 0);
}

#[test]
fn all_sizes_by_reading() {
    for get in [Get::Works, Get::Later, Get::Busy] {
        for get_limit in [0, 3000] {
            let w = World::new(Setup { min_get: 4096, get, get_limit, ..Setup::default() });
            let c = w.world();
            for len in SIZES {
                exchange(&w, &c, len, mode::STANDARD);
            }
            assert!(w.gets() > 0);
        }
    }
}

/// The call that starts a receive does not do what may take long, so the sends that follow it are not late.
#[test]
fn long_messages_that_wait_are_not_read_by_the_call_that_starts_the_receive() {
    let w = World::new(Setup { min_get: 4096, ..Setup::default() });
    let c = w.world();
    for (len, at_once) in [(20_000, 1), (200_000, 0)] {
        let (data, mut back) = (pattern(len, 3), vec![0; len]);
        let send = w.isend(c[0], &data, 1, 5, mode::STANDARD);
        while w.probe(c[1], 0, 5).is_none() {
            w.progress();
        }
        let before = w.gets();
        let recv = w.irecv(c[1], &mut back, 0, 5);
        assert_eq!(w.gets() - before, at_once, "{len} bytes");
        w.wait(recv);
        w.wait(send);
        assert!(back == data && w.gets() - before == 1);
    }
    w.assert_clean();
}

/// Nor does it ask for what is copied: the question of a send that follows goes out before the answer, behind which a peer sends
/// all that it has.
#[test]
fn long_messages_that_wait_are_not_asked_for_by_the_call_that_starts_the_receive() {
    let w = World::new(Setup { offers_get: false, ..Setup::default() });
    let c = w.world();
    let (data, mut back) = (pattern(100_000, 3), vec![0; 100_000]);
    let send = w.isend(c[0], &data, 1, 5, mode::STANDARD);
    while w.probe(c[1], 0, 5).is_none() {
        w.progress();
    }
    let before = w.sent();
    let recv = w.irecv(c[1], &mut back, 0, 5);
    assert_eq!(w.sent(), before);
    w.progress_one(1);
    assert_eq!(w.sent(), before + 1);
    w.wait(recv);
    w.wait(send);
    assert!(back == data);
    w.assert_clean();
}

#[test]
fn refused_reads_fall_back_to_copies_and_are_remembered() {
    for get in [Get::Refused, Get::RefusedLater, Get::RefusedSecond] {
        let w = World::new(Setup { min_get: 4096, get, get_limit: 3000, ..Setup::default() });
        let c = w.world();
        exchange(&w, &c, 50_000, mode::STANDARD);
        let tried = w.gets();
        assert!(tried >= 1);
        for len in SIZES {
            exchange(&w, &c, len, mode::STANDARD);
        }
        assert_eq!(w.gets(), tried, "reading was tried again after it was refused");
        let logs = w.procs[1].logs.lock().clone();
        assert_eq!(
            logs.iter().filter(|(level, m)| *level == 2 && m.contains("copied")).count(),
            1,
            "{logs:?}"
        );
    }
}

#[test]
fn a_small_queue_keeps_order_and_loses_nothing() {
    for room in [1, 2, 3] {
        let w = World::new(Setup { room, ..Setup::default() });
        let c = w.world();
        let sizes: Vec<usize> = (0..200).map(|i| [0, 8, 100, 5000, 30_000][i % 5]).collect();
        let data: Vec<Vec<u8>> = sizes.iter().enumerate().map(|(i, &n)| pattern(n, i as u64 + 1)).collect();
        let send = |(i, d): (usize, &Vec<u8>)| {
            if i % 3 == 0 {
                // Room comes back while the sender's queue is not empty: nobody may take it out of turn.
                w.progress_one(1);
            }
            w.isend(c[0], d, 1, 1, mode::STANDARD)
        };
        let sends: Vec<Req> = data.iter().enumerate().map(send).collect();
        for d in &data {
            let mut buf = vec![0; d.len() + 1];
            let r = w.irecv(c[1], &mut buf, 0, 1);
            let status = w.wait(r);
            assert_eq!((status.error, status.bytes), (Status::OK, d.len() as u64));
            assert!(buf[..d.len()] == d[..]);
        }
        for s in sends {
            assert_eq!(w.wait(s).error, Status::OK);
        }
        w.assert_clean();
    }
}

#[test]
fn a_blocking_send_and_receive_of_a_small_message_need_no_request() {
    let w = World::new(Setup::default());
    let c = w.world();
    assert!(w.send(c[0], b"12345678", 1, 3, mode::STANDARD).unwrap().is_none());
    w.settle();
    let mut buf = [0; 8];
    let status = w.recv(c[1], &mut buf, ANY_SOURCE, ANY_TAG).expect("it is here");
    assert_eq!((&buf, status.source, status.tag, status.bytes), (b"12345678", 0, 3, 8));
    // The other order: the receive waits.
    let mut buf = [0; 8];
    let req = w.recv(c[1], &mut buf, 0, 3).expect_err("nothing is here");
    assert!(w.send(c[0], b"abcdefgh", 1, 3, mode::STANDARD).unwrap().is_none());
    assert_eq!(w.wait(req).bytes, 8);
    assert_eq!(&buf, b"abcdefgh");
}

#[test]
fn truncation_is_an_error_with_what_fits() {
    for (offers_get, min_get) in [(false, u64::MAX), (true, 4096)] {
        let w = World::new(Setup { offers_get, min_get, ..Setup::default() });
        let c = w.world();
        for len in [10usize, 64, 65, 3000, 5000, 50_000] {
            for room in [0, 1, len / 2, len - 1] {
                for posted_first in [true, false] {
                    for m in [mode::STANDARD, mode::SYNCHRONOUS] {
                        let data = pattern(len, 9);
                        let mut buf = vec![0xAA; len];
                        let s;
                        let r;
                        if posted_first {
                            r = w.irecv(c[1], &mut buf[..room], 0, 0);
                            s = w.isend(c[0], &data, 1, 0, m);
                        } else {
                            s = w.isend(c[0], &data, 1, 0, m);
                            w.settle();
                            r = w.irecv(c[1], &mut buf[..room], 0, 0);
                        }
                        let status = w.wait(r);
                        assert_eq!((status.error, status.bytes), (Status::TRUNCATED, room as u64));
                        assert_eq!(w.wait(s).error, Status::OK);
                        assert!(buf[..room] == data[..room]);
                        assert!(buf[room..].iter().all(|&b| b == 0xAA), "written past the buffer");
                    }
                }
            }
        }
        // A blocking receive of what waits says so in its status.
        w.send(c[0], &[1; 100], 1, 0, mode::STANDARD).unwrap();
        w.settle();
        let status = w.recv(c[1], &mut [0; 10], 0, 0).unwrap();
        assert_eq!((status.error, status.bytes), (Status::TRUNCATED, 10));
        w.assert_clean();
    }
}

#[test]
fn data_that_is_not_contiguous_is_packed_and_unpacked() {
    let from = strided(3, 5, 7);
    let to = strided(5, 3, 11);
    for (offers_get, min_get) in [(false, u64::MAX), (true, 1000)] {
        for room in [2, 1 << 20] {
            let w = World::new(Setup { offers_get, min_get, room, ..Setup::default() });
            let c = w.world();
            for n in [1u64, 4, 5, 100, 1000, 5000] {
                for (send_typed, recv_typed) in [(true, true), (true, false), (false, true)] {
                    typed_exchange(&w, &c, n, send_typed.then_some(from), recv_typed.then_some(to));
                }
            }
            w.assert_clean();
        }
    }
}

/// The packed bytes of `n` elements.
fn packed(ty: &oxmpi_datatype::TypeDesc, n: u64, user: &[u8]) -> Vec<u8> {
    let mut out = vec![0; (ty.packed * n) as usize];
    // SAFETY: `user` holds `n` elements.
    unsafe { oxmpi_datatype::pack(ty, n, user.as_ptr(), 0, out.as_mut_ptr(), out.len() as u64) };
    out
}

fn typed_exchange(
    w: &World,
    c: &[Comm],
    n: u64,
    from: Option<&'static oxmpi_datatype::TypeDesc>,
    to: Option<&'static oxmpi_datatype::TypeDesc>,
) {
    let (from, to) = (from.unwrap_or(byte()), to.unwrap_or(byte()));
    // Both sides carry 15n bytes.
    let (sn, rn) = (15 * n / from.packed, 15 * n / to.packed);
    let data = pattern((from.extent as u64 * sn) as usize, n);
    for posted_first in [true, false] {
        let mut buf = vec![0; (to.extent as u64 * rn) as usize];
        let (s, r);
        if posted_first {
            r = w.irecv_typed(c[1], &mut buf, to, rn, 0, 2);
            s = w.isend_typed(c[0], Elements(&data, from, sn), 1, 2, mode::STANDARD);
        } else {
            s = w.isend_typed(c[0], Elements(&data, from, sn), 1, 2, mode::STANDARD);
            w.settle();
            r = w.irecv_typed(c[1], &mut buf, to, rn, 0, 2);
        }
        assert_eq!(w.wait(r).bytes, 15 * n);
        assert_eq!(w.wait(s).error, Status::OK);
        assert!(packed(from, sn, &data) == packed(to, rn, &buf));
    }
}

#[test]
fn a_synchronous_send_completes_only_when_matched() {
    let w = World::new(Setup::default());
    let c = w.world();
    for len in [0usize, 8, 1000, 10_000] {
        let data = pattern(len, 3);
        let s = w.isend(c[0], &data, 1, 1, mode::SYNCHRONOUS);
        w.settle();
        assert!(!s.is_complete());
        let mut buf = vec![0; len];
        let r = w.irecv(c[1], &mut buf, 0, 1);
        w.wait(r);
        w.wait(s);
        assert!(buf == data);
        // Blocking, received by a blocking receive.
        let s = w.send(c[0], &data, 1, 1, mode::SYNCHRONOUS).unwrap().expect("not matched yet");
        w.settle();
        match w.recv(c[1], &mut buf, 0, 1) {
            Ok(status) => assert_eq!(status.bytes, len as u64),
            Err(r) => assert_eq!(w.wait(r).bytes, len as u64),
        }
        w.wait(s);
    }
    w.assert_clean();
}

#[test]
fn a_process_talks_to_itself() {
    let w = World::new(Setup { min_get: 4096, ..Setup::default() });
    let c = w.world();
    for len in SIZES {
        let data = pattern(len, 77);
        let mut buf = vec![0; len];
        let r = w.irecv(c[0], &mut buf, 0, 0);
        let s = w.isend(c[0], &data, 0, 0, mode::STANDARD);
        w.wait(r);
        w.wait(s);
        assert!(buf == data);
    }
}

#[test]
fn three_processes_and_any_source() {
    let w = World::new(Setup { procs: 3, ..Setup::default() });
    let c = w.world();
    for round in 0..50u8 {
        for from in [1, 2] {
            assert!(w.send(c[from], &[round, from as u8], 0, 4, mode::STANDARD).unwrap().is_none());
        }
    }
    w.settle();
    let mut next = [0u8; 3];
    for _ in 0..100 {
        let mut buf = [0; 2];
        let status = w.recv(c[0], &mut buf, ANY_SOURCE, 4).unwrap();
        assert_eq!(status.source as u8, buf[1]);
        assert_eq!(buf[0], next[buf[1] as usize], "messages of one source overtook each other");
        next[buf[1] as usize] += 1;
    }
}

/// A send that had no credit was announced, which found no room; when it goes it has both, and nobody is to answer it.
#[test]
fn what_could_not_be_announced_goes_at_once_when_there_is_credit_again() {
    let w = World::new(Setup { credit: 1000, room: 1, ..Setup::default() });
    let c = w.world();
    let data = [pattern(600, 1), pattern(600, 2)];
    let sends = [0, 1].map(|i| w.isend(c[0], &data[i], 1, 0, mode::STANDARD));
    assert!(sends[0].is_complete() && !sends[1].is_complete());
    for sent in &data {
        let mut buf = vec![0; 600];
        let r = w.irecv(c[1], &mut buf, 0, 0);
        assert_eq!(w.wait(r).bytes, 600);
        assert!(buf == *sent);
    }
    for s in sends {
        assert_eq!(w.wait(s).error, Status::OK);
    }
    w.assert_clean();
}
