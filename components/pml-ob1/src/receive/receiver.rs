//! The receiver of an instance: its communicators, and what arrivals have left to be done.

use crate::communicators::inbound::EarlyMessage;
use crate::communicators::index::CommTable;
use crate::long::transfers::Transfers;
use crate::order::flows::Order;
use crate::peers::table::Peers;
use crate::receive::escalated::Escalated;
use crate::receive::owed::Owed;
use crate::requests::completer::Completer;
use crate::requests::pool::Requests;
use crate::send::sender::Sender;
use crate::state::instance::Instance;
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use oxmpi_mca::{CriSetGuard, UnderAll};

/// The receiving side.
#[repr(C)]
pub struct Receiver {
    sender: Sender,
    pub(super) comms: UnderAll<CommTable>,
    /// Matched messages whose CRI the thread that matched them did not hold.
    pub(super) owed: Owed<(Completer, EarlyMessage)>,
    pub(super) escalated: Escalated,
    /// Somebody asks for the time of matching (`timing.rs`).
    pub(super) timing: AtomicBool,
}

impl Receiver {
    /// Makes the receiving side, without communicators.
    pub fn new(sender: Sender) -> Receiver {
        let cris = sender.instance().host().num_cris();
        Receiver {
            sender,
            comms: UnderAll::new(cris, CommTable::new()),
            owed: Owed::default(),
            escalated: Escalated::default(),
            timing: AtomicBool::new(false),
        }
    }

    /// Whether a delivery is owed, or under way as such.
    #[inline(always)]
    pub fn owes(&self) -> bool {
        self.owed.is_any()
    }

    /// Whether a communicator has deferred messages.
    #[inline(always)]
    pub fn has_deferred(&self) -> bool {
        self.escalated.pending.load(Ordering::Relaxed) != 0
    }

    /// Gives the words that are not 0 while [`Receiver::has_deferred`] and [`Receiver::owes`] would be true, for the host's engine.
    pub fn deferred_word(&self) -> &AtomicU32 {
        &self.escalated.pending
    }
    /// See [`Receiver::deferred_word`].
    pub fn owed_word(&self) -> &AtomicU32 {
        self.owed.word()
    }

    /// Frees all communicators when the instance ends.
    pub fn clear(&self, all: &mut CriSetGuard<'_>) {
        self.comms.write(all).clear();
    }

    /// Gives the sender.
    #[inline(always)]
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Gives the long messages.
    #[inline(always)]
    pub fn transfers(&self) -> &Transfers {
        self.sender.transfers()
    }

    /// Gives the order of messages.
    #[inline(always)]
    pub fn order(&self) -> &Order {
        self.sender.order()
    }

    /// Gives the peers.
    #[inline(always)]
    pub fn peers(&self) -> &Peers {
        self.sender.peers()
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        self.sender.requests()
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.sender.instance()
    }
}
