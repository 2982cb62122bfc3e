//! The trait that a layer implements, and the answers of its verbs.

use super::args::{Arrived, Described, Given, Incoming, Outgoing};
use super::care::{Admission, Care};
use crate::polling::Words;
use crate::table::*;
use oxmpi_mca::{CriGuard, Entry, MsgStatus, Object, Status};
use std::sync::Arc;

/// The beginning of a blocking operation.
pub enum Begun<R: 'static> {
    /// It is done.
    Done,
    /// It goes on; the host waits for the request, and releases it.
    Goes(&'static R),
}

/// The wish of a receiver of messages, told to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To go on as it likes.
    Any,
    /// To end this batch: there is something to do before the next message is wanted.
    Stop,
}

/// The answer to a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The message is wanted whole, when all of it is there.
    Refused,
    /// The part is taken, and those that follow are.
    Taken(Next),
}

/// The place of a message's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Bytes of the message in front of those that have a place.
    pub header: u64,
    /// Where the others belong: memory of an operation that is under way, which is writable for all of them as long as it is.
    pub at: *mut u8,
}

/// A message that was taken before its payload has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Where its payload belongs.
    pub place: Placed,
    /// The name by which the transport knows it from now on, which is not 0: [`Arrived::name`].
    pub name: u64,
}

/// A point-to-point layer. All verbs may run concurrently.
pub trait Pml: Send + Sync + Sized + 'static {
    /// A communicator as one of its local ranks sees it.
    type Comm: Send + Sync + 'static;
    /// An operation under way.
    type Request: Object;
    /// A message that was taken out of matching.
    type Message: Send + 'static;

    /// The largest tag.
    const MAX_TAG: i32 = i32::MAX;
    /// True where [`Pml::arrive_in_part`] takes messages by partial delivery ([`oxmpi_btl::BtlAttrs::PARTIAL_DELIVERY`]).
    const TAKES_PARTS: bool = false;
    /// True where [`Pml::place_of`] and [`Pml::claim`] say where payload belongs ([`oxmpi_btl::BtlTable::place_by`]).
    const PLACES: bool = false;

    /// Takes the transports, before any other verb. `care` says when locks are taken, and can be told to have them taken in any case. Answers the words
    /// by which the host's engine calls `after_turn`; they stay until `finalize`. An error ends the start.
    fn enable(&self, transports: Given<'_>, care: &'static Care) -> Result<Words, Status>;
    /// Makes a communicator. An error, such as OUT_OF_MEMORY: it does not come to be.
    fn add_comm(&self, entry: &mut Entry, desc: Described<'_>) -> Result<Arc<Self::Comm>, Status>;
    /// Ends a communicator: no verb names it any more. See [`PmlTable::del_comm`].
    fn del_comm(&self, entry: &mut Entry, comm: Arc<Self::Comm>) -> Status;

    /// See [`PmlTable::send`].
    fn send(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Outgoing<'_>,
    ) -> Result<Begun<Self::Request>, Status>;
    /// See [`PmlTable::isend`].
    fn isend(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Outgoing<'_>,
    ) -> Result<&'static Self::Request, Status>;
    /// See [`PmlTable::recv`]. A layer that takes no receive without a request leaves it as it is.
    fn recv(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Incoming<'_>,
        _status: &mut MsgStatus,
    ) -> Result<Begun<Self::Request>, Status> {
        self.irecv(entry, comm, args).map(Begun::Goes)
    }
    /// See [`PmlTable::irecv`].
    fn irecv(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Incoming<'_>,
    ) -> Result<&'static Self::Request, Status>;
    /// See [`PmlTable::send_init`].
    fn send_init(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Outgoing<'_>,
    ) -> Result<&'static Self::Request, Status>;
    /// See [`PmlTable::recv_init`].
    fn recv_init(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Incoming<'_>,
    ) -> Result<&'static Self::Request, Status>;
    /// Looks for a message. True: one is there, and `status` is filled. PEER_FAILED: none is, and none will be, as [`PmlTable::probe`] says.
    fn probe(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<bool, Status>;
    /// As [`Pml::probe`]; takes the message out of matching.
    fn improbe(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<Option<Box<Self::Message>>, Status>;
    /// Receives such a message. See [`PmlTable::imrecv`].
    fn imrecv(
        &self,
        entry: &mut Entry,
        message: Box<Self::Message>,
        args: Incoming<'_>,
    ) -> Result<&'static Self::Request, Status>;

    /// Handles a message of the layer's own that came on the context that is held.
    fn arrive(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>) -> Next;
    /// Handles a part of a message of `len` bytes that is delivered while it comes: `arrived` has its bytes from the first on, of which those before
    /// `from` were delivered before.
    fn arrive_in_part(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, from: u64, len: u64) -> Part {
        let _ = (held, arrived, from, len);
        Part::Refused
    }
    /// Says where the payload of a message of `len` bytes belongs, of which `arrived` has the first ones, its header among them; `None`: nowhere. Changes
    /// nothing. See [`oxmpi_btl::PlaceOf`].
    fn place_of(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64) -> Option<Placed> {
        let _ = (held, arrived, len);
        None
    }
    /// Takes a message of `len` bytes without a place, of which `arrived` has the first ones, if it meets an operation in whose memory its payload belongs; `None`: nothing has
    /// happened. From then on [`Arrived::name`] names it in [`Pml::place_of`] and [`Pml::arrive_placed`]. See [`oxmpi_btl::ClaimOf`].
    fn claim(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64) -> Option<Claimed> {
        let _ = (held, arrived, len);
        None
    }
    /// Handles a message of `len` bytes whose payload lies where [`Pml::place_of`] said, or has gone nowhere because it said so later (`there` is false);
    /// `arrived` has the first ones, its header among them.
    fn arrive_placed(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64, there: bool) -> Next {
        let _ = (held, arrived, len, there);
        Next::Any
    }
    /// Called behind the transports' turn of a context while there is work; how many messages went on.
    fn after_turn(&self, held: &mut CriGuard<'_>) -> i32;

    /// The host is done with a request. If it is still pending (MPI_Request_free) the layer keeps it until it completes.
    fn release(&self, way: Admission<'_>, request: &'static Self::Request);
    /// Tries to cancel; completes the request as cancelled if that succeeded. See [`RequestOps::cancel`](oxmpi_mca::RequestOps::cancel).
    fn cancel(&self, entry: &mut Entry, request: &'static Self::Request) -> Status;
    /// Starts a persistent request. See [`RequestOps::start`](oxmpi_mca::RequestOps::start).
    fn start(&self, entry: &mut Entry, request: &'static Self::Request) -> Status;

    /// The thread level rises to MULTIPLE, while no other thread is in a verb. An error: it cannot, and nothing has changed.
    fn threads_begin(&self) -> Status {
        Status::OK
    }
    /// Sends out everything still queued inside. PENDING: call again.
    fn flush(&self, entry: &mut Entry) -> Status;
    /// A process failed: what is under way with it ends with PEER_FAILED, and what is started later.
    fn peer_failed(&self, entry: &mut Entry, proc: u32) -> Status;
    /// A process has parted for good: what is kept of it is freed. See [`PmlTable::peer_parted`].
    fn peer_parted(&self, entry: &mut Entry, proc: u32) -> Status {
        let _ = (entry, proc);
        Status::NOT_SUPPORTED
    }
    /// All operations on a communicator end with PEER_FAILED.
    fn revoke(&self, entry: &mut Entry, comm: &Self::Comm) -> Status {
        let _ = (entry, comm);
        Status::NOT_SUPPORTED
    }
    /// Sends an empty message whose receive completes with `error`. See [`PmlTable::send_failure`].
    fn send_failure(
        &self,
        entry: &mut Entry,
        comm: &Self::Comm,
        args: Outgoing<'_>,
        error: Status,
    ) -> Result<&'static Self::Request, Status> {
        let _ = (entry, comm, args, error);
        Err(Status::NOT_SUPPORTED)
    }
    /// Counts of a communicator; `None`: nothing is counted.
    fn counts(&self, entry: &mut Entry, comm: &Self::Comm) -> Option<Counts> {
        let _ = (entry, comm);
        None
    }
    /// The assertions on a communicator changed ([`assert_flag`]). See [`PmlTable::set_flags`].
    fn set_flags(&self, entry: &mut Entry, comm: &Self::Comm, flags: u32) -> Status {
        let _ = (entry, comm, flags);
        Status::NOT_SUPPORTED
    }
    /// The time of matching is to be measured from now on, or not any more. NOT_SUPPORTED: it cannot be.
    fn measure(&self, on: bool) -> Status {
        let _ = on;
        Status::NOT_SUPPORTED
    }
    /// Last call. Requests stay. See [`PmlTable::finalize`].
    fn finalize(&self, entry: &mut Entry) -> Status {
        let _ = entry;
        Status::OK
    }
}
