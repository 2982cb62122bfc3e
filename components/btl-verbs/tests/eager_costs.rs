//! Savings of eager messages by memory: no completion and no receive request at the receiver; and their order among those of the queue.

mod common;

use common::{counter, setup};
use oxmpi_btl_conformance::{Harness, Msg};

/// Sends so many, and takes them one by one: counted are entries of completion queues.
fn entries(h: &Harness, messages: u64) -> u64 {
    let before = counter(c"cqe_writes");
    for i in 0..messages {
        let arrived = h.ranks[1].host.arrived();
        h.push(h.link(), 0, &Msg::new(i, 24, 40));
        h.settle(h.link().to, arrived + 1);
    }
    counter(c"cqe_writes") - before
}

#[test]
fn messages_in_rings_make_no_entry_and_keep_their_order() {
    const MESSAGES: u64 = 320;
    let job = |ring: &str| {
        let plain = setup().ranks(2).cris(1).param("use_eager_rdma", ring).param("eager_rdma_threshold", "3");
        Harness::new(
            &plain.param("eager_rdma_num", "8").param("eager_limit", "512").param("rndv_eager_limit", "512"),
        )
    };
    let plain = job("false");
    assert!(entries(&plain, MESSAGES) >= MESSAGES, "one at the receiver for each message");
    drop(plain);
    let h = job("true");
    entries(&h, 8);
    let few = entries(&h, MESSAGES);
    // Of every sixteenth request of the sender, and of each message about slots and its request: four messages come back with one.
    assert!(few <= MESSAGES / 16 + MESSAGES / 4 * 2 + 4, "{few} entries for {MESSAGES} messages");

    // Those that do not fit go by the queue, and all come as they were sent.
    h.ranks[1].host.forget();
    let sizes = |i: u64| if i.is_multiple_of(3) { 4000 } else { (i * 7 % 400) as usize };
    let msgs: Vec<Msg> = (0..600).map(|i| Msg::new(i, 24, sizes(i))).collect();
    let before = h.ranks[1].host.arrived();
    msgs.iter().for_each(|m| h.push(h.link(), 0, m));
    h.settle(h.link().to, before + msgs.len() as u64);
    let got = h.ranks[1].host.take();
    assert_eq!(got.len(), msgs.len());
    assert!(got.iter().zip(&msgs).all(|(g, m)| g.bytes == m.bytes()), "other bytes, or order");
}
