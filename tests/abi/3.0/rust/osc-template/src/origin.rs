//! Operations at their origin: checked against epoch and range, cut into messages.
//!
//! Data is copied into messages when the call is made, so put and accumulate are over at the origin at once. Each message has the layout at the target of its
//! own part, so a target needs nothing of those before it.

use crate::window::{TemplateWindow, Waiting};
use crate::wire::{Message, Part};
use oxmpi_mca::Status;
use oxmpi_osc_support::runs::{Room, cut};
use oxmpi_osc_support::simple::{Desk, Kind, Open, Operation, Result};
use oxmpi_osc_support::{Source, offset};

impl TemplateWindow {
    /// Issues an operation.
    pub fn issue(&mut self, desk: &mut Desk, operation: &Operation<'_>, open: Open) -> Result {
        self.know(&[operation.target])?;
        self.epochs.operate(operation.target).ok()?;
        let base = if operation.bytes() == 0 { 0 } else { self.offset(operation)? };
        self.peer(operation.target).lost.ok()?;
        if operation.bytes() == 0 || !operation.has_result() {
            self.send(desk, operation, base, 0);
            desk.end(open, Status::OK);
            return Ok(());
        }
        let (target, number) = (operation.target, open.number());
        let left = self.send(desk, operation, base, number);
        self.operations.insert(number, Waiting { target, left, open, failure: Status::OK });
        Ok(())
    }

    /// Finds the operation's displacement, in bytes from the beginning of the target's memory; RMA_RANGE if its data does not lie inside.
    fn offset(&mut self, operation: &Operation<'_>) -> Result<i64> {
        if self.is_dynamic {
            return Ok(operation.disp);
        }
        let peer = self.peer(operation.target);
        offset(operation.disp, peer.unit, peer.bytes, operation.count, operation.dtype)
    }

    /// Sends the parts; tells how many there are.
    fn send(&mut self, desk: &mut Desk, operation: &Operation<'_>, base: i64, number: u64) -> u64 {
        let total = operation.bytes();
        let basic = operation.dtype.base;
        let combines = matches!(operation.kind, Kind::Accumulate | Kind::Fetch | Kind::Swap);
        let unit = basic.layout().filter(|_| combines).map_or(1, |basic| basic.packed);
        // Of a swap there is one element, and another to compare with.
        let bytes = if operation.compare.is_some() { self.room - unit as usize } else { self.room };
        let room = Room { bytes, carried: operation.gives.is_some(), unit };
        let (mut at, mut parts) = (0, 0);
        while at < total {
            let (len, mut runs) = cut(operation.dtype, operation.count, at, total, room);
            runs.iter_mut().for_each(|run| run.disp = run.disp.wrapping_add(base));
            let (kind, code) = (operation.kind, operation.code);
            let part = Part { kind, code, base: basic.0, operation: number, at, runs };
            let mut message = Message::Operation(part).encode();
            for source in operation.compare.iter().chain(&operation.gives) {
                append(source, at, len, &mut message);
            }
            self.ask(desk, operation.target, message);
            (at, parts) = (at + len, parts + 1);
        }
        parts
    }
}

/// Appends packed bytes to a message.
fn append(source: &Source<'_>, at: u64, len: u64, message: &mut Vec<u8>) {
    let start = message.len();
    message.resize(start + len as usize, 0);
    source.pack(at, &mut message[start..]);
}
