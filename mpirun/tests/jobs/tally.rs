//! Messages and bytes of the wire-up: what mpirun and daemons have counted of real jobs is what `oxmpi_mpirun::tally` says of them.

use crate::remote::Room;
use crate::support::{ROLE, free_port, own_rank};
use oxmpi_mpirun::link::{Counts, Sum};
use oxmpi_mpirun::remote::facts::NodeFacts;
use oxmpi_mpirun::remote::{addresses, doors};
use oxmpi_mpirun::tally::{Shape, count};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The key under which the rank program publishes here, and the bytes of its value.
pub const KEY: &str = "card";
pub const VALUE: usize = 64;

/// Reads the counts that a program has written, by name, and the bytes of the part that is the same for all nodes.
pub fn read(folder: &Path, name: &str) -> BTreeMap<String, Vec<u64>> {
    let end = Instant::now() + Duration::from_secs(60);
    let text = loop {
        match std::fs::read_to_string(folder.join(name)) {
            Ok(text) => break text,
            Err(why) => assert!(Instant::now() < end, "waited for the counts of {name}: {why}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let line = |line: &str| {
        let (what, numbers) = line.split_once(' ').expect("a name and numbers");
        (what.to_owned(), numbers.split(' ').map(|n| n.parse().expect("a number")).collect())
    };
    text.lines().map(line).collect()
}

pub fn counts(numbers: &[u64]) -> Counts {
    let [sent, sent_bytes, received, received_bytes] = numbers[..] else { panic!("{numbers:?}") };
    Counts {
        sent: Sum { messages: sent, bytes: sent_bytes },
        received: Sum { messages: received, bytes: received_bytes },
    }
}

#[test]
fn the_wire_up_takes_as_many_messages_as_it_is_said_to() {
    let door: Vec<_> =
        addresses::door(4000, &[], &[]).expect("addresses").into_iter().take(doors::MOST).collect();
    let shapes = [(2, 2, 32), (4, 2, 32), (4, 2, 1), (8, 2, 32), (8, 1, 2), (8, 3, 3)];
    let shapes = shapes.into_iter().map(|shape| (shape, true)).chain([((4, 2, 32), false)]);
    let own = NodeFacts::own().expect("this node");
    for ((nodes, each, width), direct) in shapes {
        let facts = NodeFacts { door: if direct { Vec::clone(&door) } else { Vec::new() }, ..own.clone() };
        let room = Room::new("");
        let folder = tempfile::tempdir().expect("a folder");
        let hosts: Vec<String> = (1..=nodes).map(|node| format!("n{node}:{each}")).collect();
        let mut options = format!("--mca rml_base_radix {width} --bind-to none");
        if !direct {
            // mpirun has it, so that no daemon has one.
            options += &format!(" --mca prte_dynamic_ipv4_ports {}", free_port());
        }
        let mut job = room.over(&hosts.join(","), &options);
        job.command.env("OXMPI_LINK_COUNTS", folder.path());
        job.command.args(["-x", &format!("{ROLE}=cards")]).args(own_rank());
        job.run().expect(0, &[]);
        let mpirun = read(folder.path(), "mpirun");
        let shape = Shape {
            nodes,
            each,
            width,
            fences: 2,
            asks: u64::from(nodes) - 1,
            key: KEY.into(),
            value: VALUE,
            job: mpirun["job"][0] as usize,
            facts: facts.clone(),
            direct,
        };
        let tally = count(&shape).expect("short");
        let what = format!("{nodes} nodes of {each} ranks, {width} at a time, direct: {direct}");
        assert_eq!(counts(&mpirun["links"]), tally.mpirun, "{what}, mpirun");
        for (node, daemon) in tally.daemons.iter().enumerate() {
            let counted = read(folder.path(), &format!("node{node}"));
            assert_eq!(counts(&counted["up"]), daemon.up, "{what}, node {node}, up");
            assert_eq!(counts(&counted["below"]), daemon.below, "{what}, node {node}, below");
            assert_eq!(counts(&counted["direct"]), daemon.direct, "{what}, node {node}, direct");
            let ranks = counts(&counted["ranks"]);
            let each = u64::from(each);
            let (sent, received) = (tally.rank.sent, tally.rank.received);
            assert_eq!(
                (ranks.received.messages, ranks.received.bytes, ranks.sent.messages),
                (each * sent.messages, each * sent.bytes, each * received.messages),
                "{what}, node {node}, ranks"
            );
        }
    }
}
