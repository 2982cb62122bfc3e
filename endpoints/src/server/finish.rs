//! The end of an operation: its data and its result go to the client.

use crate::abi::*;
use crate::state::{Server, Work};

impl Server {
    /// Data goes to the client, then the result.
    pub fn finish(&mut self, mut work: Work, status: Status, error: c_int) {
        let index = work.record;
        // SAFETY: the record is pending, so it is the proxy's.
        let record = unsafe { &mut *self.record(index) };
        let mut error = error;
        if error == SUCCESS
            && let Err(class) = self.write_back(&work, &status)
        {
            error = class;
        }
        let mut status = status;
        if let Some(pair) = &work.pair {
            pair.left.set(pair.left.get() - 1);
            if work.limited {
                pair.status.set(status);
            }
            if error != SUCCESS {
                pair.error.set(error);
            }
            if pair.left.get() > 0 {
                return;
            }
            (status, error) = (pair.status.get(), pair.error.get());
        }
        if let Some((newcomm, number)) = work.newcomm.take()
            && error == SUCCESS
        {
            self.creations.register(*newcomm, number);
            error = self.facts(record, *newcomm);
        }
        record.status = Status { error, ..status };
        if work.persistent
            && let Some((_, kept)) = self.persistent.get_mut(&index)
        {
            *kept = Some(work);
        }
        self.complete(index, error);
    }
}
