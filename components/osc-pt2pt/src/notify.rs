//! Counters of notifications of this rank, and what looks at them.
//!
//! A notified put or get is a record with [`flag::NOTIFIES`], which names the counter. Its target adds to it when the data is where it belongs, or has been read:
//! at once, or when the message that brings or takes it has ended. An operation that fails tells nobody.

use crate::state::{Core, LockedState};
use crate::wire::{Head, flag, kind};
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::Rma;

impl Head {
    /// The counter that the operation adds to.
    pub fn counter(&self) -> Option<u32> {
        (self.has(flag::NOTIFIES) && matches!(self.kind, kind::PUT | kind::GET)).then_some(self.word)
    }
}

impl LockedState<'_> {
    /// The operation of this record has done its work; false: it names no counter of ours.
    pub fn notify(&mut self, counter: Option<u32>) -> bool {
        let Some(counter) = counter else { return true };
        let Some(value) = self.notifications.get_mut(counter as usize) else { return false };
        *value += 1;
        self.changed();
        true
    }
}

impl Core {
    /// A notified operation: one of the kinds of records.
    pub fn notified(&self, entry: &mut Entry, kind: u8, args: Rma<'_>, counter: u32) -> Status {
        {
            let state = self.look();
            if counter as usize >= state.notifications.len() {
                return Status::BAD_PARAM;
            }
            if !state.epochs.is_passive() {
                return Status::RMA_SYNC;
            }
        }
        self.operate_notified(entry, kind, args, counter)
    }

    /// Looks at a counter of this rank, behind a turn of progress, as `look` says.
    pub fn notifications(
        &self,
        entry: &mut Entry,
        counter: u32,
        look: impl FnOnce(&mut u64) -> u64,
    ) -> Result<u64, Status> {
        self.link.comm.progress(entry);
        let mut state = self.look();
        let now = look(state.notifications.get_mut(counter as usize).ok_or(Status::BAD_PARAM)?);
        fence(Ordering::SeqCst);
        Ok(now)
    }

    pub fn await_notifications(
        &self,
        entry: &mut Entry,
        counter: u32,
        threshold: u64,
    ) -> Result<u64, Status> {
        if counter as usize >= self.look().notifications.len() {
            return Err(Status::BAD_PARAM);
        }
        let mut found = 0;
        let waited = self.wait_until(entry, |state| {
            found = state.notifications[counter as usize];
            found >= threshold
        });
        fence(Ordering::SeqCst);
        if waited.is_err() { Err(waited) } else { Ok(found) }
    }
}
