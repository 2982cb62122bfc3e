//! One-sided operations of several threads, each on a context of its own.

use crate::harness::{Harness, Link};
use crate::message::Msg;
use crate::rma::{Buffer, Completion, Memory, Transfer, Verb, block, flush_alone, movers, offer, wait_for};
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;

crate::check!(OneSided: contexts_on_threads_move_data);

const ROUNDS: usize = 60;
const BATCH: usize = 8;

/// Each thread puts what it then gets back, on its own context and place; completions come to the context that asked.
fn contexts_on_threads_move_data(setup: &Setup) {
    let h = Harness::new(&setup.clone().threaded(true));
    let (link, len) = (h.link(), block(&h) * BATCH);
    let verbs = movers(&h);
    if verbs.is_empty() {
        return;
    }
    let contexts = h.ranks[link.from].contexts();
    let mut far = Buffer::new(len * contexts as usize, 0);
    let remote = Memory::of(&h, link.to, far.bytes());
    std::thread::scope(|threads| {
        for ctx in 0..contexts {
            let (h, remote, verbs) = (&h, &remote, &verbs);
            threads.spawn(move || (0..ROUNDS).for_each(|round| turn(h, link, ctx, remote, verbs, round)));
        }
    });
    remote.release(&h);
}

fn turn(h: &Harness, link: Link, ctx: u32, remote: &Memory, verbs: &[Verb], round: usize) {
    let block = block(h);
    let len = block * BATCH;
    let base = len * ctx as usize;
    let data = Msg::new((round as u64) << 8 | ctx as u64, 0, len).bytes();
    for &verb in [Verb::Put, Verb::Get].iter().filter(|v| verbs.contains(v)) {
        let mut near = Buffer::new(len, 0);
        if verb == Verb::Put {
            near.bytes().copy_from_slice(&data);
        }
        let local = Memory::of(h, link.from, near.bytes());
        let all: Vec<Box<Completion>> = (0..BATCH).map(|_| Completion::new(h, link.from, ctx)).collect();
        let mut pending = Vec::new();
        for (i, c) in all.iter().enumerate() {
            let at = i * block;
            let t = Transfer { verb, local: (&local, at), remote: (remote, base + at), len: block };
            match offer(h, link.from, ctx, || t.start(h, link, ctx, c)) {
                Status::OK => {}
                Status::PENDING => pending.push(&**c),
                s => panic!("{}: {verb:?} on context {ctx}: {s}", h.name),
            }
        }
        wait_for(h, link.from, ctx, pending);
        if verb == Verb::Put && h.ranks[link.from].can(cap::FLUSH) {
            assert_eq!(flush_alone(h, link, ctx), Status::OK, "{}: flush of context {ctx}", h.name);
        }
        assert!(all.iter().all(|c| c.status().is_ok()), "{}: {verb:?} on context {ctx}", h.name);
        if verb == Verb::Get && verbs.contains(&Verb::Put) {
            assert!(
                near.seen(0, len) == data,
                "{}: context {ctx}, round {round}: other bytes came back",
                h.name
            );
        }
        local.release(h);
    }
}
