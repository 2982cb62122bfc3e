//! Parts of a node: packages, NUMA nodes, caches, cores and hardware threads, as the kernel
//! tells it under `/sys/devices/system`.
//!
//! Objects are numbered as they lie, from left to right: by package, then NUMA node, third, second
//! and first level cache, core and thread, each by its lowest processor. These *logical* numbers
//! count the whole machine, so that a binding reads the same whatever part of the machine a job
//! was given; an object *contains* only what may be used, and one of which nothing may be used is
//! not there.
//!
//! A kernel that does not tell something (a virtual machine often hides caches) is taken to have
//! one such object in each object of the level above, except that every processor is a core.
//!
//! Everything is read from a folder that the caller names, so that a made-up machine can be read.

use super::frame::{Builder, Fields, Malformed};
use super::runs;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::Path;

/// More processors than a node has: a bound on what another node may say.
const MOST: usize = 8192;

/// Where the kernel tells it.
pub const SYSTEM: &str = "/sys/devices/system";

/// Kinds of objects, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Package,
    Numa,
    L3,
    L2,
    L1,
    Core,
    Hwthread,
}

impl Level {
    pub const ALL: [Level; 7] =
        [Level::Package, Level::Numa, Level::L3, Level::L2, Level::L1, Level::Core, Level::Hwthread];

    /// The word that `--map-by` and `--bind-to` have for it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Package => "package",
            Level::Numa => "numa",
            Level::L3 => "l3cache",
            Level::L2 => "l2cache",
            Level::L1 => "l1cache",
            Level::Core => "core",
            Level::Hwthread => "hwthread",
        }
    }
}

/// One package, NUMA node, cache, core or hardware thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Logical number among all of its kind in the machine.
    pub index: u32,
    /// The kernel's numbers of the processors in it that may be used, in logical order.
    pub processors: Vec<u32>,
}

/// A node, or the part of it that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    levels: [Vec<Object>; 7],
    /// For each usable processor, the index of its object of every level.
    places: BTreeMap<u32, [u32; 7]>,
}

impl Topology {
    /// Reads the machine below `root`, of which `allowed` may be used.
    pub fn read(root: &Path, allowed: &[u32]) -> Topology {
        let online = list(&root.join("cpu/online")).unwrap_or_else(|| allowed.to_vec());
        let numa = numa_nodes(root);
        let mut keys: Vec<[u32; 7]> = Vec::with_capacity(online.len());
        for &cpu in &online {
            let lowest = |set: Option<&[u32]>| set.and_then(|s| s.iter().min().copied());
            let folder = root.join(format!("cpu/cpu{cpu}"));
            let package = list(&folder.join("topology/package_cpus_list"))
                .or_else(|| list(&folder.join("topology/core_siblings_list")));
            // Without a word on packages there is one.
            let package = lowest(package.as_deref()).unwrap_or_else(|| online.first().copied().unwrap_or(0));
            let numa = lowest(numa.iter().find(|n| n.contains(&cpu)).map(Vec::as_slice)).unwrap_or(package);
            let caches = caches(&folder);
            let l3 = lowest(caches[2].as_deref()).unwrap_or(numa);
            let core = lowest(Some(&siblings(root, cpu))).unwrap_or(cpu);
            let l2 = lowest(caches[1].as_deref()).unwrap_or(l3);
            let l1 = lowest(caches[0].as_deref()).unwrap_or(l2);
            keys.push([package, numa, l3, l2, l1, core, cpu]);
        }
        keys.sort_unstable();
        Topology::of(&keys, allowed)
    }

    /// From sorted keys: for each processor the lowest processor of each object it is in.
    fn of(keys: &[[u32; 7]], allowed: &[u32]) -> Topology {
        let mut levels: [Vec<Object>; 7] = Default::default();
        let mut places: BTreeMap<u32, [u32; 7]> = BTreeMap::new();
        for (level, objects) in levels.iter_mut().enumerate() {
            let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
            for key in keys {
                let next = numbers.len() as u32;
                let index = *numbers.entry(key[level]).or_insert(next);
                let cpu = key[6];
                if !allowed.contains(&cpu) {
                    continue;
                }
                places.entry(cpu).or_insert([0; 7])[level] = index;
                match objects.iter_mut().find(|object| object.index == index) {
                    Some(object) => object.processors.push(cpu),
                    None => objects.push(Object { index, processors: vec![cpu] }),
                }
            }
        }
        Topology { levels, places }
    }

    /// The objects of a level of which something may be used, in logical order.
    pub fn objects(&self, level: Level) -> &[Object] {
        &self.levels[level as usize]
    }

    /// All processors that may be used, in logical order.
    pub fn processors(&self) -> Vec<u32> {
        self.objects(Level::Hwthread).iter().flat_map(|o| o.processors.iter().copied()).collect()
    }

    /// Logical number of the object of this level that a processor is in.
    pub fn place(&self, processor: u32, level: Level) -> Option<u32> {
        self.places.get(&processor).map(|place| place[level as usize])
    }

    /// Appends the topology to a frame, for another process, which plans for this node.
    pub fn encode(&self, into: Builder) -> Builder {
        let processors = self.processors();
        (0..Level::ALL.len()).fold(runs::put(into, &processors), |b, level| {
            let of = |cpu: &u32| self.places.get(cpu).copied().unwrap_or_default()[level];
            runs::put(b, &processors.iter().map(of).collect::<Vec<u32>>())
        })
    }

    /// Reads a topology from a frame's fields. Places are taken as they are, once for each processor and up to `MOST`.
    pub fn decode(f: &mut Fields<'_>) -> Result<Topology, Malformed> {
        let processors = runs::take(f, "processors", MOST)?;
        let mut all: Vec<(u32, [u32; 7])> = processors.into_iter().map(|cpu| (cpu, [0; 7])).collect();
        for level in 0..Level::ALL.len() {
            let indices = runs::take(f, "places of processors", all.len())?;
            if indices.len() != all.len() {
                return Err(Malformed::Value { field: "places of processors", value: indices.len() as u64 });
            }
            all.iter_mut().zip(indices).for_each(|((_, place), index)| place[level] = index);
        }
        Topology::of_places(&all).map_err(|cpu| Malformed::Value { field: "processor", value: cpu.into() })
    }

    /// A node with these processors, each with its number at every level ([`Level::ALL`]). The error: a processor that is there twice.
    pub fn of_places(all: &[(u32, [u32; 7])]) -> Result<Topology, u32> {
        let mut topology = Topology { levels: Default::default(), places: BTreeMap::new() };
        for &(cpu, place) in all {
            if topology.places.insert(cpu, place).is_some() {
                return Err(cpu);
            }
            for (objects, index) in topology.levels.iter_mut().zip(place) {
                match objects.iter_mut().find(|object| object.index == index) {
                    Some(object) => object.processors.push(cpu),
                    None => objects.push(Object { index, processors: vec![cpu] }),
                }
            }
        }
        Ok(topology)
    }

    /// `package[0][core:L0-1]`, one part for each package, as Open MPI writes bindings; in hardware
    /// threads where `threads` are what is counted, or where a core is not bound to as a whole.
    pub fn describe(&self, processors: &[u32], threads: bool) -> String {
        let whole_cores = self.objects(Level::Core).iter().all(|core| {
            let bound = core.processors.iter().filter(|p| processors.contains(p)).count();
            bound == 0 || bound == core.processors.len()
        });
        let (level, word) = match threads || !whole_cores {
            true => (Level::Hwthread, "hwt"),
            false => (Level::Core, "core"),
        };
        let mut packages: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &processor in processors {
            if let (Some(package), Some(unit)) =
                (self.place(processor, Level::Package), self.place(processor, level))
            {
                packages.entry(package).or_default().insert(unit);
            }
        }
        let parts = packages.iter().map(|(package, units)| {
            let units: Vec<u32> = units.iter().copied().collect();
            format!("package[{package}][{word}:L{}]", write_list(&units))
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// NUMA nodes that have processors, by the kernel's number.
pub fn numa_nodes(root: &Path) -> Vec<Vec<u32>> {
    let nodes = list(&root.join("node/online")).unwrap_or_default();
    let read = |node: u32| list(&root.join(format!("node/node{node}/cpulist")));
    nodes.into_iter().filter_map(read).filter(|cpus| !cpus.is_empty()).collect()
}

/// Processors of the core that `cpu` is on. A kernel that does not say: every processor is a core.
pub fn siblings(root: &Path, cpu: u32) -> Vec<u32> {
    let folder = root.join(format!("cpu/cpu{cpu}/topology"));
    list(&folder.join("thread_siblings_list"))
        .or_else(|| list(&folder.join("core_cpus_list")))
        .filter(|core| core.contains(&cpu))
        .unwrap_or_else(|| vec![cpu])
}

/// Processors that share the caches of the three levels with the one of this folder.
fn caches(folder: &Path) -> [Option<Vec<u32>>; 3] {
    let mut found: [Option<Vec<u32>>; 3] = Default::default();
    for index in 0..8 {
        let cache = folder.join(format!("cache/index{index}"));
        let Ok(level) = read_to_string(cache.join("level")) else { break };
        let Some(slot) = level.trim().parse::<usize>().ok().and_then(|l| found.get_mut(l.wrapping_sub(1)))
        else {
            continue;
        };
        let instructions = read_to_string(cache.join("type")).is_ok_and(|t| t.trim() == "Instruction");
        if !instructions {
            *slot = list(&cache.join("shared_cpu_list"));
        }
    }
    found
}

/// Reads a list of numbers from a file of the kernel; `None`: it cannot be read.
fn list(path: &Path) -> Option<Vec<u32>> {
    parse_list(read_to_string(path).ok()?.trim())
}

/// Reads a list as the kernel writes it (`0,4-6`); an empty text is an empty list. `None`: it is no such list.
pub fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last.checked_sub(first)? > 65_536 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Writes ascending numbers as a list with ranges, as the kernel does (`0,4-6`).
pub fn write_list(numbers: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let run = rest.iter().zip(first..).take_while(|(a, b)| **a == *b).count();
        parts.push(match run {
            1 => first.to_string(),
            _ => format!("{first}-{}", rest[run - 1]),
        });
        rest = &rest[run..];
    }
    parts.join(",")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        write(path, format!("{text}\n")).expect("a file can be written");
    }

    /// A machine whose second threads are numbered behind all first ones, as Linux does on Intel.
    fn machine(root: &Path, packages: u32, numa: u32, cores: u32, threads: u32) {
        let per_package = numa * cores;
        let total = packages * per_package;
        put(root, "cpu/online", &format!("0-{}", total * threads - 1));
        put(root, "node/online", &format!("0-{}", packages * numa - 1));
        let spread = |first: u32, count: u32| {
            let parts = (0..threads).map(|t| (first + t * total, first + t * total + count - 1));
            parts.map(|(a, b)| format!("{a}-{b}")).collect::<Vec<_>>().join(",")
        };
        for node in 0..packages * numa {
            put(root, &format!("node/node{node}/cpulist"), &spread(node * cores, cores));
        }
        for cpu in 0..total * threads {
            let core = cpu % total;
            let folder = format!("cpu/cpu{cpu}");
            let package = core / per_package * per_package;
            put(root, &format!("{folder}/topology/package_cpus_list"), &spread(package, per_package));
            put(root, &format!("{folder}/topology/thread_siblings_list"), &spread(core, 1));
            for (index, level, kind, set) in [
                (0, 1, "Data", spread(core, 1)),
                (1, 1, "Instruction", spread(core, 1)),
                (2, 2, "Unified", spread(core, 1)),
                (3, 3, "Unified", spread(core / cores * cores, cores)),
            ] {
                let cache = format!("{folder}/cache/index{index}");
                put(root, &format!("{cache}/level"), &level.to_string());
                put(root, &format!("{cache}/type"), kind);
                put(root, &format!("{cache}/shared_cpu_list"), &set);
            }
        }
    }

    fn counts(topology: &Topology) -> Vec<usize> {
        Level::ALL.iter().map(|level| topology.objects(*level).len()).collect()
    }

    #[test]
    fn two_packages_of_eight_cores_with_two_threads() {
        let folder = tempfile::tempdir().expect("a folder");
        machine(folder.path(), 2, 1, 8, 2);
        let all: Vec<u32> = (0..32).collect();
        let t = Topology::read(folder.path(), &all);
        assert_eq!(counts(&t), [2, 2, 2, 16, 16, 16, 32]);
        assert_eq!(t.objects(Level::Core)[1].processors, [1, 17]);
        assert_eq!(t.objects(Level::Hwthread)[3].processors, [17]);
        assert_eq!(t.describe(&[0, 16], false), "package[0][core:L0]");
        assert_eq!(t.describe(&[0, 16], true), "package[0][hwt:L0-1]");
        assert_eq!(t.describe(&[16], false), "package[0][hwt:L1]");
        assert_eq!(t.describe(&[0, 16, 1, 17, 9, 25], false), "package[0][core:L0-1] package[1][core:L9]");
    }

    #[test]
    fn numa_nodes_inside_packages() {
        let folder = tempfile::tempdir().expect("a folder");
        machine(folder.path(), 2, 2, 4, 1);
        let t = Topology::read(folder.path(), &(0..16).collect::<Vec<_>>());
        assert_eq!(counts(&t), [2, 4, 4, 16, 16, 16, 16]);
        assert_eq!(t.objects(Level::Numa)[3].processors, [12, 13, 14, 15]);
        assert_eq!(numa_nodes(folder.path()).len(), 4);
    }

    #[test]
    fn what_may_not_be_used_is_left_out_and_numbers_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        machine(folder.path(), 2, 1, 4, 2);
        let t = Topology::read(folder.path(), &[5, 13, 6]);
        assert_eq!(counts(&t), [1, 1, 1, 2, 2, 2, 3]);
        let cores = t.objects(Level::Core);
        assert_eq!((cores[0].index, cores[1].index), (5, 6));
        assert_eq!(t.describe(&[5, 13], false), "package[1][core:L5]");
        assert_eq!(t.processors(), [5, 13, 6]);
    }

    #[test]
    fn another_process_sees_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        machine(folder.path(), 2, 2, 4, 2);
        let t = Topology::read(folder.path(), &[0, 1, 5, 16, 17, 21, 9]);
        let bytes = t.encode(Builder::new(1)).finish().expect("short");
        let mut f = Fields::new(&bytes[5..]);
        assert_eq!(Topology::decode(&mut f), Ok(t.clone()));
        assert_eq!(f.finish(), Ok(()));
        let twice = (0..2).fold(Builder::new(1).count(2), |b, _| (0..8).fold(b, |b, _| b.u32(3)));
        let bytes = twice.finish().expect("short");
        assert!(Topology::decode(&mut Fields::new(&bytes[5..])).is_err(), "a processor comes once");
    }

    #[test]
    fn a_kernel_that_says_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let t = Topology::read(folder.path(), &[0, 1, 2]);
        assert_eq!(counts(&t), [1, 1, 1, 1, 1, 3, 3]);
        assert_eq!(t.describe(&[1, 2], false), "package[0][core:L1-2]");
    }

    #[test]
    fn lists() {
        assert_eq!(parse_list("0,4-6"), Some(vec![0, 4, 5, 6]));
        assert_eq!(parse_list(""), Some(vec![]));
        for wrong in ["0-99999999", "6-4", "a", ",", "1,"] {
            assert_eq!(parse_list(wrong), None, "{wrong}");
        }
        assert_eq!(write_list(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(write_list(&[]), "");
    }
}
