//! Assignments that do not keep messages of one receive on one FIFO, and the numbers that keep their order.
//!
//! With `runtime_cri_assignment` dedicated (a FIFO for each thread) or round_robin (the next FIFO for each
//! message) any two messages may overtake each other, and so they may with any assignment over a transport that does not show
//! a message as soon as it is sent. So from SWITCH on (`switch.rs`) a message has a **number**:
//! the how-manieth it is of its communicator to this rank, taken under the lock of its CRI. Sends that the program orders get
//! numbers in that order, since the second send begins when the first has its number.
//!
//! **A number that was taken is used.** A message that found no room keeps its own, and later ones go out past
//! it on other FIFOs: the receiver has them wait, so that nothing is held back here. A send that is cancelled
//! before anybody saw it sends SKIP instead.
//!
//! **The receiver** keeps what comes before its turn, by communicator and source ([`Inbound`]), and matches
//! all in the order of numbers, whichever threads bring them: a message has its turn under the source's
//! lock, and only then looks for its receive. Behind this point numbered messages are like those of one
//! FIFO: wildcards and probes need nothing of their own.
//!
//! **Locks.** The thread that brings the missing message also matches those that waited for it, which came on other
//! CRIs. An answer to their sender must go on the CRI that they came on, whose lock may not be taken here,
//! so such deliveries are *owed* (`owed.rs`): done by the same thread as soon as it holds no lock.
//!
//! **Overtaking.** Messages with user's tags of a communicator with `mpi_assert_allow_overtaking` have no number
//! and go on their thread's FIFO, whatever the assignment. They are matched as they come.

use crate::communicators::comm::Comm;
use crate::communicators::inbound::{EarlyMessage, Inbound};
use crate::order::sequence::Turn;
use crate::receive::incoming::{Incoming, MAX_KEPT};
use crate::receive::receiver::Receiver;
use crate::receive::timing::Watch;
use crate::requests::completer::Completer;
use crate::state::hand::Hand;
use crate::state::locked::ALWAYS;
use crate::wire::{self, FREE_BYTES, kind};
use oxmpi_mca::{CriGuard, Entry};

impl Receiver {
    /// Admits a message with a number, or a SKIP, which says that its number will not be used. If its number is due, it
    /// is matched, and then those that waited for it; if it is early, it is kept in its source's [`Inbound`]; a number
    /// or source that cannot be closes the peer. `held`: the CRI that it came on. `TIMED`: match time is measured.
    #[inline(never)]
    pub fn arrive_numbered<const TIMED: bool>(
        &self,
        held: &mut CriGuard<'_>,
        comm: &Comm,
        inc: &Incoming<'_>,
    ) {
        let source = wire::source_of(inc.key);
        if !comm.is_from(source, inc.proc) {
            return self.peers().bad_header(held, inc.proc, "a source rank that is not the sender's");
        }
        if inc.len as usize > MAX_KEPT {
            return self.peers().bad_header(held, inc.proc, "an eager message larger than any");
        }
        let Some(inbound) = self.peers().inbound(comm, source as usize) else {
            return self.peers().bad_header(
                held,
                inc.proc,
                "a source rank that its communicator does not have",
            );
        };
        let used = inc.kind != kind::SKIP;
        let mut found = None;
        let watch = Watch::<TIMED>::start();
        let (turn, more) = inbound.with(|sequence| {
            let turn = sequence.look(inc.order_key);
            let mut more = false;
            match turn {
                Turn::Due => {
                    found = if used { self.match_or_keep_numbered(comm, inc) } else { None };
                    more = sequence.pass();
                }
                Turn::Early => sequence.keep(inc.order_key, used.then(|| EarlyMessage::of(inc))),
                Turn::Wrong(_) => {}
            }
            (turn, more)
        });
        watch.stop(self, held);
        if let Turn::Wrong(why) = turn {
            return self.peers().bad_header(held, inc.proc, why);
        }
        if let Some(completer) = found {
            self.deliver(completer, inc, Hand::Held(held));
        }
        if more {
            self.catch_up(held, comm, inbound);
        }
    }

    /// Matches the messages that waited in `inbound` for the number that has just been passed, until the next number is
    /// missing.
    fn catch_up(&self, held: &mut CriGuard<'_>, comm: &Comm, inbound: &Inbound) {
        loop {
            let next = inbound.with(|sequence| {
                let message = sequence.take_due()?;
                let found = self.match_or_keep_numbered(comm, &message.incoming());
                Some((message, found))
            });
            match next {
                None => return,
                Some((_, None)) => {}
                Some((message, Some(completer))) => self.hand_over(held, completer, message),
            }
        }
    }

    /// Delivers a message that waited for its number to its receive: here if its CRI is the one that is held, or if
    /// nothing goes back to its sender; else it is pushed on the list of owed work ([`Receiver::pay`]).
    fn hand_over(&self, held: &mut CriGuard<'_>, completer: Completer, message: EarlyMessage) {
        let inc = message.incoming();
        // Of a plain message with so little neither an answer nor credit goes back, whatever CRI it came on.
        if u32::from(inc.ctx) == held.ctx() || inc.is_plain() && inc.len <= FREE_BYTES {
            self.deliver(completer, &inc, Hand::Held(held));
        } else {
            self.owed.push((completer, message));
        }
    }

    /// Delivers the matched messages on the list of owed work, each under the lock of the CRI that it came on. The
    /// caller holds no lock. Returns how many were delivered.
    #[cold]
    pub fn pay(&self, entry: &mut Entry) -> i32 {
        let mut events = 0;
        while let Some((completer, message)) = self.owed.take() {
            let inc = message.incoming();
            let mut held = self.instance().hold(entry, inc.ctx.into());
            self.deliver(completer, &inc, Hand::Held(&mut held));
            drop(held);
            self.owed.is_done();
            events += 1;
        }
        events
    }

    /// Takes the posted receive that a message with its turn fits out of its shard. `None`: no receive fits, and the
    /// message is kept there as an unexpected one.
    fn match_or_keep_numbered(&self, comm: &Comm, inc: &Incoming<'_>) -> Option<Completer> {
        let mut shard = comm.shard_of(inc.key, ALWAYS, None);
        let found = shard.meet(inc.arrival(comm.index()), ALWAYS);
        if found.is_some() {
            return found;
        }
        // Above the numbers of what this source sent on the first FIFO alone, below any stamp.
        let number = if shard.spreading.home { 0 } else { 1 << 62 | inc.order_key };
        if !shard.keep(inc, number) {
            drop(shard);
            self.instance().host().fatal("no memory to keep a message that nobody receives yet");
        }
        None
    }
}
