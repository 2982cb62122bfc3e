//! The allocation of a batch system that mpirun runs in: how many nodes it has.
//!
//! Slurm, PBS and its relatives, LSF and Grid Engine tell it in variables, or in files that variables name. Of several that
//! are set the first counts: one system may offer another's variables for old scripts. A file that cannot be
//! read tells nothing.

use super::slurm;
use crate::help::paragraph;
use std::collections::BTreeSet;

/// A batch system, and the nodes it has given to this job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub system: &'static str,
    pub nodes: usize,
    /// Names of the nodes and slots on each, where they are known to be usable by the system's own launcher.
    pub named: Vec<(String, u32)>,
}

impl Allocation {
    /// From a process's environment. None: there is none, or nothing is known of its nodes.
    pub fn find(
        variable: impl Fn(&str) -> Option<String>,
        read: impl Fn(&str) -> Option<String>,
    ) -> Option<Allocation> {
        let found = |system, nodes| Some(Allocation { system, nodes, named: Vec::new() });
        if variable("SLURM_JOB_ID").is_some() {
            let list = ["SLURM_JOB_NODELIST", "SLURM_NODELIST"].into_iter().find_map(&variable);
            if let Some(names) = list.as_deref().and_then(slurm::names) {
                let counts =
                    ["SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"].into_iter().find_map(&variable);
                let counts = counts.as_deref().and_then(slurm::counts).unwrap_or_default();
                let slots = |at: usize| counts.get(at).or(counts.last()).copied().unwrap_or(1);
                let named: Vec<_> =
                    names.into_iter().enumerate().map(|(at, name)| (name, slots(at))).collect();
                return Some(Allocation { system: "Slurm", nodes: named.len(), named });
            }
            let count = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"].into_iter().find_map(&variable);
            return found("Slurm", count?.trim().parse().ok()?);
        }
        if let Some(file) = variable("PBS_NODEFILE") {
            return found("PBS", names(&read(&file)?).len());
        }
        if let Some(pairs) = variable("LSB_MCPU_HOSTS") {
            // HOST SLOTS HOST SLOTS ...
            return found("LSF", pairs.split_whitespace().step_by(2).collect::<BTreeSet<_>>().len());
        }
        if let Some(file) = variable("PE_HOSTFILE") {
            return found("Grid Engine", names(&read(&file)?).len());
        }
        None
    }

    /// The allocation of this process.
    pub fn of_this_process() -> Option<Allocation> {
        Allocation::find(|name| std::env::var(name).ok(), |file| std::fs::read_to_string(file).ok())
    }

    /// The message where not all of it can be used.
    pub fn warning(&self) -> Option<String> {
        if !self.named.is_empty() {
            return None;
        }
        let unused = self.nodes.checked_sub(1).filter(|&n| n > 0)?;
        Some(paragraph("allocation", &[self.system, &self.nodes.to_string(), &unused.to_string()]))
    }
}

/// The different first words of the lines.
fn names(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)], file: &str) -> Option<(&'static str, usize)> {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let read = |name: &str| (name == "/nodes").then(|| file.to_owned());
        Allocation::find(variable, read).map(|a| (a.system, a.nodes))
    }

    #[test]
    fn slots_of_slurm() {
        let list = |name: &str| match name {
            "SLURM_JOB_ID" => Some("7".to_owned()),
            "SLURM_JOB_NODELIST" => Some("h[1-3],g".into()),
            "SLURM_TASKS_PER_NODE" => Some("2(x3),1".into()),
            _ => None,
        };
        let found = Allocation::find(list, |_| None).expect("an allocation");
        let named: Vec<(&str, u32)> = found.named.iter().map(|(n, s)| (n.as_str(), *s)).collect();
        assert_eq!(named, [("h1", 2), ("h2", 2), ("h3", 2), ("g", 1)]);
        assert_eq!(found.warning(), None);
    }

    #[test]
    fn allocations() {
        assert_eq!(find(&[], ""), None);
        assert_eq!(find(&[("SLURM_JOB_ID", "7"), ("SLURM_JOB_NUM_NODES", "3")], ""), Some(("Slurm", 3)));
        assert_eq!(find(&[("SLURM_JOB_ID", "7"), ("SLURM_NNODES", "many")], ""), None);
        assert_eq!(find(&[("PBS_NODEFILE", "/nodes")], "a\na\nb\n\n"), Some(("PBS", 2)));
        assert_eq!(find(&[("PBS_NODEFILE", "/gone")], ""), None);
        assert_eq!(find(&[("LSB_MCPU_HOSTS", "a 4 b 2 ")], ""), Some(("LSF", 2)));
        let sge = "a 4 all.q@a UNDEFINED\nb 4 all.q@b UNDEFINED\n";
        assert_eq!(find(&[("PE_HOSTFILE", "/nodes")], sge), Some(("Grid Engine", 2)));
    }

    #[test]
    fn one_node_is_no_news() {
        assert_eq!(Allocation { system: "Slurm", nodes: 1, named: vec![] }.warning(), None);
        let text = Allocation { system: "Slurm", nodes: 4, named: vec![] }.warning().expect("three are left");
        assert!(text.contains("Slurm") && text.contains('4') && text.contains('3'), "{text}");
    }
}
