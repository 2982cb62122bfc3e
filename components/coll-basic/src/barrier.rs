//! MPI_Barrier (MPI 5.0 §6.3).

use crate::algorithm::Algorithm as Taken;
use crate::exchange::{Call, Pending, Result, WINDOW, tag};
use crate::params::BarrierAlgorithm as Algorithm;
use oxmpi_coll_support::{Place, Source};

pub fn barrier(call: &Call<'_>) -> Result {
    if call.num_ranks() == 1 {
        return Ok(());
    }
    match call.module().settings.barrier.for_ranks(call.num_ranks(), call.oversubscribed()) {
        Algorithm::Linear => {
            call.goes_by(Taken::BarrierLinear);
            linear(call)
        }
        Algorithm::Tree => {
            call.goes_by(Taken::BarrierTree);
            tree(call)
        }
        Algorithm::Auto | Algorithm::Dissemination => {
            call.goes_by(Taken::BarrierDissemination);
            dissemination(call)
        }
    }
}

/// Everyone tells rank 0, rank 0 tells everyone. Where ranks share cores the number of times that
/// each must run decides, and here that is once: a rank that is let go enters the next barrier in
/// the same turn on its core.
fn linear(call: &Call<'_>) -> Result {
    if call.rank() != 0 {
        call.send(Source::NOTHING, 0, tag::BARRIER)?;
        return call.recv(Place::NOTHING, 0, tag::BARRIER);
    }
    let mut pending = Pending::<WINDOW>::new(call);
    for rank in 1..call.num_ranks() {
        pending.recv(Place::NOTHING, rank, tag::BARRIER)?;
    }
    pending.wait()?;
    for rank in 1..call.num_ranks() {
        call.send(Source::NOTHING, rank, tag::BARRIER)?;
    }
    Ok(())
}

/// In step k everyone tells the one 2^k ahead; after ceil(log2 n) steps all know of all.
fn dissemination(call: &Call<'_>) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let mut distance = 1;
    while distance < n {
        let to = (rank + distance) % n;
        let from = (rank + n - distance) % n;
        call.exchange(Source::NOTHING, to, Place::NOTHING, from, tag::BARRIER)?;
        distance *= 2;
    }
    Ok(())
}

/// Up a binomial tree to rank 0 and down again: everyone but rank 0 sends one message up and
/// receives one from above.
fn tree(call: &Call<'_>) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let mut bit = 1;
    while bit < n && rank & bit == 0 {
        if rank + bit < n {
            call.recv(Place::NOTHING, rank + bit, tag::BARRIER)?;
        }
        bit *= 2;
    }
    if rank != 0 {
        let parent = rank - bit;
        call.send(Source::NOTHING, parent, tag::BARRIER)?;
        call.recv(Place::NOTHING, parent, tag::BARRIER)?;
    }
    while bit > 1 {
        bit /= 2;
        if rank + bit < n {
            call.send(Source::NOTHING, rank + bit, tag::BARRIER)?;
        }
    }
    Ok(())
}
