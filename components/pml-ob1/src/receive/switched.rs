//! A peer's SWITCH and OPEN are taken: what says that its messages come on several FIFOs (`switch.rs` has the protocol), and what comes too early for that.

use crate::communicators::comm::Comm;
use crate::communicators::index::{CommTable, Found};
use crate::peers::peer::Peer;
use crate::receive::orphan::Orphan;
use crate::receive::receiver::Receiver;
use crate::requests::work::Work;
use crate::state::fifos::FIFO;
use crate::wire::{self, Arrived, Reader, flag, kind};
use oxmpi_mca::CriGuard;
use std::collections::HashSet;

/// The messages of which a SWITCH or an OPEN speaks.
enum Scope<'a> {
    /// All of that process.
    All(&'a Peer),
    /// Those of a communicator's rank.
    Rank(&'a Comm, i32),
    /// Those of a communicator that we have not been given yet.
    NotYet,
    Gone,
    Nonsense,
}

impl Receiver {
    /// Reads the subject of a SWITCH or OPEN: all messages of the process, or those of one communicator's rank.
    fn scope<'a>(&'a self, held: &CriGuard<'_>, comms: &'a CommTable, data: &[u8], proc: u32) -> Scope<'a> {
        let mut r = Reader::new(data);
        let Some(head) = r.word() else { return Scope::Nonsense };
        let peer = match self.peers().peer(proc, held.entry()) {
            Ok(peer) if peer.base().width_in() > held.ctx().max(1) => peer,
            _ => return Scope::Nonsense,
        };
        if wire::flags_of(head) & flag::COMM == 0 {
            return Scope::All(peer);
        }
        let Some(word) = r.word() else { return Scope::Nonsense };
        match comms.find(head) {
            Found::Comm(comm) if comm.is_from(wire::source_of(word), proc) => {
                Scope::Rank(comm, wire::source_of(word))
            }
            Found::NotYet => Scope::NotYet,
            Found::Gone => Scope::Gone,
            Found::Comm(_) | Found::Nonsense => Scope::Nonsense,
        }
    }

    /// Whether the SWITCH of these messages has been handled. `None`: it speaks of a communicator that is gone, or
    /// makes no sense.
    fn is_seen(scope: &Scope<'_>) -> Option<bool> {
        match scope {
            // SYNC POINT with `on_switch`: everything in front of it has been handled.
            Scope::All(peer) => Some(peer.base().peers_switch().is_passed()),
            Scope::Rank(comm, source) => Some(comm.is_forked(*source)),
            Scope::NotYet => Some(false),
            Scope::Gone | Scope::Nonsense => None,
        }
    }

    /// Handles SWITCH: from now on the sender's messages may come on several FIFOs, all of them or those of one
    /// communicator. `None`: never.
    pub fn on_switch(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { data, proc, .. } = *arrived;
        let (comms, mut held) = self.comms.beside(held);
        let held = &mut *held;
        match self.scope(held, comms, data, proc) {
            Scope::All(peer) if held.ctx() == FIFO => {
                // SYNC POINT with `is_seen`: everything in front of it has been handled.
                peer.base().peers_switch().pass();
                self.order().widen();
                self.instance().take_care();
            }
            Scope::Rank(comm, source) => self.peers().fork_from(comm, source),
            Scope::NotYet => self.keep_orphan(held, proc, data),
            Scope::Gone => {}
            Scope::All(_) | Scope::Nonsense => self.peers().bad_header(
                held,
                proc,
                "a SWITCH where its messages have one FIFO, or on another one",
            ),
        }
        Some(())
    }

    /// Handles OPEN: if the SWITCH that it belongs to has not been seen, this message and all that follow from its
    /// process on this FIFO are kept as early ones. `None`: never.
    pub fn on_open(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { data, proc, .. } = *arrived;
        let (comms, mut held) = self.comms.beside(held);
        let held = &mut *held;
        match self.scope(held, comms, data, proc) {
            Scope::Nonsense => {
                self.peers().bad_header(held, proc, "an OPEN of a FIFO that its messages do not have")
            }
            scope if Self::is_seen(&scope) == Some(false) => self.keep_early(held, data, proc),
            _ => {}
        }
        Some(())
    }

    /// Whether an early message may be handled now: any but an OPEN whose SWITCH has not been seen.
    fn is_due(&self, held: &CriGuard<'_>, message: &Orphan) -> bool {
        message.bytes.first() != Some(&kind::OPEN)
            || Self::is_seen(&self.scope(held, self.comms.read(held), &message.bytes, message.proc))
                .unwrap_or(true)
    }

    /// Puts a message on the CRI's list of early messages; while the list is not empty, every message is looked at
    /// closer (`watchful`).
    pub fn keep_early(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) {
        let early = self.instance().own(held).early();
        early.push(Orphan { proc, bytes: data.into() });
        if early.len() == 1 {
            self.instance().watch_closer();
            self.instance().cri(held.ctx()).work().mark(Work::EARLY);
        }
    }

    /// Drops the early messages of a process on the held CRI.
    pub fn drop_early_of(&self, held: &mut CriGuard<'_>, proc: u32) {
        let early = self.instance().own(held).early();
        let before = early.len();
        early.retain(|message| message.proc != proc);
        if before > 0 && early.is_empty() {
            self.instance().watch_less();
            self.instance().cri(held.ctx()).work().unmark(Work::EARLY);
        }
    }

    /// Takes the early messages of a CRI that have become due off its list, in order of each process; the caller
    /// handles them.
    pub fn take_due(&self, held: &mut CriGuard<'_>) -> Vec<Orphan> {
        let all = core::mem::take(self.instance().own(held).early());
        if all.is_empty() {
            return all;
        }
        let mut waiting = HashSet::new();
        let (early, due): (Vec<_>, Vec<_>) = all.into_iter().partition(|message| {
            let early = waiting.contains(&message.proc) || !self.is_due(held, message);
            if early {
                waiting.insert(message.proc);
            }
            early
        });
        if early.is_empty() {
            self.instance().watch_less();
            self.instance().cri(held.ctx()).work().unmark(Work::EARLY);
        }
        *self.instance().own(held).early() = early;
        due
    }
}
