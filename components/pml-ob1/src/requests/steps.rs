//! Steps of a request: one method for each change of its state, and what others may read of it.
//!
//! `request.rs` says who owns a request in which state: only the owner takes a step. The methods are in the order in which an operation
//! takes them: described, sent or posted, then, where it is a long one, moved in pieces or fragments.

use crate::requests::memory::Memory;
use crate::requests::request::{Outcome, Request, State};
use oxmpi_mca::Status;
use oxmpi_pml::{Incoming, Outgoing};

/// Reading, by whoever knows the request.
impl Request {
    /// Gives its state.
    #[inline(always)]
    pub fn state(&self) -> State {
        self.state.get()
    }
    /// Gives the user's buffer.
    #[inline(always)]
    pub fn buf(&self) -> *mut u8 {
        self.buf.get()
    }
    /// Gives the bytes of the message (send) or of the buffer (receive).
    #[inline(always)]
    pub fn total(&self) -> u64 {
        self.total.get()
    }
    /// Gives how many elements of its datatype it has, where that is kept.
    pub fn count(&self) -> u64 {
        self.count.get()
    }
    /// Gives a send's mode.
    pub fn mode(&self) -> u32 {
        self.mode.get()
    }
    /// Gives a send's tag.
    pub fn tag(&self) -> i32 {
        self.tag.get()
    }
    /// Gives the process at the other end.
    pub fn proc(&self) -> u32 {
        self.proc.get()
    }
    /// Gives a send's place in the order of messages, or 0.
    pub fn order(&self) -> u64 {
        self.order.get()
    }
    /// Gives the id by which peers quote it, or 0.
    pub fn id(&self) -> u64 {
        self.id.get()
    }
    /// Gives the id by which the other side's request is quoted.
    pub fn remote_id(&self) -> u64 {
        self.remote_id.get()
    }
    /// Gives the address of the other side's memory.
    pub fn remote_addr(&self) -> u64 {
        self.remote_addr.get()
    }
    /// Gives the bytes sent, or received without a gap.
    pub fn done(&self) -> u64 {
        self.done.get()
    }
    /// Gives the bytes that will be moved in all.
    pub fn wanted(&self) -> u64 {
        self.wanted.get()
    }
    /// Gives how the pieces of a get or put went so far.
    pub fn outcome(&self) -> Outcome {
        self.outcome.get()
    }
    /// Gives how many pieces of a get or put are under way.
    pub fn pulls(&self) -> u32 {
        self.pulls.get()
    }
    /// Whether it is on a list of those that go on by themselves.
    pub fn is_listed(&self) -> bool {
        self.listed.get()
    }
    /// Whether the receiver was asked to give a send back.
    pub fn was_asked_back(&self) -> bool {
        self.asked_back.get()
    }
    /// Whether its data is in one piece, so that it keeps no datatype.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.dtype.get().is_null()
    }
    /// Whether a peer may quote it, or the host has released it.
    pub fn is_known(&self) -> bool {
        self.id.get() != 0 || self.released.get()
    }
}

/// Steps of every operation.
impl Request {
    /// Describes a receive: its message goes to the buffer of the arguments, which stays until it is complete, and for
    /// `capacity` bytes of which there is room.
    #[inline(always)]
    pub fn describe_receive(&self, args: Incoming<'_>, capacity: u64) {
        self.buf.set(args.buf);
        self.total.set(capacity);
    }
    /// Describes a send of `total` bytes: its data is in the buffer of the arguments, which stays until it is complete, and goes to
    /// process `proc`.
    pub fn describe_send(&self, args: Outgoing<'_>, total: u64, proc: u32) {
        self.buf.set(args.buf.cast_mut());
        self.total.set(total);
        self.mode.set(args.mode);
        self.tag.set(args.tag);
        self.proc.set(proc);
    }
    /// Has a described send carry an error in place of its data.
    pub fn carry(&self, error: Status) {
        self.wanted.set(i64::from(error.0).cast_unsigned());
    }
    /// Gives the error that a send carries, as it stands in the message.
    pub fn carried(&self) -> u64 {
        self.wanted.get()
    }
    /// Notes a send's place in the order of messages.
    pub fn take_order(&self, order: u64) {
        self.order.set(order);
    }
    /// Begins to offer a send to its peer.
    pub fn begin_offer(&self) {
        self.id.set(0);
        self.done.set(0);
        self.asked_back.set(false);
    }
    /// A send found no room and is queued.
    pub fn wait_for_room(&self) {
        self.state.set(State::Queued);
    }
    /// A receive is in the matching engine.
    #[inline(always)]
    pub fn be_posted(&self) {
        self.state.set(State::Posted);
    }
    /// It is given back by its user, and goes on a list of free ones.
    #[inline(always)]
    pub fn be_free(&self) {
        self.state.set(State::Free);
    }
    /// Notes that the receiver of a send is asked to give it back. `false`: it was asked before.
    pub fn ask_back(&self) -> bool {
        !self.asked_back.replace(true)
    }
    /// Goes on a list of those that go on by themselves.
    pub fn be_listed(&self) {
        self.listed.set(true);
    }
    /// Comes off the list of those that go on by themselves.
    pub fn be_unlisted(&self) {
        self.listed.set(false);
    }
}

/// Steps of long operations.
impl Request {
    /// A send is with its transport and cannot be taken back; it completes in a turn.
    pub fn await_turn(&self) {
        self.state.set(State::Done);
    }
    /// All of a synchronous send went out with its header; it waits for the acknowledgement.
    pub fn await_ack_of_all(&self) {
        self.done.set(self.total.get());
        self.state.set(State::WaitAck);
    }
    /// The first `first` bytes of a send went out with its header.
    pub fn send_first(&self, first: u64) {
        self.done.set(first);
    }
    /// A send was announced, and waits in the state `next`: WAIT_ACK, WAIT_FIN or WAIT_PUT.
    pub fn await_answer(&self, next: State) {
        self.state.set(next);
    }
    /// A receive has met a message of process `proc`, whose sender waits for an answer that quotes `remote`; `here` bytes of the
    /// `wanted` ones have come.
    pub fn begin_answer(&self, proc: u32, remote: u64, wanted: u64, here: u64) {
        self.proc.set(proc);
        self.remote_id.set(remote);
        self.wanted.set(wanted);
        self.done.set(here);
    }
    /// A receive has `here` bytes, and the next turn of progress asks for the others.
    pub fn ask_later(&self, here: u64) {
        self.done.set(here);
        self.state.set(State::Asking);
    }
    /// A receive expects fragments from `offset` on, and has no id yet by which they quote it.
    pub fn await_fragments(&self, offset: u64) {
        self.done.set(offset);
        self.state.set(State::Receiving);
        self.id.set(0);
    }
    /// A receive is met by a message that its transport reads to its place; it has no id yet.
    pub fn be_claimed(&self) {
        self.state.set(State::Claimed);
        self.id.set(0);
    }
    /// A receive is met by a message that comes in parts, has the first part of one that was claimed, or expects fragments in place of puts.
    pub fn be_receiving(&self) {
        self.state.set(State::Receiving);
    }
    /// A send goes by fragments, bytes `[offset, wanted)`, which quote `remote`.
    pub fn stream(&self, offset: u64, wanted: u64, remote: u64) {
        self.wanted.set(wanted);
        self.remote_id.set(remote);
        self.stream_from(offset);
    }
    /// A send goes by fragments from `offset` on, of which none is under way yet.
    pub fn stream_from(&self, offset: u64) {
        self.pulls.set(0);
        self.outcome.set(Outcome::Fine);
        self.done.set(offset);
        self.state.set(State::Streaming);
    }
    /// So many bytes are sent, or received without a gap.
    pub fn reach(&self, done: u64) {
        self.done.set(done);
    }
    /// A receive gets its data from that address.
    pub fn read_from(&self, remote_addr: u64) {
        self.remote_addr.set(remote_addr);
    }
    /// The receiver has offered its memory for a send's data: `wanted` bytes at `remote_addr`, by its request `remote`.
    pub fn be_offered(&self, wanted: u64, remote: u64, remote_addr: u64) {
        self.wanted.set(wanted);
        self.remote_id.set(remote);
        self.remote_addr.set(remote_addr);
        self.done.set(0);
    }
    /// A receive is about to offer its memory to the sender.
    pub fn begin_offering(&self) {
        self.id.set(0);
        self.outcome.set(Outcome::Fine);
        self.state.set(State::Offering);
    }
    /// The sender was told where to put a receive's data.
    pub fn be_exposed(&self) {
        self.state.set(State::Exposed);
    }
    /// Begins the gets (`State::Pulling`) or puts (`State::Pushing`) of a request, of which none is under way yet.
    pub fn begin_pieces(&self, state: State) {
        self.pulls.set(0);
        self.outcome.set(Outcome::Fine);
        self.state.set(state);
    }
    /// All puts were issued, and a flush is due.
    pub fn be_flushing(&self) {
        self.state.set(State::Flushing);
    }
    /// Everything was issued, and the operation ends with the last piece.
    pub fn be_landing(&self) {
        self.state.set(State::Landing);
    }
    /// Notes how a piece went: the worst counts.
    pub fn worsen(&self, outcome: Outcome) {
        self.outcome.set(self.outcome.get().max(outcome));
    }
    /// Notes the error of a piece as the outcome of the operation; no more pieces are issued.
    pub fn break_off(&self, error: Status) {
        if self.outcome.get() < Outcome::Broken {
            self.outcome.set(Outcome::Broken);
            self.set_error(error);
        }
    }
    /// Keeps the registered memory of its buffer.
    pub fn keep_memory(&self, memory: Box<Memory>) {
        self.memory.set(Some(memory));
    }
    /// Takes its registered memory. `None`: it has none.
    pub fn take_memory(&self) -> Option<Box<Memory>> {
        self.memory.take()
    }
}
