//! Messages that the transport brings to their place when they have met their receive: into its buffer where that takes them, and nowhere when it is over.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

const MATCH: u64 = 1;
const RNDV: u64 = 2;
const FRAG: u64 = 5;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn setup() -> Setup {
    Setup { offers_get: false, offers_vector: false, places: true, claims: true, ..Setup::default() }
}

fn claimed(w: &World) -> u64 {
    w.net.queues.lock().claimed
}

/// Sends `len` bytes to a buffer of `room` bytes, whatever is posted first; gives how many messages were claimed.
fn exchange(setup: Setup, (len, room): (usize, usize), mode: u32, posted_first: bool) -> u64 {
    let w = World::new(setup);
    let c = w.world();
    let (data, mut buf) = (pattern(len, 3), vec![0xEE; room + 100]);
    let post = |buf: &mut [u8]| w.irecv(c[1], &mut buf[..room], 0, 5);
    let send = || w.isend(c[0], &data, 1, 5, mode);
    // Both know each other.
    let first = w.irecv(c[1], &mut [], 0, 5);
    assert_eq!(w.wait(w.isend(c[0], &[], 1, 5, mode::STANDARD)).error, Status::OK);
    assert_eq!(w.wait(first).error, Status::OK);
    w.settle();
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
    assert_eq!(status.bytes, n as u64);
    assert!(buf[..n] == data[..n], "{len} bytes to {room} differ");
    assert!(buf[n..].iter().all(|&b| b == 0xEE), "{len} bytes to {room} are behind the end");
    w.assert_clean();
    claimed(&w)
}

#[test]
fn messages_are_read_to_the_receive_that_they_meet() {
    let several = Setup { twin: true, ..setup() };
    let threads = Setup { threaded: true, cris: 3, ..setup() };
    for setup in [setup(), Setup { parts: false, ..setup() }, Setup { room: 2, ..setup() }, several, threads]
    {
        for len in [100, 1000, 3000, 8192, 20_000, 100_001] {
            for mode in [mode::STANDARD, mode::SYNCHRONOUS] {
                let count = exchange(setup, (len, len), mode, true);
                assert_eq!(count, u64::from(len >= 1000), "{len} bytes: {count} claimed");
                assert_eq!(exchange(setup, (len, len), mode, false), 0, "no receive is posted");
            }
        }
    }
}

/// A message that is too long goes to memory of the layer first.
#[test]
fn a_message_that_is_too_long_ends_where_its_buffer_does() {
    for len in [3000, 50_000] {
        for room in [0, 100, 2000, 2999, 5000, 20_000, 49_999] {
            exchange(setup(), (len, room), mode::STANDARD, true);
            exchange(setup(), (len, room), mode::SYNCHRONOUS, true);
            exchange(setup(), (len, room), mode::STANDARD, false);
        }
    }
}

#[test]
fn data_in_pieces_comes_whole() {
    for n in [20, 1000] {
        let w = World::new(setup());
        let c = w.world();
        let ty = strided(50, 3, 70);
        let extent = ty.extent as usize;
        let data = pattern(n * ty.packed as usize, 3);
        for _ in 0..2 {
            let mut buf = vec![0xEE; n * extent];
            let r = w.irecv_typed(c[1], &mut buf, ty, n as u64, 0, 5);
            let s = w.isend(c[0], &data, 1, 5, mode::STANDARD);
            assert_eq!((w.wait(r).error, w.wait(s).error), (Status::OK, Status::OK));
            let mut packed = vec![0; data.len()];
            // SAFETY: the buffers are as long as the type says.
            unsafe {
                let len = data.len() as u64;
                oxmpi_datatype::pack(ty, n as u64, buf.as_ptr(), 0, packed.as_mut_ptr(), len);
            }
            assert!(packed == data);
            w.settle();
        }
        assert_eq!(claimed(&w), 2);
        w.assert_clean();
    }
}

/// A receive of 3000 bytes from process 1, of which a message with that header and 2900 bytes has come in part.
fn half_way(w: &World, c: &[Comm], buf: &mut [u8], header: &[u64]) -> Req {
    let r = w.irecv(c[0], buf, 1, 0);
    let mut message = words(header);
    message.extend_from_slice(&pattern(2900, 1));
    w.inject(1, 0, &message);
    w.progress_one(0);
    assert_eq!((w.errors(0), r.is_complete(), claimed(w)), (vec![], false, 1));
    r
}

const HEADERS: [&[u64]; 2] = [&[MATCH, 1, 0], &[RNDV, 1, 0, 3000, 99]];

/// The peer fails, or the communicator is revoked, while a message comes: the receive ends, and its buffer is left alone.
#[test]
fn a_receive_that_has_failed_is_not_written() {
    for header in HEADERS {
        for revoked in [false, true] {
            let w = World::new(setup());
            let c = w.world();
            let mut buf = vec![0xEE; 3000];
            let r = half_way(&w, &c, &mut buf, header);
            let (t, s) = w.table(0);
            let status = if revoked { (t.revoke)(s, c[0].ptr) } else { (t.peer_failed)(s, 1) };
            assert_eq!(status, Status::OK);
            assert_eq!(w.wait(r).error, Status::PEER_FAILED);
            buf.fill(0xBB);
            (0..9).for_each(|_| _ = w.progress_one(0));
            assert!(buf.iter().all(|&b| b == 0xBB));
            let q = w.net.queues.lock();
            assert_eq!((q.placed, q.gone), (0, 1));
        }
    }
}

/// A message meets its receive when it begins: one that comes behind it meets the next.
#[test]
fn a_receive_is_met_once() {
    let w = World::new(setup());
    let c = w.world();
    let (mut first, mut second) = (vec![0; 3000], vec![0; 3000]);
    let r = half_way(&w, &c, &mut first, HEADERS[0]);
    let next = w.irecv(c[0], &mut second, 1, 0);
    let mut message = words(HEADERS[0]);
    message.extend_from_slice(&[7; 50]);
    w.inject(1, 0, &message);
    (0..9).for_each(|_| _ = w.progress_one(0));
    assert_eq!((w.wait(r).bytes, w.wait(next).bytes), (2900, 50));
    assert!(first[..2900] == pattern(2900, 1) && second[..50] == [7; 50]);
    w.assert_clean();
}

/// Nothing that a peer makes up goes to a receive whose message is still coming.
#[test]
fn fragments_are_not_made_up() {
    let id = 1 << 32;
    for header in HEADERS {
        for (fragment, len) in [(&[FRAG, id, 0][..], 2000), (&[FRAG, id, 2900], 100), (&[FRAG, id, 100], 10)]
        {
            let w = World::new(setup());
            let c = w.world();
            let mut buf = vec![0xEE; 3000];
            let r = half_way(&w, &c, &mut buf, header);
            let mut bytes = words(fragment);
            bytes.extend_from_slice(&vec![0xB7; len]);
            let queue = w.net.setup.cris as usize;
            // It overtakes the message.
            w.net.queues.lock().coming.remove(&(0, queue)).expect("it is coming");
            w.net.queues.lock().messages[0][queue].clear();
            w.inject(1, 0, &bytes);
            (0..9).for_each(|_| _ = w.progress_one(0));
            assert_eq!(w.errors(0).len(), 1, "{header:?} {fragment:?}");
            assert_eq!(w.wait(r).error, Status::PEER_FAILED);
            assert!(buf.iter().zip(pattern(3000, 1)).all(|(&b, due)| b == 0xEE || b == due));
        }
    }
}
