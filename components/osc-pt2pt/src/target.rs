//! Records at their receiver: operations carried out on this rank's memory, locks, answers at the origin.
//!
//! Runs in progress with the window locked, and with the memory's lock while that is changed, which makes operations atomic to each other, all
//! elements of one at once. Incoming records are not trusted: a record that makes no sense ends its sender's part in the job.

use crate::deed::{Nonsense, Taken, answer_of, carry_out, expect};
use crate::layout::{meet, one_block, type_of};
use crate::link::Pending;
use crate::state::{LockedState, TransferPurpose};
use crate::wire::{Head, Record, flag, kind, tag};
use oxmpi_datatype::{Run, TypeRef};
use oxmpi_mca::Status;
use oxmpi_osc_support::Elements;

/// Fate of a record.
enum Step {
    /// It is done with.
    Over,
    /// It goes on when a message has come; those behind it wait.
    Stopped,
    /// It waits itself until the rank's messages to and from the window's memory have ended.
    Early,
}

impl LockedState<'_> {
    /// Takes a message of records.
    pub fn receive(&mut self, from: u32, message: &[u8]) {
        let peer = self.peer(from);
        if peer.stopped || !peer.backlog.is_empty() {
            peer.backlog.push_back(message.to_vec());
            return;
        }
        if let Some(rest) = self.take_all(from, message) {
            self.peer(from).backlog.push_front(rest);
        }
    }

    /// Takes what waited.
    pub fn resume(&mut self, from: u32) {
        while !self.peer(from).stopped {
            let Some(message) = self.peer(from).backlog.pop_front() else { return };
            if let Some(rest) = self.take_all(from, &message) {
                self.peer(from).backlog.push_front(rest);
                return;
            }
        }
    }

    /// Takes records as far as that goes; those that are left.
    fn take_all(&mut self, from: u32, message: &[u8]) -> Option<Vec<u8>> {
        let mut at = 0;
        while at < message.len() {
            let Some((record, len)) = Record::first(&message[at..]) else {
                self.refuse(from);
                return None;
            };
            match self.take(from, &record) {
                Ok(Step::Over) => at += len,
                Ok(Step::Stopped) => {
                    self.peer(from).stopped = true;
                    let rest = &message[at + len..];
                    return (!rest.is_empty()).then(|| rest.to_vec());
                }
                Ok(Step::Early) => return Some(message[at..].to_vec()),
                Err(Nonsense) => {
                    self.refuse(from);
                    return None;
                }
            }
        }
        None
    }

    /// The sender made no sense.
    pub fn refuse(&mut self, from: u32) {
        let proc = self.core.link.proc(from);
        self.core.common.host.peer_error(proc, true, "sent a one-sided message that makes no sense");
        self.broke(from, Status::PEER_FAILED);
    }

    fn take(&mut self, from: u32, record: &Record<'_>) -> Taken<Step> {
        let head = &record.head;
        match head.kind {
            kind::PUT | kind::GET | kind::ACCUMULATE | kind::FETCH | kind::SWAP => {
                return self.operate(from, record);
            }
            kind::WHOLE => {
                let (buffer, begun) = self.await_rest(from, head.len, tag::WHOLE)?;
                self.watch(from, begun, TransferPurpose::Whole { rank: from, buffer });
                return Ok(Step::Stopped);
            }
            kind::AFTER if self.core.asking.ear.heard(from) < head.number => {
                if !self.early.contains(&from) {
                    self.early.push(from);
                }
                return Ok(Step::Early);
            }
            kind::AFTER => return Ok(Step::Over),
            kind::UNLOCK | kind::FLUSH | kind::COMPLETE if self.peer(from).busy > 0 => {
                return Ok(Step::Early);
            }
            kind::LOCK => {
                let granted = expect(self.locks.request(from, head.code.into()))?;
                self.grant(&granted);
            }
            kind::UNLOCK => {
                let granted = expect(self.locks.release(from))?;
                self.grant(&granted);
                self.done(from, head.number);
            }
            kind::FLUSH => self.done(from, head.number),
            kind::POST => self.peer(from).posts += 1,
            kind::COMPLETE => self.peer(from).completes += 1,
            kind::GRANTED => self.peer(from).granted = true,
            kind::DONE => {
                let peer = self.peer(from);
                peer.done = peer.done.max(head.number);
                peer.fail(Status(head.word.cast_signed()));
            }
            kind::DATA => self.end(from, head, record.data)?,
            _ => return Err(Nonsense),
        }
        self.changed();
        Ok(Step::Over)
    }

    /// Tells ranks that they have the lock.
    fn grant(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            self.answer(rank, Head { kind: kind::GRANTED, ..Head::default() }, &[]);
        }
    }

    fn done(&mut self, to: u32, number: u64) {
        let failed = core::mem::replace(&mut self.peer(to).failed, Status::OK);
        let word = failed.0.cast_unsigned();
        self.answer(to, Head { kind: kind::DONE, number, word, ..Head::default() }, &[]);
    }

    /// Sends an answer at the end of this turn of progress, together with others.
    fn answer(&mut self, to: u32, head: Head, data: &[u8]) {
        self.append(to, head, &[], |out| out.extend_from_slice(data));
        if !self.owed.contains(&to) {
            self.owed.push(to);
        }
    }

    /// Memory for what comes as a message of its own, and the receive of it.
    fn await_rest(&mut self, from: u32, len: u64, tag: i32) -> Taken<(Vec<u8>, Result<Pending, Status>)> {
        let mut buffer = Vec::new();
        let len = expect(usize::try_from(len).ok().filter(|len| *len > 0))?;
        let core = self.core;
        if buffer.try_reserve_exact(len).is_err() {
            core.common.host.help("no-memory", &[&len.to_string()]);
            core.common.host.fatal("there is no memory for a one-sided operation of another process");
        }
        buffer.resize(len, 0);
        let data = core.room(&mut buffer);
        // SAFETY: whoever gets the buffer keeps it beside the message, and looks into it when that has ended.
        let begun = unsafe { core.link.receive(self.entry, data, from.cast_signed(), tag) };
        Ok((buffer, begun))
    }

    /// The record that a WHOLE stood for has come.
    pub fn take_whole(&mut self, from: u32, bytes: &[u8]) {
        self.peer(from).stopped = false;
        let taken = match Record::first(bytes) {
            Some((record, len)) if len == bytes.len() => self.take(from, &record),
            _ => Err(Nonsense),
        };
        match taken {
            Ok(Step::Over) => self.resume(from),
            Ok(Step::Stopped) => self.peer(from).stopped = true,
            // It goes on with the backlog when what it waits for has ended.
            Ok(Step::Early) => self.peer(from).backlog.push_front(bytes.to_vec()),
            Err(Nonsense) => self.refuse(from),
        }
    }

    /// The data of an accumulate has come.
    pub fn take_operand(&mut self, from: u32, head: &Head, runs: &[Run], data: &[u8]) {
        self.peer(from).stopped = false;
        match self.carry_out_here(from, head, runs, data) {
            Ok(()) => self.resume(from),
            Err(Nonsense) => self.refuse(from),
        }
    }

    fn operate(&mut self, from: u32, record: &Record<'_>) -> Taken<Step> {
        let head = record.head;
        if let (0, Some(counter)) = (head.len, head.counter()) {
            // Nothing but a notification.
            return if self.notify(Some(counter)) { Ok(Step::Over) } else { Err(Nonsense) };
        }
        let runs = expect(record.runs())?;
        if self.lands_on(from, &runs) {
            return Ok(Step::Early);
        }
        if !head.has(flag::GIVES_APART) {
            self.carry_out_here(from, &head, &runs, record.data)?;
            return Ok(Step::Over);
        }
        match head.kind {
            kind::PUT => {
                self.put_in_place(from, &head, runs.to_vec())?;
                Ok(Step::Over)
            }
            kind::ACCUMULATE | kind::FETCH => {
                let (buffer, begun) = self.await_rest(from, head.len, tag::DATA)?;
                self.watch(
                    from,
                    begun,
                    TransferPurpose::Operand { rank: from, head, runs: runs.to_vec(), buffer },
                );
                Ok(Step::Stopped)
            }
            _ => Err(Nonsense),
        }
    }

    /// Whether data of a put is on its way from a rank to memory that an operation of the same rank, issued behind it, uses.
    fn lands_on(&mut self, from: u32, runs: &[Run]) -> bool {
        if self.peer(from).busy == 0 {
            return false;
        }
        self.transfers.iter().any(|transfer| match &transfer.purpose {
            TransferPurpose::Memory { rank, lands, .. } => *rank == from && meet(lands, runs),
            _ => false,
        })
    }

    /// Receives data where it belongs.
    fn put_in_place(&mut self, from: u32, head: &Head, runs: Vec<Run>) -> Taken {
        let core = self.core;
        let found = core.exposed().find(&runs).map(|blocks| blocks.base());
        let Some(base) = found else {
            // It comes all the same.
            let (refused, begun) = self.await_rest(from, head.len, tag::DATA)?;
            self.fail(from, head, Status::RMA_RANGE);
            self.peer(from).busy += 1;
            self.watch(
                from,
                begun,
                TransferPurpose::Memory { rank: from, _refused: refused, counter: None, lands: Vec::new() },
            );
            return Ok(());
        };
        let (at, count, dtype) = expect(self.in_place(base, &runs))?;
        let data = Elements { at, count, dtype: &dtype };
        // SAFETY: the blocks are exposed, and stay so until the origin, which counts on the put, says otherwise; what else uses them meanwhile keeps to MPI's rules.
        let begun = unsafe { core.link.receive(self.entry, data, from.cast_signed(), tag::DATA) };
        self.peer(from).busy += 1;
        let counter = head.counter();
        self.watch(
            from,
            begun,
            TransferPurpose::Memory { rank: from, _refused: Vec::new(), counter, lands: runs },
        );
        Ok(())
    }

    /// Blocks of the window's memory as a message sees them.
    fn in_place(&self, base: *mut u8, runs: &[Run]) -> Option<(*mut u8, u64, TypeRef)> {
        match one_block(runs) {
            Some((disp, len)) => Some((base.wrapping_offset(disp as isize), len, self.core.byte.clone())),
            None => type_of(runs, &self.core.byte).ok().map(|dtype| (base, 1, dtype)),
        }
    }

    /// An operation whose data is here. RMA_RANGE goes to the origin.
    fn carry_out_here(&mut self, from: u32, head: &Head, runs: &[Run], data: &[u8]) -> Taken {
        if head.kind == kind::GET && head.has(flag::TAKES_APART) {
            return self.get_in_place(from, head, runs);
        }
        let own = answer_of(head)?;
        let mut old = vec![0; own.unwrap_or(0)];
        // Nothing is sent before the memory is let go.
        let done = {
            let exposed = self.core.exposed();
            exposed.find(runs).map(|blocks| carry_out(head, &blocks, data, &mut old))
        };
        let Some(done) = done else {
            self.fail(from, head, Status::RMA_RANGE);
            return Ok(());
        };
        done?;
        if own.is_some() {
            self.end_with(from, head, old);
        }
        expect(self.notify(head.counter()).then_some(()))
    }

    /// Sends data from where it lies.
    fn get_in_place(&mut self, from: u32, head: &Head, runs: &[Run]) -> Taken {
        let core = self.core;
        let found = core.exposed().find(runs).map(|blocks| blocks.base());
        let Some(base) = found else {
            self.fail(from, head, Status::RMA_RANGE);
            return Ok(());
        };
        let (at, count, dtype) = expect(self.in_place(base, runs))?;
        let data = Elements { at, count, dtype: &dtype };
        // SAFETY: the blocks are exposed, and stay so until the origin has what it gets.
        let begun = unsafe { core.link.send(self.entry, data, from, tag::RESULT) };
        self.peer(from).busy += 1;
        let counter = head.counter();
        self.watch(
            from,
            begun,
            TransferPurpose::Memory { rank: from, _refused: Vec::new(), counter, lands: Vec::new() },
        );
        self.answer(from, end_of(head, Status::OK, 0), &[]);
        Ok(())
    }

    /// Answers with old values.
    fn end_with(&mut self, from: u32, head: &Head, old: Vec<u8>) {
        if head.has(flag::TAKES_APART) {
            self.send_out(from, old, tag::RESULT);
            self.answer(from, end_of(head, Status::OK, 0), &[]);
        } else {
            self.answer(from, end_of(head, Status::OK, old.len() as u64), &old);
        }
    }

    /// An operation failed: told with the next synchronisation, or by its own answer.
    fn fail(&mut self, from: u32, head: &Head, status: Status) {
        if matches!(head.kind, kind::PUT | kind::ACCUMULATE) {
            let failed = &mut self.peer(from).failed;
            if !failed.is_err() {
                *failed = status;
            }
            return;
        }
        if head.has(flag::TAKES_APART) {
            self.send_out(from, Vec::new(), tag::RESULT);
        }
        self.answer(from, end_of(head, status, 0), &[]);
    }

    /// An answer at the origin.
    fn end(&mut self, from: u32, head: &Head, data: &[u8]) -> Taken {
        let status = Status(head.word.cast_signed());
        let peer = self.peer(from);
        if peer.broken.is_err() {
            return Ok(());
        }
        let open = expect(peer.open.get(&head.number))?;
        if let Some(destination) = open.destination.as_ref().filter(|_| !status.is_err())
            // SAFETY: the program's buffer is writable until the operation completes.
            && !unsafe { destination.fill(0, data) }
        {
            return Err(Nonsense);
        }
        self.part_over(from, head.number, status);
        Ok(())
    }

    /// One of the messages or answers that an operation waits for has come.
    pub fn part_over(&mut self, rank: u32, number: u64, status: Status) {
        let peer = self.peer(rank);
        let Some(open) = peer.open.get_mut(&number) else { return };
        if status.is_err() && !open.failure.is_err() {
            open.failure = status;
        }
        open.left = open.left.saturating_sub(1);
        if open.left > 0 {
            return;
        }
        let Some(open) = peer.open.remove(&number) else { return };
        match open.request {
            Some(request) => request.complete(open.failure),
            None => peer.fail(open.failure),
        }
        self.changed();
    }
}

/// The head of an operation's answer.
fn end_of(head: &Head, status: Status, len: u64) -> Head {
    let (flags, word) = (head.flags & flag::TAKES_APART, status.0.cast_unsigned());
    Head { kind: kind::DATA, flags, number: head.number, word, len, ..Head::default() }
}
