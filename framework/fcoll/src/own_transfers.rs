//! A rank's own access without help of others: its pieces in batches, one transfer after the other.

use crate::agree::Outcome;
use crate::call::{Call, Memory};
use oxmpi_fbtl::Piece;
use oxmpi_files::Pieces;
use oxmpi_mca::Status;

/// Most pieces of one transfer.
const BATCH: usize = 8192;

/// How far a rank's own transfers have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Bytes of the access.
    pub bytes: u64,
    /// The outcome, in this rank.
    pub outcome: Outcome,
}

impl Call<'_> {
    /// Transfers this rank's own access, and has `next` called when that has ended, whatever happened. A transfer that fails, or comes to the end of the file, is the last one.
    pub fn transfer_own(
        &self,
        next: impl FnOnce(&Call<'_>, Moved) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let moved = Moved { bytes: 0, outcome: Outcome::FINE };
        if self.access().len == 0 {
            return next(self, moved);
        }
        OwnTransfers { result: self.result()?, moved, next: Box::new(next) }.go(self)
    }

    /// The plan's end for ranks that have transferred their own: they agree on the outcome, and each says what it has moved.
    pub fn end_of_own(&self, moved: Moved) -> Result<(), Status> {
        self.agree(moved.outcome, move |call, outcome| {
            call.moved(moved.bytes, outcome.map_or(Status::OK, |outcome| outcome.status));
            Ok(())
        })
    }
}

type AfterTransfers = Box<dyn FnOnce(&Call<'_>, Moved) -> Result<(), Status> + Send>;

struct OwnTransfers {
    result: Memory,
    moved: Moved,
    next: AfterTransfers,
}

impl OwnTransfers {
    fn go(mut self, call: &Call<'_>) -> Result<(), Status> {
        let access = call.access();
        let (from, left) = (access.from + self.moved.bytes, access.len - self.moved.bytes);
        let mut batch: Vec<Piece> = Vec::new();
        let wanted = Pieces::new(&call.view(), from, left, &call.memory_of_access(), self.moved.bytes).batch(
            BATCH,
            u64::MAX,
            &mut batch,
        );
        if wanted == 0 {
            return (self.next)(call, self.moved);
        }
        // SAFETY: the access's memory is the host's until the plan has ended; the result is the plan's memory.
        unsafe { call.transfer(access.what, &batch, &self.result, false)? };
        call.then(move |call, lost| {
            // SAFETY: written by the transfer, which has ended, or still 0.
            let (bytes, status) = unsafe {
                (self.result.at().cast::<u64>().read(), self.result.at().wrapping_add(8).cast::<i32>().read())
            };
            self.moved.bytes += bytes;
            let status = Status(status);
            let short = bytes < wanted;
            if status.is_err() || lost {
                self.moved.outcome.status = status;
            } else if short {
                self.moved.outcome.end =
                    call.view().offset(call.access().from + self.moved.bytes).unwrap_or(u64::MAX);
            } else {
                return self.go(call);
            }
            (self.next)(call, self.moved)
        })
    }
}
