//! MPI_Scan and MPI_Exscan (MPI 5.0 §6.11) in log2 n steps: in step k neighbouring groups of 2^k ranks exchange their
//! sums, and those behind add what comes to their results. Sums are always combined in the order of ranks.
//!
//! **Buffers.** `sum` is the sum of our group and always in temporary memory, since it goes out; what comes in
//! is received into `got`. The result gathers in the user's buffer, which in place is the operand, too: that is
//! copied out first.

use crate::exchange::{Call, Result, tag};
use crate::reduction::Reduction;

pub fn scan(call: &Call<'_>) -> Result {
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    // SAFETY: the user's buffers, which do not overlap but in place (MPI 5.0 §6.1).
    unsafe { reduction.copy(reduction.input, call.gets())? };
    sums(call, &reduction, true)
}

pub fn exscan(call: &Call<'_>) -> Result {
    let reduction = Reduction::of(call)?;
    if reduction.is_empty() {
        return Ok(());
    }
    sums(call, &reduction, false)
}

/// Adds to the result what comes from lower ranks; `started`: our own operand is there already.
fn sums(call: &Call<'_>, reduction: &Reduction<'_>, mut started: bool) -> Result {
    let (n, rank) = (call.num_ranks(), call.rank());
    let result = call.gets();
    if n == 1 {
        return Ok(());
    }
    let span = reduction.span(reduction.count)?;
    let scratch = call.scratch(2 * span.len())?;
    let (mut sum, mut got) = (scratch.elements(0, &span), scratch.elements(span.len(), &span));
    // SAFETY: the user's operand, and room for as much in memory of ours.
    unsafe { reduction.copy(reduction.input, sum)? };
    let mut bit = 1;
    while bit < n {
        let partner = rank ^ bit;
        if partner < n {
            call.exchange(sum.source(), partner, got, partner, tag::SCAN)?;
            // SAFETY: all have the operand's elements, and no two of them overlap: two parts of memory of ours, and the user's buffer.
            unsafe {
                if partner > rank {
                    // The group behind us: the sum grows, the result does not.
                    reduction.apply(sum.source(), got)?;
                    core::mem::swap(&mut sum, &mut got);
                } else {
                    if started {
                        reduction.apply(got.source(), result)?;
                    } else {
                        reduction.copy(got.source(), result)?;
                        started = true;
                    }
                    reduction.apply(got.source(), sum)?;
                }
            }
        }
        bit *= 2;
    }
    Ok(())
}
