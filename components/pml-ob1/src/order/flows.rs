//! The order of messages over several FIFOs: which of them the process uses, and the clock of its stamps (`switch.rs` has the protocol).

use crate::order::stamp::Clock;
use crate::peers::table::Peers;
use crate::requests::pool::Requests;
use crate::state::instance::Instance;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32};

/// The next FIFO where messages go on the FIFOs one after the other. Every thread writes it.
#[repr(align(128))]
#[derive(Default)]
pub struct Rotation(pub AtomicU32);

/// The choice of FIFOs, and what keeps the order of messages over them.
#[repr(C)]
pub struct Order {
    peers: Peers,
    /// Messages may come on all FIFOs.
    pub(super) wide: AtomicBool,
    /// The number of the first thread that sent something, plus 1; [`Order::CROWD`]: there is another.
    pub(super) senders: AtomicU32,
    pub(super) clock: Clock,
    pub(super) rotation: Rotation,
}

impl Order {
    /// Makes the state of a process that uses one FIFO.
    pub fn new(peers: Peers) -> Order {
        let several = peers.instance().host().num_cris() > 1;
        Order {
            peers,
            wide: AtomicBool::new(false),
            senders: AtomicU32::new(0),
            clock: Clock::new(several),
            rotation: Rotation::default(),
        }
    }

    /// Gives the peers.
    #[inline(always)]
    pub fn peers(&self) -> &Peers {
        &self.peers
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        self.peers.requests()
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.peers.instance()
    }
}
