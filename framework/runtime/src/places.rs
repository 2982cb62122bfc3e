//! Where the ranks of a communicator or window are: process, node, number on the node. From the job's map of nodes, so
//! nothing is sent.

use oxmpi_mca::{Place, ProcPlace};
use std::collections::HashMap;

/// Everybody's place.
#[derive(Debug)]
pub(crate) struct Places {
    all: Box<[Place]>,
    num_nodes: u32,
}

impl Places {
    /// `members`: process and endpoint of each; `place_of`: where a process is, by its index.
    pub fn new(
        members: impl ExactSizeIterator<Item = (u32, u32)>,
        place_of: impl Fn(u32) -> ProcPlace,
    ) -> Places {
        // Our number of each of the job's nodes, in the order of the lowest rank on each; and how many ranks each has.
        let (mut numbers, mut sizes) = (HashMap::new(), Vec::new());
        let mut all: Vec<Place> = Vec::with_capacity(members.len());
        for (proc, endpoint) in members {
            let at = place_of(proc);
            let node = *numbers.entry(at.node).or_insert(sizes.len());
            if node == sizes.len() {
                sizes.push(0);
            }
            let (node_rank, local) = (sizes[node], at.local);
            all.push(Place { proc, node: node as u32, node_rank, node_size: 0, endpoint, local });
            sizes[node] += 1;
        }
        for place in &mut all {
            place.node_size = sizes[place.node as usize];
        }
        Places { all: all.into(), num_nodes: sizes.len() as u32 }
    }

    pub fn num_nodes(&self) -> u32 {
        self.num_nodes
    }
    pub fn get(&self, rank: u32) -> Option<&Place> {
        self.all.get(rank as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_lowest_rank() {
        let members = [7, 3, 9, 4].map(|proc| (proc, 0)).into_iter();
        // Processes above 5 are on node 5, the others on node 2, which is ours.
        let at = |proc: u32| {
            let node = if proc > 5 { 5 } else { 2 };
            ProcPlace { node, local_rank: proc, local: (node == 2).into(), distance: 0 }
        };
        let places = Places::new(members, at);
        let place =
            |proc, node, node_rank, local| Place { proc, node, node_rank, node_size: 2, endpoint: 0, local };
        let due = [place(7, 0, 0, 0), place(3, 1, 0, 1), place(9, 0, 1, 0), place(4, 1, 1, 1)];
        assert_eq!((&*places.all, places.num_nodes()), (&due[..], 2));
        assert!(places.get(4).is_none());
    }
}
