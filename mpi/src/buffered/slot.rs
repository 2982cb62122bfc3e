//! A place where a buffer for buffered sends can be attached, and the bookkeeping of the messages in it.
//!
//! A message takes the bytes it packs to and nothing else: what the library must remember of it stands
//! outside the buffer, so MPI_BSEND_OVERHEAD is room to spare. Space is given in the order the standard
//! describes (`oxmpi_runtime::buffer`).
//!
//! **Access.** Everything in a [`Slot`] belongs to the holder of its lock, taken where the call's entry
//! says so; it is held for the bookkeeping, not while packing or sending. A message gets its place and
//! its number first, and its request when that exists; until then nobody else touches it. `attached`
//! is looked at without the lock, to choose the slot.

use crate::call::memory::Address;
use crate::constants::*;
use crate::error::{Failure, Res};
use crate::request::word::{Header, give_back};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::{Entry, Lock};
use oxmpi_runtime::buffer::Space;
use std::collections::VecDeque;

/// A place where a buffer can be attached.
#[derive(Default)]
pub struct Slot {
    pub attached: AtomicBool,
    lock: Lock,
    inner: UnsafeCell<Inner>,
}

// SAFETY: `inner` is reached by `with` alone, under the lock or by the only thread.
unsafe impl Sync for Slot {}
// SAFETY: a buffer of the user's and requests belong to no thread.
unsafe impl Send for Slot {}

/// A buffer, and the messages in it.
#[derive(Default)]
pub struct Inner {
    pub buffer: Option<Buffer>,
    /// Oldest first.
    pub messages: VecDeque<Message>,
    /// Of the newest message.
    pub number: u64,
}

/// The memory that messages get their places in.
pub enum Buffer {
    Users { base: Address, space: Space },
    Automatic,
}

/// A message in a buffer.
pub struct Message {
    number: u64,
    place: Place,
    /// `None` until the send has begun.
    pub req: Option<Header>,
}

/// A message's place.
pub enum Place {
    Users(u64),
    /// Kept until the send is over.
    Heap {
        _bytes: Vec<u8>,
    },
}

impl Message {
    /// The send is complete.
    pub fn is_over(&self) -> bool {
        self.req.is_some_and(|req| req.is_complete())
    }
}

impl Inner {
    /// Gives the space of messages back that are over: the oldest ones, or with `all` any.
    fn clear_up(&mut self, all: bool) {
        while self.messages.front().is_some_and(Message::is_over) {
            if let Some(message) = self.messages.pop_front() {
                self.free(&message);
            }
        }
        if !all {
            return;
        }
        for i in (0..self.messages.len()).rev() {
            if self.messages[i].is_over()
                && let Some(message) = self.messages.remove(i)
            {
                self.free(&message);
            }
        }
    }

    /// Gives a message's place back.
    pub fn free(&mut self, message: &Message) {
        if let Some(req) = message.req {
            give_back(req);
        }
        if let (Some(Buffer::Users { space, .. }), Place::Users(at)) = (&mut self.buffer, &message.place) {
            space.give(*at);
        }
    }

    /// A number and a place for a message, if there is room.
    pub fn take(&mut self, bytes: u64, all: bool) -> Res<Option<(u64, *mut u8)>> {
        self.clear_up(all);
        let (place, at) = match &mut self.buffer {
            None => return Ok(None),
            Some(Buffer::Users { base, space }) => match space.take(bytes.max(1)) {
                Some(at) => (Place::Users(at), base.as_mut_ptr().wrapping_add(at as usize)),
                None => return Ok(None),
            },
            Some(Buffer::Automatic) => {
                let no_memory = || Failure::new(MPI_ERR_NO_MEM, "there is no memory for a buffered message");
                let size = usize::try_from(bytes).map_err(|_| no_memory())?;
                let mut heap = Vec::new();
                heap.try_reserve_exact(size).map_err(|_| no_memory())?;
                let at = heap.as_mut_ptr();
                (Place::Heap { _bytes: heap }, at)
            }
        };
        self.number += 1;
        self.messages.push_back(Message { number: self.number, place, req: None });
        Ok(Some((self.number, at)))
    }

    /// The place of a message in the list.
    pub fn find(&mut self, number: u64) -> Option<usize> {
        self.messages.binary_search_by_key(&number, |m| m.number).ok()
    }
}

impl Slot {
    /// Whether there is a buffer.
    pub fn is_attached(&self) -> bool {
        // SYNC POINT with `attach`; the lock orders everything else.
        self.attached.load(Ordering::Acquire)
    }

    /// Runs what needs the bookkeeping, under the lock where there are several threads.
    pub fn with<R>(&self, entry: &Entry, f: impl FnOnce(&mut Inner) -> R) -> R {
        let _guard = self.lock.guard(entry);
        // SAFETY: the lock is held, or there is one thread, whose entry is borrowed; uses do not nest.
        f(unsafe { &mut *self.inner.get() })
    }

    /// Whether all messages up to this number are over.
    pub fn is_sent(&self, entry: &Entry, number: u64) -> bool {
        self.with(entry, |inner| {
            inner.clear_up(false);
            inner.messages.front().is_none_or(|m| m.number > number)
        })
    }
}
