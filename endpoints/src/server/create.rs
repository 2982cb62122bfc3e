//! Calls the functions that make communicators, once all members do.

use crate::abi::*;
use crate::errors::class;
use crate::lists::{UNWEIGHTED, WEIGHTS_EMPTY};
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::Server;

impl Server {
    /// Calls the function of a command that makes a communicator; all members do, or its arguments are wrong.
    pub fn create(&mut self, index: u32, record: &mut Record, number: i64) {
        let error = match self.make(record) {
            Ok(comm) => {
                self.creations.register(comm, number);
                self.facts(record, comm)
            }
            Err(error) => error,
        };
        self.complete(index, error);
    }

    /// Facts that the client has to know of a new communicator.
    pub fn facts(&self, record: &mut Record, comm: Comm) -> c_int {
        record.out[0] = comm as u64;
        if comm == COMM_NULL {
            return SUCCESS;
        }
        let (mut rank, mut size, mut inter, mut remote, mut kind) = (0, 0, 0, -1, UNDEFINED);
        let mut sizes = [0; 3];
        // SAFETY: a communicator of this process, and locals.
        unsafe {
            pmpi::MPI_Comm_set_errhandler(comm, ERRORS_RETURN);
            pmpi::MPI_Comm_rank(comm, &raw mut rank);
            pmpi::MPI_Comm_size(comm, &raw mut size);
            pmpi::MPI_Comm_test_inter(comm, &raw mut inter);
            if inter != 0 {
                pmpi::MPI_Comm_remote_size(comm, &raw mut remote);
            } else {
                pmpi::MPI_Topo_test(comm, &raw mut kind);
            }
            let [a, b, c] = &mut sizes;
            match kind {
                CART => pmpi::MPI_Cartdim_get(comm, a),
                GRAPH => pmpi::MPI_Graphdims_get(comm, a, b),
                DIST_GRAPH => pmpi::MPI_Dist_graph_neighbors_count(comm, a, b, c),
                _ => SUCCESS,
            };
        }
        record.args = [rank, size, remote, kind, sizes[0], sizes[1], sizes[2], 0].map(i64::from);
        SUCCESS
    }

    fn make(&mut self, record: &Record) -> Result<Comm, c_int> {
        let comm = record.comm as usize;
        let hints = self.hints(record);
        let args = record.args;
        let arg = |i: usize| args[i] as c_int;
        let mut new = COMM_NULL;
        let to = &raw mut new;
        // SAFETY: handles of this process, and lists of the lengths given.
        let error = unsafe {
            match record.op {
                op::COMM_SPLIT => pmpi::MPI_Comm_split(comm, arg(0), arg(1), to),
                op::COMM_SPLIT_TYPE => pmpi::MPI_Comm_split_type(comm, arg(0), arg(1), hints.0, to),
                op::COMM_CREATE | op::COMM_CREATE_GROUP | op::ENDPOINTS => {
                    let mut group = self.group(&self.ints(record, 0, args[0]))?;
                    let error = match record.op {
                        op::COMM_CREATE => pmpi::MPI_Comm_create(comm, group, to),
                        op::COMM_CREATE_GROUP => pmpi::MPI_Comm_create_group(comm, group, record.tag, to),
                        _ => pmpi::MPI_Comm_create_group(COMM_WORLD, group, record.tag, to),
                    };
                    pmpi::MPI_Group_free(&raw mut group);
                    // Of endpoints: the function has no hints of its own.
                    if error == SUCCESS && hints.0 != INFO_NULL && new != COMM_NULL {
                        pmpi::MPI_Comm_set_info(new, hints.0);
                    }
                    error
                }
                op::INTERCOMM_CREATE => {
                    pmpi::MPI_Intercomm_create(comm, record.root, args[0] as usize, arg(1), record.tag, to)
                }
                op::INTERCOMM_MERGE => pmpi::MPI_Intercomm_merge(comm, arg(0), to),
                op::CART_CREATE => {
                    let (dims, periods) =
                        (self.ints(record, 0, args[0]), self.ints(record, args[0] as usize, args[0]));
                    pmpi::MPI_Cart_create(comm, arg(0), dims.as_ptr(), periods.as_ptr(), arg(1), to)
                }
                op::CART_SUB => pmpi::MPI_Cart_sub(comm, self.ints(record, 0, args[0]).as_ptr(), to),
                op::GRAPH_CREATE => {
                    let (nodes, edges) =
                        (self.ints(record, 0, args[0]), self.ints(record, args[0] as usize, args[2]));
                    pmpi::MPI_Graph_create(comm, arg(0), nodes.as_ptr(), edges.as_ptr(), arg(1), to)
                }
                op::DIST_GRAPH => {
                    let (n, edges) = (args[0] as usize, args[1] as usize);
                    let lists = [(0, n), (n, n), (2 * n, edges), (2 * n + edges, edges)];
                    let [sources, degrees, dests, listed] =
                        lists.map(|(from, n)| self.ints(record, from, n as i64));
                    let weights = match args[3] {
                        0 => UNWEIGHTED,
                        _ if edges == 0 => WEIGHTS_EMPTY,
                        _ => listed.as_ptr(),
                    };
                    pmpi::MPI_Dist_graph_create(
                        comm,
                        arg(0),
                        sources.as_ptr(),
                        degrees.as_ptr(),
                        dests.as_ptr(),
                        weights,
                        hints.0,
                        arg(2),
                        to,
                    )
                }
                _ => {
                    let (i, o) = (args[0] as usize, args[1] as usize);
                    let lists = [(0, i), (i, i), (2 * i, o), (2 * i + o, o)]
                        .map(|(from, n)| self.ints(record, from, n as i64));
                    let weights = |list: &Vec<c_int>| match args[3] {
                        0 => UNWEIGHTED,
                        _ if list.is_empty() => WEIGHTS_EMPTY,
                        _ => list.as_ptr(),
                    };
                    let [sources, sw, dests, dw] = &lists;
                    pmpi::MPI_Dist_graph_create_adjacent(
                        comm,
                        arg(0),
                        sources.as_ptr(),
                        weights(sw),
                        arg(1),
                        dests.as_ptr(),
                        weights(dw),
                        hints.0,
                        arg(2),
                        to,
                    )
                }
            }
        };
        if error == SUCCESS { Ok(new) } else { Err(class(error)) }
    }

    /// The group of these ranks of the world.
    fn group(&self, ranks: &[c_int]) -> Result<Group, c_int> {
        let (mut world, mut group) = (GROUP_NULL, GROUP_NULL);
        // SAFETY: locals, and a list of that length.
        let error = unsafe {
            pmpi::MPI_Comm_group(COMM_WORLD, &raw mut world);
            let error = pmpi::MPI_Group_incl(world, ranks.len() as c_int, ranks.as_ptr(), &raw mut group);
            pmpi::MPI_Group_free(&raw mut world);
            error
        };
        if error == SUCCESS { Ok(group) } else { Err(class(error)) }
    }
}
