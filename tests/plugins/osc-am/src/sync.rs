//! The verbs of a window: synchronised, freed; its operations are in `operation.rs`.

use crate::state::{Peer, SharedState, WinState};
use crate::window::AmWindow;
use crate::wire::{Header, kind};
use core::mem::replace;
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use oxmpi_osc::{RmaArgs, Window, assertion, lock_type};
use oxmpi_osc_support::{Access, Epochs};

impl AmWindow {
    /// Sends a message without data to each of the ranks.
    fn tell(&self, thread: *mut ThreadCtx, ranks: &[u32], kind: u32, code: u32) {
        let mut shared = self.am.lock();
        ranks.iter().for_each(|rank| tell(&mut shared, self.slot, *rank, kind, code));
        drop(shared);
        self.am.push(thread);
    }

    /// Makes progress until the window's state is as wanted. The caller holds nothing.
    fn wait_until(&self, thread: *mut ThreadCtx, mut wanted: impl FnMut(&mut WinState) -> bool) -> Status {
        self.comm.until(thread, || self.with(&mut wanted).unwrap_or(true))
    }

    /// Waits until the ranks have answered everything, and says what failed.
    fn settle(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        let answered = |w: &mut WinState| ranks.iter().all(|rank| w.peers[*rank as usize].pending == 0);
        let waited = self.wait_until(thread, answered);
        if waited.is_err() {
            return waited;
        }
        let failed = self.with(|w| {
            let failures = ranks.iter().map(|rank| replace(&mut w.peers[*rank as usize].failure, Status::OK));
            failures.fold(Status::OK, |first, next| if first.is_err() { first } else { next })
        });
        failed.unwrap_or_else(|status| status)
    }

    fn all(&self) -> Vec<u32> {
        (0..self.comm.num_ranks()).collect()
    }

    /// Runs a check of the epoch that answers with a status.
    fn epoch(&self, check: impl FnOnce(&mut Epochs) -> Status) -> Status {
        self.with(|w| check(&mut w.epochs)).unwrap_or_else(|status| status)
    }

    /// Waits until the ranks have granted the locks that were asked for.
    fn granted(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        self.wait_until(thread, |w| ranks.iter().all(|rank| w.peers[*rank as usize].granted))
    }

    fn ask_for_locks(&self, thread: *mut ThreadCtx, ranks: &[u32], kind: u32) -> Status {
        let asked = self.with(|w| ranks.iter().for_each(|rank| w.peers[*rank as usize].granted = false));
        if let Err(status) = asked {
            return status;
        }
        self.tell(thread, ranks, kind::LOCK, kind);
        self.granted(thread, ranks)
    }

    fn give_locks_back(&self, thread: *mut ThreadCtx, ranks: &[u32]) -> Status {
        let done = self.settle(thread, ranks);
        self.tell(thread, ranks, kind::UNLOCK, 0);
        let told = self.settle(thread, ranks);
        if done.is_err() { done } else { told }
    }

    fn use_up(w: &mut WinState, ranks: &[u32], count: impl Fn(&mut Peer) -> &mut u32) -> bool {
        if !ranks.iter().all(|rank| *count(&mut w.peers[*rank as usize]) > 0) {
            return false;
        }
        ranks.iter().for_each(|rank| *count(&mut w.peers[*rank as usize]) -= 1);
        true
    }
}

/// Whether the window has all these ranks: another would be out of the range of its tables.
fn known(shared: &mut SharedState, slot: u32, ranks: &[u32]) -> bool {
    let n = shared.window(slot).map_or(0, |w| w.peers.len());
    ranks.iter().all(|rank| (*rank as usize) < n)
}

/// Sends a message without data to a rank, which answers it.
fn tell(shared: &mut SharedState, slot: u32, rank: u32, kind: u32, code: u32) {
    let Some(window) = shared.window(slot) else { return };
    let from = window.rank;
    let Some(peer) = window.peers.get_mut(rank as usize) else { return };
    let header = Header {
        kind,
        window: peer.window,
        from,
        operation: Header::NO_OPERATION,
        code,
        ..Header::default()
    };
    peer.pending += 1;
    let proc = peer.proc;
    shared.outbox.put(proc, header.message(&[], 0));
}

/// Ends a verb whose status is a failure.
macro_rules! go {
    ($status:expr) => {
        let status = $status;
        if status.is_err() {
            return status;
        }
    };
}

impl Window for AmWindow {
    fn put(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.transfer(args, kind::PUT, wanted)
    }
    fn get(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.transfer(args, kind::GET, wanted)
    }
    fn accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.accumulate_into(args, wanted)
    }
    fn get_accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        self.fetch(args, wanted)
    }
    fn fetch_and_op(&self, args: &RmaArgs) -> Status {
        self.fetch(args, false).err().unwrap_or(Status::OK)
    }
    fn compare_and_swap(&self, args: &RmaArgs) -> Status {
        self.swap(args).err().unwrap_or(Status::OK)
    }

    fn fence(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        go!(self.epoch(|e| e.may_fence()));
        let done = self.settle(thread, &self.all());
        fence(Ordering::SeqCst);
        let met = self.comm.barrier(thread);
        fence(Ordering::SeqCst);
        let next =
            if assert & assertion::NOSUCCEED != 0 { Access::None } else { Access::Fence { used: false } };
        let _ = self.with(|w| w.epochs.access = next);
        if done.is_err() { done } else { met }
    }

    fn post(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        if !known(&mut self.am.lock(), self.slot, ranks) {
            return Status::BAD_PARAM;
        }
        go!(self.epoch(|e| {
            if e.exposure.is_some() {
                return Status::RMA_SYNC;
            }
            e.exposure = Some(ranks.to_vec());
            Status::OK
        }));
        fence(Ordering::SeqCst);
        if assert & assertion::NOCHECK == 0 {
            self.tell(thread, ranks, kind::POST, 0);
        }
        Status::OK
    }

    fn start(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        if !known(&mut self.am.lock(), self.slot, ranks) {
            return Status::BAD_PARAM;
        }
        go!(self.epoch(|e| {
            let status = e.may_begin();
            if status.is_ok() {
                e.access = Access::Start(ranks.to_vec());
            }
            status
        }));
        if assert & assertion::NOCHECK != 0 {
            return Status::OK;
        }
        self.wait_until(thread, |w| AmWindow::use_up(w, ranks, |peer| &mut peer.posts))
    }

    fn complete(&self, thread: *mut ThreadCtx) -> Status {
        let ranks = self.with(|w| match &w.epochs.access {
            Access::Start(ranks) => Ok(ranks.clone()),
            _ => Err(Status::RMA_SYNC),
        });
        let ranks = match ranks.and_then(|ranks| ranks) {
            Ok(ranks) => ranks,
            Err(status) => return status,
        };
        let done = self.settle(thread, &ranks);
        self.tell(thread, &ranks, kind::COMPLETE, 0);
        let _ = self.with(|w| w.epochs.access = Access::None);
        done
    }

    fn wait(&self, thread: *mut ThreadCtx, block: bool) -> Status {
        let ranks = match self.with(|w| w.epochs.exposure.clone()) {
            Ok(Some(ranks)) => ranks,
            Ok(None) => return Status::RMA_SYNC,
            Err(status) => return status,
        };
        let mut used = false;
        let complete = |w: &mut WinState| {
            used = AmWindow::use_up(w, &ranks, |peer| &mut peer.completes);
            used
        };
        if block {
            go!(self.wait_until(thread, complete));
        } else {
            self.comm.progress(thread);
            if !self.with(complete).unwrap_or(false) {
                return Status::PENDING;
            }
        }
        fence(Ordering::SeqCst);
        let _ = self.with(|w| w.epochs.exposure = None);
        if used { Status::OK } else { Status::INTERNAL }
    }

    fn lock(&self, thread: *mut ThreadCtx, kind: u32, rank: u32, assert: u32) -> Status {
        if !known(&mut self.am.lock(), self.slot, &[rank]) {
            return Status::BAD_PARAM;
        }
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.epoch(|e| e.lock(rank, checked)));
        if checked { self.ask_for_locks(thread, &[rank], kind) } else { Status::OK }
    }

    fn unlock(&self, thread: *mut ThreadCtx, rank: u32) -> Status {
        go!(self.epoch(|e| match e.access {
            Access::LockAll(_) => Status::RMA_SYNC,
            _ => e.may_flush(Some(rank)),
        }));
        let done = self.settle(thread, &[rank]);
        let checked = match self.with(|w| w.epochs.unlock(rank)).and_then(|checked| checked) {
            Ok(checked) => checked,
            Err(status) => return status,
        };
        let told = if checked { self.give_locks_back(thread, &[rank]) } else { Status::OK };
        if done.is_err() { done } else { told }
    }

    fn lock_all(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.epoch(|e| {
            let status = e.may_begin();
            if status.is_ok() {
                e.access = Access::LockAll(checked);
            }
            status
        }));
        if checked { self.ask_for_locks(thread, &self.all(), lock_type::SHARED) } else { Status::OK }
    }

    fn unlock_all(&self, thread: *mut ThreadCtx) -> Status {
        let checked = self.with(|w| match w.epochs.access {
            Access::LockAll(checked) => Ok(checked),
            _ => Err(Status::RMA_SYNC),
        });
        let checked = match checked.and_then(|checked| checked) {
            Ok(checked) => checked,
            Err(status) => return status,
        };
        let all = self.all();
        let done = if checked { self.give_locks_back(thread, &all) } else { self.settle(thread, &all) };
        let _ = self.with(|w| w.epochs.access = Access::None);
        done
    }

    fn flush(&self, thread: *mut ThreadCtx, rank: Option<u32>, _local: bool) -> Status {
        go!(self.epoch(|e| e.may_flush(rank)));
        match rank {
            Some(rank) => self.settle(thread, &[rank]),
            None => self.settle(thread, &self.all()),
        }
    }

    fn sync(&self, thread: *mut ThreadCtx) -> Status {
        fence(Ordering::SeqCst);
        self.comm.progress(thread);
        fence(Ordering::SeqCst);
        Status::OK
    }

    fn attach(&self, _: *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status {
        self.with(|w| w.exposed.attach(base, bytes)).unwrap_or_else(|status| status)
    }

    fn detach(&self, _: *mut ThreadCtx, base: *mut u8) -> Status {
        self.with(|w| w.exposed.detach(base)).unwrap_or_else(|status| status)
    }

    fn free(&self, thread: *mut ThreadCtx, discard: bool) -> Status {
        if !discard {
            let own = self.epoch(|e| e.may_end());
            go!(self.comm.agree(thread, own));
            let done = self.settle(thread, &self.all());
            // A failure of an operation is not one of freeing; nobody asks for it any more.
            let _ = done;
            go!(self.comm.barrier(thread));
        }
        self.vanish();
        Status::OK
    }
}
