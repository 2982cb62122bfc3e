//! A turn of progress for a window: looks at the messages that are on their way, takes those that came, sends answers.

use crate::origin::post;
use crate::state::{Core, LockedState, TransferPurpose};
use oxmpi_mca::{Entry, MsgStatus};

/// A turn takes no more, so that other windows have theirs.
const MESSAGES: usize = 64;
const TRANSFERS: usize = 256;

impl Core {
    /// How many messages ended. Somebody else is inside: none.
    pub fn poll(&self, entry: &mut Entry) -> i32 {
        self.try_enter(entry).map_or(0, |mut locked| locked.poll())
    }

    /// Makes a turn of the window. Whether that brought nothing, and nothing waits to be sent, so that only a message brings
    /// more; false also where somebody else is inside.
    pub fn may_be_left(&self, entry: &mut Entry) -> bool {
        self.try_enter(entry).is_some_and(|mut locked| locked.poll() == 0 && locked.has_sent_all())
    }
}

impl LockedState<'_> {
    fn poll(&mut self) -> i32 {
        let events = self.end_questions() + self.look_at_transfers() + self.take_messages();
        self.ask_what_is_stuck();
        self.resume_what_was_early();
        let owed = core::mem::take(&mut self.owed);
        owed.into_iter().for_each(|rank| self.push(rank));
        self.send_what_rests();
        events
    }

    /// Whether no batch and no answer waits to be sent, and nothing waits for what no message tells.
    fn has_sent_all(&self) -> bool {
        let state = [&self.waiting, &self.owed, &self.stuck, &self.early];
        state.iter().all(|ranks| ranks.is_empty()) && self.core.asking.ended.is_empty()
    }

    fn ask_what_is_stuck(&mut self) {
        let stuck = core::mem::take(&mut self.stuck);
        stuck.into_iter().for_each(|rank| self.ask_further(rank));
    }

    fn resume_what_was_early(&mut self) {
        let early = core::mem::take(&mut self.early);
        early.into_iter().for_each(|rank| self.resume(rank));
    }

    /// Sends batches to which nothing was added since the last turn: whoever added to them does something else now, perhaps
    /// waits for what they bring about.
    fn send_what_rests(&mut self) {
        let mut at = 0;
        while let Some(&rank) = self.waiting.get(at) {
            let peer = self.peer(rank);
            let len = peer.gathered();
            if len > peer.seen {
                peer.seen = len;
                at += 1;
                continue;
            }
            peer.listed = false;
            self.waiting.swap_remove(at);
            self.push(rank);
        }
    }

    fn look_at_transfers(&mut self) -> i32 {
        let mut events = 0;
        for _ in 0..self.transfers.len().min(TRANSFERS) {
            if self.cursor >= self.transfers.len() {
                self.cursor = 0;
            }
            let at = self.cursor;
            let (core, entry, state) = self.parts();
            let Some(transfer) = state.transfers.get_mut(at) else { break };
            match core.link.ended(entry, &mut transfer.pending) {
                None => self.cursor += 1,
                Some(status) => {
                    let purpose = self.transfers.swap_remove(at).purpose;
                    self.ended(purpose, &status);
                    events += 1;
                }
            }
        }
        if events > 0 {
            self.changed();
        }
        events
    }

    fn ended(&mut self, purpose: TransferPurpose, status: &MsgStatus) {
        match purpose {
            TransferPurpose::Out { rank, buffer } => {
                self.keep(buffer);
                if status.error.is_err() {
                    self.broke(rank, status.error);
                }
            }
            TransferPurpose::Part { rank, number } => self.part_over(rank, number, status.error),
            TransferPurpose::Whole { rank, .. } | TransferPurpose::Operand { rank, .. }
                if status.error.is_err() =>
            {
                self.broke(rank, status.error);
            }
            TransferPurpose::Whole { rank, buffer } if status.bytes == buffer.len() as u64 => {
                self.take_whole(rank, &buffer);
            }
            TransferPurpose::Operand { rank, head, runs, buffer } if status.bytes == buffer.len() as u64 => {
                self.take_operand(rank, &head, &runs, &buffer);
            }
            TransferPurpose::Whole { rank, .. } | TransferPurpose::Operand { rank, .. } => self.refuse(rank),
            TransferPurpose::Memory { rank, counter, .. } => {
                let peer = self.peer(rank);
                peer.busy -= 1;
                let idle = peer.busy == 0;
                if status.error.is_err() {
                    self.broke(rank, status.error);
                    return;
                }
                self.notify(counter);
                if idle {
                    self.resume(rank);
                }
            }
        }
    }

    fn take_messages(&mut self) -> i32 {
        let mut events = 0;
        while events < MESSAGES as i32 {
            let (core, entry, state) = self.parts();
            let Some(first) = state.posted.front_mut() else { break };
            let Some(status) = core.link.ended(entry, &mut first.pending) else { break };
            let Some(first) = self.posted.pop_front() else { break };
            events += 1;
            let (from, len) = (status.source.cast_unsigned(), status.bytes as usize);
            match first.buffer.get(..len) {
                Some(message) if !status.error.is_err() && (from as usize) < self.peers.len() => {
                    self.receive(from, message);
                }
                _ if (from as usize) < self.peers.len() => self.refuse(from),
                _ => {}
            }
            match post(self.core, self.entry, first.buffer) {
                Ok(posted) => self.posted.push_back(posted),
                Err(status) => {
                    let line = format!("one-sided messages cannot be received: {status}");
                    self.core.common.host.fatal(&line);
                }
            }
        }
        if events > 0 {
            self.changed();
        }
        events
    }
}
