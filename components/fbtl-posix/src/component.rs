//! The component and its open file.

use crate::params::{Settings, tell};
use crate::pool::{Pool, Task};
use core::sync::atomic::AtomicBool;
use oxmpi_fbtl::{Fbtl, FbtlModule, Job, Key, Opened, Refusal, Transfers};
use oxmpi_fbtl_support::{Sieving, carry_out, params};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::sync::Arc;

pub struct PosixComponent;

impl Component for PosixComponent {
    type Module = FbtlModule;
    const NAME: &'static str = "posix";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<FbtlModule>), OpenError> {
        let settings = Settings::of(params);
        if settings.sieved_writes {
            host.warn(&format!("fbtl_posix_{}", params::NO_SIEVED_WRITES));
        }
        let pool = Arc::new(Pool::new(host, settings.num_threads, settings.most));
        Ok((settings.priority, vec![oxmpi_fbtl::module(Posix { settings, pool })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers);
        Ok(())
    }
}

/// The component of one instance.
struct Posix {
    settings: Settings,
    pool: Arc<Pool>,
}

impl Fbtl for Posix {
    type File = PosixTransfers;

    fn query(&self, _file: &Opened) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn open(&self, file: Opened) -> Result<PosixTransfers, Status> {
        Ok(PosixTransfers { file, sieving: self.settings.sieving, pool: self.pool.clone() })
    }

    fn finalize(&self) {
        self.pool.end();
    }
}

/// An open file.
struct PosixTransfers {
    file: Opened,
    sieving: Sieving,
    pool: Arc<Pool>,
}

impl Transfers for PosixTransfers {
    fn submit(&self, job: Job) -> Result<(), Refusal> {
        if job.is_now() {
            let (status, bytes) = carry_out(&job, &self.file, &self.sieving, &AtomicBool::new(false));
            job.end(status, bytes);
            return Ok(());
        }
        self.pool.take(Task { job, file: self.file, sieving: self.sieving })
    }

    fn cancel(&self, key: Key) {
        self.pool.cancel(key);
    }
}
