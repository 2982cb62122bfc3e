//! Fragments that the transport brings to their place: into the buffer of a receive that is under way, and nowhere else.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

const RNDV: u64 = 2;
const FRAG: u64 = 5;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn setup() -> Setup {
    Setup { offers_get: false, offers_vector: false, places: true, ..Setup::default() }
}

/// Fragments that were brought to their place, and that went nowhere.
fn brought(w: &World) -> (u64, u64) {
    let q = w.net.queues.lock();
    (q.placed, q.gone)
}

/// Sends `len` bytes to a buffer of `room` bytes, whatever is posted first; gives how many fragments were placed.
fn exchange(setup: Setup, len: usize, room: usize, posted_first: bool) -> u64 {
    let w = World::new(setup);
    let c = w.world();
    let (data, mut buf) = (pattern(len, 3), vec![0xEE; room + 100]);
    let post = |buf: &mut [u8]| w.irecv(c[1], &mut buf[..room], 0, 5);
    let send = || w.isend(c[0], &data, 1, 5, mode::STANDARD);
    let (s, r) = if posted_first {
        let r = post(&mut buf);
        (send(), r)
    } else {
        let s = send();
        w.settle();
        (s, post(&mut buf))
    };
    let status = w.wait(r);
    assert_eq!(status.error, if room < len { Status::TRUNCATED } else { Status::OK });
    assert_eq!(w.wait(s).error, Status::OK);
    let n = len.min(room);
    assert!(buf[..n] == data[..n], "{len} bytes to {room} differ");
    assert!(buf[n..].iter().all(|&b| b == 0xEE), "{len} bytes to {room} are behind the end");
    w.assert_clean();
    let (placed, gone) = brought(&w);
    assert_eq!(gone, 0);
    placed
}

#[test]
fn fragments_of_one_piece_are_placed() {
    let several = Setup { twin: true, ..setup() };
    let threads = Setup { threaded: true, cris: 3, ..setup() };
    for setup in [setup(), Setup { parts: false, ..setup() }, Setup { room: 2, ..setup() }, several, threads]
    {
        for len in [3000, 8192, 20_000, 100_001] {
            for posted_first in [false, true] {
                let placed = exchange(setup, len, len, posted_first);
                assert_eq!(placed > 0, len > 6000, "{len} bytes: {placed} fragments");
            }
        }
    }
}

/// A receiver asks for no more than its buffer takes.
#[test]
fn a_message_that_is_too_long_ends_where_its_buffer_does() {
    for room in [0, 100, 5000, 20_000, 49_999] {
        exchange(setup(), 50_000, room, true);
        exchange(setup(), 50_000, room, false);
    }
}

#[test]
fn data_in_pieces_is_copied() {
    let w = World::new(setup());
    let c = w.world();
    let ty = strided(50, 3, 70);
    let (n, extent) = (1000, ty.extent as usize);
    let data = pattern(n * ty.packed as usize, 3);
    let mut buf = vec![0xEE; n * extent];
    let r = w.irecv_typed(c[1], &mut buf, ty, n as u64, 0, 5);
    let s = w.isend(c[0], &data, 1, 5, mode::STANDARD);
    assert_eq!((w.wait(r).error, w.wait(s).error), (Status::OK, Status::OK));
    let mut packed = vec![0; data.len()];
    // SAFETY: the buffers are as long as the type says.
    unsafe {
        oxmpi_datatype::pack(ty, n as u64, buf.as_ptr(), 0, packed.as_mut_ptr(), data.len() as u64);
    }
    assert!(packed == data);
    assert_eq!(brought(&w), (0, 0));
    w.assert_clean();
}

/// A receive of 3000 bytes from process 1, of which a fragment of 2900 has come in part.
fn half_way(w: &World, c: &[Comm], buf: &mut [u8]) -> Req {
    let r = w.irecv(c[0], buf, 1, 0);
    w.inject(1, 0, &words(&[RNDV, 1, 0, 3000, 99]));
    w.progress_one(0);
    let id = 1 << 32;
    let mut fragment = words(&[FRAG, id, 0]);
    fragment.extend_from_slice(&pattern(2900, 1));
    w.inject(1, 0, &fragment);
    w.progress_one(0);
    assert_eq!((w.errors(0), r.is_complete()), (vec![], false));
    r
}

/// The peer fails, or the communicator is revoked, while a fragment comes: the receive ends, and its buffer is left alone.
#[test]
fn a_receive_that_has_failed_is_not_written() {
    for revoked in [false, true] {
        let w = World::new(setup());
        let c = w.world();
        let mut buf = vec![0xEE; 3000];
        let r = half_way(&w, &c, &mut buf);
        let (t, s) = w.table(0);
        let status = if revoked { (t.revoke)(s, c[0].ptr) } else { (t.peer_failed)(s, 1) };
        assert_eq!(status, Status::OK);
        assert_eq!(w.wait(r).error, Status::PEER_FAILED);
        buf.fill(0xBB);
        (0..9).for_each(|_| _ = w.progress_one(0));
        assert!(buf.iter().all(|&b| b == 0xBB));
        assert_eq!(brought(&w), (0, 1));
    }
}

/// Nothing that a peer makes up has a place.
#[test]
fn places_are_not_made_up() {
    let id = 1 << 32;
    for (header, len) in [
        (&[FRAG, id, 8][..], 2000),
        (&[FRAG, id, 0], 3001),
        (&[FRAG, id, 2000], 1001),
        (&[FRAG, id, u64::MAX - 1000], 2000),
        (&[FRAG, id + 1, 0], 2000),
        (&[FRAG, 2 << 32, 0], 2000),
    ] {
        let w = World::new(setup());
        let c = w.world();
        let mut buf = vec![0xAA; 5000];
        let r = w.irecv(c[0], &mut buf[..3000], 1, 0);
        w.inject(1, 0, &words(&[RNDV, 1, 0, 3000, 99]));
        w.progress_one(0);
        let mut fragment = words(header);
        fragment.extend_from_slice(&vec![7; len]);
        w.inject(1, 0, &fragment);
        (0..9).for_each(|_| _ = w.progress_one(0));
        assert_eq!(w.errors(0).len(), 1, "{header:?}");
        assert_eq!(w.wait(r).error, Status::PEER_FAILED);
        assert!(buf.iter().all(|&b| b == 0xAA));
        assert_eq!(brought(&w), (0, 0));
    }
}
