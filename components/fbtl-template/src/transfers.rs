//! Transfers of one open file, and the thread that carries them out.
//!
//! `submit` is called by threads that make progress for others, so it waits for nothing: it hands the job to the thread and returns. A job that is lost on the way ends as a failure
//! by itself. The file is dropped when no transfer of it is under way, and takes its thread with it. A child of a fork has no thread: what it does not carry out itself it refuses.

use core::sync::atomic::AtomicBool;
use oxmpi_fbtl::{Job, Key, Opened, Refusal, Transfers};
use oxmpi_fbtl_support::{Sieving, carry_out, without_signals};
use oxmpi_mca::Status;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Each piece is read by itself.
const NO_SIEVING: Sieving = Sieving { reads: false, max_block: 0, max_gap: 0, max_window: 0 };

pub struct TemplateTransfers {
    file: Opened,
    /// `None` when the file goes.
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// Of the process that has the thread.
    process: u32,
}

impl TemplateTransfers {
    pub fn new(file: Opened) -> Result<TemplateTransfers, Status> {
        let (queue, jobs) = channel();
        // The program's signals are not for this thread.
        let start = || std::thread::Builder::new().spawn(move || serve(&file, &jobs));
        let thread = without_signals(start).map_err(|_| Status::OUT_OF_MEMORY)?;
        Ok(TemplateTransfers { file, queue: Some(queue), thread: Some(thread), process: std::process::id() })
    }

    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }
}

/// The life of the thread.
fn serve(file: &Opened, jobs: &Receiver<Job>) {
    for job in jobs {
        carry(job, file);
    }
}

/// This is where your device does the work: `job.pieces()` says what goes where, `job.data(i)` lends the bytes of a piece, and `job.end` tells the host.
fn carry(job: Job, file: &Opened) {
    let (status, bytes) = carry_out(&job, file, &NO_SIEVING, &AtomicBool::new(false));
    job.end(status, bytes);
}

impl Transfers for TemplateTransfers {
    fn submit(&self, job: Job) -> Result<(), Refusal> {
        match &self.queue {
            Some(_) if self.is_elsewhere() && !job.is_now() => job.end(Status::NOT_SUPPORTED, 0),
            // The caller waits for nothing else: to hand it over would take longer.
            Some(queue) if !job.is_now() => {
                // A job that comes back is dropped, and so ends as a failure. A queue with an end answers `job.refuse(Status::NO_RESOURCE)` instead.
                let _ = queue.send(job);
            }
            _ => carry(job, &self.file),
        }
        Ok(())
    }

    /// An operation that goes on to its end is right, too.
    fn cancel(&self, _key: Key) {}
}

impl Drop for TemplateTransfers {
    fn drop(&mut self) {
        let elsewhere = self.is_elsewhere();
        self.queue = None;
        if let Some(thread) = self.thread.take().filter(|_| !elsewhere) {
            // Its panic has been reported as such.
            let _ = thread.join();
        }
    }
}
