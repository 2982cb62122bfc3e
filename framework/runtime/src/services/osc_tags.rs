//! Groups of tags of one-sided components, by their names.

use oxmpi_mca::host::am_tag;
use oxmpi_mca::services::OSC_TAGS;
use oxmpi_system::locks::Mutex;

/// Groups of all one-sided components together.
pub(crate) const GROUPS: usize = ((am_tag::USER - am_tag::OSC) / OSC_TAGS) as usize;

/// Names with a group of their own, in the order of the groups. It only grows: other releases have it, too.
const LISTED: [&str; 2] = ["pt2pt", "rdma"];

/// The first group that a hash may pick.
const HASHED: usize = 3;

/// The components that have asked, by group.
#[derive(Default)]
pub(crate) struct OscTags(Mutex<[Option<&'static str>; GROUPS]>);

/// A hash of a component's name (FNV-1a, 32 bits), the same in all processes.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The group of a one-sided component, by its name alone.
fn group_of(name: &str) -> usize {
    let listed = LISTED.iter().position(|listed| *listed == name);
    listed.unwrap_or_else(|| HASHED + hash(name) as usize % (GROUPS - HASHED))
}

impl OscTags {
    /// Claims the group of a component: its first tag, or, as the error, the component that has the group already.
    pub(crate) fn claim(&self, name: &'static str) -> Result<u8, &'static str> {
        let group = group_of(name);
        let owner = *self.0.lock()[group].get_or_insert(name);
        if owner == name { Ok(am_tag::OSC + group as u8 * OSC_TAGS) } else { Err(owner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_follows_from_the_name_and_not_from_who_asked_before() {
        let (some, others) = (OscTags::default(), OscTags::default());
        let far = others.claim("am");
        assert_eq!(some.claim("rdma"), Ok(am_tag::OSC + 4));
        assert_eq!(some.claim("pt2pt"), Ok(am_tag::OSC));
        assert_eq!(some.claim("am"), far);
        assert_eq!(some.claim("am"), far, "asked again");
        assert_eq!(others.claim("rdma"), some.claim("rdma"));
    }

    #[test]
    fn groups_lie_in_the_range_and_listed_ones_are_nobody_elses() {
        for number in 0..1000 {
            let group = group_of(&format!("component{number}"));
            assert!((HASHED..GROUPS).contains(&group), "{number}");
        }
        const { assert!(LISTED.len() <= HASHED) };
        let last = am_tag::OSC + (GROUPS as u8 - 1) * OSC_TAGS + (OSC_TAGS - 1);
        assert_eq!(last + 1, am_tag::USER);
    }

    #[test]
    fn two_names_of_one_group_are_told_apart() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let tags = OscTags::default();
        let answers: Vec<_> = names.iter().map(|name| tags.claim(name)).collect();
        // Six names, five groups.
        let (at, owner) = answers.iter().enumerate().find_map(|(at, a)| Some((at, a.err()?))).expect("one");
        assert_eq!(group_of(owner), group_of(names[at]));
        assert!(tags.claim(owner).is_ok(), "the first keeps it");
    }
}
