//! Fragments whose payload the transport keeps where it lies: a send is over when it needs none of them any more.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

fn setup() -> Setup {
    Setup { offers_get: false, offers_vector: false, keeps: true, ..Setup::default() }
}

/// Messages that were kept, and that ended.
fn kept(w: &World) -> (u64, u64) {
    let q = w.net.queues.lock();
    (q.kept, q.landed)
}

/// Sends `len` bytes, which are overwritten as soon as the send is over; how many fragments were kept.
fn exchange(setup: Setup, len: usize, posted_first: bool, synchronous: bool) -> u64 {
    let w = World::new(setup);
    let c = w.world();
    let (mut data, mut buf) = (pattern(len, 3), vec![0xEE; len]);
    let due = data.clone();
    let mode = if synchronous { mode::SYNCHRONOUS } else { mode::STANDARD };
    let (s, r);
    if posted_first {
        r = w.irecv(c[1], &mut buf, 0, 5);
        s = w.isend(c[0], &data, 1, 5, mode);
    } else {
        s = w.isend(c[0], &data, 1, 5, mode);
        w.settle();
        r = w.irecv(c[1], &mut buf, 0, 5);
    }
    assert_eq!(w.wait(s).error, Status::OK);
    data.fill(0xDD);
    assert_eq!(w.wait(r).error, Status::OK);
    assert!(buf == due, "{len} bytes differ");
    w.assert_clean();
    let (kept, landed) = kept(&w);
    assert_eq!(kept, landed);
    kept
}

#[test]
fn a_send_is_over_when_its_data_is_needed_no_more() {
    let several = Setup { twin: true, ..setup() };
    let threads = Setup { threaded: true, cris: 3, ..setup() };
    for setup in [
        setup(),
        Setup { places: true, ..setup() },
        Setup { parts: false, ..setup() },
        Setup { room: 2, ..setup() },
        several,
        threads,
    ] {
        for len in [3000, 8192, 20_000, 400_001] {
            for posted_first in [false, true] {
                let fragments = exchange(setup, len, posted_first, len % 2 == 0);
                assert_eq!(fragments > 0, len > 6000, "{len} bytes: {fragments} fragments");
            }
        }
    }
}

#[test]
fn data_in_pieces_is_packed() {
    let w = World::new(setup());
    let c = w.world();
    let ty = strided(50, 3, 70);
    let (n, extent) = (1000, ty.extent as usize);
    let data = pattern(n * extent, 3);
    let mut buf = vec![0xEE; n * ty.packed as usize];
    let r = w.irecv(c[1], &mut buf, 0, 5);
    let s = w.isend_typed(c[0], Elements(&data, ty, n as u64), 1, 5, mode::STANDARD);
    assert_eq!((w.wait(r).error, w.wait(s).error), (Status::OK, Status::OK));
    let mut packed = vec![0; buf.len()];
    // SAFETY: the buffers are as long as the type says.
    unsafe {
        oxmpi_datatype::pack(ty, n as u64, data.as_ptr(), 0, packed.as_mut_ptr(), buf.len() as u64);
    }
    assert!(packed == buf);
    assert_eq!(kept(&w), (0, 0));
    w.assert_clean();
}

/// The host says that the peer has failed, or the transport does: the send fails, but not while its data is still read.
#[test]
fn a_send_to_a_lost_peer_ends_behind_its_last_piece() {
    for told in [false, true] {
        for turns in 0..8 {
            let w = World::new(Setup { room: 6, ..setup() });
            let c = w.world();
            let (data, mut buf) = (pattern(400_000, 3), vec![0xEE; 400_000]);
            let s = w.isend(c[0], &data, 1, 5, mode::STANDARD);
            let r = w.irecv(c[1], &mut buf, 0, 5);
            (0..turns).for_each(|_| _ = w.progress());
            w.end_of(1);
            if told {
                let (t, state) = w.table(0);
                assert_eq!((t.peer_failed)(state, 1), Status::OK);
            }
            let status = w.wait(s);
            let (kept, landed) = kept(&w);
            assert_eq!((status.error, kept), (Status::PEER_FAILED, landed), "{turns} turns");
            let (t, state) = w.table(1);
            assert_eq!((t.peer_failed)(state, 0), Status::OK);
            assert_eq!(w.wait(r).error, Status::PEER_FAILED);
        }
    }
}
