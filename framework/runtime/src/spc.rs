//! Software performance counters: numbers, names, and how they are counted.
//!
//! A counter is a word in the calling thread's context ([`oxmpi_mca::ThreadCtx::counters`]), so
//! counting touches no shared line. Nothing is counted before somebody asks, by the parameters
//! `mpi_spc_attach` and `mpi_spc_dump_enabled` or by starting a performance variable (MPI 5.0 §15.3.7):
//! until then the wrappers pay one test of a flag in the communicator's first cache line. Names are
//! Open MPI's.

use oxmpi_mca::ThreadCtx;
use oxmpi_pml::{Counts, mode};

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident $name:literal $what:literal;)*) => {
        /// A counter's number.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub enum Counter { $($variant),* }

        /// Names, by number.
        pub const NAMES: [&str; [$($name),*].len()] = [$(concat!("OMPI_SPC_", $name)),*];
        /// What is counted, by number.
        pub const DESCRIPTIONS: [&str; NAMES.len()] = [$($what),*];
    };
}

counters! {
    Send "SEND" "Calls of MPI_Send";
    Isend "ISEND" "Calls of MPI_Isend";
    Recv "RECV" "Calls of MPI_Recv";
    Irecv "IRECV" "Calls of MPI_Irecv";
    Probe "PROBE" "Calls of MPI_Probe and MPI_Mprobe";
    Iprobe "IPROBE" "Calls of MPI_Iprobe and MPI_Improbe";
    Mrecv "MRECV" "Calls of MPI_Mrecv and MPI_Imrecv";
    Barrier "BARRIER" "Calls of MPI_Barrier";
    Bcast "BCAST" "Calls of MPI_Bcast";
    Reduce "REDUCE" "Calls of MPI_Reduce";
    Allreduce "ALLREDUCE" "Calls of MPI_Allreduce";
    Allgather "ALLGATHER" "Calls of MPI_Allgather";
    Gather "GATHER" "Calls of MPI_Gather";
    Scatter "SCATTER" "Calls of MPI_Scatter";
    Alltoall "ALLTOALL" "Calls of MPI_Alltoall";
    Gatherv "GATHERV" "Calls of MPI_Gatherv";
    Scatterv "SCATTERV" "Calls of MPI_Scatterv";
    Allgatherv "ALLGATHERV" "Calls of MPI_Allgatherv";
    Alltoallv "ALLTOALLV" "Calls of MPI_Alltoallv";
    Alltoallw "ALLTOALLW" "Calls of MPI_Alltoallw";
    Scan "SCAN" "Calls of MPI_Scan";
    Exscan "EXSCAN" "Calls of MPI_Exscan";
    ReduceScatter "REDUCE_SCATTER" "Calls of MPI_Reduce_scatter";
    ReduceScatterBlock "REDUCE_SCATTER_BLOCK" "Calls of MPI_Reduce_scatter_block";
    NeighborAllgather "NEIGHBOR_ALLGATHER" "Calls of MPI_Neighbor_allgather";
    NeighborAllgatherv "NEIGHBOR_ALLGATHERV" "Calls of MPI_Neighbor_allgatherv";
    NeighborAlltoall "NEIGHBOR_ALLTOALL" "Calls of MPI_Neighbor_alltoall";
    NeighborAlltoallv "NEIGHBOR_ALLTOALLV" "Calls of MPI_Neighbor_alltoallv";
    NeighborAlltoallw "NEIGHBOR_ALLTOALLW" "Calls of MPI_Neighbor_alltoallw";
    Bsend "BSEND" "Calls of MPI_Bsend and MPI_Ibsend";
    Ssend "SSEND" "Calls of MPI_Ssend";
    Rsend "RSEND" "Calls of MPI_Rsend";
    Issend "ISSEND" "Calls of MPI_Issend";
    Irsend "IRSEND" "Calls of MPI_Irsend";
    BytesSentUser "BYTES_SENT_USER" "Bytes given to blocking and nonblocking sends";
}

impl Counter {
    /// The counter of a send.
    fn of_send(blocking: bool, send_mode: u32) -> Counter {
        match (blocking, send_mode) {
            (_, mode::BUFFERED) => Counter::Bsend,
            (true, mode::SYNCHRONOUS) => Counter::Ssend,
            (true, mode::READY) => Counter::Rsend,
            (true, _) => Counter::Send,
            (false, mode::SYNCHRONOUS) => Counter::Issend,
            (false, mode::READY) => Counter::Irsend,
            (false, _) => Counter::Isend,
        }
    }
}

/// The calling thread did `counter` once.
///
/// # Safety
/// `thread` must be a context of a living instance that belongs to the calling thread.
#[cold]
#[inline(never)]
pub(crate) unsafe fn count(thread: *mut ThreadCtx, counter: Counter) {
    // SAFETY: the caller's promise.
    unsafe { add(thread, counter, 1) }
}

/// The calling thread sends a message.
///
/// # Safety
/// As [`count`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn sent(thread: *mut ThreadCtx, blocking: bool, send_mode: u32, bytes: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        add(thread, Counter::of_send(blocking, send_mode), 1);
        add(thread, Counter::BytesSentUser, bytes);
    }
}

/// # Safety
/// As [`count`].
unsafe fn add(thread: *mut ThreadCtx, counter: Counter, n: u64) {
    // SAFETY: the caller's promise.
    let counters = unsafe { (*thread).counters };
    if !counters.is_null() {
        // SAFETY: `NAMES.len()` words stand there and only this thread writes them; another may be
        // summing them up, hence the volatile accesses.
        unsafe {
            let word = counters.add(counter as usize);
            word.write_volatile(word.read_volatile().wrapping_add(n));
        }
    }
}

/// Which counters a list of names asks for: full names, with or without the prefix, or `all`.
/// `Err`: the name that is none.
pub(crate) fn attached(names: &[String]) -> Result<Vec<bool>, String> {
    let mut out = vec![false; NAMES.len()];
    for name in names {
        if name.eq_ignore_ascii_case("all") {
            out.fill(true);
            continue;
        }
        let wanted = name.to_ascii_uppercase();
        let full = if wanted.starts_with("OMPI_SPC_") { wanted } else { format!("OMPI_SPC_{wanted}") };
        match NAMES.iter().position(|n| *n == full) {
            Some(i) => out[i] = true,
            None => return Err(name.clone()),
        }
    }
    Ok(out)
}

/// What a rank prints at the end, or nothing if nothing was counted. `misses`: of the lock, by CRI.
pub(crate) fn dump(rank: u32, counters: &[u64], messages: &Counts, misses: &[u64]) -> String {
    let mut lines: Vec<(String, u64)> =
        NAMES.iter().zip(counters).map(|(name, n)| ((*name).to_owned(), *n)).collect();
    lines.push(("OMPI_SPC_UNEXPECTED".into(), messages.unexpected));
    lines.push(("OMPI_SPC_UNEXPECTED_IN_QUEUE".into(), messages.waiting));
    lines.push(("OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE".into(), messages.most_waiting));
    lines.extend(misses.iter().enumerate().map(|(cri, n)| (format!("runtime_cri_lock_misses[{cri}]"), *n)));
    let shown = lines.iter().filter(|(_, n)| *n > 0);
    let text: String = shown.map(|(name, n)| format!("    {name} -> {n}\n")).collect();
    if text.is_empty() {
        return text;
    }
    format!("rank {rank}: software performance counters\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_named() {
        let list = |names: &[&str]| attached(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        let found = list(&["send", "OMPI_SPC_ALLTOALL"]).unwrap();
        assert!(found[Counter::Send as usize] && found[Counter::Alltoall as usize]);
        assert_eq!(found.iter().filter(|x| **x).count(), 2);
        assert!(list(&["all"]).unwrap().iter().all(|x| *x));
        assert_eq!(list(&["sent"]), Err("sent".to_string()));
        assert!(NAMES[Counter::Alltoall as usize].ends_with("ALLTOALL"));
    }

    #[test]
    fn a_dump_shows_what_was_counted() {
        let mut counters = vec![0; NAMES.len()];
        let mut messages = Counts::default();
        assert_eq!(dump(0, &counters, &messages, &[0, 0]), "");
        counters[Counter::Recv as usize] = 7;
        messages.most_waiting = 5;
        let text = dump(3, &counters, &messages, &[0, 2]);
        for line in
            ["OMPI_SPC_RECV -> 7", "OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE -> 5", "runtime_cri_lock_misses[1] -> 2"]
        {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("OMPI_SPC_SEND"));
    }
}
