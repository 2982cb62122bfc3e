//! Which components of a framework may be used: `--mca btl tcp,self`, `--mca btl ^verbs`.

use crate::origin::Origin;

/// The resolved selection parameter of a framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The names are those not to be used.
    pub negated: bool,
    pub names: Vec<String>,
    pub origin: Origin,
}

impl Selection {
    /// Nothing is excluded and nothing is asked for.
    pub fn is_all(&self) -> bool {
        self.names.is_empty()
    }

    /// May a component of this name, with these aliases, be used?
    pub fn allows(&self, name: &str, aliases: &[&str]) -> bool {
        self.is_all() || self.lists(name, aliases) != self.negated
    }

    /// Did the user ask for this component by name? Such a one must be usable.
    pub fn names_component(&self, name: &str, aliases: &[&str]) -> bool {
        !self.negated && self.lists(name, aliases)
    }

    fn lists(&self, name: &str, aliases: &[&str]) -> bool {
        self.names.iter().any(|n| n == name || aliases.contains(&n.as_str()))
    }
}
