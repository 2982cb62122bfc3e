//! Long messages by get and by put, over memory that has to be registered and memory that has not. The transport checks
//! handles, limits and alignment; what comes when memory is not registered any more is dropped and counted.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

const HANDLES: [u32; 5] = [0, 8, 24, 72, 256];
const LENGTHS: [usize; 4] = [4104, 8192, 50_000, 200_000];

/// Gets and puts of 4 KiB and more.
fn getting(handle: u32) -> Setup {
    Setup { min_get: 4096, handle, offers_vector: false, ..Setup::default() }
}
fn putting(handle: u32) -> Setup {
    Setup { offers_get: false, offers_put: true, min_put: 4096, ..getting(handle) }
}

/// Both ways, and puts with and without a flush.
fn ways(handle: u32) -> [Setup; 3] {
    [getting(handle), putting(handle), Setup { put_is_remote: true, ..putting(handle) }]
}

/// Sends bytes before and after the receive is posted, into a buffer of `room`.
fn exchange(w: &World, c: &[Comm], len: usize, room: usize) {
    for posted_first in [true, false] {
        let data = pattern(len, len as u64 + 1);
        // Aligned, as the transport may want it.
        let (mut space, mut source) = (vec![0u64; room.div_ceil(8) + 1], vec![0u64; len.div_ceil(8)]);
        let (buf, source) = (&mut bytes_of(&mut space)[..room], &mut bytes_of(&mut source)[..len]);
        source.copy_from_slice(&data);
        let (s, r);
        if posted_first {
            r = w.irecv(c[1], buf, 0, 5);
            s = w.isend(c[0], source, 1, 5, mode::STANDARD);
        } else {
            s = w.isend(c[0], source, 1, 5, mode::STANDARD);
            w.settle();
            r = w.irecv(c[1], buf, 0, 5);
        }
        let status = w.wait(r);
        let n = len.min(room);
        let error = if room < len { Status::TRUNCATED } else { Status::OK };
        assert_eq!((status.error, status.bytes), (error, n as u64));
        assert_eq!(w.wait(s).error, Status::OK);
        assert!(buf[..n] == data[..n], "{len} bytes differ");
        w.settle();
    }
    w.assert_clean();
}

fn bytes_of(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: a word is eight bytes.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}

#[test]
fn every_handle_limit_and_way_of_completing() {
    for handle in HANDLES {
        for way in ways(handle) {
            for get in [Get::Works, Get::Later, Get::Busy] {
                for limit in [0, 1000] {
                    let w = World::new(Setup {
                        get,
                        get_limit: limit,
                        put_limit: limit,
                        get_alignment: 8,
                        put_alignment: 8,
                        room: 3,
                        ..way
                    });
                    let c = w.world();
                    for len in LENGTHS {
                        exchange(&w, &c, len, len);
                        exchange(&w, &c, len, (len / 2) & !7);
                        exchange(&w, &c, len, 0);
                    }
                    assert!(w.gets() + w.puts() > 0);
                    assert_eq!((w.gets() > 0, w.puts() > 0), (way.offers_get, way.offers_put));
                    assert_eq!(w.net.registry.lock().late, 0);
                    let is_kept = w.net.registry.lock().kept() > 0;
                    assert_eq!(is_kept, handle > 0, "behind messages that went well memory may stay");
                }
            }
        }
    }
}

/// Two transports to everybody take the pieces of long messages in turn, by get and by put, whatever each answers; what is refused goes by
/// fragments. A put that needs a flush takes the first alone.
#[test]
fn two_transports_share_pieces() {
    let of_twin = |w: &World| w.net.queues.lock().of_twin;
    for handle in [8, 72] {
        for (way, shared) in ways(handle).into_iter().zip([true, false, true]) {
            for get in [Get::Works, Get::Later, Get::Busy] {
                let w = World::new(Setup { get, room: 3, twin: true, ..way });
                let c = w.world();
                for len in [4104, 200_000, 1 << 20] {
                    exchange(&w, &c, len, len);
                    exchange(&w, &c, len, len / 2);
                }
                let all = w.gets() + w.puts();
                assert!(all > 0);
                assert_eq!(of_twin(&w) * 4 >= all, shared, "{} of {all}", of_twin(&w));
                assert!(shared || of_twin(&w) == 0);
                assert_eq!(w.net.registry.lock().late, 0);
            }
            for get in [Get::Refused, Get::RefusedLater, Get::RefusedSecond, Get::RefusedSecondLater] {
                let w = World::new(Setup { get, twin: true, ..way });
                let c = w.world();
                exchange(&w, &c, 1 << 20, 1 << 20);
                exchange(&w, &c, 200_000, 200_000);
                assert_eq!(w.net.registry.lock().late, 0);
            }
        }
    }
}

#[test]
fn a_get_is_better_than_a_put_where_both_pay() {
    let w = World::new(Setup { offers_put: true, min_put: 10_000, min_get: 50_000, ..getting(16) });
    let c = w.world();
    exchange(&w, &c, 8000, 8000);
    assert_eq!((w.gets(), w.puts()), (0, 0));
    exchange(&w, &c, 20_000, 20_000);
    assert_eq!((w.gets(), w.puts()), (0, 2));
    exchange(&w, &c, 50_000, 50_000);
    assert_eq!((w.gets(), w.puts()), (2, 2));
}

/// Data that the transport refuses, at once or later, in the first piece or the second, goes by fragments; so does all that follows.
#[test]
fn refusals_go_on_by_fragments() {
    use Get::*;
    for handle in HANDLES {
        for way in ways(handle) {
            for get in [Refused, RefusedLater, RefusedSecond, RefusedSecondLater] {
                let w = World::new(Setup { get, get_limit: 1000, put_limit: 1000, room: 3, ..way });
                let c = w.world();
                for len in LENGTHS {
                    exchange(&w, &c, len, len);
                }
                assert!(w.gets() + w.puts() <= 8, "it was offered again after the refusal");
            }
        }
    }
}

/// Memory that cannot be registered, at either end: the others go on.
#[test]
fn a_limit_of_registrations_holds_nobody_up() {
    for way in ways(24) {
        for registrations in [0, 1, 3] {
            for (sender, receiver) in [(registrations, usize::MAX), (usize::MAX, registrations), (1, 1)] {
                let tell = |rank, own: &mut Setup| own.registrations = [sender, receiver][rank as usize];
                let w = World::with_each(way, tell);
                let c = w.world();
                let data: Vec<Vec<u8>> = (0..10).map(|n| pattern(60_000, n)).collect();
                let mut bufs = vec![vec![0; 60_000]; 10];
                let sends: Vec<Req> = data.iter().map(|d| w.isend(c[0], d, 1, 1, mode::STANDARD)).collect();
                let recvs: Vec<Req> = bufs.iter_mut().map(|b| w.irecv(c[1], b, 0, 1)).collect();
                for req in sends.into_iter().chain(recvs) {
                    assert_eq!(w.wait(req).error, Status::OK);
                }
                assert!(bufs == data);
                w.assert_clean();
            }
        }
    }
}

/// Data in pieces, at either end or both.
#[test]
fn data_in_pieces_goes_by_fragments() {
    let strides = strided(100, 500, 150);
    for way in ways(24) {
        let w = World::new(way);
        let c = w.world();
        for (send_pieces, recv_pieces) in [(true, false), (false, true), (true, true)] {
            let data = pattern(75_000, 9);
            let mut buf = vec![0; 75_000];
            let s = match send_pieces {
                true => w.isend_typed(c[0], Elements(&data, strides, 1), 1, 1, mode::STANDARD),
                false => w.isend(c[0], &data[..50_000], 1, 1, mode::STANDARD),
            };
            let r = match recv_pieces {
                true => w.irecv_typed(c[1], &mut buf, strides, 1, 0, 1),
                false => w.irecv(c[1], &mut buf[..50_000], 0, 1),
            };
            assert_eq!(w.wait(r).bytes, 50_000);
            w.wait(s);
            let packed = |bytes: &[u8], pieces: bool| match pieces {
                true => bytes.chunks(150).flat_map(|c| c[..100].to_vec()).collect(),
                false => bytes[..50_000].to_vec(),
            };
            assert!(packed(&data, send_pieces) == packed(&buf, recv_pieces));
            w.assert_clean();
        }
        assert_eq!((w.gets(), w.puts()), (0, 0));
    }
}

/// Addresses and lengths that the transport's alignment does not allow.
#[test]
fn what_is_not_aligned_goes_by_fragments() {
    for way in ways(24) {
        let w = World::new(Setup { get_alignment: 8, put_alignment: 8, ..way });
        let c = w.world();
        let data = pattern(40_009, 3);
        let mut space = vec![0u64; 6000];
        let buf = bytes_of(&mut space);
        let mut aligned = vec![0u64; 6000];
        bytes_of(&mut aligned)[..40_009].copy_from_slice(&data);
        let aligned = &bytes_of(&mut aligned)[..40_000];
        for (from, to) in [(&aligned[1..30_001], 0), (&aligned[..30_001], 0), (&aligned[..30_000], 1)] {
            let r = w.irecv(c[1], &mut buf[to..], 0, 1);
            let s = w.isend(c[0], from, 1, 1, mode::STANDARD);
            w.wait(r);
            w.wait(s);
            assert!(buf[to..][..from.len()] == *from);
            w.assert_clean();
        }
        assert_eq!((w.gets(), w.puts()), (0, 0));
    }
}

/// No request completes while a piece of it is under way, and `done` itself starts nothing.
#[test]
fn pieces_keep_a_request_and_done_only_counts() {
    for way in ways(24) {
        let w = World::new(Setup { get: Get::Held, get_limit: 10_000, put_limit: 10_000, ..way });
        let c = w.world();
        // The process that issues the pieces, and what it has under way at a time: the depth of the pipeline.
        let by = usize::from(way.offers_get);
        let data = pattern(100_000, 1);
        let mut buf = vec![0; 100_000];
        let r = w.irecv(c[1], &mut buf, 0, 1);
        let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
        w.settle();
        assert_eq!(w.aloft(by), 4);
        let mut landed = 0;
        while w.aloft(by) > 0 {
            assert!(!r.is_complete() && !s.is_complete());
            assert_eq!(w.registered(), 2);
            w.land(by, Status::OK);
            landed += 1;
            w.settle();
        }
        assert_eq!(landed, 10 + usize::from(way.offers_put && !way.put_is_remote));
        for req in [r, s] {
            assert_eq!(w.wait(req).error, Status::OK);
        }
        assert!(buf == data);
        w.assert_clean();
    }
}

/// A transport that fails is the end of the peer: at both ends, once the pieces under way have come down.
#[test]
fn a_transport_that_fails() {
    for way in ways(24) {
        for get in [Get::Breaks, Get::BreaksLater] {
            let w = World::new(Setup { get, ..way });
            let c = w.world();
            let by = usize::from(way.offers_get);
            let (data, mut buf) = (pattern(100_000, 1), vec![0; 100_000]);
            let r = w.irecv(c[1], &mut buf, 0, 1);
            let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
            w.settle();
            let (mine, other) = if by == 1 { (r, s) } else { (s, r) };
            assert!(!other.is_complete(), "nobody has told it");
            assert_eq!(w.wait(mine).error, Status::PEER_FAILED);
            let errors = w.errors(by);
            assert_eq!((errors.len(), errors[0].0), (1, 1 - by as u32), "{errors:?}");
            // The host hears of it.
            let (t, state) = w.table(1 - by);
            assert_eq!((t.peer_failed)(state, by as u32), Status::OK);
            assert_eq!(w.wait(other).error, Status::PEER_FAILED);
            assert_eq!(w.registered(), 0);
        }
    }
}

/// The host says that a peer failed while pieces are under way: the buffer is its user's when none is any more.
#[test]
fn a_peer_that_fails_while_pieces_are_under_way() {
    for way in ways(24) {
        for status in [Status::OK, Status::PEER_FAILED] {
            let w = World::new(Setup { get: Get::Held, get_limit: 40_000, put_limit: 40_000, ..way });
            let c = w.world();
            let by = usize::from(way.offers_get);
            let (data, mut buf) = (pattern(300_000, 1), vec![0; 300_000]);
            let r = w.irecv(c[1], &mut buf, 0, 1);
            let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
            w.settle();
            let (mine, other) = if by == 1 { (r, s) } else { (s, r) };
            let (t, state) = w.table(by);
            assert_eq!((t.peer_failed)(state, 1 - by as u32), Status::OK);
            while w.aloft(by) > 0 {
                assert!(!mine.is_complete());
                w.land(by, status);
                w.settle();
            }
            assert_eq!(w.wait(mine).error, Status::PEER_FAILED);
            let (t, state) = w.table(1 - by);
            assert_eq!((t.peer_failed)(state, by as u32), Status::OK);
            assert_eq!(w.wait(other).error, Status::PEER_FAILED);
            assert_eq!(w.registered(), 0);
        }
    }
}

/// Puts that a receiver does not wait for any more find its memory closed.
#[test]
fn no_late_put_reaches_a_buffer() {
    let w = World::new(Setup { get: Get::Held, ..putting(24) });
    let c = w.world();
    let (data, mut buf) = (pattern(50_000, 1), vec![0xAA; 50_000]);
    let r = w.irecv(c[1], &mut buf, 0, 1);
    let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
    w.settle();
    assert_eq!(w.aloft(0), 2, "the put, and the flush behind it");
    let (t, state) = w.table(1);
    assert_eq!((t.peer_failed)(state, 0), Status::OK);
    assert_eq!(w.wait(r).error, Status::PEER_FAILED);
    // The put, and the flush behind it.
    for _ in 0..2 {
        w.land(0, Status::OK);
        w.settle();
    }
    assert!(buf.iter().all(|&b| b == 0xAA));
    assert_eq!(w.net.registry.lock().late, 1);
    w.wait(s);
    assert_eq!(w.registered(), 0);
}

#[test]
fn a_send_that_is_taken_back_gives_its_memory_back() {
    for way in ways(24) {
        let w = World::new(way);
        let c = w.world();
        let data = pattern(50_000, 1);
        let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
        w.settle();
        assert_eq!(s.cancel(), Status::PENDING);
        assert_eq!(w.wait(s).cancelled, 1);
        assert_eq!(w.probe(c[1], 0, 1), None);
        w.assert_clean();
    }
}

#[test]
fn persistent_and_synchronous_sends() {
    for way in ways(72) {
        let w = World::new(Setup { get: Get::Later, ..way });
        let c = w.world();
        let (t, state) = w.table(0);
        let data = pattern(50_000, 1);
        let args = w.send_args(c[0], bytes(&data), 1, 1, mode::SYNCHRONOUS);
        let mut ptr = core::ptr::null_mut();
        assert_eq!((t.send_init)(state, &args, &mut ptr), Status::PENDING);
        let s = Req(ptr);
        for _ in 0..3 {
            let mut buf = vec![0; 50_000];
            assert_eq!(s.start(), Status::OK);
            let r = w.irecv(c[1], &mut buf, 0, 1);
            w.wait(r);
            w.settle();
            assert!(s.is_complete() && buf == data);
            w.assert_clean();
        }
        s.release();
        assert!(w.gets() + w.puts() > 0);
    }
}

/// Handles cost credit where they are long, and it comes back.
#[test]
fn offers_without_a_receive_are_bounded() {
    let w = World::new(Setup { credit: 2000, ..getting(256) });
    let c = w.world();
    let data = pattern(50_000, 1);
    let sends: Vec<Req> = (0..30).map(|_| w.isend(c[0], &data, 1, 1, mode::STANDARD)).collect();
    w.settle();
    // Eight handles of memory and their addresses; the rest announces itself only.
    assert_eq!(w.registered(), 7);
    for _ in 0..30 {
        let mut buf = vec![0; 50_000];
        let r = w.irecv(c[1], &mut buf, 0, 1);
        w.wait(r);
        assert!(buf == data);
    }
    for s in sends {
        w.wait(s);
    }
    w.assert_clean();
}

/// Answers of a peer that do not fit what it was offered.
#[test]
fn wrong_answers_close_the_peer() {
    let id = 1u64 << 32;
    let words = |w: &[u64]| w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let (ack, put, fin) = (4, 6, 7);
    let cases: [(Setup, &[u64], &str); 10] = [
        (putting(8), &[put, id, 5, 0, 4096, 1], "does not fit"),
        (putting(8), &[put, id, 5, 50_001, 4096, 1], "does not fit"),
        (putting(8), &[put, id, 0, 50_000, 4096, 1], "does not fit"),
        (putting(8), &[put, id, 5, 50_000, u64::MAX - 9, 1], "wraps"),
        (putting(8), &[put, id, 5, 50_000, 4096], "another length"),
        (putting(8), &[put, id, 5, 50_000, 4096, 1, 1], "another length"),
        (putting(8), &[put, id + 1, 5, 50_000, 4096, 1], "a request id"),
        (getting(8), &[put, id, 5, 50_000, 4096, 1], "not offered for writing"),
        (putting(8), &[fin, id], "offered for nothing"),
        (putting(8), &[ack, id, 5, 8, 50_000], "does not fit"),
    ];
    for (setup, header, what) in cases {
        let w = World::new(setup);
        let c = w.world();
        let data = pattern(50_000, 1);
        let s = w.isend(c[0], &data, 1, 1, mode::STANDARD);
        w.inject(1, 0, &words(header));
        w.progress_one(0);
        let errors = w.errors(0);
        assert_eq!(errors.len(), 1, "{header:?}");
        assert!(errors[0].1.contains(what), "{} does not say {what}", errors[0].1);
        assert_eq!(w.wait(s).error, Status::PEER_FAILED);
        assert_eq!(w.registered(), 0);
    }
}
