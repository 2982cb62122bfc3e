//! MPI_Barrier (MPI 5.0 §6.3).

use crate::exchange::{Call, Pending, Result, WINDOW, in_bytes, out_bytes, tag};
use crate::params::BarrierAlgorithm as Algorithm;
use core::ptr::null_mut;

pub fn barrier(call: &Call<'_>) -> Result {
    if call.num_ranks() == 1 {
        return Ok(());
    }
    match call.module().settings.barrier.for_ranks(call.num_ranks(), call.oversubscribed()) {
        Algorithm::Linear => linear(call),
        Algorithm::Tree => tree(call),
        Algorithm::Auto | Algorithm::Dissemination => dissemination(call),
    }
}

/// Everyone tells rank 0, rank 0 tells everyone. Where ranks share cores the number of times that
/// each must run decides, and here that is once: a rank that is let go enters the next barrier in
/// the same turn on its core.
fn linear(call: &Call<'_>) -> Result {
    if call.rank() != 0 {
        call.send(out_bytes(null_mut(), 0), 0, tag::BARRIER)?;
        return call.recv(in_bytes(null_mut(), 0), 0, tag::BARRIER);
    }
    let mut pending = Pending::<WINDOW>::new(call);
    for rank in 1..call.num_ranks() {
        pending.recv(in_bytes(null_mut(), 0), rank, tag::BARRIER)?;
    }
    pending.wait()?;
    for rank in 1..call.num_ranks() {
        call.send(out_bytes(null_mut(), 0), rank, tag::BARRIER)?;
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
        call.exchange(out_bytes(null_mut(), 0), to, in_bytes(null_mut(), 0), from, tag::BARRIER)?;
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
            call.recv(in_bytes(null_mut(), 0), rank + bit, tag::BARRIER)?;
        }
        bit *= 2;
    }
    if rank != 0 {
        let parent = rank - bit;
        call.send(out_bytes(null_mut(), 0), parent, tag::BARRIER)?;
        call.recv(in_bytes(null_mut(), 0), parent, tag::BARRIER)?;
    }
    while bit > 1 {
        bit /= 2;
        if rank + bit < n {
            call.send(out_bytes(null_mut(), 0), rank + bit, tag::BARRIER)?;
        }
    }
    Ok(())
}
