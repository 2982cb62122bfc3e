//! Where the ranks of a window are: process, node, number on the node; from what every rank has told of itself.

use crate::group::ProcId;
use oxmpi_btl::ProcInfo;
use oxmpi_osc::Place;

/// What a rank tells all others when a window is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub bytes: u64,
    pub disp_unit: i64,
    /// The job's number of its node, and its own number among the job's processes there.
    pub node: u32,
    pub local_rank: u32,
}

impl Told {
    /// Words on the wire.
    pub const WORDS: usize = 4;

    pub fn encode(&self) -> [u64; Told::WORDS] {
        let words = [self.bytes, self.disp_unit as u64, self.node.into(), self.local_rank.into()];
        words.map(u64::to_le)
    }

    pub fn decode(words: &[u64; Told::WORDS]) -> Told {
        let [bytes, disp_unit, node, local_rank] = words.map(u64::from_le);
        Told { bytes, disp_unit: disp_unit as i64, node: node as u32, local_rank: local_rank as u32 }
    }
}

/// Everybody's place.
pub(super) struct Places {
    all: Box<[Place]>,
    /// As transports know the processes.
    procs: Box<[ProcInfo]>,
    num_nodes: u32,
}

impl Places {
    /// `own`: the job's number of this process's node.
    pub fn new(members: &[ProcId], told: &[Told], own: u32) -> Places {
        // The job's numbers of the nodes, in the order of the lowest rank on each; and how many ranks each has.
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        let mut all: Vec<Place> = Vec::with_capacity(members.len());
        for (member, told) in members.iter().zip(told) {
            let node = nodes.iter().position(|(n, _)| *n == told.node).unwrap_or_else(|| {
                nodes.push((told.node, 0));
                nodes.len() - 1
            });
            all.push(Place {
                proc: member.proc,
                node: node as u32,
                node_rank: nodes[node].1,
                node_size: 0,
                endpoint: member.endpoint.into(),
                local: (told.node == own).into(),
            });
            nodes[node].1 += 1;
        }
        for place in &mut all {
            place.node_size = nodes[place.node as usize].1;
        }
        let proc = |(member, told): (&ProcId, &Told)| ProcInfo {
            proc: member.proc,
            node: told.node,
            local_rank: told.local_rank,
            local: (told.node == own).into(),
        };
        Places {
            all: all.into(),
            procs: members.iter().zip(told).map(proc).collect(),
            num_nodes: nodes.len() as u32,
        }
    }

    pub fn num_nodes(&self) -> u32 {
        self.num_nodes
    }
    pub fn get(&self, rank: u32) -> Option<&Place> {
        self.all.get(rank as usize)
    }
    pub fn proc(&self, rank: u32) -> Option<&ProcInfo> {
        self.procs.get(rank as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(node: u32, local_rank: u32) -> Told {
        Told { bytes: 8, disp_unit: 1, node, local_rank }
    }

    #[test]
    fn nodes_are_numbered_by_their_lowest_rank() {
        let members: Vec<ProcId> = [7, 3, 9, 4].map(|proc| ProcId { proc, endpoint: 0 }).into();
        let places = Places::new(&members, &[told(5, 1), told(2, 0), told(5, 3), told(2, 1)], 2);
        let place =
            |proc, node, node_rank, local| Place { proc, node, node_rank, node_size: 2, endpoint: 0, local };
        let due = [place(7, 0, 0, 0), place(3, 1, 0, 1), place(9, 0, 1, 0), place(4, 1, 1, 1)];
        assert_eq!((&*places.all, places.num_nodes()), (&due[..], 2));
        let proc = places.proc(2).expect("a rank");
        assert_eq!((proc.proc, proc.node, proc.local_rank, proc.local), (9, 5, 3, 0));
        assert!(places.get(4).is_none() && places.proc(4).is_none());
    }

    #[test]
    fn words_survive_the_wire() {
        let told = Told { bytes: u64::MAX, disp_unit: i64::MAX, node: 3, local_rank: u32::MAX };
        assert_eq!(Told::decode(&told.encode()), told);
    }
}
