//! Memory that the engines take, counted in real ones: the tables in README.md are made here.

use super::*;
use core::fmt::Write as _;

/// An engine to which each of `peers` ranks out of `ranks`, evenly spread, has sent a message that
/// waits, and from which a receive is posted.
fn engine(choice: Choice, ranks: usize, peers: usize) -> Comm {
    let mut comm = Comm::new(setting(choice));
    for peer in 0..peers {
        let source = (peer * ranks / peers) as i32;
        comm.arrive(source, 1, 0);
        comm.receive((source, 2), 0);
    }
    comm
}

/// A queue of 8192 posted receives as the paper assumes it, of which one search has found the last.
fn deep(choice: Choice) -> Comm {
    let mut comm = Comm::new(setting(choice));
    (0..8192).for_each(|tag| comm.receive((1, tag), 0));
    comm.arrive(1, 8191, 0);
    comm
}

fn bytes(comm: Comm) -> usize {
    let bytes = comm.engine.bytes();
    comm.finish();
    bytes
}

fn human(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..1_000_000 => format!("{:.0} KiB", bytes as f64 / 1024.0),
        1_000_000..1_000_000_000 => format!("{:.2} MiB", bytes as f64 / (1 << 20) as f64),
        _ => format!("{:.2} GiB", bytes as f64 / (1u64 << 30) as f64),
    }
}

/// The paper's Table II: name, nodes, ranks of a node.
const MACHINES: [(&str, usize, usize); 4] =
    [("half scale", 4096, 68), ("full scale", 8192, 68), ("2x cores", 8192, 136), ("4x cores", 8192, 272)];

/// Two empty list heads of 64 bytes for each pair of ranks of which one is on the node.
fn two_lists_for_each_peer(nodes: usize, ranks_per_node: usize) -> usize {
    nodes * ranks_per_node * ranks_per_node * 128
}

const NEIGHBOURS: usize = 26;

fn tables() -> String {
    let mut text = String::new();
    let row = |text: &mut String, cells: Vec<String>| {
        writeln!(text, "| {} |", cells.join(" | ")).expect("a string grows");
    };
    row(&mut text, ["engine", "unused", "26 peers", "1024 peers", "8192 posted"].map(String::from).into());
    row(&mut text, vec!["---".into(); 5]);
    for choice in Choice::ALL {
        let mut cells = vec![format!("`{}`", choice.name())];
        let ranks = 557_056;
        cells.extend([0, NEIGHBOURS, 1024].map(|peers| human(bytes(engine(choice, ranks, peers)))));
        cells.push(human(bytes(deep(choice))));
        row(&mut text, cells);
    }
    text.push('\n');
    let mut head = vec!["machine".to_owned(), "ranks".into(), "two lists for each peer".into()];
    head.extend(Choice::ALL.map(|c| format!("`{}`", c.name())));
    row(&mut text, head);
    row(&mut text, vec!["---".into(); 3 + Choice::ALL.len()]);
    for (name, nodes, each) in MACHINES {
        let ranks = nodes * each;
        let mut cells = vec![name.to_owned(), ranks.to_string(), human(two_lists_for_each_peer(nodes, each))];
        cells.extend(Choice::ALL.map(|c| human(each * bytes(engine(c, ranks, NEIGHBOURS)))));
        row(&mut text, cells);
    }
    text
}

#[test]
fn the_paper_s_figures_come_from_its_formula() {
    let figures = MACHINES.map(|(_, nodes, each)| human(two_lists_for_each_peer(nodes, each)));
    assert_eq!(figures, ["2.26 GiB", "4.52 GiB", "18.06 GiB", "72.25 GiB"]);
}

#[test]
fn memory_follows_the_peers_that_talk_and_not_the_ranks() {
    for choice in Choice::ALL {
        let of = |ranks, peers| bytes(engine(choice, ranks, peers));
        assert_eq!(of(1 << 10, 0), of(1 << 30, 0), "{} unused", choice.name());
        assert_eq!(of(1 << 16, 64), of(1 << 30, 64), "{} with 64 peers", choice.name());
        // Tables double and blocks come whole: in proportion, up to that.
        assert!(of(1 << 20, 4096) < 20 * of(1 << 20, 512), "{} grows with its peers", choice.name());
    }
}

/// Bytes per posted receive when there are many: the layouts of the paper, and its 24 to 32 of a list
/// node, which here lie in the request.
#[test]
fn lanes_cost_what_their_layout_says() {
    let per_entry = |choice| bytes(deep(choice)) as f64 / 8192.0;
    for (choice, expected) in
        [(Choice::Vector, 28.0), (Choice::Fuzzy32, 20.0), (Choice::Fuzzy16, 14.0), (Choice::Fuzzy8, 11.0)]
    {
        let is = per_entry(choice);
        assert!((is - expected).abs() < 0.2, "{}: {is} bytes", choice.name());
    }
}

#[test]
fn readme_has_these_tables() {
    let made = tables();
    println!("{made}");
    let readme = include_str!("../README.md");
    for line in made.lines() {
        assert!(readme.contains(line), "README.md lacks this line:\n{line}\nThe tables are:\n{made}");
    }
}
