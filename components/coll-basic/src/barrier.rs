//! MPI_Barrier (MPI 5.0 §6.3).

use crate::exchange::{Call, Result, in_bytes, out_bytes, tag};
use core::ptr::null_mut;

pub fn barrier(call: &Call<'_>) -> Result {
    if call.num_ranks() == 1 {
        Ok(())
    } else if call.module().settings.barrier_by_tree {
        tree(call)
    } else {
        dissemination(call)
    }
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
