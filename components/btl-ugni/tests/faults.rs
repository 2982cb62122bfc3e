//! Registrations that run out, operations that the network fails, and processes that are gone.

mod common;

use common::{counter, set_up, setup};
use oxmpi_btl::access;
use oxmpi_btl_conformance::rma::{Buffer, Completion, Memory, Transfer, Verb, offer, wait_for};
use oxmpi_btl_conformance::{Harness, Msg};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// One test, since the library is set up by the environment.
#[test]
fn what_fails_is_told_or_repaired() {
    // The third post times out, which may be tried again.
    set_up("error_at=3,mdds=40");
    let two = || setup().ranks(2).cris(1);

    let h = Harness::new(&two());
    let link = h.link();
    let all = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE;
    let (mut near, mut far) = (Buffer::new(640, 1), Buffer::new(640, 2));
    let local = Memory::try_of(&h, link.from, near.bytes(), all).expect("registered");
    let remote = Memory::try_of(&h, link.to, far.bytes(), all).expect("registered");
    let each: Vec<Box<Completion>> = (0..10).map(|_| Completion::new(&h, link.from, 0)).collect();
    for (i, c) in each.iter().enumerate() {
        let t = Transfer { verb: Verb::Put, local: (&local, i * 64), remote: (&remote, i * 64), len: 64 };
        assert_eq!(offer(&h, link.from, 0, || t.start(&h, link, 0, c)), Status::PENDING);
    }
    wait_for(&h, link.from, 0, each.iter().map(|c| &**c));
    assert!(each.iter().all(|c| c.status() == Status::OK), "a put that timed out was not repeated");
    assert_eq!(counter(c"errors"), 1, "the network has failed one");
    local.release(&h);
    remote.release(&h);
    assert_eq!(far.seen(0, 640), vec![1; 640]);

    // The node has 40 registrations, and this process may have what is left by its parameter.
    let mut bytes = vec![0u8; 64 * 4096];
    let mut kept = Vec::new();
    let status = loop {
        let at = kept.len() * 4096;
        match Memory::try_of(&h, 0, &mut bytes[at..at + 4096], all) {
            Ok(memory) => kept.push(memory),
            Err(status) => break status,
        }
    };
    assert_eq!(status, Status::NO_RESOURCE, "at the limit");
    assert!((5..40).contains(&kept.len()), "{} registrations", kept.len());
    kept.pop().into_iter().for_each(|m| m.release(&h));
    let again = Memory::try_of(&h, 0, &mut bytes[..4096], all).expect("there is room again");
    kept.into_iter().chain([again]).for_each(|m| m.release(&h));
    drop(h);

    // A process that has left: what is sent to it fails, and it is no failure of the job.
    let mut h = Harness::new(&two());
    assert_eq!(h.ranks[1].finalize(), Status::OK);
    let begun = Instant::now();
    while h.ranks[0].send(1, 0, &Msg::new(1, 24, 8)) != Status::PEER_FAILED {
        h.ranks[0].progress(0);
        assert!(begun.elapsed() < PATIENCE, "sending to a process that has left never fails");
    }
    (0..10).for_each(|_| _ = h.ranks[0].progress(0));
    assert!(h.ranks[0].host.failures().is_empty(), "it has said good-bye");
}
