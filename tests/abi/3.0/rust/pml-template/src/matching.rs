//! Matching on one communicator: receives that wait for messages, and messages that wait for receives, each in their order (MPI 5.0 §3.5).

use crate::wire::Announce;
use oxmpi_mca::MsgStatus;
use oxmpi_pml::simple::Open;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};
use std::collections::VecDeque;

/// The messages that a receive takes.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub source: i32,
    pub tag: i32,
}

impl Pattern {
    /// Whether a message fits. Tags below 0 are the library's own, which MPI_ANY_TAG does not match.
    pub fn takes(&self, source: i32, tag: i32) -> bool {
        let tag_fits = if self.tag == ANY_TAG { tag >= 0 } else { self.tag == tag };
        tag_fits && (self.source == ANY_SOURCE || self.source == source)
    }
}

/// A receive that met no message yet.
pub struct Posted {
    pub pattern: Pattern,
    pub open: Open,
}

/// A message that met no receive yet, and the process that announced it.
pub struct Waiting {
    pub proc: u32,
    pub announce: Announce,
    /// The data of a message that came whole.
    pub data: Box<[u8]>,
}

impl Waiting {
    /// The status that a probe shows.
    pub fn status(&self) -> MsgStatus {
        let Announce { source, tag, len, .. } = self.announce;
        MsgStatus { source, tag, bytes: len, ..MsgStatus::EMPTY }
    }
}

/// The two lists.
#[derive(Default)]
pub struct Matching {
    pub posted: VecDeque<Posted>,
    pub waiting: VecDeque<Waiting>,
}

impl Matching {
    /// Takes the first receive that a message fits.
    pub fn take_posted(&mut self, announce: &Announce) -> Option<Open> {
        let at = self.posted.iter().position(|p| p.pattern.takes(announce.source, announce.tag))?;
        self.posted.remove(at).map(|posted| posted.open)
    }

    /// The first message that fits a receive.
    pub fn find_waiting(&self, pattern: Pattern) -> Option<&Waiting> {
        self.waiting.iter().find(|w| pattern.takes(w.announce.source, w.announce.tag))
    }

    /// Takes that message.
    pub fn take_waiting(&mut self, pattern: Pattern) -> Option<Waiting> {
        let at = self.waiting.iter().position(|w| pattern.takes(w.announce.source, w.announce.tag))?;
        self.waiting.remove(at)
    }

    /// Takes the receives of which `is_it` says so.
    pub fn drain_posted(&mut self, is_it: impl Fn(&Posted) -> bool) -> Vec<Open> {
        let (taken, left): (VecDeque<_>, _) = self.posted.drain(..).partition(is_it);
        self.posted = left;
        taken.into_iter().map(|posted| posted.open).collect()
    }
}
