//! Which cores there are for a job, and which ranks get which.
//!
//! A *processor* is what the kernel schedules on; a *core* is a set of processors that share
//! their execution units. Ranks are bound to whole cores, so that two of them never meet on one
//! core while another is empty, however the machine numbers its processors.

use std::collections::BTreeSet;

/// Processors this process may use: by its mask, by the control group's quota.
pub fn available() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Processors of each of `ranks` ranks, one core each, round robin over the cores that this
/// process may use.
pub fn bind(ranks: usize) -> Result<Vec<Vec<u32>>, String> {
    let mask = rustix::thread::sched_getaffinity(None)
        .map_err(crate::failed("cannot find out which processors may be used"))?;
    let allowed: Vec<u32> =
        (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).map(|cpu| cpu as u32).collect();
    Ok(deal(ranks, &cores_of(&allowed, ranks, siblings)))
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

/// Processors of the core that `cpu` is on. A kernel that does not say: every processor is a core.
fn siblings(cpu: u32) -> Vec<u32> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    std::fs::read_to_string(path).ok().and_then(|text| parse_list(text.trim())).unwrap_or_else(|| vec![cpu])
}

/// The kernel's lists: `0,4-6`.
fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last.checked_sub(first)? > 4096 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(parse_list("0"), Some(vec![0]));
        assert_eq!(parse_list("0,4-6"), Some(vec![0, 4, 5, 6]));
        assert_eq!(parse_list("0-99999999"), None);
        assert_eq!(parse_list("6-4"), None);
        assert_eq!(parse_list(""), None);
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
