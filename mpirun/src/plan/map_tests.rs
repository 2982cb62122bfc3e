//! Made-up machines, and where everybody goes.

use super::super::bind::{self, Policy};
use super::*;
use crate::cli::policy::Binding;
use std::fs::{create_dir_all, write};
use std::path::Path;

/// 2 packages with 2 NUMA nodes of 4 cores of 2 threads; second threads are numbered last.
pub fn machine() -> Topology {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |path: String, text: String| {
        let path = folder.path().join(path);
        create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        write(path, text).expect("a file");
    };
    put("cpu/online".into(), "0-31".into());
    put("node/online".into(), "0-3".into());
    let both = |first: u32, last: u32| format!("{first}-{last},{}-{}", first + 16, last + 16);
    for numa in 0..4 {
        put(format!("node/node{numa}/cpulist"), both(4 * numa, 4 * numa + 3));
    }
    for cpu in 0..32 {
        let core = cpu % 16;
        put(format!("cpu/cpu{cpu}/topology/package_cpus_list"), both(core / 8 * 8, core / 8 * 8 + 7));
        put(format!("cpu/cpu{cpu}/topology/thread_siblings_list"), both(core, core));
    }
    Topology::read(folder.path(), &(0..32).collect::<Vec<_>>())
}

fn nodes(count: usize) -> Vec<Node> {
    (0..count).map(|n| Node::new(format!("n{n}"), Some(machine()), n)).collect()
}

fn grants(slots: &[u32]) -> Vec<Grant> {
    let grant = |(node, &slots): (usize, &u32)| Grant { node, slots, max_slots: None, given: true, used: 0 };
    slots.iter().enumerate().map(grant).collect()
}

/// The whole way: nodes of these slots, `--map-by`, `--rank-by`, `--bind-to`.
fn place(
    slots: &[u32],
    ranks: Option<u32>,
    map_by: &str,
    rank_by: &str,
    bind_to: &str,
) -> Result<Placed, String> {
    let (mut mapping, mut binding) = (Mapping::default(), Binding::default());
    if !map_by.is_empty() {
        mapping.add(map_by)?;
    }
    binding.add(bind_to, &mut mapping)?;
    mapping.check()?;
    let (mut nodes, mut grants) = (nodes(slots.len()), grants(slots));
    let wanted = Wanted { app: 0, name: "prog", ranks, mapping: &mapping };
    let mut processes = map(&wanted, &mut grants, &mut nodes)?;
    let by = if rank_by.is_empty() { usual_ranking(&mapping) } else { RankBy::parse(rank_by)? };
    let crowded = grants.iter().any(|g| g.used > g.slots);
    let policy =
        Policy::choose(&mapping, &binding, processes.len(), crowded, oversubscribing(&mapping, &grants))?;
    bind::bind(&mut processes, &nodes, &policy, &(0..nodes.len()).collect::<Vec<_>>())?;
    rank(&mut processes, by);
    let topology = machine();
    let describe = |p: &Process| match p.processors.is_empty() {
        true => "-".into(),
        false => topology.describe(&p.processors, policy.threads),
    };
    let bindings = processes.iter().map(describe).collect();
    Ok(Placed { bindings, nodes: processes.iter().map(|p| p.node).collect() })
}

#[derive(Debug, PartialEq)]
struct Placed {
    nodes: Vec<usize>,
    bindings: Vec<String>,
}

fn on_one(ranks: u32, map_by: &str, rank_by: &str, bind_to: &str) -> Vec<String> {
    place(&[32], Some(ranks), map_by, rank_by, bind_to).expect(map_by).bindings
}

fn cores(list: &[&str]) -> Vec<String> {
    list.iter()
        .map(|range| {
            let first: u32 = range.split('-').next().and_then(|n| n.parse().ok()).expect("a number");
            format!("package[{}][core:L{range}]", first / 8)
        })
        .collect()
}

#[test]
fn one_node_as_open_mpi_5_does_it() {
    // Compared with prterun 3.0.14 on a made-up machine of this form (HWLOC_SYNTHETIC).
    for (map, rank, bind, expected) in [
        ("core", "", "", cores(&["0", "1", "2", "3"])),
        ("package", "", "", cores(&["0-7", "0-7", "8-15", "8-15"])),
        ("package", "slot", "", cores(&["0-7", "8-15", "0-7", "8-15"])),
        ("package", "span", "", cores(&["0-7", "8-15", "0-7", "8-15"])),
        ("package:PE=2", "", "", cores(&["0-1", "2-3", "8-9", "10-11"])),
        ("slot:PE=2", "", "", cores(&["0-1", "2-3", "4-5", "6-7"])),
        ("numa", "", "core", cores(&["0", "4", "8", "12"])),
        ("ppr:2:package", "", "", cores(&["0-7", "0-7", "8-15", "8-15"])),
        ("slot", "", "none", vec!["-".into(); 4]),
        // Open MPI 5 has no such target; Open MPI 1 bound to the slot's core.
        ("slot", "", "slot", cores(&["0", "1", "2", "3"])),
        ("package", "slot", "slot", cores(&["0", "8", "1", "9"])),
        // Here processes spread, where Open MPI fills the first NUMA node.
        ("package", "", "numa", cores(&["0-3", "4-7", "8-11", "12-15"])),
    ] {
        assert_eq!(on_one(4, map, rank, bind), expected, "{map} {rank} {bind}");
    }
    let threads = |list: &[u32]| list.iter().map(|n| format!("package[0][hwt:L{n}]")).collect::<Vec<_>>();
    assert_eq!(on_one(3, "slot:hwtcpus", "", "hwthread"), threads(&[0, 1, 2]));
    assert_eq!(on_one(3, "slot:hwtcpus", "", "slot"), threads(&[0, 1, 2]));
    assert_eq!(on_one(2, "core:PE=2:HWTCPUS", "", ""), ["package[0][hwt:L0-1]", "package[0][hwt:L2-3]"]);
}

#[test]
fn what_is_usual() {
    assert_eq!(on_one(2, "", "", ""), cores(&["0", "1"]));
    assert_eq!(on_one(4, "", "", ""), cores(&["0-3", "4-7", "8-11", "12-15"]));
    // Seventeen do not fit four NUMA nodes of four cores: nobody asked, so nobody is bound.
    assert_eq!(on_one(17, "", "", ""), vec!["-"; 17]);
}

#[test]
fn several_nodes() {
    let nodes = |map: &str, rank: &str| place(&[2, 3], Some(4), map, rank, "none").expect(map).nodes;
    assert_eq!(nodes("slot", ""), [0, 0, 1, 1]);
    assert_eq!(nodes("node", ""), [0, 1, 0, 1]);
    assert_eq!(nodes("node", "slot"), [0, 0, 1, 1]);
    assert_eq!(nodes("slot", "node"), [0, 1, 0, 1]);
    assert_eq!(nodes("core:span", ""), [0, 0, 1, 1]);
    assert_eq!(nodes("numa", "span"), [0, 0, 1, 1]);
    let all = |map: &str| place(&[2, 3], None, map, "", "none").expect(map).nodes;
    assert_eq!(all("slot"), [0, 0, 1, 1, 1]);
    assert_eq!(all("node"), [0, 1, 0, 1, 1]);
    assert_eq!(all("ppr:1:package").len(), 4);
}

#[test]
fn slots_are_a_limit_unless_they_are_not() {
    let refused = |map: &str, ranks: u32, part: &str| {
        let why = place(&[2, 2], Some(ranks), map, "", "none").expect_err(map);
        assert!(why.contains(part), "{map}: {why}");
    };
    refused("slot", 5, "not enough slots");
    refused("core", 5, "not enough slots");
    refused("core:span", 5, "not enough slots");
    refused("ppr:3:node", 6, "not enough slots");
    refused("ppr:1:node", 3, "ppr:1:node");
    let placed = place(&[2, 2], Some(7), "slot:oversubscribe", "", "none").expect("allowed");
    assert_eq!(placed.nodes, [0, 0, 0, 0, 1, 1, 1]);
    // Counted slots are no limit, unless the user says so.
    let counted = |mapping: &Mapping, max: Option<u32>| {
        let mut grants = vec![Grant { node: 0, slots: 2, max_slots: max, given: max.is_some(), used: 0 }];
        let wanted = Wanted { app: 0, name: "prog", ranks: Some(4), mapping };
        map(&wanted, &mut grants, &mut nodes(1)).map(|p| p.len())
    };
    assert_eq!(counted(&Mapping::default(), None), Ok(4));
    let (mut yes, mut no) = (Mapping::default(), Mapping::default());
    no.add(":nooversubscribe").expect("sound");
    yes.add(":oversubscribe").expect("sound");
    assert!(counted(&no, None).is_err());
    assert!(counted(&yes, Some(3)).expect_err("max_slots").contains("max_slots"));
}

#[test]
fn programs_share_what_there_is() {
    let mapping = Mapping { by: Some(MapBy::Object(Level::Core)), ..Mapping::default() };
    let (mut nodes, mut grants) = (nodes(1), grants(&[3]));
    let mut app = |app: usize, ranks: u32| {
        map(&Wanted { app, name: "prog", ranks: Some(ranks), mapping: &mapping }, &mut grants, &mut nodes)
    };
    let first = app(0, 1).expect("room");
    let second = app(1, 2).expect("room");
    let objects: Vec<_> = first.iter().chain(&second).map(|p| p.object).collect();
    assert_eq!(objects, [0, 1, 2].map(|n| Some((Level::Core, n))));
    assert!(app(2, 1).is_err());
}

#[test]
fn what_cannot_be_bound_is_refused() {
    for (ranks, map, bind, part) in [
        (2, "core", "package", "above"),
        (2, "hwthread", "core", "above"),
        (2, "core:pe=2", "", "2 cores"),
        (17, "slot", "core", "NOOVERSUBSCRIBE"),
        (9, "package:pe=2", "", "overload"),
        (2, "package:pe=2", "numa", "together"),
    ] {
        let why = place(&[32], Some(ranks), map, "", bind).expect_err(map);
        assert!(why.contains(part), "{map} {bind}: {why}");
    }
    assert_eq!(on_one(17, "slot", "", "core:overload-allowed").len(), 17);
    assert_eq!(on_one(17, "slot:oversubscribe", "", "core").len(), 17);
    assert_eq!(on_one(17, "slot", "", "core:if-supported"), vec!["-"; 17]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Nodes that are one machine share its 16 cores of two processors: no core is given twice while there are enough, and
    /// what was nobody's wish is left out where there are not.
    #[test]
    fn nodes_of_one_machine_share_its_cores(
        nodes in proptest::collection::vec((0_u32..3, 1_u32..20), 1..5),
        options in proptest::sample::select(vec!["", "--map-by node", "--map-by core", "--bind-to core"]),
    ) {
        static KNOWN: std::sync::OnceLock<crate::remote::facts::NodeFacts> = std::sync::OnceLock::new();
        let known = KNOWN.get_or_init(|| crate::remote::facts::NodeFacts {
            processors: 32,
            cores: 16,
            topology: machine(),
            ..crate::remote::facts::NodeFacts::own().expect("this node")
        });
        let facts = |number: u32| crate::remote::facts::NodeFacts {
            machine: format!("machine {number}"),
            ..known.clone()
        };
        let others = (1..).zip(&nodes).map(|(node, (machine, _))| (node, facts(*machine))).collect();
        let hosts: Vec<String> = (0..).zip(&nodes).map(|(at, (_, slots))| format!("x{at}:{slots}")).collect();
        let line = format!("--host {} --mca plm ssh {options} true", hosts.join(","));
        let line = line.split_whitespace().map(std::ffi::OsString::from);
        let line = crate::cli::CommandLine::parse(line).expect("sound");
        let survey = crate::plan::survey(&line).expect("a survey");
        let mut ranks = [0_u32; 3];
        nodes.iter().for_each(|(machine, slots)| ranks[*machine as usize] += slots);
        let plan = match crate::plan::make(&line, false, survey, others) {
            Ok(plan) => plan,
            Err(why) => {
                assert!(options == "--bind-to core" && ranks.iter().any(|n| *n > 16), "{why}");
                return Ok(());
            }
        };
        assert_eq!(plan.launch.oversubscribed, ranks.iter().any(|n| *n > 32));
        let mut used = std::collections::BTreeMap::new();
        for part in plan.split() {
            let at = nodes.iter().enumerate().find(|(at, _)| plan.launch.node_names[part.node as usize] == format!("x{at}"));
            let (machine, _) = at.expect("a name of ours").1;
            let share = 32 * part.places.len() as u32 / ranks[*machine as usize];
            assert_eq!(part.cores, share.max(1));
            for processor in part.places.iter().flat_map(|place| &place.processors) {
                *used.entry((*machine, *processor)).or_insert(0) += 1;
            }
        }
        let by_core = options.ends_with("core") || plan.launch.map.size() <= 2 && options.is_empty();
        // A NUMA node has four cores.
        let most = if by_core { 1 } else { 4 };
        assert!(used.values().all(|count| *count <= most), "{options} {nodes:?}: {used:?}");
        if by_core && ranks.iter().all(|n| *n <= 16) {
            assert_eq!(used.len() as u32, 2 * ranks.iter().sum::<u32>());
        }
    }
}
