//! The services that know nodes: places, memory of the node, peers' memory, waiting on a word.
//!
//! Nodes are made up: ranks are dealt to them in turn. Memory of another node cannot be reached, as between machines.

use crate::net::Net;
use crate::view::View;
use oxmpi_coll::CollComm;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{Place, Status};
use std::time::Instant;

const PAGE: u64 = 4096;

pub extern "C" fn place(comm: *const CollComm, rank: u32, out: *mut Place) -> Status {
    let view = View::of(comm);
    view.is_not_asked("place");
    let Some(place) = view.place(rank) else { return Status::BAD_PARAM };
    // SAFETY: the component's out pointer.
    unsafe { out.write(place) };
    Status::OK
}

pub extern "C" fn node_memory(comm: *const CollComm, bytes: u64, out: *mut *mut u8) -> Status {
    let view = View::of(comm);
    view.nests("node_memory");
    let call = view.calls.fetch_add(1, Ordering::Relaxed);
    let key = format!("{} {} {call}", view.context, view.node_of(view.rank));
    match view.shared.node_memory(&key, bytes + PAGE) {
        Ok(memory) => {
            let base = memory.base;
            // SAFETY: the component's out pointer; there is a page more than was asked for.
            unsafe { out.write(base.add(base.align_offset(PAGE as usize))) };
            Status::OK
        }
        Err(status) => {
            view.violation("the ranks of a node ask for different sizes of memory".into());
            status
        }
    }
}

pub extern "C" fn peer_read(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    let reaches = View::of(comm).reaches(rank);
    if reaches.is_ok() {
        // SAFETY: the component names memory of a rank of this process.
        unsafe { core::ptr::copy(remote as *const u8, local, bytes as usize) };
    }
    reaches
}

pub extern "C" fn peer_write(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    let reaches = View::of(comm).reaches(rank);
    if reaches.is_ok() {
        // SAFETY: as above.
        unsafe { core::ptr::copy(local, remote as *mut u8, bytes as usize) };
    }
    reaches
}

pub extern "C" fn peer_pointer(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    _: u64,
    out: *mut *mut u8,
) -> Status {
    let reaches = View::of(comm).reaches(rank);
    if reaches.is_ok() {
        // SAFETY: the component's out pointer.
        unsafe { out.write(remote as *mut u8) };
    }
    reaches
}

pub extern "C" fn wait_word(comm: *const CollComm, word: *const AtomicU32, value: u32) -> Status {
    let view = View::of(comm);
    view.is_not_asked("wait_word");
    // SAFETY: the component's word.
    wait_for_word(&view.net, unsafe { &*word }, value)
}

/// Until the word is another one, or the net is dead.
pub fn wait_for_word(net: &Net, word: &AtomicU32, value: u32) -> Status {
    let begun = Instant::now();
    while word.load(Ordering::Acquire) == value {
        if net.is_dead() {
            return Status::PEER_FAILED;
        }
        if begun.elapsed() > net.patience() {
            net.stop(format!("a word is {value} for ever"));
        }
        std::thread::yield_now();
    }
    Status::OK
}
