//! The queue of one open file, and the thread that carries operations out.
//!
//! A child that the process forks has neither the thread nor, maybe, the lock as it was: there an operation that somebody waits for is carried out at once, and every other one is
//! not supported.

use crate::faults::{Fault, Faults};
use core::sync::atomic::AtomicBool;
use oxmpi_fbtl::{Job, Key, Opened, Refusal, Transfers};
use oxmpi_fbtl_support::{Sieving, carry_out, without_signals};
use oxmpi_fs::error::system;
use oxmpi_mca::Status;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Each piece is read by itself.
const NO_SIEVING: Sieving = Sieving { reads: false, max_block: 0, max_gap: 0, max_window: 0 };

/// So long a slow operation waits before it is carried out, and one that is to be overtaken waits for others.
const DELAY: Duration = Duration::from_millis(2);

pub struct FaultyTransfers {
    shared: Arc<Shared>,
    /// The process that has the thread.
    process: u32,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    file: Opened,
    faults: Faults,
    queue: Mutex<Queue>,
    due: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Operations with their numbers.
    jobs: Vec<(u64, Job)>,
    next: u64,
    /// An operation is carried out.
    busy: bool,
    ends: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No step leaves it half changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next operation; `None`: there will be no more.
    fn next(&self) -> Option<(u64, Job)> {
        let mut queue = self.queue();
        loop {
            if !queue.jobs.is_empty() {
                break;
            }
            if queue.ends {
                return None;
            }
            queue = self.due.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if self.faults.fault == Fault::Reordered {
            // Others may come that overtake it.
            drop(queue);
            std::thread::sleep(DELAY);
            queue = self.queue();
        }
        let at = if self.faults.fault == Fault::Reordered { queue.jobs.len() - 1 } else { 0 };
        queue.busy = true;
        Some(queue.jobs.remove(at))
    }

    /// Carries an operation out, with its fault.
    fn carry(&self, number: u64, job: Job) {
        let (status, bytes) = match self.faults.fault {
            Fault::Fails(errno) if self.faults.hit(number) => (system(errno), 0),
            _ => carry_out(&job, &self.file, &NO_SIEVING, &AtomicBool::new(false)),
        };
        // Before the end, behind which the host may offer another.
        self.queue().busy = false;
        job.end(status, bytes);
    }
}

impl FaultyTransfers {
    pub fn new(file: Opened, faults: Faults) -> Result<FaultyTransfers, Status> {
        let shared = Arc::new(Shared { file, faults, queue: Mutex::default(), due: Condvar::new() });
        let its = shared.clone();
        let life = move || {
            while let Some((number, job)) = its.next() {
                if its.faults.fault == Fault::Slow && its.faults.hit(number) {
                    std::thread::sleep(DELAY);
                }
                its.carry(number, job);
            }
        };
        // The program's signals are not for this thread.
        let thread = without_signals(|| std::thread::Builder::new().spawn(life));
        let thread = Some(thread.map_err(|_| Status::OUT_OF_MEMORY)?);
        Ok(FaultyTransfers { shared, process: std::process::id(), thread })
    }

    /// A child of the process that has the thread.
    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }
}

impl Transfers for FaultyTransfers {
    /// Every operation goes by the thread, also those that somebody waits for.
    fn submit(&self, job: Job) -> Result<(), Refusal> {
        if self.is_elsewhere() {
            let (status, bytes) = match job.is_now() {
                true => carry_out(&job, &self.shared.file, &NO_SIEVING, &AtomicBool::new(false)),
                false => (Status::NOT_SUPPORTED, 0),
            };
            job.end(status, bytes);
            return Ok(());
        }
        let mut queue = self.shared.queue();
        if self.shared.faults.fault == Fault::Full && (queue.busy || !queue.jobs.is_empty()) {
            drop(queue);
            return Err(job.refuse(Status::NO_RESOURCE));
        }
        let number = queue.next;
        queue.next += 1;
        queue.jobs.push((number, job));
        drop(queue);
        self.shared.due.notify_one();
        Ok(())
    }

    /// Takes an operation out that waits; one that is carried out goes on to its end.
    fn cancel(&self, key: Key) {
        if self.is_elsewhere() {
            return;
        }
        let mut queue = self.shared.queue();
        let Some(at) = queue.jobs.iter().position(|(_, job)| job.key() == key) else { return };
        let (_, job) = queue.jobs.remove(at);
        drop(queue);
        job.end(Status::NOT_AVAILABLE, 0);
    }
}

impl Drop for FaultyTransfers {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            return;
        }
        self.shared.queue().ends = true;
        self.shared.due.notify_one();
        if let Some(thread) = self.thread.take() {
            // Its panic has been reported as such.
            let _ = thread.join();
        }
    }
}
