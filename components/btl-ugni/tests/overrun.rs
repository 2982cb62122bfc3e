//! Queues that overrun: messages are found in their mailboxes, and puts and gets whose completion was lost are posted again.

mod common;

use common::{counter, set_up, setup};
use oxmpi_btl::access;
use oxmpi_btl_conformance::rma::{Buffer, Completion, Memory, Transfer, Verb, offer, wait_for};
use oxmpi_btl_conformance::{Harness, Msg};
use oxmpi_mca::Status;
use std::time::Instant;

/// One test, since the library is set up by the environment.
#[test]
fn nothing_is_lost_with_events() {
    // Every queue loses the completion that is its hundredth.
    set_up("overrun_at=100");
    // More credits than the queue of arrivals has entries.
    let h =
        Harness::new(&setup().ranks(3).cris(1).param("remote_cq_size", "16").param("smsg_max_credits", "64"));
    // The first sender alone sends a hundred messages. One that has lost a completion waits for it, in vain, when it parts.
    for (round, senders) in [&[1, 2][..], &[1], &[1]].into_iter().enumerate() {
        let round = round as u64;
        let before = counter(c"overruns");
        let mut sent = Vec::new();
        for (from, to) in senders.iter().map(|from| (*from, 0)) {
            for i in 0..60 {
                let msg = Msg { tag: from as u8, ..Msg::new(round * 1000 + i, 24, (i % 300) as usize) };
                // Credits of the round before may take the device a moment to come.
                let begun = Instant::now();
                while h.ranks[from].send(to, 0, &msg) != Status::OK {
                    assert!(begun.elapsed() < h.patience, "round {round}: no room for message {i}");
                    std::thread::yield_now();
                }
                sent.push(msg);
            }
        }
        // The device needs a moment to bring them.
        let begun = Instant::now();
        while counter(c"overruns") == before {
            assert!(begun.elapsed() < h.patience, "round {round}: the queue does not overrun");
            std::thread::yield_now();
        }
        let due = h.ranks[0].host.arrived() + sent.len() as u64;
        h.settle(0, due);
        let got = h.ranks[0].host.take();
        for tag in [1, 2] {
            let seen: Vec<_> = got.iter().filter(|m| m.tag == tag).map(|m| &m.bytes).collect();
            let due: Vec<_> = sent.iter().filter(|m| m.tag == tag).map(|m| m.bytes()).collect();
            assert!(
                seen.len() == due.len() && seen.iter().zip(&due).all(|(s, d)| **s == *d),
                "round {round}"
            );
        }
    }
    let link = h.link();
    const COUNT: usize = 400;
    for verb in [Verb::Put, Verb::Get] {
        let (mut near, mut far) = (Buffer::new(COUNT * 64, 1), Buffer::new(COUNT * 64, 2));
        let all = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE;
        let local = Memory::try_of(&h, link.from, near.bytes(), all).expect("registered");
        let remote = Memory::try_of(&h, link.to, far.bytes(), all).expect("registered");
        let before = counter(c"overruns");
        let each: Vec<Box<Completion>> = (0..COUNT).map(|_| Completion::new(&h, link.from, 0)).collect();
        for (i, c) in each.iter().enumerate() {
            let t = Transfer { verb, local: (&local, i * 64), remote: (&remote, i * 64), len: 64 };
            assert_eq!(offer(&h, link.from, 0, || t.start(&h, link, 0, c)), Status::PENDING, "{verb:?} {i}");
        }
        wait_for(&h, link.from, 0, each.iter().map(|c| &**c));
        assert!(each.iter().all(|c| c.status() == Status::OK && c.calls() == 1), "{verb:?}");
        if verb == Verb::Put {
            assert!(counter(c"overruns") > before, "the queue of completions did not overrun");
        }
        local.release(&h);
        remote.release(&h);
        assert_eq!(near.seen(0, COUNT * 64), far.seen(0, COUNT * 64), "{verb:?}");
    }
}
