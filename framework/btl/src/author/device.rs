//! The traits of a device: the basic verbs, and one for each thing that a device can do beyond.

use super::entered::{Completion, Contexts, Entered};
use super::message::{Message, Vouched};
use super::peer::Met;
use super::placer::Placer;
use crate::table::*;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::{MemKind, Status, WaitSet};

/// A peer process as verbs get it: what all contexts share is reached by deref, the lane of a context by [`Entered::lane`].
pub type Peer<T> = Met<<T as Btl>::Endpoint, <T as Btl>::Lane>;

/// A device. Shared by all threads.
pub trait Btl: Send + Sync + Sized + 'static {
    /// The data of one context. The holder of its lock has it alone.
    type Context: Send + 'static;
    /// The data of a peer process that all contexts share.
    type Endpoint: Send + Sync + 'static;
    /// The data that an endpoint keeps for one context; `()` where there is none, or it is kept in [`Btl::Context`].
    type Lane: Send + 'static;

    /// Limits and ranks. The number of contexts is that of those given to [`module`](super::module()). Asked once.
    fn attrs(&self) -> BtlAttrs;

    /// Meets a process. `None`: this device does not reach it. An error, whose cause the device has logged, takes back what the same list has added before.
    /// Any thread, at any time, also for a process that was added before or has been parted from. See [`BtlTable::add_procs`].
    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Self::Endpoint>, Status>;

    /// Makes the lane of a new endpoint for context `ctx`.
    fn lane(&self, endpoint: &Self::Endpoint, ctx: u32) -> Self::Lane;

    /// Parts from a process. The endpoint goes after this call; no verb uses it any more. Any thread, at any time; contexts are not entered, and may be in use
    /// for other endpoints. See [`BtlTable::del_procs`].
    fn del_proc(&self, _endpoint: &Self::Endpoint) {}

    /// Sends, or answers `NO_RESOURCE` having done nothing.
    fn send(&self, at: &mut Entered<'_, Self::Context>, to: &Peer<Self>, msg: &Message<'_>) -> Status;

    /// Takes what arrived and completed on the context; returns how many events it handled.
    fn progress(&self, at: &mut Entered<'_, Self::Context>) -> i32;

    /// Last call; nothing else runs.
    fn finalize(&self, _all: &mut Contexts<'_, Self::Context>) {}
}

/// Reads remote memory.
pub trait BtlGet: Btl {
    /// See [`RmaDesc`].
    fn get(
        &self,
        at: &mut Entered<'_, Self::Context>,
        to: &Peer<Self>,
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
    ) -> Status;
}
/// Reads remote memory that lies in pieces, all of it at once.
pub trait BtlGetVector: Btl {
    /// See [`BtlTable::get_vector`].
    fn get_vector(
        &self,
        at: &mut Entered<'_, Self::Context>,
        to: &Peer<Self>,
        rma: Vouched<'_, RmaVectorDesc>,
    ) -> Status;
}
/// Writes remote memory.
pub trait BtlPut: Btl {
    /// See [`RmaDesc`].
    fn put(
        &self,
        at: &mut Entered<'_, Self::Context>,
        to: &Peer<Self>,
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
    ) -> Status;
}
/// Completes one-sided operations at their targets.
pub trait BtlFlush: Btl {
    /// See [`BtlTable::flush`]. `to` `None`: to anybody.
    fn flush(&self, at: &mut Entered<'_, Self::Context>, to: Option<&Peer<Self>>, done: Completion)
    -> Status;
}
/// Updates remote memory.
pub trait BtlAtomics: Btl {
    /// See [`AtomicDesc`].
    fn atomic(
        &self,
        at: &mut Entered<'_, Self::Context>,
        to: &Peer<Self>,
        op: Vouched<'_, AtomicDesc>,
        done: Completion,
    ) -> Status;
}
/// Writes and updates remote memory in many places by one request.
pub trait BtlLists: Btl {
    /// See [`BtlTable::list`].
    fn list(
        &self,
        at: &mut Entered<'_, Self::Context>,
        to: &Peer<Self>,
        list: Vouched<'_, ListDesc>,
        done: Completion,
    ) -> Status;
}
/// Needs memory registered before remote access.
pub trait BtlMemory: Btl {
    /// Makes memory accessible; fills `handle`, which has `registration_handle_size` bytes. See [`BtlTable::register_mem`].
    fn register(&self, memory: Memory, access: u32, handle: &mut [u8]) -> Status;
    /// See [`BtlTable::deregister_mem`].
    fn deregister(&self, handle: &[u8]) -> Status;
    /// `BtlAttrs::registration_handle_size`.
    const HANDLE_SIZE: usize;
}
/// Memory of this process, by address: it is registered, not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Address of its first byte.
    pub addr: usize,
    /// Length in bytes.
    pub len: u64,
    /// The kind of memory: the processor's, or a device's.
    pub kind: MemKind,
}
/// Tells receivers what waits for room. With this and [`BtlAttrs::VISIBLE_AT_ONCE`] several contexts keep the order
/// of one flow. It has no context: other verbs run meanwhile.
pub trait BtlHold: Btl {
    /// Tells the process at the endpoint the order key of the oldest message to it that waits for room, 0: none.
    fn hold(&self, to: &Peer<Self>, oldest: u64);
    /// That process's last answer.
    fn held(&self, to: &Peer<Self>) -> u64;
}
/// Chooses by itself which of a peer's modules each of its own talks to.
pub trait BtlPartner: Btl {
    /// The number of that module among those that the peer's component has opened.
    fn partner(&self, to: &Peer<Self>) -> u32;
}
/// Writes the payload of long messages where it belongs, which the layer that takes their tag says.
pub trait BtlPlaces: Btl {
    /// Takes the functions of the layer that takes a tag. BAD_PARAM: the tag has some already. See [`BtlTable::place_by`].
    fn place_by(&self, tag: u8, placer: Placer) -> Status;
}
/// Sends messages from where their payload lies.
pub trait BtlKeeps: Btl {
    /// See [`BtlTable::send_kept`]. The payload of `msg` may be read until `done` is told.
    fn send_kept(
        &self,
        at: &mut Entered<'_, Self::Context>,
        to: &Peer<Self>,
        msg: &Message<'_>,
        done: Completion,
    ) -> Status;
}
/// Lets a waiter sleep.
pub trait BtlSleep: Btl {
    /// See [`BtlTable::arm`]. PENDING: something has arrived, do not sleep.
    fn arm(&self, at: &mut Entered<'_, Self::Context>, set: &mut WaitSet) -> Status;
    /// Follows every `arm`.
    fn disarm(&self, at: &mut Entered<'_, Self::Context>);
}
/// Serves requests of peers on a context of its own (see the verbs of [`BtlTable`]).
pub trait BtlService: Btl {
    /// The data of the service context. The holder of its lock has it alone.
    type Service: Send + 'static;
    /// Opens the service context. Several calls are as one; any thread. See [`BtlTable::service_open`].
    fn open(&self) -> Status;
    /// Sends a request from an ordinary context. See [`BtlTable::service_request`].
    fn request(&self, at: &mut Entered<'_, Self::Context>, to: &Peer<Self>, msg: &Message<'_>) -> Status;
    /// Takes requests; returns how many.
    fn serve(&self, at: &mut Entered<'_, Self::Service>) -> i32;
    /// Answers the request whose receiver is running. BAD_PARAM: `link` is not its, or the reply is too long. PEER_FAILED: the requester is lost.
    fn reply(&self, at: &mut Entered<'_, Self::Service>, link: u64, msg: &Message<'_>) -> Status;
    /// Last call of a device that serves, instead of [`Btl::finalize`], which it calls unless it says otherwise.
    fn finalize_serving(
        &self,
        all: &mut Contexts<'_, Self::Context>,
        _service: &mut Entered<'_, Self::Service>,
    ) {
        self.finalize(all);
    }
    /// A word that is not 0 while requests may be there; `None`: only `serve` finds out. It stays until `finalize`.
    fn pending(&self) -> Option<&AtomicU32> {
        None
    }
}
/// Lets the server of requests sleep.
pub trait BtlServiceSleep: BtlService {
    /// As [`BtlSleep::arm`].
    fn arm_service(&self, at: &mut Entered<'_, Self::Service>, set: &mut WaitSet) -> Status;
    /// Follows every `arm_service`.
    fn disarm_service(&self, at: &mut Entered<'_, Self::Service>);
}
