//! Plans that are made once and done again and again with other data, and several of them under way at a time.
//!
//! In every other turn the blocks end in zeros, more of them in some than in others: what a component has learned of the data at one start (where
//! blocks end, which are empty) is wrong at the next.

use crate::data::predefined;
use crate::operations::predefined_op;
use crate::{Args, Job, Rank, TableSlot};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;

const COUNT: usize = 24;
const LARGE: usize = 3000;

/// Element `i` of what rank `from` has for rank `to` in a turn; zero from a place on in even turns.
fn value(from: u32, to: u32, i: usize, turn: usize) -> i32 {
    if turn.is_multiple_of(2) && i >= (from as usize * 5 + to as usize * 3 + turn * 7) % 30 {
        return 0;
    }
    (from as usize * 1_000_000 + to as usize * 10_000 + i * 7 + turn * 3) as i32
}

/// One of the collectives: what a rank gives, and what it gets from all.
struct Kind {
    which: TableSlot,
    /// Blocks that a rank gives and gets, by the number of ranks.
    blocks: fn(u32) -> (usize, usize),
    /// The value that rank `me` of `n` has in element `i` of its block `b` afterwards.
    gets: fn(me: u32, n: u32, b: usize, i: usize, turn: usize) -> Option<i32>,
}

const ROOT: u32 = 0;

fn sum(n: u32, to: u32, i: usize, turn: usize) -> i32 {
    (0..n).fold(0, |sum: i32, from| sum.wrapping_add(value(from, to, i, turn)))
}

const KINDS: [Kind; 5] = [
    Kind {
        which: |t| t.allgather,
        blocks: |n| (1, n as usize),
        gets: |_, _, b, i, turn| Some(value(b as u32, 0, i, turn)),
    },
    Kind {
        which: |t| t.alltoall,
        blocks: |n| (n as usize, n as usize),
        gets: |me, _, b, i, turn| Some(value(b as u32, me, i, turn)),
    },
    Kind {
        which: |t| t.gather,
        blocks: |n| (1, n as usize),
        gets: |me, _, b, i, turn| (me == ROOT).then(|| value(b as u32, 0, i, turn)),
    },
    Kind {
        which: |t| t.scatter,
        blocks: |n| (n as usize, 1),
        gets: |me, _, _, i, turn| Some(value(ROOT, me, i, turn)),
    },
    Kind { which: |t| t.allreduce, blocks: |_| (1, 1), gets: |_, n, _, i, turn| Some(sum(n, 0, i, turn)) },
];

/// Buffers of one plan; blocks of `len` ints.
struct Buffers {
    send: Vec<i32>,
    recv: Vec<i32>,
    len: usize,
}

impl Buffers {
    fn new(rank: &Rank, kind: &Kind, len: usize) -> Buffers {
        let (gives, gets) = (kind.blocks)(rank.n);
        Buffers { send: vec![0; gives * len], recv: vec![0; gets * len], len }
    }
    fn fill(&mut self, rank: &Rank, turn: usize) {
        for (b, block) in self.send.chunks_mut(self.len).enumerate() {
            block.iter_mut().enumerate().for_each(|(i, x)| *x = value(rank.rank, b as u32, i, turn));
        }
        self.recv.fill(-1);
    }
    fn check(&self, rank: &Rank, kind: &Kind, turn: usize) {
        for (b, block) in self.recv.chunks(self.len).enumerate() {
            for (i, got) in block.iter().enumerate() {
                if let Some(wanted) = (kind.gets)(rank.rank, rank.n, b, i, turn) {
                    assert_eq!(*got, wanted, "block {b}, element {i}, turn {turn}");
                }
            }
        }
    }
}

fn args<'a>(
    buffers: &mut Buffers,
    int: &'a oxmpi_datatype::TypeDesc,
    sum: &'a oxmpi_datatype::kernel::OpDesc,
) -> Args<'a> {
    let len = buffers.len as u64;
    Args {
        send: (buffers.send.as_ptr().cast(), len, Some(int)),
        recv: (buffers.recv.as_mut_ptr().cast(), len, Some(int)),
        op: Some(sum),
        root: ROOT,
        ..Args::default()
    }
}

fn again_and_again(job: &Job, kind: &Kind) {
    let int = predefined(Base::I32);
    for n in [1, 2, 3, 5, 8] {
        for len in [0, 1, COUNT, LARGE] {
            job.group(n, |rank| {
                if !rank.planned {
                    return;
                }
                let op = predefined_op(op::SUM);
                let mut buffers = Buffers::new(rank, kind, len.max(1));
                buffers.fill(rank, 0);
                let mut args = args(&mut buffers, &int, &op);
                (args.send.1, args.recv.1) = (len as u64, len as u64);
                let plan = rank.plan(kind.which, &args).expect("a plan");
                for turn in 0..4 {
                    buffers.fill(rank, turn);
                    assert_eq!(plan.run(), Status::OK);
                    if len > 0 {
                        buffers.check(rank, kind, turn);
                    }
                }
            });
        }
    }
}

macro_rules! persistent {
    ($($name:ident $which:ident $index:expr;)*) => {
        $(crate::check!($name, needs: [$which], |job| again_and_again(job, &KINDS[$index]));)*
    };
}

persistent! {
    persistent_allgather allgather 0;
    persistent_alltoall alltoall 1;
    persistent_gather gather 2;
    persistent_scatter scatter 3;
    persistent_allreduce allreduce 4;
}

// Two plans of a communicator under way at once, in two threads: one may not wait for the other.
crate::check!(several_plans_at_once, needs: [allgather, alltoall, gather, scatter, allreduce], |job| {
    let int = predefined(Base::I32);
    for n in [2, 3, 5] {
        job.group(n, |rank| {
            if !rank.planned {
                return;
            }
            let op = predefined_op(op::SUM);
            for len in [COUNT, LARGE] {
                let mut all: Vec<Buffers> = KINDS.iter().map(|kind| Buffers::new(rank, kind, len)).collect();
                all.iter_mut().for_each(|buffers| buffers.fill(rank, 1));
                let plans: Vec<_> = KINDS
                    .iter()
                    .zip(&mut all)
                    .map(|(kind, buffers)| rank.plan(kind.which, &args(buffers, &int, &op)).expect("a plan"))
                    .collect();
                // Ranks begin with different ones.
                std::thread::scope(|threads| {
                    let first = rank.rank as usize % plans.len();
                    for i in 0..plans.len() {
                        let plan = &plans[(first + i) % plans.len()];
                        threads.spawn(move || assert_eq!(plan.run(), Status::OK));
                    }
                });
                KINDS.iter().zip(&all).for_each(|(kind, buffers)| buffers.check(rank, kind, 1));
            }
        });
    }
});
