//! MPI_Reduce and MPI_Allreduce (MPI 5.0 §6.9), up a binomial tree with its root at rank 0, which hands the result on.
//!
//! Every rank combines its own operand with those of the ranks behind it, in their order, so operations need not commute. One rank computes the
//! result, so all get the same bits.

use crate::bcast::spread;
use crate::module::{Algorithm, TemplateModule};
use crate::tree::Tree;
use core::mem::swap;
use oxmpi_coll::safe::{Allreduce, Broadcast, Call, Gathered, Memory, Op, Place, Reduce, Result, Source};

/// The root of the tree.
const TOP: u32 = 0;

impl Reduce for TemplateModule {
    fn reduce(&self, call: &Call<'_>, op: Op<'_>, data: Gathered<'_>, root: u32) -> Result {
        self.goes_by(call, Algorithm::Reduce);
        let sum = combine(call, op, data.operand())?;
        match data {
            Gathered::Here { result, .. } if root == TOP => call.copy(sum.source()?, result),
            Gathered::Here { result, .. } => call.recv(result, TOP),
            Gathered::Elsewhere { .. } if call.rank() == TOP => call.send(sum.source()?, root),
            Gathered::Elsewhere { .. } => Ok(()),
        }
    }
}

impl Allreduce for TemplateModule {
    fn allreduce(
        &self,
        call: &Call<'_>,
        op: Op<'_>,
        own: Option<Source<'_>>,
        mut result: Place<'_>,
    ) -> Result {
        self.goes_by(call, Algorithm::Allreduce);
        // None: in place.
        let sum = combine(call, op, own.unwrap_or(result.source()))?;
        if call.rank() != TOP {
            return spread(call, Broadcast::Other(result), TOP);
        }
        call.copy(sum.source()?, result.all())?;
        spread(call, Broadcast::Root(result.source()), TOP)
    }
}

/// Combines the operands of all ranks below this one and hands them up. The result is that of all ranks in the root of the tree.
fn combine<'a>(call: &Call<'_>, op: Op<'a>, own: Source<'_>) -> Result<Memory<'a>> {
    let tree = Tree::new(call, TOP);
    let mut sum = call.operands(op, own.count())?;
    let mut behind = call.operands(op, own.count())?;
    call.copy(own, sum.place()?)?;
    for child in tree.children() {
        call.recv(behind.place()?, child)?;
        call.reduce(op, sum.source()?, behind.place()?)?;
        swap(&mut sum, &mut behind);
    }
    if let Some(parent) = tree.parent() {
        call.send(sum.source()?, parent)?;
    }
    Ok(sum)
}
