//! The services that are not on a message's path. A job in one process has none of them.

use core::ffi::c_void;
use oxmpi_mca::services::{PeerFailed, Predicate};
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::{HostServices, NodeMemory, ProcName, ProcPlace, SliceRef, Status, StrRef, ThreadCtx};

pub static SERVICES: HostServices = HostServices {
    size: size_of::<HostServices>() as u32,
    reserved: 0,
    name_of,
    index_of,
    place_of,
    exchange_put,
    exchange_try,
    auth_make,
    auth_check,
    node_memory,
    peer_read,
    peer_write,
    peer_pointer,
    wait_until,
    wait_word,
    on_peer_failure: failures,
    off_peer_failure: failures,
    peer_failed,
    osc_tags,
    node_memory_free,
};

macro_rules! without {
    ($($name:ident($($arg:ty),*);)*) => {
        $(extern "C" fn $name($(_: $arg),*) -> Status {
            Status::NOT_SUPPORTED
        })*
    };
}

without! {
    name_of(*mut c_void, u32, *mut ProcName);
    index_of(*mut c_void, *const ProcName, *mut u32);
    exchange_put(*mut c_void, StrRef, SliceRef<u8>);
    exchange_try(*mut c_void, StrRef, u32, *mut u8, *mut usize);
    auth_make(*mut c_void, SliceRef<u8>, SliceRef<u8>, *mut u8);
    auth_check(*mut c_void, SliceRef<u8>, SliceRef<u8>, SliceRef<u8>);
    node_memory(*mut c_void, StrRef, u64, *mut NodeMemory);
    peer_read(*mut c_void, u32, u64, *mut u8, u64);
    peer_write(*mut c_void, u32, u64, *const u8, u64);
    peer_pointer(*mut c_void, u32, u64, u64, *mut *mut u8);
    wait_until(*mut c_void, *mut ThreadCtx, Predicate, *mut c_void);
    wait_word(*mut c_void, *mut ThreadCtx, *const AtomicU32, u32);
    failures(*mut c_void, PeerFailed, *mut c_void);
    peer_failed(*mut c_void, u32, Status, StrRef);
    osc_tags(*mut c_void, *mut u8);
    node_memory_free(*mut c_void, StrRef);
}

extern "C" fn place_of(_: *mut c_void, proc: u32, out: *mut ProcPlace) -> Status {
    // SAFETY: the caller's out pointer.
    unsafe { *out = ProcPlace { node: 0, local_rank: proc, local: 1, distance: 0 } };
    Status::OK
}
