//! The hardware this process is bound to, as the kernel describes it in `/sys`: for each kind of resource the one that
//! holds all processors the process may run on, if one does.
//!
//! Kinds are named as hwloc names them, since that is what programs ask for. Resources that the kernel does
//! not name (no NUMA nodes in a container, no cache of a level) are left out for this process: it is bound to none.

use std::path::{Path, PathBuf};

/// Kinds of resources from the coarsest to the finest.
pub const KINDS: [&str; 7] = ["Machine", "Package", "NUMANode", "L3Cache", "L2Cache", "Core", "PU"];
const PREFIX: &str = "hwloc://";

/// The full name of a kind.
pub fn uri(kind: usize) -> String {
    format!("{PREFIX}{}", KINDS[kind])
}

/// Finds the index in [`KINDS`] of a name, with or without the prefix, in whatever case; `mpi_shared_memory` is the
/// machine.
pub fn kind(name: &str) -> Option<usize> {
    if name == "mpi_shared_memory" {
        return Some(0);
    }
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    KINDS.iter().position(|k| k.eq_ignore_ascii_case(name))
}

/// Finds, for each kind, the resource that this process is bound to, as a number that is unique in the job; `None`: it
/// is bound to none of that kind. `node` is the number of this node in the job.
pub fn bound_to(node: u32) -> [Option<u32>; KINDS.len()] {
    let allowed = allowed();
    instances(Path::new(SYSTEM), &allowed)
        .map(|instance| node.checked_mul(1 << 16)?.checked_add(instance.filter(|i| *i < 1 << 16)?))
}

/// Where the kernel describes processors.
const SYSTEM: &str = "/sys/devices/system/cpu";

/// Finds package, NUMA node, third-level cache and core of this process, each by its lowest processor; `None` of a kind
/// where the process may run on several, or the kernel does not say.
pub fn binding() -> [Option<u32>; 4] {
    four(Path::new(SYSTEM), &allowed())
}

/// Finds package, NUMA node, third-level cache and core that hold all processors which are online, each by its lowest
/// processor; `None` of a kind of which there are several, or the kernel does not say.
pub fn whole_machine() -> [Option<u32>; 4] {
    let root = Path::new(SYSTEM);
    let online = std::fs::read_to_string(root.join("online")).ok().and_then(|text| parse(&text));
    four(root, &online.unwrap_or_default())
}

/// Finds package, NUMA node, third-level cache and core that hold all of `cpus`, each by its lowest processor, in the
/// kernel's description below `root`.
fn four(root: &Path, cpus: &[u32]) -> [Option<u32>; 4] {
    let [_, package, numa, l3, _, core, _] = instances(root, cpus);
    [package, numa, l3, core]
}

/// The processors that the calling thread may run on, ascending; empty: the kernel does not say.
fn allowed() -> Vec<u32> {
    // SAFETY: an all-zero set is a valid one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours and as large as we say; 0 is the calling thread.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the numbers are inside the set.
    (0..libc::CPU_SETSIZE as u32).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu as usize, &set) }).collect()
}

/// Finds, for each kind, the resource that holds all `allowed` processors, by its lowest processor; `None`: there is no
/// such one. `root` is the folder of the kernel's description.
fn instances(root: &Path, allowed: &[u32]) -> [Option<u32>; KINDS.len()] {
    let mut found = [None; KINDS.len()];
    found[0] = Some(0);
    let Some(first) = allowed.first() else { return found };
    let cpu = root.join(format!("cpu{first}"));
    let list = |path: PathBuf| std::fs::read_to_string(path).ok().and_then(|text| parse(&text));
    let lists = [
        list(cpu.join("topology/package_cpus_list")),
        numa_node(&cpu).and_then(list),
        cache(&cpu, "3").and_then(list),
        cache(&cpu, "2").and_then(list),
        list(cpu.join("topology/core_cpus_list")),
        Some(vec![*first]),
    ];
    for (place, cpus) in found[1..].iter_mut().zip(lists) {
        *place =
            cpus.filter(|cpus| allowed.iter().all(|a| cpus.contains(a))).and_then(|c| c.first().copied());
    }
    found
}

/// Finds the file that lists the processors of a processor's NUMA node, which is linked in the processor's folder.
fn numa_node(cpu: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(cpu).ok()?;
    let node = entries.flatten().find(|entry| {
        let name = entry.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("node"));
        number.is_some_and(|n| n.parse::<u32>().is_ok())
    })?;
    Some(node.path().join("cpulist"))
}

/// Finds the file that lists the processors which share a processor's data cache of a level.
fn cache(cpu: &Path, level: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(cpu.join("cache")).ok()?;
    let says = |path: &Path, file: &str| std::fs::read_to_string(path.join(file)).unwrap_or_default();
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| says(path, "level").trim() == level && says(path, "type").trim() != "Instruction")
        .map(|path| path.join("shared_cpu_list"))
}

/// Reads a list of processors as the kernel writes it (`0-3,8,10-11`), ascending; `None`: it is no such list.
fn parse(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last >= 1 << 20 {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse("\n"), Some(vec![]));
        assert_eq!(parse("1-x"), None);
        assert_eq!(parse("0-4294967295"), None, "not as many as that");
    }

    #[test]
    fn names() {
        assert_eq!(kind("hwloc://NUMANode"), Some(2));
        assert_eq!(kind("package"), Some(1));
        assert_eq!(kind("mpi_shared_memory"), Some(0));
        assert_eq!(kind("switch_level:2"), None);
        assert_eq!(uri(5), "hwloc://Core");
    }

    /// Eight processors: two packages with a node each, pairs of threads, a large cache per package.
    #[test]
    fn a_machine_of_files() {
        let root = std::env::temp_dir().join(format!("oxmpi-hardware-{}", std::process::id()));
        for cpu in 0..8u32 {
            let at = root.join(format!("cpu{cpu}"));
            let package = if cpu < 4 { "0-3\n" } else { "4-7\n" };
            let core = format!("{}-{}\n", cpu & !1, cpu | 1);
            for (file, text) in [
                ("topology/package_cpus_list", package),
                ("topology/core_cpus_list", &core),
                ("node0/cpulist", package),
                ("cache/index1/level", "1\n"),
                ("cache/index3/level", "3\n"),
                ("cache/index3/type", "Unified\n"),
                ("cache/index3/shared_cpu_list", package),
            ] {
                let file = at.join(file);
                std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                std::fs::write(file, text).expect("a file");
            }
        }
        let all = |cpus: &[u32]| instances(&root, cpus);
        assert_eq!(all(&[6]), [Some(0), Some(4), Some(4), Some(4), None, Some(6), Some(6)]);
        assert_eq!(all(&[4, 5]), [Some(0), Some(4), Some(4), Some(4), None, Some(4), None]);
        assert_eq!(all(&[1, 2]), [Some(0), Some(0), Some(0), Some(0), None, None, None]);
        assert_eq!(all(&[3, 4]), [Some(0), None, None, None, None, None, None]);
        assert_eq!(four(&root, &[4, 5]), [Some(4), Some(4), Some(4), Some(4)]);
        assert_eq!(four(&root, &[]), [None; 4]);
        std::fs::remove_dir_all(root).expect("the folder goes");
    }
}
