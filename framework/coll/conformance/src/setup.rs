//! The setup of a test: the component, the values of parameters, the nodes, the patience.

use core::time::Duration;
use oxmpi_mca::Descriptor;

/// How the ranks of a job lie on nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Dealt to so many nodes in turn.
    InTurn(u32),
    /// So many ranks side by side on each node; the last has what is left.
    Blocks(u32),
    /// One on the first node, two on the second, three on the next, and so on.
    Growing,
    /// Two nodes, of which the first has one of every three ranks.
    Mixed,
}

impl Nodes {
    /// The node of each of `n` ranks, numbered by the lowest rank on each.
    pub(crate) fn of(self, n: u32) -> Vec<u32> {
        match self {
            Nodes::InTurn(nodes) => (0..n).map(|rank| rank % nodes).collect(),
            Nodes::Blocks(ranks) => (0..n).map(|rank| rank / ranks).collect(),
            Nodes::Growing => {
                (0..n).flat_map(|node| (0..=node).map(move |_| node)).take(n as usize).collect()
            }
            Nodes::Mixed => (0..n).map(|rank| u32::from(rank % 3 != 0)).collect(),
        }
    }
}

/// A component and the jobs it is tested in.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) parts: Option<*const Descriptor>,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) variants: Vec<Vec<(String, String)>>,
    pub(crate) nodes: Vec<Nodes>,
    pub(crate) ranks: u32,
    pub(crate) patience: Duration,
}

type Values<'a> = &'a [(&'a str, &'a str)];

fn owned(values: Values<'_>) -> impl Iterator<Item = (String, String)> {
    values.iter().map(|(name, value)| ((*name).into(), (*value).into()))
}

impl Setup {
    /// Every parameter at its default; up to 40 ranks; no component for the parts of communicators.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup {
            descriptor,
            parts: None,
            params: Vec::new(),
            variants: vec![Vec::new()],
            nodes: Vec::new(),
            ranks: 40,
            patience: Duration::from_secs(120),
        }
    }

    /// Names the component that serves the parts of a communicator. A component that nests is tested with one that does not.
    pub fn parts(mut self, descriptor: *const Descriptor) -> Setup {
        self.parts = Some(descriptor);
        self
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// Every check runs with these values, too: limits, say, that choose the algorithms for large messages.
    pub fn variant(mut self, values: Values<'_>) -> Setup {
        self.variants.push(owned(values).collect());
        self
    }

    /// Every check runs with its ranks on nodes in each of these ways, of which there is at least one; otherwise on one node and on two.
    pub fn nodes(mut self, nodes: &[Nodes]) -> Setup {
        self.nodes = nodes.to_vec();
        self
    }

    /// The largest group; checks leave out what is larger.
    pub fn ranks(mut self, ranks: u32) -> Setup {
        self.ranks = ranks;
        self
    }

    /// How long nothing may happen before a check gives up waiting.
    pub fn patience(mut self, patience: Duration) -> Setup {
        self.patience = patience;
        self
    }
}
