//! Communicators and topologies: made, freed and asked in the proxy, where endpoints are ranks.
//!
//! Duplication is nonblocking. The other functions that make communicators have no nonblocking form: `agreement` says when one
//! of them is called.

use crate::abi::*;
use crate::errors::class;
use crate::lists::UNWEIGHTED;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::{Server, Work};

impl Server {
    pub fn communicator(&mut self, index: u32, record: &mut Record) {
        if record.op == op::COMM_DUP {
            return self.duplicate(index, record);
        }
        match record.op {
            op::COMM_FREE => {
                let mut comm = record.comm as usize;
                self.creations.forget(comm);
                // SAFETY: the client has given its handle up.
                self.complete(index, unsafe { pmpi::MPI_Comm_free(&raw mut comm) });
            }
            op::COMM_COMPARE => {
                let mut result = 0;
                // SAFETY: handles of this process.
                let error = unsafe {
                    pmpi::MPI_Comm_compare(record.comm as usize, record.args[0] as usize, &raw mut result)
                };
                record.out[0] = result as u64;
                self.complete(index, error);
            }
            op::COMM_GROUP => {
                let error = self.members(record).err().unwrap_or(SUCCESS);
                self.complete(index, error);
            }
            op::COMM_GET_INFO => {
                let mut info = INFO_NULL;
                // SAFETY: a handle of this process and a local.
                let error = unsafe { pmpi::MPI_Comm_get_info(record.comm as usize, &raw mut info) };
                if error == SUCCESS {
                    self.answer_hints(record, info);
                }
                self.complete(index, error);
            }
            op::TOPOLOGY => {
                let error = self.topology(record);
                self.complete(index, error);
            }
            _ => self.agree(index, record),
        }
    }

    fn duplicate(&mut self, index: u32, record: &Record) {
        let number = self.creations.derive(record.comm as usize);
        let mut newcomm = Box::new(COMM_NULL);
        let mut request = REQUEST_NULL;
        let hints = self.hints(record);
        // SAFETY: the box stays where it is until the operation is complete.
        let error = unsafe {
            let (comm, new, to) = (record.comm as usize, &raw mut *newcomm, &raw mut request);
            match record.hints {
                0 => pmpi::MPI_Comm_idup(comm, new, to),
                _ => pmpi::MPI_Comm_idup_with_info(comm, hints.0, new, to),
            }
        };
        let work = Work { newcomm: Some((newcomm, number)), ..Work::new(index) };
        self.started(index, error, request, work, false);
    }

    /// World ranks of a communicator's local group (`args[0]` is 0) or remote group.
    fn members(&self, record: &Record) -> Result<(), c_int> {
        let (mut world, mut group, mut size) = (GROUP_NULL, GROUP_NULL, 0);
        let comm = record.comm as usize;
        // SAFETY: locals and handles of this process.
        unsafe {
            let error = match record.args[0] {
                0 => pmpi::MPI_Comm_group(comm, &raw mut group),
                _ => pmpi::MPI_Comm_remote_group(comm, &raw mut group),
            };
            if error != SUCCESS {
                return Err(class(error));
            }
            pmpi::MPI_Group_size(group, &raw mut size);
            pmpi::MPI_Comm_group(COMM_WORLD, &raw mut world);
            let ranks: Vec<c_int> = (0..size).collect();
            let mut there = ranks.clone();
            pmpi::MPI_Group_translate_ranks(group, size, ranks.as_ptr(), world, there.as_mut_ptr());
            pmpi::MPI_Group_free(&raw mut world);
            pmpi::MPI_Group_free(&raw mut group);
            there.truncate(record.args[1].max(0) as usize);
            self.answer(record, 0, &there);
        }
        Ok(())
    }

    /// The lists of a topology, whose sizes the client knows.
    fn topology(&self, record: &Record) -> c_int {
        let comm = record.comm as usize;
        let (a, b) = (record.args[1] as usize, record.args[2] as usize);
        let lists = match record.args[0] as c_int {
            CART => [a, a, a, 0],
            GRAPH => [a, b, 0, 0],
            _ => [a, a, b, b],
        };
        let mut lists = lists.map(|n| vec![1 as c_int; n]);
        let [l0, l1, l2, l3] = &mut lists;
        let (n, m) = (a as c_int, b as c_int);
        // SAFETY: lists of the lengths that the library named.
        let error = unsafe {
            match record.args[0] as c_int {
                CART => pmpi::MPI_Cart_get(comm, n, l0.as_mut_ptr(), l1.as_mut_ptr(), l2.as_mut_ptr()),
                GRAPH => pmpi::MPI_Graph_get(comm, n, m, l0.as_mut_ptr(), l1.as_mut_ptr()),
                _ => {
                    let weighted = record.args[3] != 0;
                    let weights = |list: &mut Vec<c_int>| match weighted {
                        true => list.as_mut_ptr(),
                        false => UNWEIGHTED.cast_mut(),
                    };
                    let (w1, w3) = (weights(l1), weights(l3));
                    pmpi::MPI_Dist_graph_neighbors(comm, n, l0.as_mut_ptr(), w1, m, l2.as_mut_ptr(), w3)
                }
            }
        };
        let mut at = 0;
        for list in &lists {
            self.answer(record, at, list);
            at += list.len();
        }
        error
    }
}
