//! The end of an operation: its data and its result go to the client.

use crate::abi::*;
use crate::state::{Event, Server, Work};

impl Server {
    /// Data goes to the client, then the result.
    pub fn finish(&mut self, mut work: Work, status: Status, error: c_int) {
        match core::mem::take(&mut work.event) {
            Event::Command => (),
            Event::Heard(window) => return self.hear(window, status.source),
            Event::Counted(together) => {
                together.left.set(together.left.get() - 1);
                if error != SUCCESS {
                    together.error.set(error);
                }
                if together.left.get() == 0
                    && let Some(record) = together.record.get()
                {
                    self.complete(record, together.error.get());
                }
                return;
            }
        }
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
