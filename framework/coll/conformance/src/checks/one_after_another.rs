//! State that one collective leaves behind must not disturb the next.

use crate::Args;
use crate::data::{Random, predefined};
use oxmpi_datatype::Base;
use oxmpi_mca::Status;

// All kinds in a row on one communicator, without anything between: what one leaves behind (late
// messages, memory) must not disturb the next.
crate::check!(one_after_another, needs: [allgather, gather, bcast, barrier], |job| {
    let int = predefined(Base::I32);
    for n in [2, 3, 5, 8, 16] {
            job.group(n, |rank| {
                let mut random = Random::new(5);
                let (me, count) = (rank.rank as i32, rank.n as usize);
                for turn in 0..200 {
                    let root = random.below(rank.n as u64) as u32;
                    let kind = random.below(4);
                    let (mut out, mut all) = ([me + turn, turn], vec![0i32; 2 * count]);
                    let mut args = Args { root, ..Args::default() };
                    args.send = (out.as_ptr().cast(), 2, Some(&*int));
                    args.recv = (all.as_mut_ptr().cast(), 2, Some(&*int));
                    let everybody: Vec<i32> = (0..n as i32).flat_map(|r| [r + turn, turn]).collect();
                    match kind {
                        0 => {
                            assert_eq!(rank.call(|t| t.allgather, args), Status::OK);
                            assert_eq!(all, everybody);
                        }
                        1 => {
                            assert_eq!(rank.call(|t| t.gather, args), Status::OK);
                            assert!(rank.rank != root || all == everybody);
                        }
                        2 => {
                            args.recv = (out.as_mut_ptr().cast(), 2, Some(&*int));
                            assert_eq!(rank.call(|t| t.bcast, args), Status::OK);
                            assert_eq!(out, [root as i32 + turn, turn]);
                        }
                        _ => assert_eq!(rank.call(|t| t.barrier, Args::default()), Status::OK),
                    }
                }
            });
        }
});
