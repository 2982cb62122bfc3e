//! The setup of a test: the component, the values of parameters, the patience.

use core::time::Duration;
use oxmpi_mca::Descriptor;

/// A component and how it is tested.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) variants: Vec<Vec<(String, String)>>,
    pub(crate) bound: Option<String>,
    pub(crate) patience: Duration,
}

type Values<'a> = &'a [(&'a str, &'a str)];

fn owned(values: Values<'_>) -> Vec<(String, String)> {
    values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

impl Setup {
    /// Every parameter at its default.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup {
            descriptor,
            params: Vec::new(),
            variants: vec![Vec::new()],
            bound: None,
            patience: Duration::from_secs(120),
        }
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// Every check runs with these values, too.
    pub fn variant(mut self, values: Values<'_>) -> Setup {
        self.variants.push(owned(values));
        self
    }

    /// Names the parameter that bounds the operations under way.
    pub fn bound(mut self, param: &str) -> Setup {
        self.bound = Some(param.into());
        self
    }

    /// How long an operation may take before a check gives up waiting.
    pub fn patience(mut self, patience: Duration) -> Setup {
        self.patience = patience;
        self
    }

    /// The parameters of each variant.
    pub(crate) fn variants(&self) -> Vec<Vec<(String, String)>> {
        let with = |variant: &Vec<(String, String)>| {
            let rest = self.params.iter().filter(|(name, _)| !variant.iter().any(|(other, _)| other == name));
            rest.chain(variant).cloned().collect()
        };
        self.variants.iter().map(with).collect()
    }
}
