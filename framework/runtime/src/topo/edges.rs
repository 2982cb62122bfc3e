//! Edges of a distributed graph (MPI 5.0 §8.5.4): any rank may name any edge, and afterwards each rank knows those that
//! begin or end at it.
//!
//! Every rank tells both ends. All ranks learn how much is to come from whom and whether anybody gives weights (an alltoall
//! of one number), then the edges travel to those that need them. Edges are listed by the rank that named them and then in its order, at both ends,
//! so that several edges between two ranks are in one order at both.

use super::graph::{DistGraph, Side};
use crate::coll::slot::Slot;
use crate::objects::Communicator;
use oxmpi_coll::CollArgs;
use oxmpi_loading::error::Error;
use oxmpi_mca::{Entry, Status};
use std::ptr::null;

/// One edge, with its weight (0 where there are none).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub weight: i32,
}

/// An edge as it is told to a rank. Little-endian on the wire: the rank at the other end, the weight, which end we are.
const ENTRY: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    peer: u32,
    weight: i32,
    incoming: bool,
}

impl End {
    /// Encodes an end for the wire.
    fn encode(self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        out[..4].copy_from_slice(&self.peer.to_le_bytes());
        out[4..8].copy_from_slice(&self.weight.to_le_bytes());
        out[8] = self.incoming.into();
        out
    }

    /// Decodes an end from the wire.
    fn decode(bytes: &[u8; ENTRY]) -> End {
        let [p0, p1, p2, p3, w0, w1, w2, w3, incoming] = *bytes;
        End {
            peer: u32::from_le_bytes([p0, p1, p2, p3]),
            weight: i32::from_le_bytes([w0, w1, w2, w3]),
            incoming: incoming != 0,
        }
    }
}

/// Sorts the ends of edges by the rank that has to know them, each rank's in the order of the edges; returns all of
/// them encoded, and the number of bytes for each rank.
fn by_rank(edges: &[Edge], num_ranks: usize) -> (Vec<u8>, Vec<u64>) {
    let ends = |e: &Edge| {
        let out = End { peer: e.to, weight: e.weight, incoming: false };
        let into = End { peer: e.from, weight: e.weight, incoming: true };
        [(e.from, out), (e.to, into)]
    };
    let mut all: Vec<(u32, End)> = edges.iter().flat_map(ends).collect();
    all.sort_by_key(|(rank, _)| *rank);
    let mut bytes = vec![0u64; num_ranks];
    for (rank, _) in &all {
        bytes[*rank as usize] += ENTRY as u64;
    }
    (all.iter().flat_map(|(_, end)| end.encode()).collect(), bytes)
}

/// Makes one rank's part of the graph of the encoded ends that it was told.
fn part_of(told: &[u8], weighted: bool) -> DistGraph {
    let mut graph = DistGraph { sources: Side::default(), destinations: Side::default(), weighted };
    for end in told.as_chunks::<ENTRY>().0.iter().map(End::decode) {
        let side = if end.incoming { &mut graph.sources } else { &mut graph.destinations };
        side.ranks.push(end.peer as i32);
        if weighted {
            side.weights.push(end.weight);
        }
    }
    graph
}

/// Computes the offset at which each of the parts begins, and the length of all; OUT_OF_MEMORY: too long.
fn starts(lengths: &[u64]) -> Result<(Vec<i64>, u64), Status> {
    let mut total = 0u64;
    let starts = lengths.iter().map(|len| {
        let start = total;
        total = total.checked_add(*len).filter(|t| *t <= i64::MAX as u64).ok_or(Status::OUT_OF_MEMORY)?;
        Ok(start as i64)
    });
    let starts = starts.collect::<Result<_, Status>>()?;
    Ok((starts, total))
}

/// A rank's answer about weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighing {
    Weighted,
    Unweighted,
    /// It names no edge.
    Silent,
}

/// In the number that ranks tell each other: the teller gives weights, or says there are none. The rest are bytes to come.
const WEIGHTED: u64 = 1 << 63;
const UNWEIGHTED: u64 = 1 << 62;

impl Communicator {
    /// Tells all ranks the edges that begin or end at them, and returns this rank's part of the graph. Called by all
    /// ranks, each with the edges it names, whose ends are ranks of this communicator. The graph has weights if a rank
    /// says so, or nobody says anything.
    pub fn share_edges(
        &self,
        entry: &mut Entry,
        edges: &[Edge],
        weighing: Weighing,
    ) -> Result<DistGraph, Error> {
        let told = self.shared(entry, edges, weighing);
        told.map(|(told, weighted)| part_of(&told, weighted))
            .map_err(|s| Error::status(s, "telling the ranks of the edges of a distributed graph"))
    }

    /// Exchanges lengths and answers about weights by an alltoall, then the encoded ends by an alltoallv; returns those
    /// told to this rank, and whether the graph has weights.
    fn shared(
        &self,
        entry: &mut Entry,
        edges: &[Edge],
        weighing: Weighing,
    ) -> Result<(Vec<u8>, bool), Status> {
        let byte = self.instance().byte_type();
        let (entries, ours) = by_rank(edges, self.size() as usize);
        let mark = match weighing {
            Weighing::Weighted => WEIGHTED,
            Weighing::Unweighted => UNWEIGHTED,
            Weighing::Silent => 0,
        };
        let sent: Vec<u64> = ours.iter().map(|len| (len | mark).to_le()).collect();
        let mut theirs = vec![0u64; ours.len()];
        let word = size_of::<u64>() as u64;
        let lengths = CollArgs {
            sendbuf: sent.as_ptr().cast(),
            sendcount: word,
            sendtype: byte,
            recvbuf: theirs.as_mut_ptr().cast(),
            recvcount: word,
            recvtype: byte,
            ..CollArgs::NONE
        };
        // SAFETY: both lists have a word for each rank.
        unsafe { self.coll.run(Slot::Alltoall, self, entry, &lengths) }.ok()?;
        let mut said = 0;
        for len in &mut theirs {
            said |= u64::from_le(*len);
            *len = u64::from_le(*len) & !(WEIGHTED | UNWEIGHTED);
        }
        let weighted = said & WEIGHTED != 0 || said & UNWEIGHTED == 0;
        if theirs.iter().any(|len| len % ENTRY as u64 != 0) {
            return Err(Status::PEER_FAILED);
        }
        let ((sdispls, _), (rdispls, total)) = (starts(&ours)?, starts(&theirs)?);
        let mut told = Vec::new();
        let room = usize::try_from(total).map_err(|_| Status::OUT_OF_MEMORY)?;
        told.try_reserve_exact(room).map_err(|_| Status::OUT_OF_MEMORY)?;
        told.resize(room, 0u8);
        let blocks = CollArgs {
            // The address of an empty list may be that of the sentinel for "in place".
            sendbuf: if entries.is_empty() { null() } else { entries.as_ptr() },
            sendtype: byte,
            sendcounts: ours.as_ptr(),
            sdispls: sdispls.as_ptr(),
            recvbuf: told.as_mut_ptr(),
            recvtype: byte,
            recvcounts: theirs.as_ptr(),
            rdispls: rdispls.as_ptr(),
            ..CollArgs::NONE
        };
        // SAFETY: `entries` and `told` are as long as their lengths by rank say, which lie one behind the other.
        unsafe { self.coll.run(Slot::Alltoallv, self, entry, &blocks) }.ok()?;
        Ok((told, weighted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ends_learn_of_every_edge_in_one_order(
            named in prop::collection::vec(prop::collection::vec((0u32..5, 0u32..5, any::<i32>()), 0..9), 5),
        ) {
            let edges = |of: &Vec<(u32, u32, i32)>| -> Vec<Edge> {
                of.iter().map(|&(from, to, weight)| Edge { from, to, weight }).collect()
            };
            let sent: Vec<_> = named.iter().map(|of| by_rank(&edges(of), 5)).collect();
            for rank in 0..5u32 {
                let told: Vec<u8> = sent.iter().flat_map(|(entries, lens)| {
                    let start = starts(lens).unwrap().0[rank as usize] as usize;
                    entries[start..start + lens[rank as usize] as usize].to_vec()
                }).collect();
                let graph = part_of(&told, true);
                let all = || named.iter().flatten();
                let into: Vec<(i32, i32)> = all().filter(|e| e.1 == rank).map(|e| (e.0 as i32, e.2)).collect();
                let out: Vec<(i32, i32)> = all().filter(|e| e.0 == rank).map(|e| (e.1 as i32, e.2)).collect();
                let pairs = |s: &Side| s.ranks.iter().copied().zip(s.weights.iter().copied()).collect::<Vec<_>>();
                prop_assert_eq!(pairs(&graph.sources), into);
                prop_assert_eq!(pairs(&graph.destinations), out);
                prop_assert!(part_of(&told, false).sources.weights.is_empty());
            }
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        assert!(starts(&[u64::MAX, 9]).is_err());
        assert_eq!(starts(&[9, 0, 18]).unwrap(), (vec![0, 9, 9], 27));
    }
}
