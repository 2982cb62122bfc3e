//! Where ranks run: the NUMA node and the last cache that a thread is bound to, as the kernel tells it in `/sys`.
//!
//! Everything is read from a folder that the caller names, so that a made-up machine can be read. A thread that may run on several nodes, or under a kernel that names
//! none, has no home.

use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// Where the kernel tells of processors.
pub const SYSTEM: &str = "/sys/devices/system/cpu";
/// Where it tells on which of them the calling thread may run.
const STATUS: &str = "/proc/thread-self/status";

/// A NUMA node, and a cache that is shared in it, each by the lowest of its processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Home {
    pub numa: u32,
    /// The node's first processor where the thread may run beside several caches.
    pub cache: u32,
}

/// The word of a rank without a home.
const NOWHERE: u64 = u64::MAX;

impl Home {
    /// As a word that other ranks read.
    pub fn word(home: Option<Home>) -> u64 {
        home.map_or(NOWHERE, |home| u64::from(home.numa) << 32 | u64::from(home.cache))
    }

    /// The home that a word says. `None`: no home.
    pub fn of(word: u64) -> Option<Home> {
        (word != NOWHERE).then_some(Home { numa: (word >> 32) as u32, cache: word as u32 })
    }

    /// The home of the calling thread.
    pub fn of_this_thread() -> Option<Home> {
        let status = read_to_string(STATUS).ok()?;
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Home::read(Path::new(SYSTEM), &list(allowed)?)
    }

    /// The home of a thread that may run on these processors of the machine that `root` describes.
    pub fn read(root: &Path, allowed: &[u32]) -> Option<Home> {
        let first = allowed.first()?;
        let cpu = root.join(format!("cpu{first}"));
        let holds = |all: &Vec<u32>| allowed.iter().all(|one| all.contains(one));
        let numa = *node(&cpu).filter(holds)?.first()?;
        let cache = last_cache(&cpu).filter(holds).and_then(|all| all.first().copied());
        Some(Home { numa, cache: cache.unwrap_or(numa) })
    }
}

/// The processors of a processor's NUMA node, which is linked in its folder.
fn node(cpu: &Path) -> Option<Vec<u32>> {
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    let mut entries = read_dir(cpu).ok()?.flatten();
    let node = entries.find(|entry| entry.file_name().to_str().is_some_and(is_node))?;
    list(&read_to_string(node.path().join("cpulist")).ok()?)
}

/// The processors that share a processor's cache of the highest level that several share.
fn last_cache(cpu: &Path) -> Option<Vec<u32>> {
    let says = |path: &Path, file: &str| read_to_string(path.join(file)).unwrap_or_default();
    let caches = read_dir(cpu.join("cache")).ok()?.flatten().map(|entry| entry.path());
    let of_data = caches.filter(|path| says(path, "type").trim() != "Instruction");
    let with_level =
        of_data.filter_map(|path| Some((says(&path, "level").trim().parse::<u32>().ok()?, path)));
    let (_, last) = with_level.max_by_key(|(level, _)| *level)?;
    list(&says(&last, "shared_cpu_list"))
}

/// Reads a list of processors as the kernel writes it (`0-3,8,10-11`), ascending; `None`: it is no such list, or an empty one.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
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
    use std::fs::{create_dir_all, remove_dir_all, write};

    #[test]
    fn lists_of_processors() {
        assert_eq!(list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(list("\n"), None);
        assert_eq!(list("0-4294967295"), None, "not as many as that");
    }

    #[test]
    fn homes_survive_as_words() {
        for home in [None, Some(Home { numa: 0, cache: 0 }), Some(Home { numa: 64, cache: 72 })] {
            assert_eq!(Home::of(Home::word(home)), home);
        }
    }

    /// Two NUMA nodes of four processors, of which pairs share a third-level cache; the second node tells of no cache.
    #[test]
    fn a_machine_of_files() {
        let root = std::env::temp_dir().join(format!("oxmpi-homes-{}", std::process::id()));
        for cpu in 0..8u32 {
            let at = root.join(format!("cpu{cpu}"));
            let (number, node) = if cpu < 4 { (0, "0-3\n") } else { (1, "4-7\n") };
            let pair = format!("{}-{}\n", cpu & !1, cpu | 1);
            let mut files = vec![(format!("node{number}/cpulist"), node.to_owned())];
            if cpu < 4 {
                for (index, kind, level, shared) in [
                    ("index0", "Data", "1", format!("{cpu}\n")),
                    ("index1", "Instruction", "9", format!("{cpu}\n")),
                    ("index3", "Unified", "3", pair),
                ] {
                    files.push((format!("cache/{index}/type"), format!("{kind}\n")));
                    files.push((format!("cache/{index}/level"), format!("{level}\n")));
                    files.push((format!("cache/{index}/shared_cpu_list"), shared));
                }
            }
            for (name, text) in files {
                let file = at.join(name);
                create_dir_all(file.parent().expect("a folder")).expect("a folder");
                write(file, text).expect("a file");
            }
        }
        let home = |allowed: &[u32]| Home::read(&root, allowed).map(|home| (home.numa, home.cache));
        assert_eq!(home(&[3]), Some((0, 2)));
        assert_eq!(home(&[0, 1]), Some((0, 0)));
        assert_eq!(home(&[1, 2]), Some((0, 0)), "beside two caches of one node");
        assert_eq!(home(&[6]), Some((4, 4)), "no cache is told");
        assert_eq!(home(&[3, 4]), None, "on two nodes");
        assert_eq!(home(&[9]), None, "no such processor");
        assert_eq!(home(&[]), None);
        remove_dir_all(root).expect("the folder goes");
    }
}
