//! Launchers that are not ours, known by what they put into the environment of a process.
//!
//! A process that one of them started together with others finds no daemon of ours. Alone, it would be rank 0 of 1, and so would each of
//! the others, and nobody would notice.

/// Another launcher that has started this process among several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherLauncher {
    /// The variables by which it is known, with their values.
    pub evidence: String,
    /// The number that it gave to this process.
    pub rank: Option<u64>,
}

/// Looks for such a launcher among variables. `None`: nothing says that there are several processes.
pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<OtherLauncher> {
    let number = |name: &str| variable(name)?.trim().parse::<u64>().ok();
    let several = |name: &str| number(name).filter(|n| *n > 1).map(|n| format!("{name}={n}"));
    let pmix = number("PMIX_RANK");
    let by_pmix = || match pmix? {
        // Its rank alone does not tell how many there are.
        0 => several("OMPI_COMM_WORLD_SIZE").or_else(|| several("OMPI_WORLD_SIZE")),
        rank => Some(format!("PMIX_RANK={rank}")),
    };
    let evidence = several("PMI_SIZE").or_else(by_pmix).or_else(|| several("SLURM_STEP_NUM_TASKS"))?;
    let rank = number("PMI_RANK").or(pmix).or_else(|| number("SLURM_PROCID"));
    Some(OtherLauncher { evidence, rank })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<(String, Option<u64>)> {
        let variable =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        find(variable).map(|other| (other.evidence, other.rank))
    }

    #[test]
    fn what_tells_of_several_processes() {
        for (variables, evidence, rank) in [
            (&[("PMI_SIZE", "4"), ("PMI_RANK", "2")][..], "PMI_SIZE=4", Some(2)),
            (&[("PMIX_RANK", "3"), ("PMIX_NAMESPACE", "x")], "PMIX_RANK=3", Some(3)),
            (&[("PMIX_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")], "OMPI_COMM_WORLD_SIZE=2", Some(0)),
            (&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "8")], "SLURM_STEP_NUM_TASKS=8", Some(0)),
            (&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "1")], "SLURM_STEP_NUM_TASKS=4", Some(1)),
        ] {
            assert_eq!(found(variables), Some((evidence.to_owned(), rank)), "{variables:?}");
        }
    }

    #[test]
    fn what_does_not() {
        for variables in [
            &[][..],
            &[("PMI_SIZE", "1"), ("PMI_RANK", "0")],
            &[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "x")],
            // An allocation, and the one process of its shell.
            &[("SLURM_NTASKS", "8"), ("SLURM_JOB_ID", "7")],
            &[("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")],
            // A program that a rank of ours starts without the launcher's variables.
            &[("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0")],
            &[("PMI_SIZE", "many")],
        ] {
            assert_eq!(found(variables), None, "{variables:?}");
        }
    }
}
