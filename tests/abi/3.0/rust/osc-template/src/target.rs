//! Messages at their receiver: operations carried out on this rank's memory, locks, answers at the origin.
//!
//! The window is locked, which makes operations atomic to each other. Messages are not trusted: one that makes no sense ends its sender's part in the job.

use crate::window::TemplateWindow;
use crate::wire::{Message, Part};
use oxmpi_datatype::Base;
use oxmpi_mca::Status;
use oxmpi_osc_support::runs::bytes;
use oxmpi_osc_support::simple::{Arrivals, Desk, Kind, Nonsense};
use oxmpi_osc_support::{Blocks, Exposed};

type Taken<T = ()> = Result<T, Nonsense>;

impl Arrivals for TemplateWindow {
    fn arrived(&mut self, desk: &mut Desk, from: u32, message: &[u8]) -> Taken {
        let (message, data) = Message::decode(message).ok_or(Nonsense)?;
        match message {
            Message::Operation(part) => {
                let (status, old) = match carry_out(desk.memory(), &part, data, self.room)? {
                    Some(old) => (Status::OK, old),
                    None => (Status::RMA_RANGE, Vec::new()),
                };
                answer(desk, from, (part.operation, part.at), status, &old);
            }
            Message::Answer { operation, at, status } => {
                self.answered(desk, from, (operation, at), status, data)?;
            }
            Message::Lock(kind) => {
                let holders = self.locks.request(from, kind).ok_or(Nonsense)?;
                grant(desk, &holders);
            }
            Message::Granted => self.peer(from).granted = true,
            Message::Unlock => {
                let holders = self.locks.release(from).ok_or(Nonsense)?;
                grant(desk, &holders);
                answer(desk, from, (0, 0), Status::OK, &[]);
            }
            Message::Post => {
                self.peer(from).posts += 1;
                answer(desk, from, (0, 0), Status::OK, &[]);
            }
            Message::Complete => {
                self.peer(from).completes += 1;
                answer(desk, from, (0, 0), Status::OK, &[]);
            }
        }
        Ok(())
    }

    fn lost(&mut self, desk: &mut Desk, rank: u32, status: Status) {
        self.lose(desk, rank, status);
    }
}

impl TemplateWindow {
    /// Takes the answer to the first message that has none.
    fn answered(
        &mut self,
        desk: &mut Desk,
        from: u32,
        (number, at): (u64, u64),
        status: Status,
        data: &[u8],
    ) -> Taken {
        let peer = self.peer(from);
        if peer.answered == peer.sent {
            return Err(Nonsense);
        }
        peer.answered += 1;
        if number == 0 {
            peer.fail(status);
            return if data.is_empty() { Ok(()) } else { Err(Nonsense) };
        }
        let operation = self.operations.get_mut(&number).ok_or(Nonsense)?;
        if operation.target != from || !desk.fill(&operation.open, at, data) {
            return Err(Nonsense);
        }
        if status.is_err() {
            operation.failure = status;
        }
        operation.left = operation.left.checked_sub(1).ok_or(Nonsense)?;
        if operation.left == 0 {
            let operation = self.operations.remove(&number).ok_or(Nonsense)?;
            self.end(desk, operation);
        }
        Ok(())
    }
}

/// Answers a message of a rank; it has the number of its operation, and its place in that.
fn answer(desk: &mut Desk, to: u32, (operation, at): (u64, u64), status: Status, data: &[u8]) {
    let mut message = Message::Answer { operation, at, status }.encode();
    message.extend_from_slice(data);
    desk.send(to, message);
}

/// Tells ranks that they have the lock.
fn grant(desk: &mut Desk, ranks: &[u32]) {
    ranks.iter().for_each(|rank| desk.send(*rank, Message::Granted.encode()));
}

/// Carries a part of an operation out; the answer has the old data, if that is wanted. `None`: some of it is outside of the memory, and nothing is done.
fn carry_out(memory: &Exposed, part: &Part, data: &[u8], room: usize) -> Taken<Option<Vec<u8>>> {
    let len = bytes(&part.runs).and_then(|len| usize::try_from(len).ok()).ok_or(Nonsense)?;
    let carried = match part.kind {
        Kind::Put | Kind::Accumulate => data.len() == len,
        Kind::Get => data.is_empty(),
        // A fetch that changes nothing brings nothing.
        Kind::Fetch => data.len() == len || data.is_empty(),
        Kind::Swap => Some(data.len()) == len.checked_mul(2),
    };
    if !carried || len > room {
        return Err(Nonsense);
    }
    let Some(blocks) = memory.find(&part.runs) else { return Ok(None) };
    if part.kind == Kind::Put {
        blocks.write(data);
        return Ok(Some(Vec::new()));
    }
    if part.kind == Kind::Accumulate {
        combine(&blocks, part, data)?;
        return Ok(Some(Vec::new()));
    }
    let mut old = vec![0; len];
    blocks.read(&mut old);
    match part.kind {
        Kind::Fetch if !data.is_empty() => combine(&blocks, part, data)?,
        Kind::Swap if data.starts_with(&old) => blocks.write(&data[len..]),
        _ => {}
    }
    Ok(Some(old))
}

fn combine(blocks: &Blocks<'_>, part: &Part, data: &[u8]) -> Taken {
    let combined = blocks.combine(part.code, Base(part.base), data);
    if combined.is_ok() { Ok(()) } else { Err(Nonsense) }
}
