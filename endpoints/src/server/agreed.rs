//! Commands that all members carry out together, once all of them have been asked.

use crate::abi::SUCCESS;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::Server;

impl Server {
    /// Carries a command out; all members do, or its arguments are wrong. `number` is the new object's.
    pub fn carry_out(&mut self, index: u32, record: &mut Record, number: i64) {
        match record.op {
            op::COMM_SET_INFO => {
                let hints = self.hints(record);
                let set = |info| {
                    // SAFETY: handles of this process.
                    unsafe { pmpi::MPI_Comm_set_info(record.comm as usize, info) }
                };
                self.complete(index, hints.info().map_or(SUCCESS, set));
            }
            op::WIN_CREATE..=op::WIN_SET_INFO => {
                let error = self.window_agreed(record, number);
                self.complete(index, error);
            }
            _ => self.create(index, record, number),
        }
    }
}
