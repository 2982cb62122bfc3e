//! The description that a new communicator is made of.

use crate::gid::Gid;
use crate::group::Group;
use crate::info::Info;
use crate::objects::Remote;
use oxmpi_pml::assert_flag;

/// See the module's head.
pub(crate) struct Plan {
    pub gid: Gid,
    pub group: Group,
    /// Makes it an inter-communicator.
    pub remote: Option<Remote>,
    pub name: String,
    pub info: Info,
    /// An index all processes know without asking (world, self).
    pub fixed_index: Option<u32>,
    /// For messages of the library's own: no collectives.
    pub bare: bool,
    /// Collective components that are not asked.
    pub without: Without,
    /// The context that the rank's messages prefer.
    pub hint: Option<u32>,
}

/// Collective components that are not asked for a communicator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Without {
    #[default]
    Nobody,
    Named(String),
    /// Those that build on node memory or parts (`flag::NESTS`).
    Nesting,
}

impl Plan {
    pub fn new(gid: Gid, group: Group) -> Plan {
        let (name, info) = (String::new(), Info::new());
        Plan {
            gid,
            group,
            remote: None,
            name,
            info,
            fixed_index: None,
            bare: false,
            without: Without::Nobody,
            hint: None,
        }
    }
}

/// The standard's assertions among the hints (MPI 5.0 §7.4.4), as the PML takes them.
pub(crate) fn assertions(info: &Info) -> u32 {
    [
        ("mpi_assert_no_any_tag", assert_flag::NO_ANY_TAG),
        ("mpi_assert_no_any_source", assert_flag::NO_ANY_SOURCE),
        ("mpi_assert_exact_length", assert_flag::EXACT_LENGTH),
        ("mpi_assert_allow_overtaking", assert_flag::ALLOW_OVERTAKING),
    ]
    .iter()
    .filter(|(key, _)| info.is_true(key))
    .fold(0, |flags, (_, bit)| flags | bit)
}
