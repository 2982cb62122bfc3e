//! Counters of notifications of this rank, and what looks at them.
//!
//! A notified put or get is a record with [`flag::NOTIFIES`], which names the counter. Its target adds to it when the data is where it belongs, or has been read:
//! at once, or when the message that brings or takes it has ended. An operation that fails tells nobody.

use crate::state::{Core, LockedState};
use crate::wire::{Head, flag, kind};
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_osc::RmaArgs;

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
    pub fn notified(&self, kind: u8, args: &RmaArgs, counter: u32) -> Status {
        {
            let locked = self.enter(args.thread);
            if counter as usize >= locked.notifications.len() {
                return Status::BAD_PARAM;
            }
            if !locked.epochs.is_passive() {
                return Status::RMA_SYNC;
            }
        }
        self.operate_notified(kind, args, counter)
    }

    pub fn notifications(&self, thread: *mut ThreadCtx, counter: u32, reset: bool) -> Result<u64, Status> {
        self.link.comm.progress(thread);
        let mut locked = self.enter(thread);
        let value = locked.notifications.get_mut(counter as usize).ok_or(Status::BAD_PARAM)?;
        let now = if reset { core::mem::take(value) } else { *value };
        fence(Ordering::SeqCst);
        Ok(now)
    }

    pub fn await_notifications(
        &self,
        thread: *mut ThreadCtx,
        counter: u32,
        threshold: u64,
    ) -> Result<u64, Status> {
        if counter as usize >= self.enter(thread).notifications.len() {
            return Err(Status::BAD_PARAM);
        }
        let mut found = 0;
        let waited = self.wait_until(thread, |locked| {
            found = locked.notifications[counter as usize];
            found >= threshold
        });
        fence(Ordering::SeqCst);
        if waited.is_err() { Err(waited) } else { Ok(found) }
    }
}
