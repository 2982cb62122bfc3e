//! The services that know nodes: places, memory of the node, peers' memory, waiting on a word.
//!
//! Nodes are made up: ranks are dealt to them in turn. Memory of another node cannot be reached, as between machines.

use crate::net::Net;
use crate::view::View;
use oxmpi_coll::CollComm;
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::{Place, Status, WakingWord};
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

pub extern "C" fn wait_word(comm: *const CollComm, word: *const WakingWord, value: u32) -> Status {
    let view = View::of(comm);
    view.is_not_asked("wait_word");
    if let Err(status) = view.net.count_wait(view.me()) {
        return status;
    }
    // SAFETY: the component's word.
    let status = wait_for_word(&view.net, unsafe { &*word }, value);
    if status.is_err() {
        view.net.tell(view.me());
    }
    status
}

pub extern "C" fn wake_word(comm: *const CollComm, word: *const WakingWord) -> Status {
    let view = View::of(comm);
    view.is_not_asked("wake_word");
    view.net.wake_word(word.addr());
    Status::OK
}

/// Until the word is another one, or the net is dead. Sleeps, so that a component that wakes nobody is found.
pub fn wait_for_word(net: &Net, word: &WakingWord, value: u32) -> Status {
    let begun = Instant::now();
    word.announce();
    let status = loop {
        let woken = net.words_woken(word.address().addr());
        if word.load() != value {
            break Status::OK;
        }
        if net.is_dead() {
            break Status::PEER_FAILED;
        }
        if !net.sleep_on_word(word.address().addr(), woken, net.patience().saturating_sub(begun.elapsed())) {
            let what = match word.load() == value {
                true => format!("a word is {value} for ever"),
                false => "a word was changed on which a rank sleeps, and nobody has called wake_word".into(),
            };
            net.stop(what);
        }
    };
    word.retract();
    status
}
