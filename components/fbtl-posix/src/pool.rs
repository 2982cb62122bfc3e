//! Threads that carry out transfers, and the queue in front of them.
//!
//! One lock guards the queue, the operations that run and the number of idle threads. It is held for pushes, pops and looks, never while a file is touched and never while an operation
//! ends, so those who submit and cancel, in turns of progress too, wait for no file. A thread sleeps on the condition while the queue is empty; whoever submits and finds fewer
//! idle threads than waiting tasks starts one, up to the limit.
//!
//! **Cancel.** A task that waits is taken out and ended. One that runs has a flag, which its thread looks at between two calls. The entry of a running operation is removed
//! before it ends: its address may be another operation's at once.
//!
//! **Fork.** A child has the pool's memory and none of its threads, and maybe the lock as another thread held it. So the pool knows in which process it was made, and elsewhere
//! touches neither lock nor threads.

use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_fbtl::{Job, Key, Opened, Refusal};
use oxmpi_fbtl_support::{Sieving, carry_out, without_signals};
use oxmpi_mca::{Host, Status};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A transfer that waits for a thread.
pub struct Task {
    pub job: Job,
    pub file: Opened,
    pub sieving: Sieving,
}

/// The threads of one instance.
pub struct Pool {
    host: Host,
    most_threads: usize,
    most_operations: usize,
    process: u32,
    state: Mutex<State>,
    /// Something waits, or the pool ends.
    due: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Task>,
    /// Operations that run, with the flags that stop them.
    running: Vec<(Key, Arc<AtomicBool>)>,
    threads: Vec<JoinHandle<()>>,
    idle: usize,
    ends: bool,
}

impl Pool {
    pub fn new(host: Host, most_threads: usize, most_operations: usize) -> Pool {
        let process = std::process::id();
        Pool { host, most_threads, most_operations, process, state: Mutex::default(), due: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No step leaves the lists half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A child of the process that made the pool: nobody would carry anything out.
    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }

    /// Has a task carried out by a thread. NO_RESOURCE: as many operations are under way as may be. Where no thread can be had the operation ends with that failure.
    pub fn take(self: &Arc<Pool>, task: Task) -> Result<(), Refusal> {
        if self.is_elsewhere() {
            task.job.end(Status::NOT_SUPPORTED, 0);
            return Ok(());
        }
        let mut state = self.state();
        if state.waiting.len() + state.running.len() >= self.most_operations {
            drop(state);
            return Err(task.job.refuse(Status::NO_RESOURCE));
        }
        if state.idle <= state.waiting.len() && state.threads.len() < self.most_threads {
            match self.start() {
                Ok(thread) => state.threads.push(thread),
                // Some other thread will come to it.
                Err(_) if !state.threads.is_empty() => {}
                Err(error) => {
                    drop(state);
                    self.host.help("no-thread", &[&error.to_string()]);
                    task.job.end(Status::OUT_OF_MEMORY, 0);
                    return Ok(());
                }
            }
        }
        state.waiting.push_back(task);
        drop(state);
        self.due.notify_one();
        Ok(())
    }

    fn start(self: &Arc<Pool>) -> std::io::Result<JoinHandle<()>> {
        let pool = self.clone();
        let builder = std::thread::Builder::new().name("fbtl_posix".into());
        without_signals(|| builder.spawn(move || pool.serve()))
    }

    /// The life of a thread.
    fn serve(&self) {
        let mut state = self.state();
        loop {
            if let Some(Task { job, file, sieving }) = state.waiting.pop_front() {
                let (key, stop) = (job.key(), Arc::new(AtomicBool::new(false)));
                state.running.push((key, stop.clone()));
                drop(state);
                let (status, bytes) = carry_out(&job, &file, &sieving, &stop);
                state = self.state();
                state.running.retain(|(other, _)| *other != key);
                drop(state);
                job.end(status, bytes);
                state = self.state();
                continue;
            }
            if state.ends {
                return;
            }
            state.idle += 1;
            state = self.due.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Ends an operation early, if it waits or runs.
    pub fn cancel(&self, key: Key) {
        if self.is_elsewhere() {
            return;
        }
        let mut state = self.state();
        if let Some(at) = state.waiting.iter().position(|task| task.job.key() == key) {
            let task = state.waiting.remove(at);
            drop(state);
            if let Some(task) = task {
                task.job.end(Status::NOT_AVAILABLE, 0);
            }
            return;
        }
        if let Some((_, stop)) = state.running.iter().find(|(other, _)| *other == key) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Ends all threads; nothing is under way.
    pub fn end(&self) {
        if self.is_elsewhere() {
            return;
        }
        let mut state = self.state();
        state.ends = true;
        let threads = core::mem::take(&mut state.threads);
        drop(state);
        self.due.notify_all();
        for thread in threads {
            if thread.join().is_err() {
                self.host.error("a thread that transfers file data has ended by a panic");
            }
        }
    }
}
