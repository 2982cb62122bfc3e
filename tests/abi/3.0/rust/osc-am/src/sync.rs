//! The verbs of a window: synchronised, freed; its operations are in `operation.rs`.

use crate::state::{Peer, SharedState, WinState};
use crate::window::AmWindow;
use crate::wire::{Header, kind};
use core::mem::replace;
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Asked, Flush, LockKind, Memory, Rma, Want, Window, assertion};
use oxmpi_osc_support::{Access, Epochs, Request};

impl AmWindow {
    /// Sends a message without data to each of the ranks.
    fn tell(&self, entry: &mut Entry, ranks: &[u32], kind: u32, code: u32) {
        let mut shared = self.am.lock();
        ranks.iter().for_each(|rank| tell(&mut shared, self.slot, *rank, kind, code));
        drop(shared);
        self.am.push(entry);
    }

    /// Makes progress until the window's state is as wanted. The caller holds nothing.
    fn wait_until(&self, entry: &mut Entry, mut wanted: impl FnMut(&mut WinState) -> bool) -> Status {
        self.comm.until(entry, || self.with(&mut wanted).unwrap_or(true))
    }

    /// Waits until the ranks have answered everything, and says what failed.
    fn settle(&self, entry: &mut Entry, ranks: &[u32]) -> Status {
        let answered = |w: &mut WinState| ranks.iter().all(|rank| w.peers[*rank as usize].pending == 0);
        let waited = self.wait_until(entry, answered);
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
    fn granted(&self, entry: &mut Entry, ranks: &[u32]) -> Status {
        self.wait_until(entry, |w| ranks.iter().all(|rank| w.peers[*rank as usize].granted))
    }

    fn ask_for_locks(&self, entry: &mut Entry, ranks: &[u32], kind: LockKind) -> Status {
        let asked = self.with(|w| ranks.iter().for_each(|rank| w.peers[*rank as usize].granted = false));
        if let Err(status) = asked {
            return status;
        }
        self.tell(entry, ranks, kind::LOCK, kind.number());
        self.granted(entry, ranks)
    }

    fn give_locks_back(&self, entry: &mut Entry, ranks: &[u32]) -> Status {
        let done = self.settle(entry, ranks);
        self.tell(entry, ranks, kind::UNLOCK, 0);
        let told = self.settle(entry, ranks);
        if done.is_err() { done } else { told }
    }

    /// The ranks that the exposure epoch is for.
    fn exposed_to(&self) -> Result<Vec<u32>, Status> {
        self.with(|w| w.epochs.exposure.clone())?.ok_or(Status::RMA_SYNC)
    }

    /// The exposure epoch is over.
    fn end_exposure(&self) {
        fence(Ordering::SeqCst);
        let _ = self.with(|w| w.epochs.exposure = None);
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
    type Request = Request;

    fn put(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.transfer(entry, args, kind::PUT, want)
    }
    fn get(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.transfer(entry, args, kind::GET, want)
    }
    fn accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.accumulate_into(entry, args, want)
    }
    fn get_accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.fetch(entry, args, want)
    }
    fn fetch_and_op(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        self.fetch(entry, args, Want::Nothing).err().unwrap_or(Status::OK)
    }
    fn compare_and_swap(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        self.swap(entry, args).err().unwrap_or(Status::OK)
    }

    fn fence(&self, entry: &mut Entry, assert: u32) -> Status {
        go!(self.epoch(|e| e.may_fence()));
        let done = self.settle(entry, &self.all());
        fence(Ordering::SeqCst);
        let met = self.comm.barrier(entry);
        fence(Ordering::SeqCst);
        let next =
            if assert & assertion::NOSUCCEED != 0 { Access::None } else { Access::Fence { used: false } };
        let _ = self.with(|w| w.epochs.access = next);
        if done.is_err() { done } else { met }
    }

    fn post(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
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
            self.tell(entry, ranks, kind::POST, 0);
        }
        Status::OK
    }

    fn start(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
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
        self.wait_until(entry, |w| AmWindow::use_up(w, ranks, |peer| &mut peer.posts))
    }

    fn complete(&self, entry: &mut Entry) -> Status {
        let ranks = self.with(|w| match &w.epochs.access {
            Access::Start(ranks) => Ok(ranks.clone()),
            _ => Err(Status::RMA_SYNC),
        });
        let ranks = match ranks.and_then(|ranks| ranks) {
            Ok(ranks) => ranks,
            Err(status) => return status,
        };
        let done = self.settle(entry, &ranks);
        self.tell(entry, &ranks, kind::COMPLETE, 0);
        let _ = self.with(|w| w.epochs.access = Access::None);
        done
    }

    fn wait(&self, entry: &mut Entry) -> Status {
        let ranks = match self.exposed_to() {
            Ok(ranks) => ranks,
            Err(status) => return status,
        };
        let mut used = false;
        go!(self.wait_until(entry, |w| {
            used = AmWindow::use_up(w, &ranks, |peer| &mut peer.completes);
            used
        }));
        self.end_exposure();
        if used { Status::OK } else { Status::INTERNAL }
    }

    fn test(&self, entry: &mut Entry) -> Status {
        let ranks = match self.exposed_to() {
            Ok(ranks) => ranks,
            Err(status) => return status,
        };
        self.comm.progress(entry);
        let used = self.with(|w| AmWindow::use_up(w, &ranks, |peer| &mut peer.completes));
        if !used.unwrap_or(false) {
            return Status::PENDING;
        }
        self.end_exposure();
        Status::OK
    }

    fn lock(&self, entry: &mut Entry, kind: LockKind, rank: u32, assert: u32) -> Status {
        if !known(&mut self.am.lock(), self.slot, &[rank]) {
            return Status::BAD_PARAM;
        }
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.epoch(|e| e.lock(rank, checked)));
        if checked { self.ask_for_locks(entry, &[rank], kind) } else { Status::OK }
    }

    fn unlock(&self, entry: &mut Entry, rank: u32) -> Status {
        go!(self.epoch(|e| match e.access {
            Access::LockAll(_) => Status::RMA_SYNC,
            _ => e.may_flush(Some(rank)),
        }));
        let done = self.settle(entry, &[rank]);
        let checked = match self.with(|w| w.epochs.unlock(rank)).and_then(|checked| checked) {
            Ok(checked) => checked,
            Err(status) => return status,
        };
        let told = if checked { self.give_locks_back(entry, &[rank]) } else { Status::OK };
        if done.is_err() { done } else { told }
    }

    fn lock_all(&self, entry: &mut Entry, assert: u32) -> Status {
        let checked = assert & assertion::NOCHECK == 0;
        go!(self.epoch(|e| {
            let status = e.may_begin();
            if status.is_ok() {
                e.access = Access::LockAll(checked);
            }
            status
        }));
        if checked { self.ask_for_locks(entry, &self.all(), LockKind::Shared) } else { Status::OK }
    }

    fn unlock_all(&self, entry: &mut Entry) -> Status {
        let checked = self.with(|w| match w.epochs.access {
            Access::LockAll(checked) => Ok(checked),
            _ => Err(Status::RMA_SYNC),
        });
        let checked = match checked.and_then(|checked| checked) {
            Ok(checked) => checked,
            Err(status) => return status,
        };
        let all = self.all();
        let done = if checked { self.give_locks_back(entry, &all) } else { self.settle(entry, &all) };
        let _ = self.with(|w| w.epochs.access = Access::None);
        done
    }

    fn flush(&self, entry: &mut Entry, rank: Option<u32>, _: Flush) -> Status {
        go!(self.epoch(|e| e.may_flush(rank)));
        match rank {
            Some(rank) => self.settle(entry, &[rank]),
            None => self.settle(entry, &self.all()),
        }
    }

    fn sync(&self, entry: &mut Entry) -> Status {
        fence(Ordering::SeqCst);
        self.comm.progress(entry);
        fence(Ordering::SeqCst);
        Status::OK
    }

    fn attach(&self, _: &mut Entry, memory: Memory) -> Status {
        // SAFETY: the program's, which leaves it attached as long as it is there.
        let attached = self.with(|w| unsafe { w.exposed.attach(memory) });
        attached.unwrap_or_else(|status| status)
    }

    fn detach(&self, _: &mut Entry, base: usize) -> Status {
        self.with(|w| w.exposed.detach(base)).unwrap_or_else(|status| status)
    }

    fn free(&self, entry: &mut Entry) -> Status {
        let own = self.epoch(|e| e.may_end());
        go!(self.comm.agree(entry, own));
        let done = self.settle(entry, &self.all());
        // A failure of an operation is not one of freeing; nobody asks for it any more.
        let _ = done;
        go!(self.comm.barrier(entry));
        self.vanish();
        Status::OK
    }

    fn discard(&self, _: &mut Entry) {
        self.vanish();
    }
}
