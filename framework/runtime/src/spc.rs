//! Software performance counters: numbers, names, and how they are counted.
//!
//! A counter is a word in the calling thread's context ([`oxmpi_mca::ThreadCtx::counters`]), so
//! counting touches no shared line. The words exist only if the parameters `mpi_spc_attach` or
//! `mpi_spc_dump_enabled` ask for them; without, the point-to-point wrappers pay one test of a flag in
//! the communicator's first cache line. Names are Open MPI's.

use oxmpi_mca::ThreadCtx;

/// A counter's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Counter {
    Send = 0,
    Isend = 1,
    Recv = 2,
    Irecv = 3,
    Probe = 4,
    Iprobe = 5,
    Mrecv = 6,
    Barrier = 7,
    Bcast = 8,
    Reduce = 9,
    Allreduce = 10,
    Allgather = 11,
    Gather = 12,
    Scatter = 13,
    Alltoall = 14,
    Gatherv = 15,
    Scatterv = 16,
    Allgatherv = 17,
    Alltoallv = 18,
    Alltoallw = 19,
    Scan = 20,
    Exscan = 21,
    ReduceScatter = 22,
    ReduceScatterBlock = 23,
}

/// Names, by number.
pub const NAMES: [&str; 24] = [
    "OMPI_SPC_SEND",
    "OMPI_SPC_ISEND",
    "OMPI_SPC_RECV",
    "OMPI_SPC_IRECV",
    "OMPI_SPC_PROBE",
    "OMPI_SPC_IPROBE",
    "OMPI_SPC_MRECV",
    "OMPI_SPC_BARRIER",
    "OMPI_SPC_BCAST",
    "OMPI_SPC_REDUCE",
    "OMPI_SPC_ALLREDUCE",
    "OMPI_SPC_ALLGATHER",
    "OMPI_SPC_GATHER",
    "OMPI_SPC_SCATTER",
    "OMPI_SPC_ALLTOALL",
    "OMPI_SPC_GATHERV",
    "OMPI_SPC_SCATTERV",
    "OMPI_SPC_ALLGATHERV",
    "OMPI_SPC_ALLTOALLV",
    "OMPI_SPC_ALLTOALLW",
    "OMPI_SPC_SCAN",
    "OMPI_SPC_EXSCAN",
    "OMPI_SPC_REDUCE_SCATTER",
    "OMPI_SPC_REDUCE_SCATTER_BLOCK",
];

/// The calling thread did `counter` once.
///
/// # Safety
/// `thread` must be a context of a living instance that belongs to the calling thread.
#[cold]
#[inline(never)]
pub(crate) unsafe fn count(thread: *mut ThreadCtx, counter: Counter) {
    // SAFETY: the caller's promise.
    let counters = unsafe { (*thread).counters };
    if !counters.is_null() {
        // SAFETY: `NAMES.len()` words stand there and only this thread writes them; another may be
        // summing them up, hence the volatile accesses.
        unsafe {
            let word = counters.add(counter as usize);
            word.write_volatile(word.read_volatile() + 1);
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

/// What a rank prints at the end, or nothing if nothing was counted.
pub(crate) fn dump(rank: u32, counters: &[u64]) -> String {
    let mut text = String::new();
    for (name, n) in NAMES.iter().zip(counters).filter(|(_, n)| **n > 0) {
        text += &format!("    {name} -> {n}\n");
    }
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
        assert_eq!(dump(0, &counters), "");
        counters[Counter::Recv as usize] = 7;
        assert!(dump(3, &counters).contains("OMPI_SPC_RECV -> 7"));
    }
}
