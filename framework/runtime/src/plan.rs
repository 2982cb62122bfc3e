//! The description that a new communicator is made of.

use crate::gid::Gid;
use crate::group::Group;
use crate::info::Info;
use crate::objects::Remote;
use oxmpi_pml::assert_flag;

/// Description of a new communicator: members, id, hints, and how it is connected with others.
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
    pub excluded: ExcludedComponents,
    /// The context that the rank's messages prefer.
    pub hint: Option<u32>,
}

/// Collective components that are not asked for a communicator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExcludedComponents {
    #[default]
    Nobody,
    Named(String),
    /// Those that build on node memory or parts (`flag::NESTS`).
    Nesting,
}

impl Plan {
    /// Plans a communicator of an id and a group, without name, hints and remote group.
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
            excluded: ExcludedComponents::Nobody,
            hint: None,
        }
    }
}

/// The standard's assertions among the hints (MPI 5.0 §7.4.4), as the PML takes them.
const ASSERTIONS: [(&str, u32); 4] = [
    ("mpi_assert_no_any_tag", assert_flag::NO_ANY_TAG),
    ("mpi_assert_no_any_source", assert_flag::NO_ANY_SOURCE),
    (EXACT_LENGTH, assert_flag::EXACT_LENGTH),
    ("mpi_assert_allow_overtaking", assert_flag::ALLOW_OVERTAKING),
];

/// The assertion that no component of ours uses; a PML is told of it all the same.
const EXACT_LENGTH: &str = "mpi_assert_exact_length";

/// The standard's assertions that are given as true, as bits of [`assert_flag`].
pub(crate) fn assertions(info: &Info) -> u32 {
    ASSERTIONS.iter().filter(|(key, _)| info.is_true(key)).fold(0, |flags, (_, bit)| flags | bit)
}

/// The hints as MPI_Comm_get_info returns them: those that were given, the assertions with the values that are in
/// force, their defaults included, and none that is ignored (MPI 5.0 §7.4.4).
pub(crate) fn in_force(given: &Info) -> Info {
    let mut info = given.clone();
    for (key, _) in ASSERTIONS {
        info.set(key, if given.is_true(key) { "true" } else { "false" });
    }
    info.delete(EXACT_LENGTH);
    info
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn hints_are_reported_if_they_are_in_force() {
        let mut given = Info::new();
        given.set("mpi_assert_no_any_tag", "TRUE");
        given.set("mpi_assert_no_any_source", "perhaps");
        given.set("mpi_assert_exact_length", "true");
        given.set("oxmpi_matching", "hash");
        assert_eq!(assertions(&given), assert_flag::NO_ANY_TAG | assert_flag::EXACT_LENGTH);
        let info = in_force(&given);
        let value = |key: &str| info.get(key);
        assert_eq!(value("mpi_assert_no_any_tag"), Some("true"));
        assert_eq!(value("mpi_assert_no_any_source"), Some("false"), "as no such value");
        assert_eq!(value("mpi_assert_allow_overtaking"), Some("false"), "the default");
        assert_eq!(value("mpi_assert_exact_length"), None, "it is ignored");
        assert_eq!(value("oxmpi_matching"), Some("hash"));
    }
}
