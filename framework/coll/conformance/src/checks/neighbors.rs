//! Neighborhood collectives against a plain list of edges. Every edge has a name and the bytes that travel along it are a
//! function of that name, so a block that comes over another edge between the same two ranks is seen. Edges are
//! random, with loops, several between two ranks, and ends where nobody is; or a grid's, periodic ones of size 1 and 2 among
//! them.

use crate::blocks::{Described, Side, content, ints, typed};
use crate::data::{HOLE, Random};
use crate::{Args, Blocks, Job, Rank};
use oxmpi_coll::{NO_ROOT, Neighbors, neighbors};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// The edges that one rank sees: at each place the rank at the other end, and the name of the edge.
#[derive(Clone, Default)]
struct NeighborEdges {
    flags: u32,
    sources: Vec<(i32, u64)>,
    destinations: Vec<(i32, u64)>,
}

/// Edges between any ranks, listed in one order for all.
fn random_edges(n: u32, edges: u64, random: &mut Random) -> Vec<NeighborEdges> {
    let mut all = vec![NeighborEdges::default(); n as usize];
    for name in 1..=edges {
        let mut end = || if random.below(12) == 0 { NO_ROOT } else { random.below(u64::from(n)) as i32 };
        let (from, to) = (end(), end());
        // An end that is nobody leaves a place at the other.
        if let Ok(from) = usize::try_from(from) {
            all[from].destinations.push((to, if to < 0 { 0 } else { name }));
        }
        if let Ok(to) = usize::try_from(to) {
            all[to].sources.push((from, if from < 0 { 0 } else { name }));
        }
    }
    all
}

/// A grid: at each place the neighbor below or above in a dimension. An edge is named by its sender and its direction.
fn grid(dims: &[(u32, bool)]) -> Vec<NeighborEdges> {
    let n: u32 = dims.iter().map(|d| d.0).product();
    let step = |rank: u32, at: usize, up: bool| -> i32 {
        let below: u32 = dims[at + 1..].iter().map(|d| d.0).product();
        let (len, periodic) = dims[at];
        let c = (rank / below % len) as i32;
        let to = c + if up { 1 } else { -1 };
        match periodic || (0..len as i32).contains(&to) {
            true => (rank as i32 - c * below as i32) + to.rem_euclid(len as i32) * below as i32,
            false => NO_ROOT,
        }
    };
    let name = |rank: i32, at: usize, up: bool| match rank {
        NO_ROOT => 0,
        rank => 1 + (rank as u64 * 10 + at as u64) * 2 + u64::from(up),
    };
    let one = |rank: u32| {
        let places = (0..dims.len()).flat_map(|at| [(at, false), (at, true)]);
        let of = |(at, up): (usize, bool)| {
            let peer = step(rank, at, up);
            // A block that comes from below was sent upwards.
            let sent = if peer == NO_ROOT { 0 } else { name(rank as i32, at, up) };
            ((peer, name(peer, at, !up)), (peer, sent))
        };
        let (sources, destinations) = places.map(of).unzip();
        NeighborEdges { flags: neighbors::PAIRS, sources, destinations }
    };
    (0..n).map(one).collect()
}

fn everywhere(job: &Job, test: impl Fn(&Rank, &NeighborEdges, u64) + Sync) {
    {
        for n in [1, 2, 3, 5, 8] {
            for turn in 0..4 {
                let seed = u64::from(n) * 10 + turn;
                let all = random_edges(n, [0, 3, 20, 300][turn as usize], &mut Random::new(seed));
                job.group(n, |rank| test(rank, &all[rank.rank as usize], seed));
            }
        }
        let periodic = |lens: &[u32], yes: bool| lens.iter().map(|&l| (l, yes)).collect::<Vec<_>>();
        for dims in [&[1][..], &[2], &[3], &[5], &[1, 1], &[2, 1], &[2, 2], &[2, 3], &[1, 2, 2]] {
            for dims in [periodic(dims, true), periodic(dims, false)] {
                let all = grid(&dims);
                job.group(all.len() as u32, |rank| test(rank, &all[rank.rank as usize], 77));
            }
        }
    }
}

impl NeighborEdges {
    fn with<R>(&self, call: impl FnOnce(&Neighbors) -> R) -> R {
        let ranks = |at: &[(i32, u64)]| at.iter().map(|e| e.0).collect::<Vec<i32>>();
        let (sources, destinations) = (ranks(&self.sources), ranks(&self.destinations));
        call(&Neighbors {
            size: size_of::<Neighbors>() as u32,
            flags: self.flags,
            num_sources: sources.len() as u32,
            num_destinations: destinations.len() as u32,
            sources: sources.as_ptr(),
            destinations: destinations.as_ptr(),
        })
    }
}

/// Data that travels along an edge; of one that ends nowhere nothing is ever written.
fn along(seed: u64, (peer, name): (i32, u64), ints: u64) -> Vec<u8> {
    match peer {
        NO_ROOT => vec![HOLE; 4 * ints as usize],
        _ => content(seed, name, 1, ints),
    }
}

fn length(seed: u64, (_, name): (i32, u64)) -> u64 {
    ints(seed, name, 1)
}

fn seeds(rank: &Rank, seed: u64) -> Random {
    Random::new(seed ^ u64::from(rank.rank) << 40)
}

crate::check!(blocks_of_any_length_along_every_edge, needs: [neighbor_alltoallv], |job| {
    everywhere(job, |rank, around, seed| {
        let random = &mut seeds(rank, seed);
        let block = |e: &(i32, u64)| along(seed, *e, length(seed, *e));
        let out: Vec<Vec<u8>> = around.destinations.iter().map(block).collect();
        let into: Vec<Vec<u8>> = around.sources.iter().map(block).collect();
        let (mut send, mut recv) = (Side::new(random, &out, true), Side::new(random, &into, false));
        let (from, to) = (send.buffer.address().cast_const(), recv.buffer.address());
        let status = around.with(|neighbors| {
            let args = Args {
                send: (from, 99, Some(&*send.dtype)),
                recv: (to, 99, Some(&*recv.dtype)),
                send_blocks: send.blocks(),
                recv_blocks: recv.blocks(),
                neighbors: Some(neighbors),
                ..Args::default()
            };
            rank.call(|t| t.neighbor_alltoallv, args)
        });
        assert_eq!(status, Status::OK);
        recv.check("neighbor_alltoallv");
        send.check("what was sent was changed");
    });
});

crate::check!(blocks_of_any_type_along_every_edge, needs: [neighbor_alltoallw], |job| {
    everywhere(job, |rank, around, seed| {
        let random = &mut seeds(rank, seed);
        let mut sides = |edges: &[(i32, u64)], filled: bool| -> Vec<Side> {
            let block = |e: &(i32, u64)| along(seed, *e, length(seed, *e));
            edges.iter().map(|e| Side::new(random, &[block(e)], filled)).collect()
        };
        let (mut send, mut recv) = (sides(&around.destinations, true), sides(&around.sources, false));
        let base = std::ptr::from_ref(rank).cast::<u8>();
        let describe = |sides: &mut [Side]| -> Described {
            let counts = sides.iter().map(|s| s.counts[0]).collect();
            let place = |s: &mut Side| s.buffer.address() as i64 + s.displs[0] * s.dtype.extent - base as i64;
            let displs = sides.iter_mut().map(place).collect();
            let types: Vec<*const TypeDesc> = sides.iter().map(|s| &raw const *s.dtype).collect();
            (counts, displs, types)
        };
        let (outs, ins) = (describe(&mut send), describe(&mut recv));
        let status = around.with(|neighbors| {
            let args = Args {
                send: (base, 99, None),
                recv: (base.cast_mut(), 99, None),
                send_blocks: typed(&outs),
                recv_blocks: typed(&ins),
                neighbors: Some(neighbors),
                ..Args::default()
            };
            rank.call(|t| t.neighbor_alltoallw, args)
        });
        assert_eq!(status, Status::OK);
        recv.iter().for_each(|side| side.check("neighbor_alltoallw"));
        send.iter().for_each(|side| side.check("what was sent was changed"));
    });
});

// All blocks of one length, one behind the other.
crate::check!(equal_blocks_along_every_edge, needs: [neighbor_alltoall], |job| {
    everywhere(job, |rank, around, seed| {
        for ints in [0, 12, 600] {
            let random = &mut seeds(rank, seed);
            let whole = |edges: &[(i32, u64)]| -> Vec<u8> {
                edges.iter().flat_map(|e| along(seed, *e, ints)).collect()
            };
            // A side of one block has no gaps; its count is that of all.
            let mut send = Side::new(random, &[whole(&around.destinations)], true);
            let mut recv = Side::new(random, &[whole(&around.sources)], false);
            let start = |s: &mut Side| {
                s.buffer.address().wrapping_offset(s.displs[0] as isize * s.dtype.extent as isize)
            };
            let (from, to) = (start(&mut send).cast_const(), start(&mut recv));
            let each = |s: &Side| 4 * ints / s.dtype.packed;
            let status = around.with(|neighbors| {
                let args = Args {
                    send: (from, each(&send), Some(&*send.dtype)),
                    recv: (to, each(&recv), Some(&*recv.dtype)),
                    neighbors: Some(neighbors),
                    ..Args::default()
                };
                rank.call(|t| t.neighbor_alltoall, args)
            });
            assert_eq!(status, Status::OK);
            recv.check("neighbor_alltoall");
            send.check("what was sent was changed");
        }
    });
});

// The same to all, and every source's at its place, one behind the other and with places of their own.
crate::check!(one_block_to_all_destinations, needs: [neighbor_allgather, neighbor_allgatherv], |job| {
    everywhere(job, |rank, around, seed| {
        for (ints, apart) in [(0, false), (12, false), (12, true), (600, true), (600, false)] {
            let random = &mut seeds(rank, seed);
            let block = |from: i32| along(seed, (from, from as u64), ints);
            let mut send = Side::new(random, &[block(rank.rank as i32)], true);
            let into: Vec<Vec<u8>> = around.sources.iter().map(|e| block(e.0)).collect();
            let into = if apart { into } else { vec![into.concat()] };
            let mut recv = Side::new(random, &into, false);
            let start = |s: &mut Side, apart: bool| {
                let first = if apart { 0 } else { s.displs[0] as isize * s.dtype.extent as isize };
                s.buffer.address().wrapping_offset(first)
            };
            let (from, to) = (start(&mut send, false).cast_const(), start(&mut recv, apart));
            let status = around.with(|neighbors| {
                let args = Args {
                    send: (from, send.counts[0], Some(&*send.dtype)),
                    recv: (to, 4 * ints / recv.dtype.packed, Some(&*recv.dtype)),
                    recv_blocks: if apart { recv.blocks() } else { Blocks::default() },
                    neighbors: Some(neighbors),
                    ..Args::default()
                };
                match apart {
                    true => rank.call(|t| t.neighbor_allgatherv, args),
                    false => rank.call(|t| t.neighbor_allgather, args),
                }
            });
            assert_eq!(status, Status::OK);
            recv.check("neighbor_allgather");
            send.check("what was sent was changed");
        }
    });
});
