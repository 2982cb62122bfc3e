//! Long messages of an instance, at both ends (`rendezvous.rs` has what follows from their match).

use crate::order::flows::Order;
use crate::peers::table::Peers;
use crate::requests::pool::Requests;
use crate::state::instance::Instance;
use oxmpi_mca::sync::unmodelled::AtomicBool;

/// The long messages.
#[repr(C)]
pub struct Transfers {
    order: Order,
    /// The info line about refused reads was written.
    pub(super) told_no_get: AtomicBool,
}

impl Transfers {
    /// Makes the state of an instance without long messages.
    pub fn new(order: Order) -> Transfers {
        Transfers { order, told_no_get: AtomicBool::new(false) }
    }

    /// Gives the order of messages.
    #[inline(always)]
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Gives the peers.
    #[inline(always)]
    pub fn peers(&self) -> &Peers {
        self.order.peers()
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        self.order.requests()
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.order.instance()
    }
}
