//! Counting of calls and bytes, for the software performance counters.
//!
//! **Cost.** While nobody asks, a function that has a counter pays one test of a flag where it enters
//! (`mpi_fn!` puts it there); functions without one pay nothing. The functions on a message's path
//! ([`COUNTED_INSIDE`]) pay nothing either: they find the process through [`crate::call::process::quick`], which finds
//! none while calls are counted, so that they go the way of unusual calls, where they are counted.
//!
//! **Bytes** of a nonblocking receive are known when it completes: a receive that starts while calls are counted
//! carries a flag, by which whoever completes it notices.

use crate::call::process::{self, Process};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::ThreadCtx;
use oxmpi_pml::mode;
pub use oxmpi_runtime::spc::Counter;
use oxmpi_runtime::{Communicator, OfComm, spc};

/// Somebody asks.
static ON: AtomicBool = AtomicBool::new(false);
/// Somebody asks for counts of communicators, whose words threads share: not written where others are asked for alone.
static OF_COMM: AtomicBool = AtomicBool::new(false);

/// Functions that are counted by themselves.
const COUNTED_INSIDE: [&str; 11] = [
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Isend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Test",
    "MPI_Waitall",
];

/// The counter that `mpi_fn!` raises where a function enters; worked out when it is compiled.
pub const fn at_entry(function: &str) -> Option<Counter> {
    let counter = Counter::of_call(function);
    let mut i = 0;
    while i < COUNTED_INSIDE.len() {
        if let (Some(a), Some(b)) = (counter, Counter::of_call(COUNTED_INSIDE[i]))
            && a as usize == b as usize
        {
            return None;
        }
        i += 1;
    }
    counter
}

/// Whether calls are counted.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Told by [`crate::call::users::refresh`] only.
pub fn set(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Told by the tools' sessions only, while calls are counted.
pub fn set_of_comm(on: bool) {
    OF_COMM.store(on, Ordering::Relaxed);
}

fn note(comm: &Communicator, what: OfComm, n: u64) {
    if OF_COMM.load(Ordering::Relaxed) {
        comm.note(what, n);
    }
}

/// One call.
#[inline(always)]
pub fn call(counter: Counter) {
    if on() {
        add(counter, 1);
    }
}

#[cold]
#[inline(never)]
fn add(counter: Counter, n: u64) {
    if let Some(process) = process::current() {
        spc::count(own(process), counter, n);
    }
}

/// The context of the calling thread, whose counters are raised.
#[inline(always)]
fn own(process: &Process) -> Option<&ThreadCtx> {
    // SAFETY: the calling thread's own context, which stays as long as the process.
    unsafe { process.thread().as_ref() }
}

/// A message of so many bytes goes out on a communicator.
fn note_sent(comm: &Communicator, bytes: u64) {
    note(comm, OfComm::Sends, 1);
    note(comm, OfComm::BytesSent, bytes);
}

/// A send by `function`, which may be one that sends and receives and was counted where it entered.
pub fn sent(
    process: &Process,
    comm: &Communicator,
    (function, blocking): (&str, bool),
    send_mode: u32,
    bytes: u64,
) {
    if !on() {
        return;
    }
    note_sent(comm, bytes);
    let thread = own(process);
    // The names of those are longer than of any that only sends.
    let only = !blocking || function.len() <= "MPI_Ssend_c".len();
    if only {
        let counter = match (blocking, send_mode) {
            (true, mode::SYNCHRONOUS) => Counter::Ssend,
            (true, mode::READY) => Counter::Rsend,
            (true, _) => Counter::Send,
            (false, mode::SYNCHRONOUS) => Counter::Issend,
            (false, mode::READY) => Counter::Irsend,
            (false, _) => Counter::Isend,
        };
        spc::count(thread, counter, 1);
    }
    spc::count(thread, Counter::BytesSentUser, bytes);
}

/// Bytes that a counter counts.
pub fn add_bytes(counter: Counter, bytes: u64) {
    add(counter, bytes);
}

/// Bytes of a message that is counted as a call elsewhere.
#[inline(always)]
pub fn sent_bytes(comm: &Communicator, bytes: u64) {
    if on() {
        note_sent(comm, bytes);
        add(Counter::BytesSentUser, bytes);
    }
}

/// A collective is called, begun or prepared.
#[inline(always)]
pub fn collective(comm: &Communicator) {
    if on() {
        note(comm, OfComm::Collectives, 1);
    }
}

/// The program received so many bytes.
#[cold]
#[inline(never)]
pub fn received(process: &Process, comm: Option<&Communicator>, bytes: u64) {
    if let Some(comm) = comm {
        note(comm, OfComm::Receives, 1);
        note(comm, OfComm::BytesReceived, bytes);
    }
    spc::count(own(process), Counter::BytesReceivedUser, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_counted_once() {
        assert_eq!(at_entry("MPI_Send"), None);
        assert_eq!(at_entry("MPI_Waitall"), None);
        assert_eq!(at_entry("MPI_Isend_c"), None);
        assert_eq!(at_entry("MPI_Waitsome"), Some(Counter::Waitsome));
        assert_eq!(at_entry("MPI_Imrecv_c"), Some(Counter::Mrecv));
        assert_eq!(at_entry("MPI_Comm_rank"), None);
        assert!(COUNTED_INSIDE.iter().all(|f| f.len() < "MPI_Sendrecv".len()));
    }
}
