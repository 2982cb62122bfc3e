//! Operations that are under way when their endpoint is about to go.

use crate::harness::Harness;
use crate::rma::{Buffer, Completion, Memory, Transfer, Verb, block, flush_alone, movers, wait_for};
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;

crate::check!(OneSided: done_runs_before_del_procs);

const OPERATIONS: usize = 32;

/// All that said PENDING completes by progress while the endpoint is there, and nothing runs behind `del_procs`.
fn done_runs_before_del_procs(setup: &Setup) {
    let mut h = Harness::new(setup);
    let (link, block) = (h.link(), block(&h));
    for verb in movers(&h) {
        let (mut near, mut far) = (Buffer::new(OPERATIONS * block, 1), Buffer::new(OPERATIONS * block, 2));
        let (local, remote) = (Memory::of(&h, link.from, near.bytes()), Memory::of(&h, link.to, far.bytes()));
        let all: Vec<Box<Completion>> = (0..OPERATIONS).map(|_| Completion::new(&h, link.from, 0)).collect();
        let started: Vec<&Completion> = all
            .iter()
            .enumerate()
            .filter(|(i, c)| {
                let at = i * block;
                let t = Transfer { verb, local: (&local, at), remote: (&remote, at), len: block };
                t.start(&h, link, 0, c) == Status::PENDING
            })
            .map(|(_, c)| &**c)
            .collect();
        wait_for(&h, link.from, 0, started.iter().copied());
        let calls: Vec<u32> = all.iter().map(|c| c.calls()).collect();
        // A second endpoint of the same process goes; then the first, by the rank's end.
        let extra =
            h.ranks[link.from].add_procs(&[crate::harness::local_proc(link.to as u32)]).expect("again");
        assert_eq!(h.ranks[link.from].del_procs(&extra), Status::OK, "{}: del_procs", h.name);
        (0..50).for_each(|_| _ = h.progress());
        let later: Vec<u32> = all.iter().map(|c| c.calls()).collect();
        assert_eq!(calls, later, "{}: {verb:?}: done ran behind del_procs", h.name);
        if verb == Verb::Put && h.ranks[link.from].can(cap::FLUSH) {
            assert_eq!(flush_alone(&h, link, 0), Status::OK, "{}: flush", h.name);
        }
        local.release(&h);
        remote.release(&h);
        // A rank that talks to itself has nobody left to make progress.
        if verb == Verb::Put && link.from != link.to {
            assert_eq!(h.ranks[link.from].finalize(), Status::OK);
            (0..50).for_each(|_| _ = h.ranks[link.to].progress_all());
            let last: Vec<u32> = all.iter().map(|c| c.calls()).collect();
            assert_eq!(calls, last, "{}: {verb:?}: done ran behind finalize", h.name);
        }
    }
}
