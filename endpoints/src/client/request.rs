//! Requests of endpoints from their making to their end.
//!
//! A request that the program freed while it was active is an orphan: it is looked at when others are taken, and given back once
//! it is complete.

use super::comm::{self, EpComm};
use super::end::duplicated;
use super::lock;
pub use super::slot::{Buffered, FollowUpWork, Kind, Slot, begin, find, is_ours};
use super::slot::{ORPHANED, ORPHANS, RANGE_AT, SIZE};
use super::state::{Proxy, client};
use crate::abi::*;
use crate::protocol::record::{Record, op};
use crate::protocol::segment::RECORDS;
use std::sync::atomic::{AtomicU64, Ordering};

/// A new request for a command on a communicator.
#[allow(clippy::mut_from_ref, reason = "the slot is no part of the communicator")]
pub fn new(comm: &EpComm, name: &'static str, code: u32, kind: Kind) -> Result<&'static mut Slot, c_int> {
    if ORPHANED.load(Ordering::Relaxed) > 0 {
        free_complete_orphans();
    }
    let index = comm.proxy.take()?;
    let place = RANGE_AT.load(Ordering::Relaxed) + (comm.proxy.number * RECORDS + index as usize) * SIZE;
    // SAFETY: the place belongs to the record, which is nobody else's.
    let slot = unsafe {
        let place = place as *mut Slot;
        place.write(Slot {
            kind,
            active: false,
            delivered: false,
            inline_used: false,
            limited: matches!(code & !op::PERSISTENT, op::RECV | op::MRECV | op::SENDRECV),
            sends: matches!(code & !op::PERSISTENT, op::SEND | op::SSEND | op::RSEND),
            index,
            proxy: comm.proxy,
            client: comm.client,
            errhandler: comm.errhandler.load(Ordering::Relaxed),
            comm: comm.shown.load(Ordering::Relaxed),
            name,
            staged: [None, None],
            lists: None,
            hints: None,
            follow_up: FollowUpWork::Nothing,
            message: 0,
            buffered: None,
            ticket: AtomicU64::new(0),
            guard: None,
        });
        &mut *place
    };
    let record = slot.record();
    comm::blank(record, code);
    record.comm = comm.native;
    Ok(slot)
}

impl Slot {
    /// Of a complete command: the data goes where it belongs, once.
    pub fn deliver(&mut self) -> c_int {
        let guard = self.guard.clone();
        let _held = guard.as_ref().map(|g| lock(g));
        self.deliver_held()
    }

    /// The same by a thread that holds the guard.
    pub fn deliver_held(&mut self) -> c_int {
        let record = self.record();
        if self.delivered {
            return record.error;
        }
        self.delivered = true;
        if record.error != SUCCESS {
            return record.error;
        }
        for staged in self.staged.iter().flatten().filter(|s| s.comes) {
            staged.deliver(if self.limited { Some(&record.status) } else { None });
        }
        let result = match &mut self.follow_up {
            FollowUpWork::Nothing => Ok(()),
            FollowUpWork::Comm(to, parent) => {
                let (to, parent) = (*to, *parent);
                duplicated(parent, self.client, self.proxy, record).map(|comm| {
                    // SAFETY: the program's place for the handle, which it leaves alone until now.
                    unsafe { *to = comm };
                })
            }
            FollowUpWork::Run(work) => work(),
        };
        if let Err(class) = result {
            record.error = class;
        }
        record.error
    }

    /// Of a complete request: delivers, fills the status, and ends it (or makes it inactive). Gives the class of error.
    pub fn end(&mut self, handle: &mut Request, status: *mut Status) -> c_int {
        let error = self.deliver();
        self.status(status);
        if self.kind == Kind::Persistent {
            self.active = false;
        } else {
            self.free();
            *handle = REQUEST_NULL;
        }
        error
    }
}

/// Has the proxy free a persistent operation that is not under way.
pub fn forget(slot: &Slot) {
    if slot.buffered.is_some() {
        return;
    }
    let index = slot.index;
    let fill = |record: &mut Record| record.args[0] = index.into();
    // It is the proxy's own table that would be wrong, and the record is not used for it again.
    let _ = comm::run(slot.client, slot.proxy, op::REQUEST_FREE, fill, |_| Ok(()));
}

/// Ends orphans that are complete.
pub fn free_complete_orphans() {
    let mut done = Vec::new();
    lock(&ORPHANS).retain(|handle| {
        // SAFETY: an orphan's handle is nobody's but this list's.
        let complete = unsafe { find(*handle) }.is_none_or(|slot| slot.is_done());
        if complete {
            done.push(*handle);
        }
        !complete
    });
    ORPHANED.fetch_sub(done.len(), Ordering::Relaxed);
    for handle in done {
        // SAFETY: taken off the list, so this thread's alone.
        if let Some(slot) = unsafe { find(handle) } {
            slot.deliver();
            if slot.kind == Kind::Persistent {
                forget(slot);
            }
            slot.free();
        }
    }
}

/// Waits for orphans that send: what was sent arrives, also where nobody asked for its end.
pub fn bury_sends() {
    loop {
        free_complete_orphans();
        let sends = lock(&ORPHANS)
            .iter()
            // SAFETY: as above.
            .any(|handle| unsafe { find(*handle) }.is_some_and(|slot| slot.sends));
        let Some(client) = client().filter(|_| sends) else { return };
        client.proxies.iter().for_each(Proxy::request_progress);
        std::thread::yield_now();
    }
}
