//! Messages that are taken before all of them is there (`src/coming.rs`), offered here by hand; all other tests' transport offers them by
//! chance.

mod common;

use common::*;
use oxmpi_mca::host::am_tag;
use oxmpi_mca::host::receive::TAKEN;
use oxmpi_mca::{PartDesc, RecvDesc, Status};

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
const MATCH: u64 = 1;
const RNDV: u64 = 2;
const ACK: u64 = 4;
const FRAG: u64 = 5;
const CID: u64 = 1;
const SYNC: u64 = 2;

/// A message from process 1 with a header and payload.
fn message(header: &[u64], payload: &[u8]) -> Vec<u8> {
    [words(header), payload.to_vec()].concat()
}

/// Offers bytes of a message of process 1 to process 0; whether they were taken.
fn offer(w: &World, message: &[u8], from: usize, to: usize) -> bool {
    let me = &w.procs[0];
    let entry = me.am.lock()[am_tag::PML as usize];
    let take = me.parts.lock()[am_tag::PML as usize].expect("registered");
    // Bytes that are not there yet are not what they will be.
    let mut there = message[..to].to_vec();
    there.resize(message.len(), 0xEE);
    let desc = RecvDesc {
        data: there.as_ptr(),
        len: message.len() as u64,
        proc: 1,
        ctx: 0,
        module: core::ptr::null_mut(),
        link: 0,
    };
    let part = PartDesc { message: desc, from: from as u64, to: to as u64 };
    // SAFETY: one thread makes calls; the message lives as long as the call.
    (unsafe { take(entry.ctx, &part) }) & TAKEN != 0
}

/// The kinds of messages on their way to process 1.
fn answers(w: &World) -> Vec<u64> {
    w.net.queues.lock().messages[1][0].iter().map(|m| u64::from(m[0])).collect()
}

fn world() -> World {
    World::new(Setup { parts: false, ..Setup::default() })
}

#[test]
fn no_parts_are_taken_where_no_transport_delivers_them() {
    let takes = |delivers_parts| {
        let w = World::new(Setup { parts: false, delivers_parts, ..Setup::default() });
        w.procs[0].parts.lock()[am_tag::PML as usize].is_some()
    };
    assert_eq!((takes(false), takes(true)), (false, true));
}

#[test]
fn a_message_goes_where_it_belongs_part_by_part() {
    for (flags, room) in [(0, 1000), (SYNC, 1000), (0, 300), (SYNC, 300), (0, 10)] {
        let w = world();
        let c = w.world();
        let data = pattern(1000, 3);
        let mut buf = vec![0xAA; 1000];
        let r = w.irecv(c[0], &mut buf[..room], 1, 5);
        let key = 1 | 5 << 32;
        let header: &[u64] = if flags == SYNC { &[MATCH | flags << 8, key, 0, 77] } else { &[MATCH, key, 0] };
        let m = message(header, &data);
        let mut at = 0;
        for to in [60, 61, 400, m.len() - 1] {
            assert!(offer(&w, &m, at, to));
            assert!(!r.is_complete() && answers(&w).is_empty());
            at = to;
        }
        assert!(offer(&w, &m, at, m.len()));
        let status = w.wait(r);
        assert_eq!((status.bytes, status.source, status.tag), (room as u64, 1, 5));
        assert_eq!(status.error, if room < 1000 { Status::TRUNCATED } else { Status::OK });
        assert!(buf[..room] == data[..room] && buf[room..].iter().all(|&b| b == 0xAA));
        assert_eq!(answers(&w), if flags == SYNC { vec![ACK] } else { vec![] });
    }
}

/// The sender hears of it with the first part, so that it can go on; and its fragments come in parts, too.
#[test]
fn the_rest_of_a_rendezvous_is_asked_for_at_once() {
    let w = world();
    let c = w.world();
    let data = pattern(3000, 4);
    let mut buf = vec![0; 3000];
    let r = w.irecv(c[0], &mut buf, 1, 0);
    let first = message(&[RNDV, 1, 0, 3000, 99], &data[..1000]);
    assert!(offer(&w, &first, 0, 200));
    let ack = w.net.queues.lock().messages[1][0].pop_front().expect("an answer");
    let word = |at: usize| u64::from_le_bytes(ack[8 * at..8 * at + 8].try_into().expect("a word"));
    assert_eq!([word(0), word(1), word(3), word(4)], [ACK, 99, 1000, 3000]);
    assert!(offer(&w, &first, 200, first.len()));
    for at in [1000, 2000] {
        let fragment = message(&[FRAG, word(2), at as u64], &data[at..at + 1000]);
        let early = message(&[FRAG, word(2), at as u64 + 1], &data[at..at + 900]);
        assert!(!offer(&w, &early, 0, 300), "another comes next");
        assert!(offer(&w, &fragment, 0, 100) && offer(&w, &fragment, 100, 700) && !r.is_complete());
        assert!(offer(&w, &fragment, 700, fragment.len()));
    }
    assert_eq!(w.wait(r).bytes, 3000);
    assert!(buf == data);
}

#[test]
fn what_nobody_waits_for_is_refused_and_comes_whole() {
    let w = world();
    let c = w.world();
    let data = pattern(500, 5);
    let m = message(&[MATCH, 1 | 6 << 32, 0], &data);
    assert!(!offer(&w, &m, 0, 300), "no receive");
    let mut buf = vec![0; 500];
    let r = w.irecv(c[0], &mut buf, 1, 6);
    assert!(!offer(&w, &m[..20], 0, 20), "not even a header");
    assert!(!offer(&w, &m, 0, 7));
    for header in [
        &[MATCH | CID << 8, 1 | 6 << 32, 0, 1, 2, 3][..],
        &[MATCH | 99 << 32, 1 | 6 << 32, 0],
        &[MATCH, 88 | 6 << 32, 0],
        &[RNDV, 1 | 6 << 32, 0, 3, 99],
        &[RNDV, 1 | 6 << 32, 0, 3000, 0],
        &[FRAG, 1 << 32, 0],
        &[ACK, 1, 0, 0, 0],
        &[99, 0, 0],
    ] {
        let m = message(header, &data);
        assert!(!offer(&w, &m, 0, 300), "{header:?}");
    }
    assert_eq!(w.errors(0), vec![], "who refuses does not complain");
    w.inject(1, 0, &m);
    assert_eq!(w.wait(r).bytes, 500);
    assert!(buf == data);
}

/// The peer breaks the protocol before a message of it has come to its end.
#[test]
fn what_stops_coming_fails_and_the_buffer_is_left_alone() {
    let data = pattern(1000, 6);
    for header in
        [&[MATCH, 1, 0][..], &[MATCH | SYNC << 8, 1, 0, 7], &[RNDV, 1, 0, 5000, 99], &[RNDV, 1, 0, 1000, 99]]
    {
        let w = world();
        let c = w.world();
        let mut buf = vec![0xAA; 5000];
        let r = w.irecv(c[0], &mut buf, 1, 0);
        let m = message(header, &data);
        assert!(offer(&w, &m, 0, 300));
        w.inject(1, 0, &words(&[99, 0, 0]));
        w.progress_one(0);
        assert_eq!(w.errors(0).len(), 1);
        assert_eq!(w.wait(r).error, Status::PEER_FAILED);
        buf.fill(0xBB);
        assert!(offer(&w, &m, 300, m.len()), "it goes nowhere");
        assert!(buf.iter().all(|&b| b == 0xBB));
        assert!(!offer(&w, &m, 0, 300), "it is closed");
    }
}

/// A whole fragment between the parts of another might end the request that these go to.
#[test]
fn what_breaks_in_on_a_message_closes_the_peer() {
    let data = pattern(3000, 8);
    let w = world();
    let c = w.world();
    let mut buf = vec![0xAA; 3000];
    let r = w.irecv(c[0], &mut buf, 1, 0);
    let first = message(&[RNDV, 1, 0, 3000, 99], &data[..1000]);
    assert!(offer(&w, &first, 0, first.len()));
    let ack = w.net.queues.lock().messages[1][0].pop_front().expect("an answer");
    let id = u64::from_le_bytes(ack[16..24].try_into().expect("a word"));
    let rest = message(&[FRAG, id, 1000], &data[1000..]);
    assert!(offer(&w, &rest, 0, 500));
    w.inject(1, 0, &rest);
    w.progress_one(0);
    assert!(w.errors(0)[0].1.contains("come to its end"), "{:?}", w.errors(0));
    assert_eq!(w.wait(r).error, Status::PEER_FAILED);
    buf.fill(0xBB);
    assert!(offer(&w, &rest, 500, rest.len()), "it goes nowhere");
    assert!(buf.iter().all(|&b| b == 0xBB));
}
