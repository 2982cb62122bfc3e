//! The operations: from the arguments of a call to buffers in units, facts, and the algorithm that is done.

use crate::algorithms::allreduce::{self, Allreduce};
use crate::algorithms::bcast::{self, Bcast};
use crate::algorithms::reduce::{self, Reduce};
use crate::algorithms::reduce_scatter::{self, ReduceScatter};
use crate::algorithms::scan::{self, Scan};
use crate::algorithms::{allgather, alltoall, barrier as barriers, gather as gathers};
use crate::buffers::{Buffers, Side, Units};
use crate::call::Call;
use crate::choice::Choice;
use crate::run::Run;
use crate::script::{Area, Script, result, temp};
use crate::tree::Shape;
use oxmpi_coll_support::layout::{Result, bytes};
use oxmpi_coll_support::{Place, Source};
use oxmpi_mca::Status;

/// A choice without a number that is known is a mistake of this file's or of `decision.rs`.
fn unknown(choice: Choice) -> ! {
    unreachable!("no algorithm {}", choice.algorithm)
}

/// Chains and radices where nothing is said.
fn or(fanout: u32, otherwise: u32) -> u32 {
    if fanout == 0 { otherwise } else { fanout }
}

/// Elements of a segment of so many bytes; 0: one segment.
fn elements(segment: u64, size: u64) -> u64 {
    if segment == 0 { 0 } else { (segment / size.max(1)).max(1) }
}

pub fn barrier(call: &Call<'_>) -> Result {
    let (me, choice) = (call.me(), call.choose(0, true));
    let mut run = Run::new(call, Buffers::new(Side::Nothing, Side::Nothing, Units::Bytes(0)));
    let s = &mut run;
    match choice.algorithm {
        1 => barriers::linear(s, me),
        2 if me.n > 1 => barriers::double_ring(s, me),
        3 => barriers::recursive_doubling(s, me),
        2 | 4 => barriers::bruck(s, me),
        5 => barriers::two_proc(s, me),
        6 => barriers::tree(s, me),
        _ => unknown(choice),
    }
    run.end()
}

/// Whether a broadcast cuts data into parts.
fn cuts(choice: Choice, total: u64) -> bool {
    match choice.algorithm {
        4 | 8 | 9 => true,
        2 | 3 | 5 | 6 | 7 => choice.segment > 0 && choice.segment < total,
        _ => false,
    }
}

pub fn bcast(call: &Call<'_>) -> Result {
    let place = call.gets(call.args.recvcount);
    let total = place.bytes()?;
    if total == 0 || call.me().n == 1 {
        return Ok(());
    }
    let choice = call.choose(total, true);
    let staged = !place.is_contiguous();
    let side = if staged { Side::Packed(place) } else { Side::Even { all: place.contiguous()?, each: 1 } };
    let mut run = Run::new(call, Buffers::new(Side::Nothing, side, Units::Bytes(1)));
    let b = Bcast { me: call.me(), root: call.root(), total, staged: staged && cuts(choice, total) };
    let (s, each) = (&mut run, choice.segment);
    match choice.algorithm {
        1 => bcast::linear(s, &b),
        2 => bcast::tree(s, &b, Shape::Chains(or(choice.fanout, 4)), each),
        3 => bcast::tree(s, &b, Shape::Chains(1), each),
        4 => bcast::split_binary(s, &b, each),
        5 => bcast::tree(s, &b, Shape::Binary, each),
        6 => bcast::tree(s, &b, Shape::Knomial(2), each),
        7 => bcast::tree(s, &b, Shape::Knomial(or(choice.fanout, 4)), each),
        8 => bcast::scatter_allgather(s, &b, false),
        9 => bcast::scatter_allgather(s, &b, true),
        _ => unknown(choice),
    }
    run.end()
}

/// Buffers of a reduction whose operand has `count` elements, and its result `len`.
fn operands<'a>(call: &Call<'a>, count: u64, len: Option<u64>) -> Buffers<'a> {
    let given = Side::Even { all: call.operand(count), each: 1 };
    let result = len.map_or(Side::Nothing, |len| Side::Even { all: call.gets(len), each: 1 });
    Buffers::new(given, result, Units::Elements(call.recvtype()))
}

pub fn reduce(call: &Call<'_>) -> Result {
    let count = call.args.recvcount;
    let (total, commutes) = call.reduction(count)?;
    if total == 0 {
        return Ok(());
    }
    let choice = call.choose(total, commutes);
    let mut run = Run::new(call, operands(call, count, call.is_root().then_some(count)));
    let (me, root, into) = (call.me(), call.root(), Area::Result);
    let r = Reduce { me, root, count, commutes, in_place: call.in_place(), into };
    let (s, each) = (&mut run, elements(choice.segment, call.recvtype().packed));
    match choice.algorithm {
        1 => reduce::linear(s, &r),
        2 => reduce::tree(s, &r, Shape::Chains(or(choice.fanout, 4)), each),
        3 => reduce::tree(s, &r, Shape::Chains(1), each),
        4 => reduce::tree(s, &r, Shape::Binary, each),
        5 => reduce::tree(s, &r, Shape::Knomial(2), each),
        6 => reduce::tree(s, &r, Shape::InOrder, each),
        7 => allreduce::rabenseifner_reduce(s, &r),
        8 => reduce::tree(s, &r, Shape::Knomial(or(choice.fanout, 4)), each),
        _ => unknown(choice),
    }
    run.end()
}

pub fn allreduce(call: &Call<'_>) -> Result {
    let count = call.args.recvcount;
    let (total, commutes) = call.reduction(count)?;
    if total == 0 {
        return Ok(());
    }
    let choice = call.choose(total, commutes);
    let mut run = Run::new(call, operands(call, count, Some(count)));
    let a = Allreduce { me: call.me(), count, commutes, in_place: call.in_place() };
    let s = &mut run;
    match choice.algorithm {
        1 => allreduce::linear(s, &a),
        2 => allreduce::nonoverlapping(s, &a),
        3 => allreduce::recursive_doubling(s, &a),
        4 => allreduce::ring(s, &a, 0),
        5 => allreduce::ring(s, &a, elements(choice.segment, call.recvtype().packed)),
        6 => allreduce::rabenseifner(s, &a),
        7 => allreduce::allgather_reduce(s, &a),
        _ => unknown(choice),
    }
    run.end()
}

pub fn scan(call: &Call<'_>) -> Result {
    prefix(call, false)
}

pub fn exscan(call: &Call<'_>) -> Result {
    prefix(call, true)
}

fn prefix(call: &Call<'_>, exclusive: bool) -> Result {
    let count = call.args.recvcount;
    let (total, commutes) = call.reduction(count)?;
    if total == 0 {
        return Ok(());
    }
    let choice = call.choose(total, commutes);
    let mut run = Run::new(call, operands(call, count, Some(count)));
    let (s, one) = (&mut run, Scan { me: call.me(), count, exclusive });
    match choice.algorithm {
        1 => scan::linear(s, &one),
        2 => scan::recursive_doubling(s, &one),
        _ => unknown(choice),
    }
    run.end()
}

/// Where blocks of so many elements begin, and where the last one ends. BAD_PARAM: they are more than can be.
fn starts(counts: impl Iterator<Item = u64>) -> Result<Vec<u64>> {
    let mut starts = vec![0u64];
    for count in counts {
        let end = starts[starts.len() - 1].checked_add(count).filter(|end| *end <= i64::MAX as u64);
        starts.push(end.ok_or(Status::BAD_PARAM)?);
    }
    Ok(starts)
}

pub fn reduce_scatter(call: &Call<'_>) -> Result {
    let starts = starts(call.recvcounts().iter().copied())?;
    scattered_sum(call, &starts, |s, r, number| match number {
        1 => reduce_scatter::nonoverlapping(s, r, false),
        2 => reduce_scatter::halving(s, r, false),
        3 => reduce_scatter::ring(s, r),
        4 => reduce_scatter::halving(s, r, true),
        _ => unknown(Choice::of(number)),
    })
}

pub fn reduce_scatter_block(call: &Call<'_>) -> Result {
    let starts = starts((0..call.me().n).map(|_| call.args.recvcount))?;
    scattered_sum(call, &starts, |s, r, number| match number {
        1 => reduce_scatter::nonoverlapping(s, r, true),
        2 => reduce_scatter::recursive_doubling(s, r),
        3 => reduce_scatter::halving(s, r, false),
        4 => reduce_scatter::halving(s, r, true),
        _ => unknown(Choice::of(number)),
    })
}

fn scattered_sum(
    call: &Call<'_>,
    starts: &[u64],
    algorithm: impl FnOnce(&mut dyn Script, &ReduceScatter<'_>, u32),
) -> Result {
    let me = call.me();
    let count = starts[me.n as usize];
    let own = count_of(starts, me.rank);
    let (total, commutes) = call.reduction(count)?;
    if total == 0 {
        return Ok(());
    }
    let choice = call.choose(total, commutes);
    let mut run = Run::new(call, operands(call, count, Some(own)));
    algorithm(&mut run, &ReduceScatter { me, starts, commutes }, choice.algorithm);
    run.end()
}

fn count_of(starts: &[u64], rank: u32) -> u64 {
    starts[rank as usize + 1] - starts[rank as usize]
}

/// Bytes of a block for each rank. BAD_PARAM: more than MPI can count.
fn all_blocks(block: u64, n: u32) -> Result<u64> {
    block.checked_mul(n.into()).filter(|all| *all <= i64::MAX as u64).ok_or(Status::BAD_PARAM)
}

pub fn allgather(call: &Call<'_>) -> Result {
    let (me, each) = (call.me(), call.args.recvcount);
    let block = bytes(call.recvtype(), each)?;
    let total = all_blocks(block, me.n)?;
    if total == 0 {
        return Ok(());
    }
    let place = call.gets(each * u64::from(me.n));
    let given = match call.in_place() {
        true => Side::Even { all: place.source().part(u64::from(me.rank) * each, each), each },
        false => Side::Even { all: call.gives(call.args.sendcount), each: call.args.sendcount },
    };
    let choice = call.choose(total, true);
    let mut run = Run::new(call, Buffers::new(given, Side::Even { all: place, each }, Units::Bytes(block)));
    let s = &mut run;
    match choice.algorithm {
        1 => allgather::linear(s, me),
        2 => allgather::bruck(s, me, or(choice.fanout, 2)),
        3 => allgather::recursive_doubling(s, me),
        4 => allgather::ring(s, me),
        5 => allgather::neighbor(s, me),
        6 => allgather::two_proc(s, me),
        7 => allgather::sparbit(s, me),
        8 => allgather::direct(s, me),
        _ => unknown(choice),
    }
    run.end()
}

/// Bytes of each block.
fn lengths(blocks: &[Place<'_>]) -> Result<Vec<u64>> {
    blocks.iter().map(|block| block.bytes()).collect()
}

pub fn allgatherv(call: &Call<'_>) -> Result {
    let (me, blocks) = (call.me(), call.in_blocks());
    let lengths = lengths(&blocks)?;
    let own: Source<'_> = match call.in_place() {
        true => blocks[me.rank as usize].source(),
        false => call.gives(call.args.sendcount),
    };
    let given = Side::Listed(vec![own]);
    let choice = call.choose(0, true);
    let mut run = Run::new(call, Buffers::new(given, Side::Listed(blocks), Units::Blocks(lengths)));
    let s = &mut run;
    match choice.algorithm {
        1 => allgather::linear(s, me),
        2 => allgather::bruck(s, me, or(choice.fanout, 2)),
        3 => allgather::ring(s, me),
        4 => allgather::neighbor(s, me),
        5 => allgather::two_proc(s, me),
        6 => allgather::sparbit(s, me),
        _ => unknown(choice),
    }
    run.end()
}

pub fn gather(call: &Call<'_>) -> Result {
    let (me, root) = (call.me(), call.root());
    let (count, dtype) = match call.is_root() {
        true => (call.args.recvcount, call.recvtype()),
        false => (call.args.sendcount, call.sendtype()),
    };
    let block = bytes(dtype, count)?;
    let total = all_blocks(block, me.n)?;
    if total == 0 {
        return Ok(());
    }
    let given = |count| Side::Even { all: call.gives(count), each: count };
    let (given, result) = if call.is_root() {
        let place = call.gets(count * u64::from(me.n));
        let given = match call.in_place() {
            true => Side::Even { all: place.source().part(u64::from(root) * count, count), each: count },
            false => given(call.args.sendcount),
        };
        (given, Side::Even { all: place, each: count })
    } else {
        (given(count), Side::Nothing)
    };
    let choice = call.choose(total, true);
    let mut run = Run::new(call, Buffers::new(given, result, Units::Bytes(block)));
    let s = &mut run;
    match choice.algorithm {
        1 => gathers::gather_linear(s, me, root),
        2 => gathers::gather_binomial(s, me, root),
        3 => gathers::gather_linear_sync(s, me, root),
        _ => unknown(choice),
    }
    run.end()
}

pub fn scatter(call: &Call<'_>) -> Result {
    let (me, root) = (call.me(), call.root());
    let (count, dtype) = match call.is_root() {
        true => (call.args.sendcount, call.sendtype()),
        false => (call.args.recvcount, call.recvtype()),
    };
    let block = bytes(dtype, count)?;
    let total = all_blocks(block, me.n)?;
    if total == 0 {
        return Ok(());
    }
    let given = match call.is_root() {
        true => Side::Even { all: call.gives(count * u64::from(me.n)), each: count },
        false => Side::Nothing,
    };
    let result = match call.is_root() && call.in_place() {
        true => Side::Nothing,
        false => Side::Even { all: call.gets(call.args.recvcount), each: call.args.recvcount },
    };
    let choice = call.choose(total, true);
    let mut run = Run::new(call, Buffers::new(given, result, Units::Bytes(block)));
    let s = &mut run;
    match choice.algorithm {
        1 => gathers::scatter_linear(s, me, root, 1),
        2 => gathers::scatter_binomial(s, me, root),
        3 => gathers::scatter_linear(s, me, root, choice.requests as usize),
        _ => unknown(choice),
    }
    run.end()
}

/// The copy of blocks that are to be sent and lie where others are received.
const COPY: u8 = 7;

/// Where the data is: in place, in a copy.
fn copied(s: &mut dyn Script, call: &Call<'_>) -> Area {
    if !call.in_place() {
        return Area::Given;
    }
    let n = call.me().n.into();
    s.temp(COPY, n, 0);
    s.copy(result(0, n), temp(COPY, 0, n));
    Area::Temp(COPY)
}

pub fn alltoall(call: &Call<'_>) -> Result {
    let (me, each) = (call.me(), call.args.recvcount);
    let block = bytes(call.recvtype(), each)?;
    let total = all_blocks(block, me.n)?;
    if total == 0 {
        return Ok(());
    }
    let (n, sends) = (u64::from(me.n), call.args.sendcount);
    let given = match call.in_place() {
        true => Side::Nothing,
        false => Side::Even { all: call.gives(sends * n), each: sends },
    };
    let choice = call.choose(total, true);
    let result = Side::Even { all: call.gets(each * n), each };
    let mut run = Run::new(call, Buffers::new(given, result, Units::Bytes(block)));
    let s = &mut run;
    let from = copied(s, call);
    match choice.algorithm {
        1 => alltoall::linear(s, me, from, choice.requests as usize),
        2 => alltoall::pairwise(s, me, from),
        3 => alltoall::bruck(s, me, from, or(choice.fanout, 2)),
        4 => alltoall::linear(s, me, from, or(choice.requests, 4) as usize),
        5 => alltoall::two_proc(s, me, from),
        _ => unknown(choice),
    }
    run.end()
}

pub fn alltoallv(call: &Call<'_>) -> Result {
    let (me, blocks) = (call.me(), call.in_blocks());
    let lengths = lengths(&blocks)?;
    let given = if call.in_place() { Side::Nothing } else { Side::Listed(call.out_blocks()) };
    let choice = call.choose(0, true);
    let mut run = Run::new(call, Buffers::new(given, Side::Listed(blocks), Units::Blocks(lengths)));
    let s = &mut run;
    let from = copied(s, call);
    match choice.algorithm {
        1 => alltoall::linear(s, me, from, 2 * WINDOW),
        2 => alltoall::pairwise(s, me, from),
        _ => unknown(choice),
    }
    run.end()
}

/// Peers that a rank speaks with at once in an alltoallv.
const WINDOW: usize = 16;
