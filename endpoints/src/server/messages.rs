//! Point-to-point commands, probes, and what is done to requests.

use crate::abi::*;
use crate::buffers::Bound;
use crate::errors::class;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::{Pair, Server, Work};

impl Server {
    pub fn message(&mut self, index: u32, record: &mut Record) {
        match record.op & !op::PERSISTENT {
            op::IPROBE | op::IMPROBE => {
                if !self.probe(index, record) {
                    record.out[0] = 0;
                    self.complete(index, SUCCESS);
                }
            }
            op::PROBE | op::MPROBE => {
                if !self.probe(index, record) {
                    self.pend_probe(index);
                }
            }
            _ => self.transfer(index, record),
        }
    }

    fn transfer(&mut self, index: u32, record: &mut Record) {
        let mut work = Work::new(index);
        work.limited = matches!(record.op & !op::PERSISTENT, op::RECV | op::MRECV | op::SENDRECV);
        work.sends = !work.limited;
        let [data, second] = match self.bind(record, &mut work) {
            Ok(bound) => bound,
            Err(class) => return self.complete(index, class),
        };
        if record.op == op::SENDRECV {
            return self.exchange(index, record, [data, second], work);
        }
        let (at, count, dtype) = (data.at, data.count, data.dtype);
        let (peer, tag, comm) = (record.root, record.tag, record.comm as usize);
        let mut request = REQUEST_NULL;
        let to = &raw mut request;
        let persistent = record.op & op::PERSISTENT != 0;
        // SAFETY: the buffers are mapped here and stay until the operation is complete.
        let error = unsafe {
            match (record.op & !op::PERSISTENT, persistent) {
                (op::SEND, false) => pmpi::MPI_Isend_c(at, count, dtype, peer, tag, comm, to),
                (op::SSEND, false) => pmpi::MPI_Issend_c(at, count, dtype, peer, tag, comm, to),
                (op::RSEND, false) => pmpi::MPI_Irsend_c(at, count, dtype, peer, tag, comm, to),
                (op::RECV, false) => pmpi::MPI_Irecv_c(at, count, dtype, peer, tag, comm, to),
                (op::SEND, true) => pmpi::MPI_Send_init_c(at, count, dtype, peer, tag, comm, to),
                (op::SSEND, true) => pmpi::MPI_Ssend_init_c(at, count, dtype, peer, tag, comm, to),
                (op::RSEND, true) => pmpi::MPI_Rsend_init_c(at, count, dtype, peer, tag, comm, to),
                (op::RECV, true) => pmpi::MPI_Recv_init_c(at, count, dtype, peer, tag, comm, to),
                _ => {
                    let mut message = record.args[4] as usize;
                    pmpi::MPI_Imrecv_c(at, count, dtype, &raw mut message, to)
                }
            }
        };
        self.started(index, error, request, work, persistent);
    }

    /// A receive and a send that are complete together. (MPI_Isendrecv would do, but not every library fills in its status.)
    fn exchange(&mut self, index: u32, record: &Record, data: [Bound; 2], mut receive: Work) {
        let [out, into] = data;
        let comm = record.comm as usize;
        let (source, tag) = (record.args[4] as c_int, record.args[5] as c_int);
        let mut requests = [REQUEST_NULL; 2];
        let [r, s] = &mut requests;
        // SAFETY: the buffers are mapped here and stay until the operations are complete.
        let error = unsafe { pmpi::MPI_Irecv_c(into.at, into.count, into.dtype, source, tag, comm, r) };
        if error != SUCCESS {
            return self.complete(index, error);
        }
        // SAFETY: as above.
        let error =
            unsafe { pmpi::MPI_Isend_c(out.at, out.count, out.dtype, record.root, record.tag, comm, s) };
        if error != SUCCESS {
            // SAFETY: the receive that was just started.
            unsafe {
                pmpi::MPI_Cancel(r);
                pmpi::MPI_Wait(r, core::ptr::null_mut());
            }
            return self.complete(index, error);
        }
        let pair = Pair::new();
        let mut send = Work::new(index);
        send.stages[0] = receive.stages[0].take();
        send.pair = Some(pair.clone());
        receive.pair = Some(pair);
        self.pend(receive, requests[0]);
        self.pend(send, requests[1]);
    }

    /// An operation was started, or a persistent one made.
    pub fn started(&mut self, index: u32, error: c_int, request: Request, mut work: Work, persistent: bool) {
        if error != SUCCESS {
            return self.complete(index, error);
        }
        if persistent {
            work.persistent = true;
            self.persistent.insert(index, (request, Some(work)));
            return self.complete(index, SUCCESS);
        }
        self.pend(work, request);
    }

    /// Looks for a message; answers the command if there is one, or something is wrong.
    pub fn probe(&mut self, index: u32, record: &mut Record) -> bool {
        let (source, tag, comm) = (record.root, record.tag, record.comm as usize);
        let (mut flag, mut message, mut status) = (0, MESSAGE_NULL, Status::default());
        // SAFETY: locals.
        let error = unsafe {
            match record.op {
                op::IPROBE | op::PROBE => pmpi::MPI_Iprobe(source, tag, comm, &raw mut flag, &raw mut status),
                _ => pmpi::MPI_Improbe(source, tag, comm, &raw mut flag, &raw mut message, &raw mut status),
            }
        };
        if flag == 0 && error == SUCCESS {
            return false;
        }
        record.out = [flag as u64, message as u64, 0];
        record.status = status;
        self.complete(index, error);
        true
    }

    pub fn control_request(&mut self, index: u32, record: &mut Record) {
        let target = record.args[0] as u32;
        match record.op {
            op::START => {
                let Some((request, work)) = self.persistent.get_mut(&index) else {
                    return self.complete(index, ERR_REQUEST);
                };
                let Some(mut work) = work.take() else { return self.complete(index, ERR_REQUEST) };
                let mut request = *request;
                if let Err(class) = self.read_again(record, &mut work) {
                    if let Some((_, kept)) = self.persistent.get_mut(&index) {
                        *kept = Some(work);
                    }
                    return self.complete(index, class);
                }
                // SAFETY: an inactive persistent request of this process.
                let error = unsafe { pmpi::MPI_Start(&raw mut request) };
                if error != SUCCESS {
                    if let Some((_, kept)) = self.persistent.get_mut(&index) {
                        *kept = Some(work);
                    }
                    return self.complete(index, error);
                }
                // With MPI_PROC_NULL some libraries have it inactive again at once, and would never report it with others.
                if record.root == PROC_NULL && work.limited | work.sends {
                    let (mut flag, mut status) = (0, Status::default());
                    // SAFETY: the request that was just started.
                    unsafe { pmpi::MPI_Test(&raw mut request, &raw mut flag, &raw mut status) };
                    if flag != 0 {
                        let status = Status { source: PROC_NULL, tag: ANY_TAG, ..status };
                        return self.finish(work, status, SUCCESS);
                    }
                }
                self.pend(work, request);
            }
            op::REQUEST_FREE => {
                let mut error = ERR_REQUEST;
                if let Some((mut request, _)) = self.persistent.remove(&target) {
                    // SAFETY: the client frees inactive ones only.
                    error = unsafe { pmpi::MPI_Request_free(&raw mut request) };
                }
                self.complete(index, error);
            }
            _ => {
                let mut error = SUCCESS;
                // One that is not pending is complete already.
                if let Some(mut request) = self.pending(target) {
                    // SAFETY: a request of this process that is under way.
                    error = class(unsafe { pmpi::MPI_Cancel(&raw mut request) });
                }
                self.complete(index, error);
            }
        }
    }
}
