//! Names and numbers of the software performance counters, by which parameters and tools ask for them.
//!
//! Names are Open MPI's; a counter of a function that this version does not have stays 0.

macro_rules! counters {
    ($($variant:ident $name:literal $what:literal;)*) => {
        /// A counter's number.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub enum Counter { $(#[doc = $what] $variant),* }

        const ALL: [Counter; [$($name),*].len()] = [$(Counter::$variant),*];
        /// Names, by number.
        pub const NAMES: [&str; ALL.len()] = [$(concat!("OMPI_SPC_", $name)),*];
        /// Counters, by number.
        pub const DESCRIPTIONS: [&str; ALL.len()] = [$($what),*];
    };
}

counters! {
    Send "SEND" "Calls of MPI_Send";
    Bsend "BSEND" "Calls of MPI_Bsend";
    Rsend "RSEND" "Calls of MPI_Rsend";
    Ssend "SSEND" "Calls of MPI_Ssend";
    Recv "RECV" "Calls of MPI_Recv";
    Mrecv "MRECV" "Calls of MPI_Mrecv and MPI_Imrecv";
    Isend "ISEND" "Calls of MPI_Isend";
    Ibsend "IBSEND" "Calls of MPI_Ibsend";
    Irsend "IRSEND" "Calls of MPI_Irsend";
    Issend "ISSEND" "Calls of MPI_Issend";
    Irecv "IRECV" "Calls of MPI_Irecv";
    Sendrecv "SENDRECV" "Calls of MPI_Sendrecv";
    SendrecvReplace "SENDRECV_REPLACE" "Calls of MPI_Sendrecv_replace";
    Isendrecv "ISENDRECV" "Calls of MPI_Isendrecv";
    IsendrecvReplace "ISENDRECV_REPLACE" "Calls of MPI_Isendrecv_replace";
    Put "PUT" "Calls of MPI_Put";
    Rput "RPUT" "Calls of MPI_Rput";
    Get "GET" "Calls of MPI_Get";
    Rget "RGET" "Calls of MPI_Rget";
    Probe "PROBE" "Calls of MPI_Probe and MPI_Mprobe";
    Iprobe "IPROBE" "Calls of MPI_Iprobe and MPI_Improbe";
    Bcast "BCAST" "Calls of MPI_Bcast";
    Reduce "REDUCE" "Calls of MPI_Reduce";
    ReduceScatter "REDUCE_SCATTER" "Calls of MPI_Reduce_scatter";
    ReduceScatterBlock "REDUCE_SCATTER_BLOCK" "Calls of MPI_Reduce_scatter_block";
    Allreduce "ALLREDUCE" "Calls of MPI_Allreduce";
    Scan "SCAN" "Calls of MPI_Scan";
    Exscan "EXSCAN" "Calls of MPI_Exscan";
    Scatter "SCATTER" "Calls of MPI_Scatter";
    Scatterv "SCATTERV" "Calls of MPI_Scatterv";
    Gather "GATHER" "Calls of MPI_Gather";
    Gatherv "GATHERV" "Calls of MPI_Gatherv";
    Alltoall "ALLTOALL" "Calls of MPI_Alltoall";
    Alltoallv "ALLTOALLV" "Calls of MPI_Alltoallv";
    Alltoallw "ALLTOALLW" "Calls of MPI_Alltoallw";
    NeighborAlltoall "NEIGHBOR_ALLTOALL" "Calls of MPI_Neighbor_alltoall";
    NeighborAlltoallv "NEIGHBOR_ALLTOALLV" "Calls of MPI_Neighbor_alltoallv";
    NeighborAlltoallw "NEIGHBOR_ALLTOALLW" "Calls of MPI_Neighbor_alltoallw";
    Allgather "ALLGATHER" "Calls of MPI_Allgather";
    Allgatherv "ALLGATHERV" "Calls of MPI_Allgatherv";
    NeighborAllgather "NEIGHBOR_ALLGATHER" "Calls of MPI_Neighbor_allgather";
    NeighborAllgatherv "NEIGHBOR_ALLGATHERV" "Calls of MPI_Neighbor_allgatherv";
    Barrier "BARRIER" "Calls of MPI_Barrier";
    Ibcast "IBCAST" "Calls of MPI_Ibcast";
    Ireduce "IREDUCE" "Calls of MPI_Ireduce";
    IreduceScatter "IREDUCE_SCATTER" "Calls of MPI_Ireduce_scatter";
    IreduceScatterBlock "IREDUCE_SCATTER_BLOCK" "Calls of MPI_Ireduce_scatter_block";
    Iallreduce "IALLREDUCE" "Calls of MPI_Iallreduce";
    Iscan "ISCAN" "Calls of MPI_Iscan";
    Iexscan "IEXSCAN" "Calls of MPI_Iexscan";
    Iscatter "ISCATTER" "Calls of MPI_Iscatter";
    Iscatterv "ISCATTERV" "Calls of MPI_Iscatterv";
    Igather "IGATHER" "Calls of MPI_Igather";
    Igatherv "IGATHERV" "Calls of MPI_Igatherv";
    Ialltoall "IALLTOALL" "Calls of MPI_Ialltoall";
    Ialltoallv "IALLTOALLV" "Calls of MPI_Ialltoallv";
    Ialltoallw "IALLTOALLW" "Calls of MPI_Ialltoallw";
    IneighborAlltoall "INEIGHBOR_ALLTOALL" "Calls of MPI_Ineighbor_alltoall";
    IneighborAlltoallv "INEIGHBOR_ALLTOALLV" "Calls of MPI_Ineighbor_alltoallv";
    IneighborAlltoallw "INEIGHBOR_ALLTOALLW" "Calls of MPI_Ineighbor_alltoallw";
    Iallgather "IALLGATHER" "Calls of MPI_Iallgather";
    Iallgatherv "IALLGATHERV" "Calls of MPI_Iallgatherv";
    IneighborAllgather "INEIGHBOR_ALLGATHER" "Calls of MPI_Ineighbor_allgather";
    IneighborAllgatherv "INEIGHBOR_ALLGATHERV" "Calls of MPI_Ineighbor_allgatherv";
    Ibarrier "IBARRIER" "Calls of MPI_Ibarrier";
    BcastInit "BCAST_INIT" "Calls of MPI_Bcast_init";
    ReduceInit "REDUCE_INIT" "Calls of MPI_Reduce_init";
    ReduceScatterInit "REDUCE_SCATTER_INIT" "Calls of MPI_Reduce_scatter_init";
    ReduceScatterBlockInit "REDUCE_SCATTER_BLOCK_INIT" "Calls of MPI_Reduce_scatter_block_init";
    AllreduceInit "ALLREDUCE_INIT" "Calls of MPI_Allreduce_init";
    ScanInit "SCAN_INIT" "Calls of MPI_Scan_init";
    ExscanInit "EXSCAN_INIT" "Calls of MPI_Exscan_init";
    ScatterInit "SCATTER_INIT" "Calls of MPI_Scatter_init";
    ScattervInit "SCATTERV_INIT" "Calls of MPI_Scatterv_init";
    GatherInit "GATHER_INIT" "Calls of MPI_Gather_init";
    GathervInit "GATHERV_INIT" "Calls of MPI_Gatherv_init";
    AlltoallInit "ALLTOALL_INIT" "Calls of MPI_Alltoall_init";
    AlltoallvInit "ALLTOALLV_INIT" "Calls of MPI_Alltoallv_init";
    AlltoallwInit "ALLTOALLW_INIT" "Calls of MPI_Alltoallw_init";
    NeighborAlltoallInit "NEIGHBOR_ALLTOALL_INIT" "Calls of MPI_Neighbor_alltoall_init";
    NeighborAlltoallvInit "NEIGHBOR_ALLTOALLV_INIT" "Calls of MPI_Neighbor_alltoallv_init";
    NeighborAlltoallwInit "NEIGHBOR_ALLTOALLW_INIT" "Calls of MPI_Neighbor_alltoallw_init";
    AllgatherInit "ALLGATHER_INIT" "Calls of MPI_Allgather_init";
    AllgathervInit "ALLGATHERV_INIT" "Calls of MPI_Allgatherv_init";
    NeighborAllgatherInit "NEIGHBOR_ALLGATHER_INIT" "Calls of MPI_Neighbor_allgather_init";
    NeighborAllgathervInit "NEIGHBOR_ALLGATHERV_INIT" "Calls of MPI_Neighbor_allgatherv_init";
    BarrierInit "BARRIER_INIT" "Calls of MPI_Barrier_init";
    Test "TEST" "Calls of MPI_Test";
    Testall "TESTALL" "Calls of MPI_Testall";
    Testany "TESTANY" "Calls of MPI_Testany";
    Testsome "TESTSOME" "Calls of MPI_Testsome";
    Wait "WAIT" "Calls of MPI_Wait";
    Waitall "WAITALL" "Calls of MPI_Waitall";
    Waitany "WAITANY" "Calls of MPI_Waitany";
    Waitsome "WAITSOME" "Calls of MPI_Waitsome";
    Wtime "WTIME" "Calls of MPI_Wtime";
    Cancel "CANCEL" "Calls of MPI_Cancel";
    PsendInit "PSEND_INIT" "Calls of MPI_Psend_init";
    PrecvInit "PRECV_INIT" "Calls of MPI_Precv_init";
    Pready "PREADY" "Calls of MPI_Pready";
    PreadyList "PREADY_LIST" "Calls of MPI_Pready_list";
    PreadyRange "PREADY_RANGE" "Calls of MPI_Pready_range";
    Parrived "PARRIVED" "Calls of MPI_Parrived";
    BytesSentUser "BYTES_SENT_USER" "Bytes given to blocking and nonblocking sends";
    BytesSentMpi "BYTES_SENT_MPI" "Bytes that collective operations sent";
    BytesReceivedUser "BYTES_RECEIVED_USER" "Bytes received by blocking and nonblocking receives; those of a nonblocking one when it is waited for";
    BytesReceivedMpi "BYTES_RECEIVED_MPI" "Bytes that collective operations received";
    BytesPut "BYTES_PUT" "Bytes given to MPI_Put and MPI_Rput";
    BytesGet "BYTES_GET" "Bytes asked for by MPI_Get and MPI_Rget";
}

/// Names of what the PML counts, with its unit of [`oxmpi_pml::Counts`].
pub const MESSAGE_NAMES: [&str; 7] = [
    "OMPI_SPC_UNEXPECTED",
    "OMPI_SPC_UNEXPECTED_IN_QUEUE",
    "OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE",
    "OMPI_SPC_OUT_OF_SEQUENCE",
    "OMPI_SPC_OOS_IN_QUEUE",
    "OMPI_SPC_MAX_OOS_IN_QUEUE",
    MATCH_TIME,
];
/// Measured only while it is asked for.
const MATCH_TIME: &str = "OMPI_SPC_MATCH_TIME";

/// Functions that are counted under the name of another.
const TOGETHER: [(&str, Counter); 3] =
    [("MPI_Mprobe", Counter::Probe), ("MPI_Improbe", Counter::Iprobe), ("MPI_Imrecv", Counter::Mrecv)];

impl Counter {
    /// The counter of a function's calls, if there is one; the large-count form is the same function.
    pub const fn of_call(function: &str) -> Option<Counter> {
        let name = match function.as_bytes() {
            [name @ .., b'_', b'c'] => name,
            name => name,
        };
        let mut i = 0;
        while i < TOGETHER.len() {
            if same(name, TOGETHER[i].0.as_bytes()) {
                return Some(TOGETHER[i].1);
            }
            i += 1;
        }
        let [b'M', b'P', b'I', b'_', name @ ..] = name else { return None };
        let mut i = 0;
        while i < NAMES.len() {
            // Behind the prefix OMPI_SPC_.
            if same(name, NAMES[i].as_bytes().split_at(9).1) {
                return Some(ALL[i]);
            }
            i += 1;
        }
        None
    }
}

/// Whether two names are equal but for capitals.
const fn same(a: &[u8], b: &[u8]) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Iterates over the names of all counters: those of calls, then those of messages.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(MESSAGE_NAMES)
}

/// Lists the names that `mpi_spc_attach` takes: `all`, and each counter.
pub fn choices() -> Vec<&'static str> {
    std::iter::once("all").chain(all_names()).collect()
}

/// Which counters a list of names asks for, in the order of `all_names`: full names, with or without the prefix,
/// or `all`. `Err`: the name that is none.
pub fn attached(names: &[String]) -> Result<Vec<bool>, String> {
    let mut out = vec![false; all_names().count()];
    for name in names {
        if name.eq_ignore_ascii_case("all") {
            out.fill(true);
            continue;
        }
        let wanted = name.to_ascii_uppercase();
        let full = if wanted.starts_with("OMPI_SPC_") { wanted } else { format!("OMPI_SPC_{wanted}") };
        match all_names().position(|n| n == full) {
            Some(i) => out[i] = true,
            None => return Err(name.clone()),
        }
    }
    Ok(out)
}

/// Whether `attached` (empty: whatever is printed) asks for the time of matching.
pub fn asks_match_time(attached: &[bool], printed: bool) -> bool {
    match all_names().position(|n| n == MATCH_TIME).and_then(|i| attached.get(i)) {
        Some(asked) => *asked,
        None => printed,
    }
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
        let queues = list(&["unexpected", "OMPI_SPC_MATCH_TIME"]).unwrap();
        assert!(asks_match_time(&queues, false) && !asks_match_time(&found, true));
        assert!(asks_match_time(&[], true) && !asks_match_time(&[], false));
        assert_eq!(list(&["sent"]), Err("sent".to_string()));
        assert!(NAMES[Counter::Alltoall as usize].ends_with("ALLTOALL"));
    }

    #[test]
    fn functions_find_their_counters() {
        let found = [
            ("MPI_Send", Some(Counter::Send)),
            ("MPI_Send_c", Some(Counter::Send)),
            ("MPI_Neighbor_alltoallw_init_c", Some(Counter::NeighborAlltoallwInit)),
            ("MPI_Improbe", Some(Counter::Iprobe)),
            ("MPI_Waitsome", Some(Counter::Waitsome)),
            ("MPI_Comm_dup", None),
            ("MPI_c", None),
            ("Send", None),
        ];
        for (function, counter) in found {
            assert_eq!(Counter::of_call(function), counter, "{function}");
        }
        for (i, name) in NAMES.iter().enumerate() {
            assert_eq!(ALL[i] as usize, i);
            assert_eq!(NAMES.iter().filter(|n| *n == name).count(), 1, "{name}");
        }
    }
}
