//! Messages between ranks of one node, all in this process, one thread.
#![cfg(not(loom))]

mod common;

use common::memory::{first_ring, peek, poke};
use common::*;
use oxmpi_btl::{ProcInfo, SendDesc};
use oxmpi_mca::Status;
use oxmpi_mca::host::receive::STOP;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::rc::Rc;

/// Bytes of a ring with 64 KiB of bulk: heads, lines, bulk, which starts a little behind a page.
const RING: u64 = 4096 + (16 << 10) + (64 << 10) + 4096;

#[test]
fn everybody_to_everybody_in_all_sizes() {
    let node = Node::new(3);
    let ranks = node.all(&[]);
    for from in &ranks {
        for to in ranks.iter().filter(|r| r.local != from.local) {
            let ep = from.to(to.local);
            for len in (0..200).chain([1000, 4095, 16384, 32768 - 24]) {
                let (header, payload) = (bytes(len as u64, 24), bytes(len as u64 + 1, len));
                assert_eq!(from.send(ep, len as u8, &header, &payload), Status::OK);
                let got = to.drain();
                assert_eq!(got.len(), 1, "{} to {}, {len} bytes", from.local, to.local);
                assert_eq!((got[0].proc, got[0].ctx, got[0].tag), (job_rank(from.local), 0, len as u8));
                assert_eq!(got[0].bytes, [header, payload].concat());
            }
            from.part(ep);
        }
    }
}

#[test]
fn attributes_and_reach() {
    for (string, most) in [("1k", 256 << 10), ("1073741824k", 64 << 10)] {
        let rank = Node::new(2).open(0, &[("eager_limit", "8k"), ("latency", "7"), ("string_min", string)]);
        let a = rank.attrs();
        assert_eq!((a.contexts, a.eager_limit, a.max_send_size, a.latency), (1, 8192, most + 128, 7));
    }
    let node = Node::new(2);
    let rank = node.open(0, &[("single_copy_mechanism", "none")]);
    let a = rank.attrs();
    assert_eq!(a.min_get_size, u64::MAX);
    assert!(rank.table.get.is_none() && rank.table.put.is_none() && rank.table.arm.is_some());
    assert_eq!(&a.device[..4], b"shm\0");
    let proc = ProcInfo { proc: 101, node: 3, local_rank: 1, local: 1, ..ProcInfo::default() };
    assert!(rank.reach(proc).is_some());
    assert!(rank.reach(ProcInfo { local: 0, ..proc }).is_none(), "not local");
    assert!(rank.reach(ProcInfo { node: 4, ..proc }).is_none(), "another node");
    assert!(rank.reach(ProcInfo { local_rank: 0, ..proc }).is_none(), "itself");
}

#[test]
fn messages_wait_for_a_peer_that_comes_later() {
    let node = Node::new(2);
    let early = node.open(0, &[]);
    let ep = early.to(1);
    for i in 0..10 {
        assert_eq!(early.send(ep, i, b"head", b"er"), Status::OK);
    }
    let late = node.open(1, &[]);
    let tags: Vec<u8> = late.drain().iter().map(|m| m.tag).collect();
    assert_eq!(tags, (0..10).collect::<Vec<u8>>());
}

#[test]
fn a_full_ring_says_so_and_keeps_order() {
    let node = Node::new(2);
    let small =
        [("ring_size", "4k"), ("max_send_size", "2k"), ("eager_limit", "1k"), ("rndv_eager_limit", "1k")];
    let (a, b) = (node.open(0, &small), node.open(1, &small));
    let ep = a.to(1);
    let (mut sent, mut got) = (0u32, 0u32);
    let mut refused = 0;
    while sent < 5000 {
        let len = (sent as usize * 131) % 2000;
        match a.send(ep, 1, &sent.to_le_bytes(), &bytes(sent as u64, len)) {
            Status::OK => sent += 1,
            Status::NO_RESOURCE => {
                refused += 1;
                let before = got;
                for m in b.drain() {
                    assert_eq!(m.bytes[..4], got.to_le_bytes());
                    assert_eq!(m.bytes[4..], bytes(got as u64, (got as usize * 131) % 2000));
                    got += 1;
                }
                assert!(
                    got > before
                        || a.send(ep, 1, &sent.to_le_bytes(), &bytes(sent as u64, len)).is_ok() && {
                            sent += 1;
                            true
                        }
                );
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 100);
    got += b.drain().len() as u32;
    assert_eq!(got, sent);
    assert_eq!(a.send(ep, 1, &[0; 100], &[0; 2000]), Status::BAD_PARAM, "more than max_send_size");
}

#[test]
fn payload_may_be_packed_straight_into_the_ring() {
    unsafe extern "C" fn pack(ctx: *mut core::ffi::c_void, offset: u64, dst: *mut u8, len: u64) {
        // SAFETY: `ctx` is the counter below; `dst` has room for `len` bytes.
        unsafe {
            *(ctx as *mut u32) += 1;
            for i in 0..len {
                *dst.add(i as usize) = (offset + i) as u8 ^ 0x5a;
            }
        }
    }
    let node = Node::new(2);
    let ranks = node.all(&[]);
    let mut calls = 0u32;
    for len in [0u64, 1, 8, 500, 30000] {
        let desc = SendDesc {
            tag: 9,
            hdr_len: 3,
            hdr: b"abc".as_ptr(),
            payload: core::ptr::null(),
            len,
            pack: Some(pack),
            pack_ctx: (&raw mut calls).cast(),
        };
        assert_eq!(ranks[0].send_desc(ranks[0].to(1), 0, &desc), Status::OK);
        let got = ranks[1].drain();
        assert_eq!(got[0].bytes[..3], *b"abc");
        assert!(got[0].bytes[3..].iter().enumerate().all(|(i, &b)| b == i as u8 ^ 0x5a));
        assert_eq!(got[0].bytes.len() as u64, 3 + len);
    }
    assert_eq!(calls, 5);
}

/// Turns without messages make ready for the next long one; its size, the place and who sends then may
/// differ from what was expected.
#[test]
fn idle_turns_between_messages_change_nothing() {
    let node = Node::new(3);
    let ranks = node.all(&[]);
    let to: Vec<PeerEndpoint> = [1, 2].map(|peer| ranks[0].to(peer)).into();
    let sizes = [4096, 4096, 4096, 4096, 4096, 4096, 1500, 8000, 4096, 20_000, 700, 4096, 2000, 3000];
    let mut sent = 0u64;
    for idle in [0, 1, 5, 40] {
        for round in 0..60 {
            for (i, &size) in sizes.iter().enumerate() {
                let to_whom = usize::from(round % 7 == 6 && i % 5 == 0);
                let payload = bytes(sent, size);
                assert_eq!(ranks[0].send(to[to_whom], 4, &sent.to_le_bytes(), &payload), Status::OK);
                (0..idle).for_each(|_| assert_eq!(ranks[0].progress(), 0));
                let got = ranks[1 + to_whom].drain();
                assert_eq!(got.len(), 1);
                assert!(got[0].bytes[..8] == sent.to_le_bytes() && got[0].bytes[8..] == payload[..]);
                sent += 1;
            }
        }
    }
}

/// Messages come in batches, but none behind the one with which the layer above has enough; the others come with later turns.
#[test]
fn a_turn_ends_where_the_layer_above_has_enough() {
    let node = Node::new(2);
    let ranks = node.all(&[]);
    let ep = ranks[0].to(1);
    let enough = Rc::new(std::cell::Cell::new(false));
    let (says, record) = (enough.clone(), Rc::downgrade(&ranks[1].record));
    *ranks[1].record.hook.borrow_mut() = Some(Box::new(move |m: &Arrived| {
        if says.get() && m.bytes[0] == 2 {
            record.upgrade().expect("the rank's").answer.set(STOP);
        }
    }));
    for (says, len) in [(false, 0), (true, 0), (false, 2000), (true, 2000), (true, 30_000), (false, 0)] {
        enough.set(says);
        // A turn in which something came: behind a long message that was waited for nothing comes in any case.
        assert_eq!(ranks[0].send(ep, 1, &[0], &[]), Status::OK);
        while ranks[1].progress() == 0 {}
        (0..10).for_each(|i| assert_eq!(ranks[0].send(ep, 1, &[i], &bytes(1, len)), Status::OK));
        let first = ranks[1].progress();
        assert_eq!(first, if says { 3 } else { 10 }, "{len} bytes");
        ranks[1].drain();
    }
}

#[test]
fn a_callback_may_answer() {
    let node = Node::new(2);
    let ranks = node.all(&[]);
    let back = ranks[1].to(0);
    let answerer = Rc::new(ranks[1].module);
    let send = ranks[1].table.send.expect("send");
    *ranks[1].record.hook.borrow_mut() = Some(Box::new(move |m: &Arrived| {
        let answer = [m.bytes[0] + 1];
        let desc = SendDesc {
            tag: 2,
            hdr_len: 1,
            hdr: answer.as_ptr(),
            payload: core::ptr::null(),
            len: 0,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        };
        // SAFETY: the module's function, state and endpoint; who handed the message up lends its context.
        assert_eq!(unsafe { send(answerer.state, back.0, 0, &desc) }, Status::OK);
    }));
    let ep = ranks[0].to(1);
    for i in 0..100 {
        assert_eq!(ranks[0].send(ep, 1, &[i], &[]), Status::OK);
        assert_eq!(ranks[1].drain().len(), 1);
        let answer = ranks[0].drain();
        assert_eq!((answer.len(), answer[0].tag, answer[0].bytes[0]), (1, 2, i + 1));
    }
}

#[test]
fn many_peers_watched_or_not() {
    for oversubscribed in [false, true] {
        let mut node = Node::new(130);
        node.oversubscribed = oversubscribed;
        let ranks = node.all(&[("ring_size", "64k")]);
        let endpoints: Vec<PeerEndpoint> = ranks[1..].iter().map(|r| r.to(0)).collect();
        for round in 0..40u8 {
            for (rank, &ep) in ranks[1..].iter().zip(&endpoints) {
                assert_eq!(rank.send(ep, round, &rank.local.to_le_bytes(), &[round; 90]), Status::OK);
            }
            let mut got = ranks[0].drain();
            assert_eq!(got.len(), 129);
            got.sort_by_key(|m| m.proc);
            for (m, from) in got.iter().zip(1u32..) {
                assert_eq!((m.proc, m.tag), (job_rank(from), round));
                assert_eq!(m.bytes[..4], from.to_le_bytes());
            }
        }
        // How many rings the receiver watches: their notification words, one ring per sender.
        let watched = (0..129).filter(|i| peek(&node, first_ring(&node) + i * RING + 64) != 0).count();
        assert_eq!(watched, if oversubscribed { 0 } else { 4 });
    }
}

#[test]
fn a_busy_ring_displaces_a_silent_one() {
    let node = Node::new(7);
    let ranks = node.all(&[("ring_size", "64k")]);
    let notification = |sender: u64| peek(&node, first_ring(&node) + (sender - 1) * RING + 64);
    // The first four to come are watched, in this order the rings lie.
    for sender in 1..=6 {
        assert_eq!(ranks[sender].send(ranks[sender].to(0), 1, b"x", &[]), Status::OK);
        assert_eq!(ranks[0].drain().len(), 1);
    }
    assert_eq!(
        (1..=6).map(notification).map(|n| n != 0).collect::<Vec<_>>(),
        [true, true, true, true, false, false]
    );
    // Rank 6 becomes busy, and ranks 1, 3 and 4 stay so.
    for _ in 0..6000 {
        for sender in [1, 3, 4, 6] {
            assert_eq!(ranks[sender].send(ranks[sender].to(0), 1, b"x", &[]), Status::OK);
        }
        assert_eq!(ranks[0].drain().len(), 4);
    }
    assert_eq!(
        (1..=6).map(notification).map(|n| n != 0).collect::<Vec<_>>(),
        [true, false, true, true, false, true]
    );
    // The silent one is heard all the same.
    for _ in 0..10 {
        assert_eq!(ranks[2].send(ranks[2].to(0), 7, b"y", &[]), Status::OK);
        assert_eq!(ranks[0].drain().len(), 1);
    }
}

#[test]
fn garbage_closes_the_peer_and_touches_nothing() {
    // Flags of the first lap: too long for lines, no such kind, a later line where a message should start,
    // and a place in the bulk that is none (the line's second word is zero here).
    let flag = |len: u64, kind: u64| (1 << 44 | kind << 40 | len).to_le_bytes();
    for word in [
        flag(1 << 20, 1),
        flag(u32::MAX as u64, 1),
        flag(8, 5), // a ring of this size has no cell
        flag(8, 6),
        flag(8, 8),
        flag(8, 3),
        flag(1 << 20, 2),
        flag(1 << 20, 7),
    ] {
        let node = Node::new(3);
        let ranks = node.all(&[("ring_size", "64k")]);
        for sender in [1, 2] {
            assert_eq!(ranks[sender].send(ranks[sender].to(0), 1, b"x", &[]), Status::OK);
        }
        assert_eq!(ranks[0].drain().len(), 2);
        poke(&node, first_ring(&node) + 4096 + 64, &word);
        assert_eq!(ranks[0].drain().len(), 0);
        assert_eq!(ranks[0].reports().peer_errors.len(), 1);
        let (proc, fatal, message) = ranks[0].reports().peer_errors[0].clone();
        assert_eq!((proc, fatal), (101, 1), "{message}");
        assert_eq!(ranks[0].reports().help[0].0, "garbage");
        // The other peer goes on, and one complaint is enough.
        assert_eq!(ranks[2].send(ranks[2].to(0), 1, b"x", &[]), Status::OK);
        assert_eq!(ranks[0].drain().len(), 1);
        assert!(ranks[0].arm(0).is_some(), "a closed ring keeps nobody awake");
        ranks[0].disarm(0);
        assert_eq!(ranks[0].reports().peer_errors.len(), 1);
    }
}

/// A ring that is watched in the place of one that was closed is looked at in the same turn.
#[test]
fn the_turn_that_closes_a_ring_misses_no_other() {
    let node = Node::new(4);
    let ranks = node.all(&[("ring_size", "64k"), ("watched_rings", "4")]);
    let send = |sender: usize| assert_eq!(ranks[sender].send(ranks[sender].to(0), 1, b"x", &[]), Status::OK);
    // They are watched in this order, and their rings lie so.
    for sender in 1..=3 {
        send(sender);
        assert_eq!(ranks[0].drain().len(), 1);
    }
    poke(&node, first_ring(&node) + 4096 + 64, &u64::to_le_bytes(1 << 44 | 15 << 40));
    for _ in 0..3 {
        send(2);
        send(3);
        assert_eq!(ranks[0].progress(), 2);
        assert_eq!(ranks[0].reports().peer_errors.len(), 1);
    }
}

#[test]
fn impossible_places_and_heads_are_refused() {
    let node = Node::new(2);
    let ranks = node.all(&[("ring_size", "64k"), ("string_min", "1073741824k")]);
    let ep = ranks[0].to(1);
    assert_eq!(ranks[0].send(ep, 1, b"x", &[]), Status::OK);
    // Rank 1 has not looked yet: spoil the place of the ring, which is the one word of that value.
    let ring = first_ring(&node);
    let mut header = vec![0; ring as usize];
    rustix::io::pread(&node.fd, &mut header, 0).expect("read");
    let place = (ring | 16).to_le_bytes();
    let at = header.chunks(8).position(|w| w == place).expect("directory") as u64 * 8;
    for bad in [(ring + (1 << 40)) | 16, 16, ring | 11, ring | 31, ring | 40, u64::MAX] {
        poke(&node, at, &bad.to_le_bytes());
        assert_eq!(ranks[1].drain().len(), 0);
        assert_eq!(ranks[1].reports().peer_errors.len(), 1, "{bad:#x}");
        ranks[1].reports().peer_errors.clear();
        // Announced again.
        assert_eq!(ranks[0].send(ep, 1, b"x", &[]), Status::OK);
    }
    poke(&node, at, &place);
    ranks[1].drain();
    // A head that was never reached: the sender notices when it needs room.
    poke(&node, ring, &u64::MAX.to_le_bytes());
    let mut status = Status::OK;
    for _ in 0..2000 {
        status = ranks[0].send(ep, 1, b"x", &[]);
        if status != Status::OK {
            break;
        }
    }
    assert_eq!(status, Status::PEER_FAILED);
    assert_eq!(ranks[0].reports().peer_errors[0].0, 101);
}

#[test]
fn a_rank_may_leave_and_come_back() {
    let node = Node::new(2);
    let set = [("ring_size", "64k")];
    let stayer = node.open(0, &set);
    let out = stayer.to(1);
    let mut sent = 0u32;
    for life in 0..5u32 {
        let comer = node.open(1, &set);
        let back = comer.to(0);
        for i in 0..700u32 {
            assert_eq!(stayer.send(out, 1, &sent.to_le_bytes(), &[1; 60]), Status::OK);
            sent += 1;
            assert_eq!(comer.send(back, 2, &i.to_le_bytes(), &[2; 100]), Status::OK);
            let got = stayer.drain();
            assert_eq!((got.len(), &got[0].bytes[..4]), (1, &i.to_le_bytes()[..]), "life {life}");
            assert_eq!(comer.drain().len(), 1, "life {life}");
        }
        comer.close();
        // Messages that are sent meanwhile wait for the next life.
        assert_eq!(stayer.send(out, 1, &sent.to_le_bytes(), &[]), Status::OK);
        let comer = node.open(1, &set);
        let got = comer.drain();
        assert_eq!((got.len(), &got[0].bytes[..]), (1, &sent.to_le_bytes()[..]));
        sent += 1;
    }
}

#[test]
fn what_cannot_open_says_why() {
    let fails = |node: &Node, fd, local, set: &[(&str, &str)]| {
        Rank::open(fd, node, local, set).err().expect("refused")
    };
    use std::os::fd::AsRawFd;
    // Alone: a module all the same, for processes of other jobs.
    drop(Node::new(1).open(0, &[]));
    let node = Node::new(2);
    assert_eq!(fails(&node, -1, 0, &[]).0, Status::NOT_AVAILABLE);
    let contradiction = [("eager_limit", "64k"), ("max_send_size", "32k")];
    assert_eq!(fails(&node, node.fd.as_raw_fd(), 0, &contradiction).0, Status::BAD_PARAM);
    // Another version.
    poke(&node, 0, &(77u64 << 48 | 1 << 32 | 2).to_le_bytes());
    let (status, record) = fails(&node, node.fd.as_raw_fd(), 0, &[]);
    assert_eq!(status, Status::NOT_SUPPORTED);
    let reports = record.reports.lock().expect("record");
    assert_eq!(reports.help[0].0, "version");
    assert!(
        reports.errors[0].contains("77") && reports.errors[0].contains("version 13 "),
        "{:?}",
        reports.errors
    );
    // Somebody is this rank.
    let node = Node::new(2);
    let _first = node.open(1, &[]);
    let (status, record) = fails(&node, node.fd.as_raw_fd(), 1, &[]);
    assert_eq!(status, Status::BAD_PARAM);
    assert!(record.reports.lock().expect("record").errors[0].contains("local rank 1"));
}

#[test]
fn memory_of_a_rank_in_the_same_process() {
    let node = Node::new(2);
    let ranks = node.all(&[]);
    let ep = ranks[0].to(1);
    let theirs = bytes(1, 100_000);
    let mut ours = vec![0; 100_000];
    assert_eq!(ranks[0].rma(false, ep, &mut ours, theirs.as_ptr() as u64), Status::OK);
    assert_eq!(ours, theirs);
    let target = vec![0u8; 50_000];
    assert_eq!(ranks[0].rma(true, ep, &mut ours[..50_000], target.as_ptr() as u64), Status::OK);
    assert_eq!(ranks[0].flush_all(), Status::OK);
    assert_eq!(target, theirs[..50_000]);
    assert_eq!(ranks[0].rma(false, ep, &mut [], 0), Status::OK);
    assert_eq!(ranks[0].rma(false, ep, &mut ours, 0), Status::BAD_PARAM);
    assert_eq!(ranks[0].rma(false, ep, &mut ours, u64::MAX - 10), Status::BAD_PARAM);
}

#[derive(Debug, Clone)]
enum Step {
    Send { from: usize, to: usize, len: usize },
    Progress(usize),
    Doze(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0usize..3, 1usize..3, prop_oneof![0usize..200, 0usize..=4096])
            .prop_map(|(from, by, len)| Step::Send { from, to: (from + by) % 3, len }),
        2 => (0usize..3).prop_map(Step::Progress),
        1 => (0usize..3).prop_map(Step::Doze),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Each pair of three ranks is a queue, in any order of what they do; nobody is told to sleep with messages waiting.
    #[test]
    fn pairs_are_queues(
        steps in proptest::collection::vec(step(), 1..300), watched in -1i32..=4, size in prop::sample::select(&["8k", "128k", "512k"]),
        string in prop::sample::select(&["1073741824k", "2000"]),
    ) {
        let node = Node::new(3);
        let set = [
            ("ring_size", size), ("max_send_size", "4096"), ("eager_limit", "4096"), ("rndv_eager_limit", "4096"),
            ("watched_rings", &watched.to_string()), ("nontemporal_min", "3500"), ("string_min", string),
        ];
        let ranks = node.all(&set);
        let eps: Vec<Vec<PeerEndpoint>> =
            (0..3).map(|f| (0..3).map(|t| if f == t { PeerEndpoint(core::ptr::null_mut()) } else { ranks[f].to(t as u32) }).collect()).collect();
        let mut queues: Vec<Vec<VecDeque<(u8, usize)>>> = vec![vec![VecDeque::new(); 3]; 3];
        let check = |queues: &mut Vec<Vec<VecDeque<(u8, usize)>>>, to: usize, got: Vec<Arrived>| {
            for m in got {
                let from = (m.proc - 100) as usize;
                let (tag, len) = queues[from][to].pop_front().expect("sent");
                assert_eq!((m.tag, m.bytes), (tag, bytes(tag as u64, len)));
            }
        };
        for (i, step) in steps.into_iter().enumerate() {
            match step {
                Step::Send { from, to, len } => match ranks[from].send(eps[from][to], i as u8, &[], &bytes(i as u8 as u64, len)) {
                    Status::OK => queues[from][to].push_back((i as u8, len)),
                    other => prop_assert_eq!(other, Status::NO_RESOURCE),
                },
                Step::Progress(r) => {
                    ranks[r].progress();
                    check(&mut queues, r, ranks[r].record.arrived.take());
                }
                Step::Doze(r) => {
                    let waiting: usize = queues.iter().map(|q| q[r].len()).sum();
                    if let Some(word) = ranks[r].arm(0) {
                        prop_assert_eq!(waiting, 0, "told to sleep");
                        // A message, or an attempt at one, rings the bell of a sleeper.
                        let from = (r + 1) % 3;
                        if ranks[from].send(eps[from][r], i as u8, &[], &bytes(i as u8 as u64, 1)) == Status::OK {
                            queues[from][r].push_back((i as u8, 1));
                        }
                        prop_assert!(sleep(word, std::time::Duration::from_secs(60)), "nobody rang");
                    }
                    ranks[r].disarm(0);
                }
            }
        }
        for (r, rank) in ranks.iter().enumerate() {
            check(&mut queues, r, rank.drain());
        }
        prop_assert!(queues.iter().flatten().all(VecDeque::is_empty));
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_words_in_shared_memory_are_survived(
        history in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400),
    ) {
        hostile::any_words(&history);
    }
}
