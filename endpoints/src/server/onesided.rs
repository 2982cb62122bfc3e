//! One-sided operations: started by the library's request-based functions, and looked at like any other operation.

use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::{Server, Work};

/// The operands of a compare-and-swap lie in the record, at these distances: origin, compare, result.
const OPERANDS: [usize; 3] = [0, 16, 32];

impl Server {
    pub fn one_sided(&mut self, index: u32, record: &mut Record) {
        let rank = record.root;
        let Some(window) = self.windows.get(&(record.args[3] as u32)) else {
            return self.complete(index, ERR_WIN);
        };
        let native = window.native;
        let distance = window.distances.get(rank as usize).copied().unwrap_or(0);
        let disp = record.args[0].wrapping_add(distance) as isize;
        let (count, dtype, sum) = (record.args[1], record.args[2] as usize, record.mpi_op as usize);
        if record.op == op::COMPARE_AND_SWAP {
            let [origin, compare, result] =
                OPERANDS.map(|at| record.inline[at..].as_mut_ptr().cast::<c_void>());
            // SAFETY: the operands are in the record, which is the proxy's.
            let error = unsafe {
                match pmpi::MPI_Compare_and_swap(origin, compare, result, dtype, rank, disp, native) {
                    SUCCESS => pmpi::MPI_Win_flush_local(rank, native),
                    error => error,
                }
            };
            return self.complete(index, error);
        }
        let mut work = Work::new(index);
        let [o, r] = match self.bind(record, &mut work) {
            Ok(bound) => bound,
            Err(class) => return self.complete(index, class),
        };
        let mut request = REQUEST_NULL;
        let to = &raw mut request;
        // SAFETY: the buffers are mapped here and stay until the operation is complete.
        let error = unsafe {
            match record.op {
                op::PUT => pmpi::MPI_Rput_c(o.at, o.count, o.dtype, rank, disp, count, dtype, native, to),
                op::GET => pmpi::MPI_Rget_c(o.at, o.count, o.dtype, rank, disp, count, dtype, native, to),
                op::ACCUMULATE => {
                    pmpi::MPI_Raccumulate_c(o.at, o.count, o.dtype, rank, disp, count, dtype, sum, native, to)
                }
                _ => pmpi::MPI_Rget_accumulate_c(
                    o.at, o.count, o.dtype, r.at, r.count, r.dtype, rank, disp, count, dtype, sum, native, to,
                ),
            }
        };
        self.started(index, error, request, work, false);
    }
}
