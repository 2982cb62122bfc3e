//! Messages that a peer may send without hurting us: bytes of any kind close it with a named error, and never crash.

mod common;

use common::*;
use oxmpi_mca::Status;
use oxmpi_pml::mode;
use proptest::prelude::*;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
fn head(kind: u64, flags: u64, endpoint: u64, index: u64) -> u64 {
    kind | flags << 8 | endpoint << 16 | index << 32
}
const MATCH: u64 = 1;
const RNDV: u64 = 2;
const RGET: u64 = 3;
const PUT: u64 = 6;
const RPUT: u64 = 18;
const ACK: u64 = 4;
const FRAG: u64 = 5;
const FIN: u64 = 7;
const CREDIT: u64 = 8;
const CID: u64 = 9;
const SKIP: u64 = 12;
const RUNS: u64 = 13;
const CANCEL: u64 = 14;
const CANCELLED: u64 = 15;
const FAILURE: u64 = 19;
/// A flag.
const NUMBERED: u64 = 16;

/// Each of these closes the peer with a sentence that contains the words.
#[test]
fn each_kind_of_nonsense_is_named() {
    let no_index = u32::MAX as u64;
    let prefix = |version: u64| [1u64, 2, 5 | version << 48];
    let with = |first: &[u64], more: [u64; 3]| words(&[first, &more].concat());
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![], "shorter than any header"),
        (vec![1, 2, 3], "shorter than any header"),
        (words(&[head(MATCH, 0, 0, 0)]), "cut off"),
        (words(&[head(MATCH, 1, 0, no_index), 0, 0, 1]), "cut off"),
        (words(&[head(MATCH, 2, 0, 0), 0, 0]), "cut off"),
        (words(&[head(0, 0, 0, 0), 0, 0]), "type 0"),
        (words(&[head(PUT, 0, 0, 0), 1]), "cut off"),
        (words(&[head(10, 0, 0, 0)]), "a SWITCH where"),
        (words(&[head(10, 64, 0, 0), 1]), "a SWITCH where"),
        (words(&[head(10, 64, 0, 0)]), "a SWITCH where"),
        (words(&[head(11, 0, 0, 0)]), "an OPEN of"),
        (words(&[head(11, 64, 0, 0), 1]), "an OPEN of"),
        (words(&[head(16, 0, 0, 0), 1]), "type 16"),
        (words(&[head(20, 0, 0, 0), 0, 0]), "type 20"),
        (words(&[head(FAILURE, 0, 0, 0), 0, 0]), "a failure that is none"),
        (words(&[head(FAILURE, 0, 0, 0), 0, 0, 0]), "a failure that is none"),
        (words(&[head(FAILURE, 0, 0, 0), 0, 0, 1 << 40]), "a failure that is none"),
        (words(&[head(FAILURE, 2, 0, 0), 0, 0, 7, 16]), "a failure that is none"),
        (words(&[head(CANCEL, 0, 0, 0), 1, 0]), "cut off"),
        (words(&[head(CANCEL, 0, 0, 0), 1, 0, 0]), "no request"),
        (words(&[head(CANCEL, NUMBERED, 0, 0), 1, 1, 7]), "a message to take back"),
        (words(&[head(CANCEL, 0, 0, 0), 1, 0, 7, 8]), "a message to take back"),
        (words(&[head(CANCEL, 0, 0, 0), 0, 0, 7]), "not the sender's"),
        (words(&[head(CANCEL, 0, 0, 0), 99, 0, 7]), "a source rank"),
        (words(&[head(CANCEL, 0, 0, 0), 1, 0, 7]), ""),
        (words(&[head(CANCELLED, 0, 0, 0), 1 << 32]), "a request id"),
        (words(&[head(SKIP, 0, 0, 0), 1, 1]), "a number to skip that is none"),
        (words(&[head(SKIP, NUMBERED, 0, 0), 1, 1, 7]), "a number to skip that is none"),
        (words(&[head(SKIP, NUMBERED, 0, 0), 1, 0]), "used before"),
        (words(&[head(SKIP, NUMBERED, 0, 0), 1, 1]), ""),
        (words(&[head(MATCH, NUMBERED, 0, 0), 1, 0]), "used before"),
        (words(&[head(MATCH, NUMBERED, 0, 0), 1, 9, 9]), ""),
        (words(&[head(MATCH, NUMBERED, 0, 0), 1, 1 << 40]), "no sender has reached"),
        (words(&[head(MATCH, NUMBERED, 0, 0), 0, 1]), "not the sender's"),
        (words(&[head(MATCH, NUMBERED, 0, 0), 99, 1]), "a source rank"),
        (words(&[head(MATCH, NUMBERED | 8, 0, 0), 1, 1]), "a stamp and a number"),
        (words(&[head(RNDV, NUMBERED, 0, 0), 1, 5, 4, 0]), "no request"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 100, 7]), "a list of pieces"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 100, 0, 4096, 100, 1, 0]), "no request"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 100, 7, 4096, 50, 1, 0]), "a list of pieces"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 100, 7, 4096, 50, 3, 0]), "a list of pieces"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 100, 7, 4096, 100, 1]), "a list of pieces"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 0, 7, 4096, 0, 1, 0]), "a list of pieces"),
        (words(&[head(RUNS, 0, 0, 0), 0, 0, 100, 7, 4096, 1 << 33, 1 << 31, 0]), "a list of pieces"),
        (words(&[head(MATCH, 0, 0, 77), 0, 0]), "a communicator nobody told it of"),
        (words(&[head(MATCH, 0, 0, 1 << 20), 0, 0]), "a communicator nobody told it of"),
        (words(&[head(MATCH, 0, 0, 0), 99, 0]), "a source rank"),
        (words(&[head(MATCH, 0, 0, 0), u32::MAX as u64, 0]), "a source rank"),
        (words(&[head(MATCH, 0x80, 0, 0), 0, 0]), "flags"),
        (words(&[head(MATCH, 2, 0, 0), 0, 0, 0]), "no request"),
        (with(&[head(MATCH, 1, 0, no_index), 0, 0], prefix(11)), "wire version 11"),
        (words(&[head(RNDV, 0, 0, 0), 0, 0, 4, 7, 1]), "more data"),
        (words(&[head(RNDV, 0, 0, 0), 0, 0, 4, 0]), "no request"),
        (words(&[head(RNDV, 0, 0, 0), 0, 0, u64::MAX, 9]), "a length"),
        (words(&[head(RGET, 0, 0, 0), 0, 0, 100, 7, u64::MAX - 5]), "wraps"),
        (words(&[head(RGET, 0, 0, 0), 0, 0, 100, 7, 5, 1]), "another length"),
        (words(&[head(RGET, 0, 0, 0), 0, 0, 100, 7]), "without an address"),
        (words(&[head(RGET, 0, 0, 0), 0, 0, 100, 0, 5]), "no request"),
        (words(&[head(RPUT, 0, 0, 0), 0, 0, 100, 7, 5]), "data in front"),
        (words(&[head(RPUT, 0, 0, 0), 0, 0, 100, 0]), "no request"),
        (words(&[head(PUT, 0, 0, 0), 1 << 32, 1, 1, 8]), "a request id"),
        (words(&[head(FIN, 32, 0, 0), 1 << 32]), "a request id"),
        (words(&[head(ACK, 0, 0, 0), 1 << 32, 0, 0, 0]), "a request id"),
        (words(&[head(FRAG, 0, 0, 0), 5, 0, 1]), "a request id"),
        (words(&[head(FIN, 0, 0, 0), u64::MAX]), "a request id"),
        (words(&[head(CREDIT, 0, 0, 0), 1]), "more credit"),
        (words(&[head(CREDIT, 0, 0, 0), u64::MAX]), "more credit"),
        (with(&[head(CID, 0, 0, 0), 0, 0], prefix(10)), ""),
        (with(&[head(CID, 0, 0, 55), 0, 0], prefix(10)), "an index nobody was told"),
        (with(&[head(CID, 0, 0, 0), 0, 0], prefix(3)), "another wire version"),
    ];
    for (bytes, what) in cases {
        let w = World::new(Setup::default());
        let c = w.world();
        w.inject(1, 0, &bytes);
        w.settle();
        let errors = w.errors(0);
        if what.is_empty() {
            assert_eq!(errors, vec![], "{bytes:?}");
            continue;
        }
        assert_eq!(errors.len(), 1, "{bytes:?} {what}");
        assert_eq!(errors[0].0, 1);
        assert!(errors[0].1.contains(what), "{} does not say {what}", errors[0].1);
        // The peer is closed: it is not heard any more, and nothing is sent to it.
        w.inject(1, 0, &words(&[head(MATCH, 0, 0, 0), 1, 0]));
        w.settle();
        assert_eq!(w.probe(c[0], 1, 0), None);
        assert_eq!(w.send(c[0], b"x", 1, 0, mode::STANDARD).err(), Some(Status::PEER_FAILED));
        assert_eq!(w.errors(0).len(), 1);
    }
}

/// A process that has sent its last message may end before that is read. Answers it does not need are not missed,
/// whether they find it gone at once or had to wait for room; a message to it fails.
#[test]
fn a_peer_that_has_left_in_good_order() {
    for waits in [false, true] {
        // Little credit, so that some is given back for what follows.
        let w = World::new(Setup { credit: 1000, ..Setup::default() });
        let c = w.world();
        let data = pattern(900, 1);
        assert!(w.send(c[1], &data, 0, 0, mode::STANDARD).is_ok());
        if waits {
            w.set_room(0);
        } else {
            w.end_of(1);
        }
        let mut into = vec![0; 900];
        let r = w.irecv(c[0], &mut into, 1, 0);
        w.progress_one(0);
        w.end_of(1);
        w.progress_one(0);
        assert_eq!(w.wait(r).error, Status::OK);
        assert_eq!(into, data);
        assert_eq!(w.errors(0), vec![]);
        assert_eq!(w.send(c[0], b"x", 1, 0, mode::STANDARD).err(), Some(Status::PEER_FAILED));
        assert_eq!(w.errors(0).len(), 1);
    }
}

/// Answers to a message that is really under way, but wrong ones.
#[test]
fn wrong_answers_to_a_real_message_fail_it() {
    let first_id = 1 << 32;
    let answers: Vec<Vec<u8>> = vec![
        // Offset and length beyond the message, an offset that was not sent, no request to stream to.
        words(&[head(ACK, 0, 0, 0), first_id, 5, 4056, 1 << 40]),
        words(&[head(ACK, 0, 0, 0), first_id, 5, 0, 20_000]),
        words(&[head(ACK, 0, 0, 0), first_id, 5, 5000, 4000]),
        words(&[head(ACK, 0, 0, 0), first_id, 0, 4056, 20_000]),
        words(&[head(FIN, 0, 0, 0), first_id]),
        words(&[head(CANCELLED, 0, 0, 0), first_id]),
        words(&[head(FRAG, 0, 0, 0), first_id, 0, 1]),
        words(&[head(ACK, 0, 0, 0), first_id + (1 << 32), 5, 4056, 20_000]),
        words(&[head(ACK, 0, 0, 0), first_id + 1, 5, 4056, 20_000]),
    ];
    for answer in answers {
        let w = World::new(Setup { offers_get: false, ..Setup::default() });
        let c = w.world();
        let data = pattern(20_000, 1);
        let s = w.isend(c[0], &data, 1, 0, mode::STANDARD);
        w.inject(1, 0, &answer);
        w.progress_one(0);
        assert_eq!(w.errors(0).len(), 1, "{answer:?}");
        assert_eq!(w.wait(s).error, Status::PEER_FAILED);
    }
}

/// The same towards a receive that expects fragments.
#[test]
fn wrong_fragments_fail_their_receive() {
    let id = 1 << 32;
    let fragments: Vec<Vec<u8>> = vec![
        words(&[head(FRAG, 0, 0, 0), id, 8, 1]),
        words(&[head(FRAG, 0, 0, 0), id, u64::MAX, 1]),
        words(&[head(FRAG, 0, 0, 0), id, 0]),
        words(&[&[head(FRAG, 0, 0, 0), id, 0][..], &[7; 200][..]].concat()),
        words(&[head(ACK, 0, 0, 0), id, 1, 0, 0]),
        words(&[head(FIN, 0, 0, 0), id]),
    ];
    for fragment in fragments {
        let w = World::new(Setup::default());
        let c = w.world();
        let mut buf = vec![0xAA; 1200];
        let r = w.irecv(c[0], &mut buf[..1000], 1, 0);
        w.inject(1, 0, &words(&[head(RNDV, 0, 0, 0), 1, 0, 1000, 99]));
        w.progress_one(0);
        assert_eq!(w.errors(0), vec![]);
        w.inject(1, 0, &fragment);
        // It may be offered in parts before it is there.
        (0..9).for_each(|_| _ = w.progress_one(0));
        assert_eq!(w.errors(0).len(), 1, "{fragment:?}");
        assert_eq!(w.wait(r).error, Status::PEER_FAILED);
        assert!(buf[1000..].iter().all(|&b| b == 0xAA));
    }
}

/// Another peer may not answer for the one that was asked.
#[test]
fn request_ids_belong_to_one_peer() {
    let w = World::new(Setup { procs: 3, offers_get: false, ..Setup::default() });
    let c = w.world();
    let data = pattern(20_000, 1);
    let s = w.isend(c[0], &data, 1, 0, mode::STANDARD);
    w.inject(2, 0, &words(&[head(ACK, 0, 0, 0), 1 << 32, 5, 4056, 20_000]));
    w.progress_one(0);
    assert_eq!(w.errors(0).iter().map(|e| e.0).collect::<Vec<_>>(), [2]);
    let mut buf = vec![0; data.len()];
    let r = w.irecv(c[1], &mut buf, 0, 0);
    w.wait(r);
    assert_eq!(w.wait(s).error, Status::OK);
    assert!(buf == data);
}

/// Messages that look right in some fields.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(0u64),
        Just(1),
        Just(1 << 32),
        Just((1 << 32) + 1),
        Just(4056),
        Just(20_000),
        Just(u64::MAX),
        any::<u64>(),
    ];
    let first = (
        0u64..19,
        prop_oneof![Just(0u64), 0u64..8],
        0u64..2,
        prop_oneof![0u64..20, any::<u32>().prop_map(u64::from)],
    )
        .prop_map(|(k, f, e, i)| head(k, f, e, i));
    prop_oneof![
        (first, prop::collection::vec(word, 0..10), prop::collection::vec(any::<u8>(), 0..9)).prop_map(
            |(h, ws, tail)| {
                let mut bytes = words(&[h]);
                bytes.extend(words(&ws));
                bytes.extend(tail);
                bytes
            }
        ),
        prop::collection::vec(any::<u8>(), 0..120),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The properties that must hold are in `hostile`.
    #[test]
    fn any_bytes_are_survived(
        messages in prop::collection::vec((message(), any::<bool>()), 1..12),
        tail in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = Vec::new();
        for (m, work) in &messages {
            bytes.push(m.len() as u8 & 0x7f | if *work { 0x80 } else { 0 });
            bytes.extend(m);
        }
        bytes.extend(tail);
        hostile::any_messages(&bytes);
    }
}
