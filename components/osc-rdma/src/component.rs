//! Opening, and which windows are served.

use crate::local::Pools;
use crate::params::{ACCUMULATE_GRANULARITY, PRIORITY, Settings};
use crate::peer::is_fit;
use crate::rdma::Rdma;
use crate::window::RdmaWindow;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_mca::{Answers, Component, Entry, Host, OpenError, Params, Process, Refused, Status};
use oxmpi_osc::{Osc, OscModule, Vouched, WinDesc};
use oxmpi_osc_support::{Comm, RequestPool, spokesmen};
use std::sync::Arc;

pub struct RdmaComponent;

/// The reason for which a window is served, and how each of its ranks is reached ([`Way`](crate::peer), counted by `Osc::paths`).
const WAYS: &str = "a window is served by the component of the highest priority that reaches all its ranks; this one reaches a rank, at the first operation on it, by the \
                    first that is there: by load and store where its memory is mapped (ranks of one node); by the transport's own get, put and atomics; by requests that \
                    the target's process carries out, where the transport lacks these or its atomics are not those of processors; osc_win_ranks_mapped, \
                    osc_win_ranks_by_transport and osc_win_ranks_by_requests of MPI_T count them for a window";

impl Component for RdmaComponent {
    type Module = OscModule;
    const NAME: &'static str = "rdma";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<OscModule>), OpenError> {
        let rdma = Rdma {
            host,
            settings: Settings::of(params),
            // SAFETY: it goes with the last of the component's module and its windows, each of which has a share of it; operations under way, which have requests,
            // keep it (`Peers`).
            requests: unsafe { RequestPool::new(host) },
            pools: Pools::default(),
            shelves: AtomicU64::new(0),
        };
        Ok((0, vec![oxmpi_osc::module(host, RdmaOsc { rdma: Arc::new(rdma) })]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        answers.as_set(PRIORITY, WAYS);
        if Settings::of(params).granularity == 0 {
            let because = "0: each element by an atomic of its own in windows whose memory is mapped by all ranks, or reached by lists of \
                           atomics between nodes; in others under the target's lock, which few elements share; the info key \
                           mpi_accumulate_granularity of a window says it for that";
            answers.as_set(ACCUMULATE_GRANULARITY, because);
        }
        Ok(())
    }
}

struct RdmaOsc {
    rdma: Arc<Rdma>,
}

impl Osc for RdmaOsc {
    type Window = RdmaWindow;

    /// Ranks whose memory is not mapped must be reached by a transport that is fit; one of the node and one of another
    /// speak for theirs.
    fn query(&self, desc: Vouched<'_, WinDesc>) -> Option<i32> {
        // SAFETY: the host's description of a communicator, which is valid during the call.
        let comm = unsafe { Comm::new(self.rdma.host, desc.comm) };
        for rank in spokesmen(&comm) {
            let reach = comm.reach(rank).unwrap_or(&[]);
            if !reach.iter().any(|r| is_fit(r.btl())) {
                let tried: Vec<&str> = reach.iter().map(|r| r.btl().name()).collect();
                let tried = if tried.is_empty() { "none".to_owned() } else { tried.join(", ") };
                self.rdma.host.help("no-way", &[&rank.to_string(), &tried]);
                return None;
            }
        }
        Some(self.rdma.settings.priority)
    }

    fn create(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<RdmaWindow>, Status> {
        RdmaWindow::create(&self.rdma, entry, desc).map(Box::new)
    }
}
