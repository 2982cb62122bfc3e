//! One window behind its two locks, and its turn of progress: messages go out, and messages that came are taken in their order.

use super::desk::Desk;
use super::parcel::Parcel;
use crate::comm::Comm;
use core::mem::take;
use oxmpi_mca::{Entry, Host, Status};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A turn takes no more messages, so that other windows have theirs.
const MESSAGES: i32 = 64;
/// So many messages may be on their way before a thread that sends more makes progress.
const CROWD: usize = 256;

/// The sender of a message sends none that makes sense: its part in the job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonsense;

/// A window takes its messages by this. Both functions run with the window locked.
pub trait Arrivals: Send + Sized + 'static {
    /// Takes a message of a rank. Peers are not trusted: nothing in it is known to be right.
    fn arrived(&mut self, desk: &mut Desk, from: u32, message: &[u8]) -> Result<(), Nonsense>;
    /// Learns that no message reaches this rank, or comes from it, any more. Operations and calls that wait for it end with this status.
    fn lost(&mut self, desk: &mut Desk, rank: u32, status: Status);
}

/// A window's state and the layer's part of it.
pub(super) struct Inside<W> {
    pub window: W,
    pub desk: Desk,
}

/// Messages under way.
struct Mail {
    /// In the order in which they were sent, with their receivers.
    sent: VecDeque<(u32, Parcel)>,
    /// `None`: nothing can come any more, or nothing came yet.
    posted: Option<Parcel>,
}

/// A window of this process.
pub(super) struct Core<W> {
    host: Host,
    pub comm: Comm,
    inside: Mutex<Inside<W>>,
    /// Tried, and taken before the other.
    mail: Mutex<Mail>,
}

impl<W: Arrivals> Core<W> {
    pub fn new(host: Host, comm: Comm, window: W, desk: Desk) -> Core<W> {
        let mail = Mutex::new(Mail { sent: VecDeque::new(), posted: None });
        Core { host, comm, inside: Mutex::new(Inside { window, desk }), mail }
    }

    /// Locks the state.
    pub fn inside(&self) -> MutexGuard<'_, Inside<W>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to receive messages of so many bytes.
    pub fn listen(&self, entry: &mut Entry, message_bytes: usize) -> Result<(), Status> {
        let posted = Parcel::receive(&self.comm, entry, vec![0; message_bytes])?;
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).posted = Some(posted);
        Ok(())
    }

    /// Ends the receive. Messages of ours that are under way keep their bytes.
    pub fn leave(&self, entry: &mut Entry) {
        let posted = {
            let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
            mail.sent.clear();
            mail.posted.take()
        };
        // Waits, so nothing is locked.
        if let Some(posted) = posted {
            posted.cancel(&self.comm, entry);
        }
    }

    fn mail(&self) -> Option<MutexGuard<'_, Mail>> {
        match self.mail.try_lock() {
            Ok(mail) => Some(mail),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Tells whether nothing waits to be sent, and all that was sent has ended.
    pub fn has_sent_all(&self) -> bool {
        self.mail().is_some_and(|mail| mail.sent.is_empty()) && self.inside().desk.outbox.is_empty()
    }

    /// Tells whether many messages are on their way.
    pub fn is_crowded(&self) -> bool {
        self.mail().is_some_and(|mail| mail.sent.len() > CROWD)
    }

    /// Makes a turn; how many messages came. Somebody else is inside: none.
    pub fn turn(&self, entry: &mut Entry) -> i32 {
        let Some(mut mail) = self.mail() else { return 0 };
        let mut events = 0;
        self.send_out(&mut mail, entry);
        while events < MESSAGES && self.take_one(&mut mail, entry) {
            events += 1;
            self.send_out(&mut mail, entry);
        }
        events
    }

    /// Makes a turn, and tells whether that brought nothing and nothing waits to be sent, so that only a message brings more; false also where somebody else is inside.
    pub fn may_be_left(&self, entry: &mut Entry) -> bool {
        self.turn(entry) == 0 && self.mail().is_some() && self.inside().desk.outbox.is_empty()
    }

    /// Begins the messages that wait, and looks at those that were begun.
    fn send_out(&self, mail: &mut Mail, entry: &mut Entry) {
        let waiting = take(&mut self.inside().desk.outbox);
        for (to, message) in waiting {
            match Parcel::send(&self.comm, entry, message, to) {
                Ok(parcel) => mail.sent.push_back((to, parcel)),
                Err(status) => self.lose(to, status),
            }
        }
        while let Some((to, first)) = mail.sent.front_mut() {
            let Some(status) = first.ended(&self.comm, entry) else { break };
            if status.error.is_err() {
                self.lose(*to, status.error);
            }
            mail.sent.pop_front();
        }
    }

    /// Takes a message that has come, and begins to receive the next.
    fn take_one(&self, mail: &mut Mail, entry: &mut Entry) -> bool {
        let Some(status) = mail.posted.as_mut().and_then(|posted| posted.ended(&self.comm, entry)) else {
            return false;
        };
        let bytes = mail.posted.take().map(Parcel::into_bytes).unwrap_or_default();
        let from = u32::try_from(status.source).ok().filter(|from| *from < self.comm.num_ranks());
        match (from, bytes.get(..status.bytes as usize)) {
            (Some(from), Some(message)) if status.error.is_ok() => self.deliver(from, message),
            (Some(from), _) if status.error == Status::TRUNCATED => self.refuse(from),
            (Some(from), _) => self.lose(from, status.error),
            // Nothing can come from anybody.
            (None, _) => {
                self.lose_all(status.error);
                return true;
            }
        }
        match Parcel::receive(&self.comm, entry, bytes) {
            Ok(posted) => mail.posted = Some(posted),
            Err(status) => self.lose_all(status),
        }
        true
    }

    fn deliver(&self, from: u32, message: &[u8]) {
        let taken = {
            let Inside { window, desk } = &mut *self.inside();
            window.arrived(desk, from, message)
        };
        if taken == Err(Nonsense) {
            self.refuse(from);
        }
    }

    /// The sender makes no sense.
    fn refuse(&self, from: u32) {
        let proc = self.comm.place(from).unwrap_or_default().proc;
        self.host.peer_error(proc, true, "sent a one-sided message that makes no sense");
        self.lose(from, Status::PEER_FAILED);
    }

    fn lose(&self, rank: u32, status: Status) {
        let Inside { window, desk } = &mut *self.inside();
        window.lost(desk, rank, status);
    }

    fn lose_all(&self, status: Status) {
        (0..self.comm.num_ranks()).for_each(|rank| self.lose(rank, status));
    }
}
