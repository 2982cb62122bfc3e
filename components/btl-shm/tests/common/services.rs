//! The services of the host that this transport asks for: segments.

use super::Record;
use core::ffi::c_void;
use oxmpi_mca::{HostServices, SharedSegment, Status};
use oxmpi_testing::{Desk, FakeHost, services};

/// The table; nothing but `segment` is called.
pub static SERVICES: HostServices = HostServices { segment, ..services::<Nobody>() };

/// The host behind the services that are not called.
struct Nobody;

impl FakeHost for Nobody {
    fn desk(&self) -> &Desk {
        unreachable!("this transport asks for segments alone")
    }
    fn unused(&self, what: &str) -> Status {
        unreachable!("{what}")
    }
    fn failed(&self, _: u32, _: Status, message: &str) {
        unreachable!("{message}")
    }
}

extern "C" fn segment(instance: *mut c_void, number: u32, out: *mut SharedSegment) -> Status {
    // SAFETY: `instance` is the record, which outlives the module.
    let record = unsafe { &*instance.cast::<Record>() };
    let all = record.segments.lock().expect("record");
    let Some((_, segment)) = all.iter().find(|(n, _)| *n == number) else { return Status::NOT_FOUND };
    // SAFETY: the component's out pointer.
    unsafe { out.write(*segment) };
    Status::OK
}
