//! How node daemons are started: the parameter `plm` (process launch module, Open MPI's name).
//!
//! Without it daemons of other nodes are started by srun inside of a Slurm allocation and by ssh elsewhere, and where all
//! names are this machine's there is one node. `local` starts a daemon here for each node that is named, so that
//! a program meets several nodes on one machine: for trying it out, and for tests.

use crate::help::paragraph;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plm {
    /// Here, one for each name: for tests.
    Local,
    Ssh,
    Slurm,
    /// Somebody starts them.
    Manual,
}

/// Open MPI's further launchers.
const THEIRS: [&str; 4] = ["pals", "lsf", "tm", "alps"];

impl Plm {
    /// The value of the parameter; None: nothing was said. `ignorable`: it was said for Open MPI, so what it alone has is
    /// left to it.
    pub fn parse(text: &str, ignorable: bool) -> Result<Option<Plm>, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "local" | "isolated" => Ok(Some(Plm::Local)),
            "ssh" | "rsh" => Ok(Some(Plm::Ssh)),
            "slurm" => Ok(Some(Plm::Slurm)),
            "manual" => Ok(Some(Plm::Manual)),
            _ if ignorable => Ok(None),
            name if THEIRS.contains(&name) => Err(paragraph("plm-not-yet", &[name])),
            name => Err(paragraph("plm-unknown", &[name])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!(Plm::parse("isolated", false), Ok(Some(Plm::Local)));
        assert_eq!(Plm::parse(" Local ", true), Ok(Some(Plm::Local)));
        assert_eq!((Plm::parse("", false), Plm::parse("pals", true)), (Ok(None), Ok(None)));
        assert_eq!(
            (Plm::parse("rsh", true), Plm::parse("slurm", false)),
            (Ok(Some(Plm::Ssh)), Ok(Some(Plm::Slurm)))
        );
        assert!(Plm::parse("lsf", false).expect_err("not here").contains("not supported"));
        assert!(Plm::parse("lcoal", false).expect_err("no such").contains("lcoal"));
    }
}
