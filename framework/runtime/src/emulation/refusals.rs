//! Verbs of an emulated transport that are the host's, or the transport's own, and that nobody calls there.

use core::ffi::c_void;
use oxmpi_btl::{Endpoint, KeptDesc, PlaceBy, ProcList};
use oxmpi_mca::{SliceRef, Status};

type State = *mut c_void;

/// Refuses: the host makes endpoints of emulated transports.
pub(super) extern "C" fn add_procs(_: State, _: ProcList, _: *mut *mut Endpoint) -> Status {
    Status::NOT_SUPPORTED
}
/// Refuses: endpoints of emulated transports stay as long as the instance.
pub(super) extern "C" fn del_procs(_: State, _: SliceRef<*mut Endpoint>) -> Status {
    Status::NOT_SUPPORTED
}
/// Names none: the host asks the transport itself.
pub(super) extern "C" fn partner(_: State, _: *mut Endpoint) -> u32 {
    oxmpi_btl::SAME_NUMBER
}
/// Refuses: the layer that takes messages asks the transport itself.
pub(super) extern "C" fn place_by(_: State, _: *const PlaceBy) -> Status {
    Status::NOT_SUPPORTED
}
/// Refuses: the layer that sends messages has the transport itself.
pub(super) extern "C" fn send_kept(_: State, _: *mut Endpoint, _: u32, _: *const KeptDesc) -> Status {
    Status::NOT_SUPPORTED
}
/// Does nothing: the host finalizes the transport itself.
pub(super) extern "C" fn finalize(_: State) -> Status {
    Status::OK
}
