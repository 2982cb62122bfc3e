//! The contract of a byte transport layer (BTL): moves active messages and, where the device can,
//! reads, writes and updates remote memory.
//!
//! **Life of a module.** The host opens the component and gets its modules (one per device), copies
//! each accepted module into a full [`Btl`] table of its own, calls `add_procs` for processes when
//! they are first talked to (in any order, one or many at a time), then the hot verbs, and at the
//! end `finalize`, after which nothing is called. A component is never unloaded.
//!
//! **Contexts and threads.** Every hot verb names a context `ctx` (below `BtlAttrs::contexts`). The
//! caller serialises the verbs of one context of one module (it holds the CRI's lock, or only one
//! thread makes calls); verbs on different contexts run concurrently. `add_procs`, `del_procs` and
//! registration may run concurrently with everything. Receive callbacks run inside `progress`,
//! under the same serialisation, and may send on that context. A callback that answers [`oxmpi_mca::host::receive::STOP`] asks the
//! module to end this `progress` call behind its message. Context c of every module is guarded by CRI c alone.
//!
//! **One-sided verbs** complete out of order, each with its own `done`. Several contexts of one device that share
//! a queue guard it by a leaf lock of the module's; a completion for another context is kept for that context's `progress`, and its
//! sleeper is woken. NO_RESOURCE always ends by progress of the same context.
//!
//! **Service links** carry requests that the target's processor has to serve (emulated verbs, atomics on private
//! memory). The requester's end is an ordinary context; the server's end is the target's service context, polled by whoever waits in
//! MPI there or by a helper thread, so that a target that computes serves, too. Receivers of requests touch window memory and
//! answer; `send` never comes out of a service context.
//!
//! **Order.** Messages sent on one context to one endpoint arrive in the order of the `send` calls
//! that returned OK. A send is *visible* to the receiver (its `progress`, or a doorbell if it
//! sleeps, will find it) when the call returns OK.
//!
//! **Partial delivery.** A transport that gets a long message piece by piece, into memory where all of it will lie (a ring that the sender is still filling, the
//! frames of a stream, the packets of a message that was cut), need not wait for the last piece: with the attribute
//! [`BtlAttrs::PARTIAL_DELIVERY`] it may offer the part that is there to the receiver of the tag, if that takes parts
//! ([`oxmpi_mca::AmParts`], which has the rules). A receiver that knows where the payload goes moves the first part while the next one comes; one that does
//! not refuses, and gets the message whole. A part ends at any byte; a receiver that needs more to decide refuses, and is offered more. Nothing else
//! from that process is delivered on that context before the last part. Whether a message is offered is the transport's choice each time.
//!
//! **Placing.** A transport that reads messages out of a stream may ask the layer that takes a tag where the payload of a long message belongs, once it has
//! the message's beginning, and write the payload there as it comes ([`BtlTable::place_by`], [`PlaceBy`]). The memory is the operation's as long as that is under way, so the transport asks again in each turn,
//! and what comes of a message whose operation has ended goes nowhere.
//!
//! **Keeping.** A transport that may have to send a message again, or sends it later, copies it in `send`. By `send_kept` it need not: the payload stays where it lies until the transport has
//! told its end ([`KeptDesc`]).
//!
//! **Back-pressure.** `NO_RESOURCE` means: nothing happened, offer it again after progress. Messages that wait
//! for room meanwhile are a matter of the layer above; by `hold` it can tell the receiver about the oldest of
//! them, so that a receiver that looks at several contexts knows what it does not see yet.

#![deny(missing_docs)]

mod author;
mod bits;
mod complete;
mod loss;
mod placing;
mod services;
mod table;
mod verbs;

pub use author::{
    Answer, Arrival, Btl, BtlAtomics, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlKeeps, BtlLists, BtlMemory,
    BtlPartner, BtlPlaces, BtlPut, BtlService, BtlServiceSleep, BtlSleep, Bytes, Completion, Contexts,
    Entered, Memory, Message, ModuleBuilder, PayloadPlace, Peer, Placer, Vouched, module,
};
pub use loss::Loss;
pub use oxmpi_mca::{WaitFd, WaitSet, WaitWord};
pub use placing::{ClaimOf, PlaceBy, PlaceDesc, PlaceOf, PlacedAll};
pub use services::{AskDesc, BtlServices, LIST_ASK, Listener, Reach, Registration, SERVICE_CTX};
pub use table::*;
