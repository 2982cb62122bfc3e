//! Derived datatypes: rebuilt from the contents that the client read of its own.

use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::Server;

/// Combiners of the standard ABI.
mod combiner {
    use core::ffi::c_int;
    pub const DUP: c_int = 102;
    pub const CONTIGUOUS: c_int = 103;
    pub const VECTOR: c_int = 104;
    pub const HVECTOR: c_int = 105;
    pub const INDEXED: c_int = 106;
    pub const HINDEXED: c_int = 107;
    pub const INDEXED_BLOCK: c_int = 108;
    pub const HINDEXED_BLOCK: c_int = 109;
    pub const STRUCT: c_int = 110;
    pub const SUBARRAY: c_int = 111;
    pub const DARRAY: c_int = 112;
    pub const RESIZED: c_int = 116;
}

impl Server {
    pub fn datatype(&mut self, index: u32, record: &mut Record) {
        let error = match record.op {
            op::TYPE_FREE => {
                let mut dtype = record.args[0] as usize;
                // SAFETY: a datatype that this proxy made.
                unsafe { pmpi::MPI_Type_free(&raw mut dtype) }
            }
            _ => self.rebuild(record),
        };
        self.complete(index, error);
    }

    fn rebuild(&self, record: &mut Record) -> c_int {
        let [kind, ints, addrs, types] = [0, 1, 2, 3].map(|i| record.args[i] as usize);
        let i = self.ints(record, 0, ints as i64);
        // SAFETY: the client wrote lists of these lengths, one behind the other.
        let (a, d) = unsafe {
            let a = core::slice::from_raw_parts(self.list(record).add(ints).cast::<isize>(), addrs);
            (a, core::slice::from_raw_parts(self.list(record).add(ints + addrs).cast::<usize>(), types))
        };
        let mut new = DATATYPE_NULL;
        let to = &raw mut new;
        let old = d.first().copied().unwrap_or(DATATYPE_NULL);
        let at = |n: usize| i.get(n).copied().unwrap_or(0);
        let from = |n: usize| i[n.min(i.len())..].as_ptr();
        // SAFETY: lists as MPI_Type_get_contents orders them for the combiner (MPI 5.0 §5.1.13).
        let error = unsafe {
            match kind as c_int {
                combiner::DUP => pmpi::MPI_Type_dup(old, to),
                combiner::CONTIGUOUS => pmpi::MPI_Type_contiguous(at(0), old, to),
                combiner::VECTOR => pmpi::MPI_Type_vector(at(0), at(1), at(2), old, to),
                combiner::HVECTOR => pmpi::MPI_Type_create_hvector(at(0), at(1), a[0], old, to),
                combiner::INDEXED => {
                    let n = at(0) as usize;
                    pmpi::MPI_Type_indexed(at(0), from(1), from(1 + n), old, to)
                }
                combiner::HINDEXED => pmpi::MPI_Type_create_hindexed(at(0), from(1), a.as_ptr(), old, to),
                combiner::INDEXED_BLOCK => {
                    pmpi::MPI_Type_create_indexed_block(at(0), at(1), from(2), old, to)
                }
                combiner::HINDEXED_BLOCK => {
                    pmpi::MPI_Type_create_hindexed_block(at(0), at(1), a.as_ptr(), old, to)
                }
                combiner::STRUCT => pmpi::MPI_Type_create_struct(at(0), from(1), a.as_ptr(), d.as_ptr(), to),
                combiner::SUBARRAY => {
                    let n = at(0) as usize;
                    let order = at(1 + 3 * n);
                    pmpi::MPI_Type_create_subarray(
                        at(0),
                        from(1),
                        from(1 + n),
                        from(1 + 2 * n),
                        order,
                        old,
                        to,
                    )
                }
                combiner::DARRAY => {
                    let n = at(2) as usize;
                    let lists = [3, 3 + n, 3 + 2 * n, 3 + 3 * n].map(from);
                    let [sizes, distributions, arguments, processes] = lists;
                    let order = at(3 + 4 * n);
                    pmpi::MPI_Type_create_darray(
                        at(0),
                        at(1),
                        at(2),
                        sizes,
                        distributions,
                        arguments,
                        processes,
                        order,
                        old,
                        to,
                    )
                }
                combiner::RESIZED => pmpi::MPI_Type_create_resized(old, a[0], a[1], to),
                _ => ERR_TYPE,
            }
        };
        if error != SUCCESS {
            return error;
        }
        record.out[0] = new as u64;
        // SAFETY: the datatype was made above.
        unsafe { pmpi::MPI_Type_commit(&raw mut new) }
    }
}
