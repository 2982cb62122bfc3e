//! The component's state of one instance: the objects, each of which owns the one that it stands on, and what progress keeps.
//!
//! [`Receiver`] stands on [`Sender`], that on [`Transfers`], [`Order`], [`Peers`], [`Requests`], and all on [`Instance`]. Each is in a folder of its
//! own, has its fields to itself, and calls those below it; nothing calls upwards.
//!
//! **Access.** Data of a CRI, and of a FIFO to a peer, is reached by the guard of that CRI alone ([`Instance::own`], `Peer::flow`), the table of communicators by
//! the guard of any CRI, or of all to change it. The state of a request says who owns its fields (`requests/request.rs`), and its completer who may complete it. A
//! thread's state is its own. Of a communicator, shards have locks of their own (`receive/shards.rs`), and the rest is atomic or written once.

use crate::long::transfers::Transfers;
use crate::order::flows::Order;
use crate::params::Config;
use crate::peers::table::Peers;
use crate::receive::receiver::Receiver;
use crate::requests::pool::Requests;
use crate::send::sender::Sender;
use crate::state::instance::Instance;
use oxmpi_mca::{Host, RequestOps};
use oxmpi_pml::ContextWords;
use std::sync::OnceLock;

/// The state of one instance. The objects stand first, those that every message reads at the front.
#[repr(C)]
pub struct Ob1 {
    receiver: Receiver,
    /// The words of each CRI that the host's engine reads; made by `enable` (`progress/hook.rs`).
    pub words: OnceLock<Box<[ContextWords]>>,
}

impl Ob1 {
    /// Makes the state of an instance, without transports, peers and communicators. `operations`: those that the host
    /// calls on requests.
    pub fn new(host: Host, config: Config, operations: &'static RequestOps) -> Ob1 {
        let requests = Requests::new(Instance::new(host, config), operations);
        let transfers = Transfers::new(Order::new(Peers::new(requests)));
        Ob1 { receiver: Receiver::new(Sender::new(transfers)), words: OnceLock::new() }
    }

    /// Gives the receiver.
    #[inline(always)]
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Gives the sender.
    #[inline(always)]
    pub fn sender(&self) -> &Sender {
        self.receiver.sender()
    }

    /// Gives the long messages.
    #[inline(always)]
    pub fn transfers(&self) -> &Transfers {
        self.receiver.transfers()
    }

    /// Gives the order of messages.
    #[inline(always)]
    pub fn order(&self) -> &Order {
        self.receiver.order()
    }

    /// Gives the peers.
    #[inline(always)]
    pub fn peers(&self) -> &Peers {
        self.receiver.peers()
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        self.receiver.requests()
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.receiver.instance()
    }
}
