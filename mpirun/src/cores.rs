//! Which cores there are for a job, and which ranks get which.
//!
//! A *processor* is what the kernel schedules on; a *core* is a set of processors that share
//! their execution units. Ranks are bound to whole cores, so that two of them never meet on one
//! core while another is empty, however the machine numbers its processors.

use oxmpi_wireup::topology::{SYSTEM, siblings};
use std::collections::BTreeSet;
use std::path::Path;

/// Processors this process may use: by its mask, by the control group's quota.
pub fn available() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Processors of each of `ranks` ranks, one core each, round robin over the cores that this
/// process may use.
pub fn bind(ranks: usize) -> Result<Vec<Vec<u32>>, String> {
    Ok(deal(ranks, &cores_of(&allowed()?, ranks, |cpu| siblings(Path::new(SYSTEM), cpu))))
}

/// The processors this process may use, by the kernel's numbers.
pub fn allowed() -> Result<Vec<u32>, String> {
    let mask = rustix::thread::sched_getaffinity(None)
        .map_err(crate::failed("cannot find out which processors may be used"))?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// How many cores `allowed` consists of, below `root`. Where no core has several threads, which
/// one short file says, no other is read.
pub fn count(root: &Path, allowed: &[u32]) -> u32 {
    let threads = std::fs::read_to_string(root.join("cpu/smt/active")).is_ok_and(|t| t.trim() != "0");
    let cores = match threads {
        true => cores_of(allowed, usize::MAX, |cpu| siblings(root, cpu)).len(),
        false => allowed.len(),
    };
    u32::try_from(cores).unwrap_or(u32::MAX).max(1)
}

/// Groups processors to cores, until there are `enough`.
fn cores_of(allowed: &[u32], enough: usize, siblings: impl Fn(u32) -> Vec<u32>) -> Vec<Vec<u32>> {
    let mut cores: Vec<Vec<u32>> = Vec::new();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    for &cpu in allowed {
        if cores.len() == enough {
            break;
        }
        if seen.contains(&cpu) {
            continue;
        }
        let mut core = siblings(cpu);
        core.retain(|other| allowed.contains(other));
        if !core.contains(&cpu) {
            core.push(cpu);
        }
        seen.extend(core.iter().copied());
        cores.push(core);
    }
    cores
}

fn deal(ranks: usize, cores: &[Vec<u32>]) -> Vec<Vec<u32>> {
    match cores.is_empty() {
        true => vec![Vec::new(); ranks],
        false => (0..ranks).map(|rank| cores[rank % cores.len()].clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_counted_where_they_have_threads() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        assert_eq!(count(folder.path(), &[0, 1, 2, 3]), 4);
        put("cpu/smt/active", "1\n");
        for (cpu, core) in [(0, "0,2"), (2, "0,2"), (1, "1,3"), (3, "1,3")] {
            put(&format!("cpu/cpu{cpu}/topology/thread_siblings_list"), core);
        }
        assert_eq!(count(folder.path(), &[0, 1, 2, 3]), 2);
        assert_eq!(count(folder.path(), &[2]), 1);
        put("cpu/smt/active", "0\n");
        assert_eq!(count(folder.path(), &[0, 1, 2, 3]), 4);
    }

    #[test]
    fn two_ranks_never_share_a_core_while_another_is_empty() {
        // Processors 0 and 1 are one core, 2 and 3 the other.
        let pairs = |cpu: u32| vec![cpu & !1, cpu | 1];
        let cores = cores_of(&[0, 1, 2, 3], 2, pairs);
        assert_eq!(deal(2, &cores), [[0, 1], [2, 3]]);
        assert_eq!(deal(3, &cores), [[0, 1], [2, 3], [0, 1]]);
        // A processor that may not be used is left out.
        assert_eq!(cores_of(&[1, 2, 3], 9, pairs), [vec![1], vec![2, 3]]);
    }

    #[test]
    fn this_machine_has_a_core() {
        assert!(available() >= 1);
        let bound = bind(1).expect("a mask");
        assert!(!bound[0].is_empty());
    }
}
