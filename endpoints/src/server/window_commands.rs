//! Commands about windows, each to the function that carries it out.

use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::Server;

impl Server {
    pub fn window(&mut self, index: u32, record: &mut Record) {
        match record.op {
            op::WIN_CREATE | op::WIN_FREE | op::WIN_SET_INFO => self.agree(index, record),
            op::WIN_GET_INFO | op::WIN_ATTACH | op::WIN_DETACH => {
                let error = self.about(record);
                self.complete(index, error);
            }
            _ => self.synchronise(index, record),
        }
    }

    fn about(&mut self, record: &mut Record) -> c_int {
        let number = record.args[3] as u32;
        let Some(native) = self.windows.get(&number).map(|w| w.native) else { return ERR_WIN };
        if record.op == op::WIN_GET_INFO {
            let mut info = INFO_NULL;
            // SAFETY: a window of this process and a local.
            let error = unsafe { pmpi::MPI_Win_get_info(native, &raw mut info) };
            if error == SUCCESS {
                self.answer_hints(record, info);
            }
            return error;
        }
        if record.op == op::WIN_DETACH {
            let at = record.args[0].wrapping_add(self.distance()) as *const c_void;
            // SAFETY: the library says whether it is attached.
            return unsafe { pmpi::MPI_Win_detach(native, at) };
        }
        match self.exposed(record, false) {
            // SAFETY: memory that is mapped here.
            Ok((at, _)) => unsafe { pmpi::MPI_Win_attach(native, at.cast(), record.args[1] as isize) },
            Err(class) => class,
        }
    }
}
