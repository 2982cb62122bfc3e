//! The component and its open file.

use crate::board::Board;
use crate::params::{Settings, tell};
use crate::sys::Ring;
use core::sync::atomic::AtomicBool;
use oxmpi_fbtl::{Fbtl, FbtlModule, Job, Key, Opened, Refusal, Transfers};
use oxmpi_fbtl_support::{Sieving, carry_out, params};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::os::fd::RawFd;
use std::sync::Arc;

pub struct UringComponent;

impl Component for UringComponent {
    type Module = FbtlModule;
    const NAME: &'static str = "uring";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<FbtlModule>), OpenError> {
        let settings = Settings::of(params);
        let ring = Ring::new(settings.depth, settings.workers)
            .map_err(|error| OpenError::not_available(format!("the kernel gives no ring: {error}")))?;
        if settings.sieved_writes {
            host.warn(&format!("fbtl_uring_{}", params::NO_SIEVED_WRITES));
        }
        let board = Arc::new(Board::new(ring, settings.depth));
        Ok((settings.priority, vec![oxmpi_fbtl::module(Uring { settings, board })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers);
        Ok(())
    }
}

/// The number of file systems in user space (FUSE), of which the kernel's rings read wrong data: where one answers a read with less than was asked for, the ring reads the rest itself,
/// from the first offset once more, since the position of a request is not moved there (seen with Linux 6.18). A short write is a failure for it.
const FUSE: u64 = 0x6573_5546;

/// The component of one instance.
struct Uring {
    settings: Settings,
    board: Arc<Board>,
}

impl Fbtl for Uring {
    type File = UringTransfers;

    fn query(&self, file: &Opened) -> Option<i32> {
        (file.magic != FUSE).then_some(self.settings.priority)
    }

    fn open(&self, file: Opened) -> Result<UringTransfers, Status> {
        Ok(UringTransfers { file, sieving: self.settings.sieving, board: self.board.clone() })
    }

    fn harvest(&self) -> u32 {
        self.board.harvest()
    }

    fn event_fd(&self) -> Option<RawFd> {
        Some(self.board.fd())
    }
}

/// An open file.
struct UringTransfers {
    file: Opened,
    sieving: Sieving,
    board: Arc<Board>,
}

impl Transfers for UringTransfers {
    fn submit(&self, job: Job) -> Result<(), Refusal> {
        if job.is_now() {
            let (status, bytes) = carry_out(&job, &self.file, &self.sieving, &AtomicBool::new(false));
            job.end(status, bytes);
            return Ok(());
        }
        self.board.take(job, &self.file, &self.sieving)
    }

    fn cancel(&self, key: Key) {
        self.board.cancel(key);
    }
}
