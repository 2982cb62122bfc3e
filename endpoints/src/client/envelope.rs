//! One end of a message: where its data is, and whom it is for.

use super::buffers::Buffer;
use super::comm::EpComm;
use crate::abi::*;

/// One end of a message.
#[derive(Clone, Copy)]
pub struct Message {
    pub at: *mut c_void,
    pub count: i64,
    pub dtype: Datatype,
    pub peer: c_int,
    pub tag: c_int,
}

impl Message {
    /// The classes of MPI 5.0 §3.2 for wrong arguments.
    pub fn check(&self, comm: &EpComm, sends: bool) -> Result<(), c_int> {
        if self.count < 0 {
            return Err(ERR_COUNT);
        }
        if self.dtype == DATATYPE_NULL {
            return Err(ERR_TYPE);
        }
        let any = !sends && self.tag == ANY_TAG;
        if !any && (self.tag < 0 || i64::from(self.tag) > comm.client.tag_limit) {
            return Err(ERR_TAG);
        }
        let any = !sends && self.peer == ANY_SOURCE;
        if !any && self.peer != PROC_NULL && !(0..comm.peers()).contains(&self.peer) {
            return Err(ERR_RANK);
        }
        Ok(())
    }

    /// To or from MPI_PROC_NULL goes no data, wherever the buffer is.
    pub fn buffer(&self) -> Buffer {
        let count = if self.peer == PROC_NULL { 0 } else { self.count };
        Buffer::plain(self.at, count, self.dtype)
    }
}
