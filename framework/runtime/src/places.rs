//! Where the ranks of a communicator or window are: process, node, number on the node. From the job's map of nodes, so
//! nothing is sent.

use oxmpi_mca::{Place, ProcPlace};

/// Everybody's place.
#[derive(Debug)]
pub(crate) struct Places {
    all: Box<[Place]>,
    num_nodes: u32,
}

impl Places {
    /// Computes the place of each member from the places of processes. `members` are process and endpoint, in rank
    /// order; nodes are numbered by their lowest rank.
    pub fn new(
        members: impl ExactSizeIterator<Item = (u32, u16)>,
        place_of: impl Fn(u32) -> ProcPlace,
    ) -> Places {
        // The job's numbers of the nodes, in the order of the lowest rank on each; and how many ranks each has.
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        let mut all: Vec<Place> = Vec::with_capacity(members.len());
        for (proc, endpoint) in members {
            let at = place_of(proc);
            let node = nodes.iter().position(|(n, _)| *n == at.node).unwrap_or_else(|| {
                nodes.push((at.node, 0));
                nodes.len() - 1
            });
            all.push(Place {
                proc,
                node: node as u32,
                node_rank: nodes[node].1,
                node_size: 0,
                endpoint: endpoint.into(),
                local: at.local,
            });
            nodes[node].1 += 1;
        }
        for place in &mut all {
            place.node_size = nodes[place.node as usize].1;
        }
        Places { all: all.into(), num_nodes: nodes.len() as u32 }
    }

    /// The number of nodes on which the ranks are.
    pub fn num_nodes(&self) -> u32 {
        self.num_nodes
    }
    /// The place of a rank; `None`: there is no such rank.
    pub fn get(&self, rank: u32) -> Option<&Place> {
        self.all.get(rank as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_lowest_rank() {
        let members = [7, 3, 9, 4].map(|proc| (proc, 0));
        // Processes above 5 are on node 5, the others on node 2, which is ours.
        let at = |proc: u32| {
            let node = if proc > 5 { 5 } else { 2 };
            ProcPlace { node, local_rank: proc, local: (node == 2).into(), distance: 0 }
        };
        let places = Places::new(members.into_iter(), at);
        let place =
            |proc, node, node_rank, local| Place { proc, node, node_rank, node_size: 2, endpoint: 0, local };
        let due = [place(7, 0, 0, 0), place(3, 1, 0, 1), place(9, 0, 1, 0), place(4, 1, 1, 1)];
        assert_eq!((&*places.all, places.num_nodes()), (&due[..], 2));
        assert!(places.get(4).is_none());
    }
}
