//! The sender of an instance: messages that go at once (`eager.rs`) or by a request (`by_request.rs`).

use crate::long::transfers::Transfers;
use crate::order::flows::Order;
use crate::peers::table::Peers;
use crate::requests::pool::Requests;
use crate::state::instance::Instance;

/// The sending side.
#[repr(C)]
pub struct Sender {
    transfers: Transfers,
}

impl Sender {
    /// Makes the sending side.
    pub fn new(transfers: Transfers) -> Sender {
        Sender { transfers }
    }

    /// Gives the long messages.
    #[inline(always)]
    pub fn transfers(&self) -> &Transfers {
        &self.transfers
    }

    /// Gives the order of messages.
    #[inline(always)]
    pub fn order(&self) -> &Order {
        self.transfers.order()
    }

    /// Gives the peers.
    #[inline(always)]
    pub fn peers(&self) -> &Peers {
        self.transfers.peers()
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        self.transfers.requests()
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.transfers.instance()
    }
}
