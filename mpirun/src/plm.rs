//! How node daemons are started: the parameter `plm` (process launch module, Open MPI's name).
//!
//! Without it all processes run on mpirun's own node. `local` starts a daemon here for each node that is named, so that
//! a program meets several nodes on one machine: for trying it out, and for tests.

use crate::help::paragraph;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plm {
    Local,
}

/// Open MPI's launchers for several machines.
const THEIRS: [&str; 7] = ["ssh", "rsh", "slurm", "pals", "lsf", "tm", "alps"];

impl Plm {
    /// The value of the parameter; None: nothing was said. `ignorable`: it was said for Open MPI, so what it alone has is
    /// left to it.
    pub fn parse(text: &str, ignorable: bool) -> Result<Option<Plm>, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "local" | "isolated" => Ok(Some(Plm::Local)),
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
        assert_eq!((Plm::parse("", false), Plm::parse("slurm", true)), (Ok(None), Ok(None)));
        assert!(Plm::parse("ssh", false).expect_err("not yet").contains("not supported yet"));
        assert!(Plm::parse("lcoal", false).expect_err("no such").contains("lcoal"));
    }
}
