//! Synchronisation of windows: flushes of the library, and messages and barriers among the proxies.
//!
//! | Function | By |
//! |---|---|
//! | fence | everything arrives, then a barrier |
//! | post, start | a message from each target to each origin |
//! | complete, wait | everything arrives, then a message from each origin to each target |
//! | lock, unlock | messages (`locks`); everything arrives before an unlock |
//! | flush, flush_local, sync | the library's own |
//!
//! Only a flush stays inside the library, until data has arrived, which needs no other proxy's consent.

use crate::abi::*;
use crate::locks::{EXCLUSIVE, RELEASE, SHARED, tag};
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::Server;

/// Sends a message without data, or one with a word that never changes.
fn send(word: Option<&'static c_int>, rank: c_int, tag: c_int, comm: Comm) -> Request {
    let mut request = REQUEST_NULL;
    let (at, count) = word.map_or((core::ptr::null(), 0), |w| (core::ptr::from_ref(w).cast(), 1));
    // SAFETY: the word is a static.
    unsafe { pmpi::MPI_Isend(at, count, INT, rank, tag, comm, &raw mut request) };
    request
}

/// Receives a message without data.
fn receive(rank: c_int, tag: c_int, comm: Comm) -> Request {
    let mut request = REQUEST_NULL;
    // SAFETY: no data comes.
    unsafe { pmpi::MPI_Irecv(core::ptr::null_mut(), 0, INT, rank, tag, comm, &raw mut request) };
    request
}

impl Server {
    /// Ranks that a command means: those of its list, the one it names, or all.
    fn targets(&self, record: &Record) -> Vec<c_int> {
        let size = self.windows.get(&(record.args[3] as u32)).map_or(0, |w| w.sent.len());
        match record.root {
            -1 if record.lists != 0 => self.ints(record, 0, record.args[0]),
            -1 => (0..size as c_int).collect(),
            rank => vec![rank],
        }
    }

    pub fn synchronise(&mut self, index: u32, record: &mut Record) {
        let number = record.args[3] as u32;
        let Some((native, comm)) = self.windows.get(&number).map(|w| (w.native, w.comm)) else {
            return self.complete(index, ERR_WIN);
        };
        let ranks = self.targets(record);
        if matches!(record.op, op::WIN_FENCE | op::WIN_COMPLETE | op::WIN_UNLOCK | op::WIN_FLUSH) {
            let error =
                arrive(native, if record.root < 0 && record.lists == 0 { None } else { Some(&ranks) });
            if error != SUCCESS || record.op == op::WIN_FLUSH {
                return self.complete(index, error);
            }
        }
        let requests: Vec<Request> = match record.op {
            op::WIN_FENCE => {
                let mut request = REQUEST_NULL;
                // SAFETY: a communicator of this process.
                unsafe { pmpi::MPI_Ibarrier(comm, &raw mut request) };
                vec![request]
            }
            op::WIN_POST => {
                let requests = ranks.iter().map(|r| receive(*r, tag::COMPLETE, comm)).collect();
                let exposure = self.pend_together(requests, None);
                if let Some(window) = self.windows.get_mut(&number) {
                    window.exposure = Some(exposure);
                }
                ranks.iter().map(|r| send(None, *r, tag::POST, comm)).collect()
            }
            op::WIN_START => ranks.iter().map(|r| receive(*r, tag::POST, comm)).collect(),
            op::WIN_COMPLETE => ranks.iter().map(|r| send(None, *r, tag::COMPLETE, comm)).collect(),
            op::WIN_LOCK => {
                let kind = if record.args[1] as c_int == LOCK_EXCLUSIVE { &EXCLUSIVE } else { &SHARED };
                let mut requests: Vec<Request> =
                    ranks.iter().map(|r| receive(*r, tag::GRANT, comm)).collect();
                requests.extend(self.tell(number, &ranks, kind));
                requests
            }
            // Locks that were not checked have no holder.
            op::WIN_UNLOCK if record.args[1] == 0 => Vec::new(),
            op::WIN_UNLOCK => self.tell(number, &ranks, &RELEASE),
            op::WIN_WAIT | op::WIN_TEST => return self.exposure(index, record),
            // SAFETY: a window of this process.
            _ => return self.complete(index, unsafe { local(record, native) }),
        };
        self.pend_together(requests, Some(index));
    }

    /// Sends a message about a lock to each of these ranks.
    fn tell(&mut self, number: u32, ranks: &[c_int], word: &'static c_int) -> Vec<Request> {
        let Some(window) = self.windows.get_mut(&number) else { return Vec::new() };
        let comm = window.comm;
        ranks.iter().for_each(|r| window.sent[*r as usize] += 1);
        ranks.iter().map(|r| send(Some(word), *r, tag::LOCK, comm)).collect()
    }

    /// The end of an exposure epoch: waited for, or looked at.
    fn exposure(&mut self, index: u32, record: &mut Record) {
        let window = self.windows.get_mut(&(record.args[3] as u32));
        let Some(exposure) = window.and_then(|w| w.exposure.take()) else {
            return self.complete(index, ERR_RMA_SYNC);
        };
        let done = exposure.left.get() == 0;
        record.out[0] = done.into();
        if done {
            return self.complete(index, exposure.error.get());
        }
        if record.op == op::WIN_WAIT {
            exposure.record.set(Some(index));
            return;
        }
        if let Some(window) = self.windows.get_mut(&(record.args[3] as u32)) {
            window.exposure = Some(exposure);
        }
        self.complete(index, SUCCESS);
    }
}

/// Everything that was sent to these ranks (or to all) arrives, and what was stored here is seen.
fn arrive(native: Win, ranks: Option<&[c_int]>) -> c_int {
    // SAFETY: a window of this process that is under a lock for all.
    unsafe {
        let error = match ranks {
            None => pmpi::MPI_Win_flush_all(native),
            Some(ranks) => {
                let flush = |rank: &c_int| pmpi::MPI_Win_flush(*rank, native);
                ranks.iter().map(flush).find(|e| *e != SUCCESS).unwrap_or(SUCCESS)
            }
        };
        pmpi::MPI_Win_sync(native);
        error
    }
}

/// # Safety
/// The window is one of this process, under a lock for all.
unsafe fn local(record: &Record, native: Win) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match (record.op, record.root) {
            (op::WIN_FLUSH_LOCAL, -1) => pmpi::MPI_Win_flush_local_all(native),
            (op::WIN_FLUSH_LOCAL, rank) => pmpi::MPI_Win_flush_local(rank, native),
            _ => pmpi::MPI_Win_sync(native),
        }
    }
}
