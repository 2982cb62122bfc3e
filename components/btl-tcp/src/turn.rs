//! Contexts that take turns (`progress.rs`), by where their messages go.

use crate::context::Context;
use oxmpi_btl::{Arrival, Completion, Entered, PayloadPlace, Placer};
use oxmpi_mca::{Host, Status};

/// A context in its turn, and where its messages go.
pub(crate) trait InTurn {
    fn context(&mut self) -> &mut Context;
    /// Takes a message of the stream in a slot. True: the batch should end behind it.
    fn hand_up(&mut self, host: &Host, slot: usize, message: Arrival<'_>) -> bool;
    /// Tells the end of a message whose payload was kept.
    fn tell_end(&mut self, done: Completion, status: Status);
    /// The place of a message of `len` bytes which has begun; `None`: nowhere.
    fn place_of(&mut self, _placer: &Placer, _start: &Arrival<'_>, _len: u64) -> Option<PayloadPlace> {
        None
    }
    /// Has the layer take such a message, which has no place before: its place and its name.
    fn claim(&mut self, _placer: &Placer, _start: &Arrival<'_>, _len: u64) -> Option<(PayloadPlace, u64)> {
        None
    }
    /// Takes such a message, which lies there now, or has gone nowhere. True: the batch should end behind it.
    fn hand_up_placed(
        &mut self,
        _placer: &Placer,
        _start: &Arrival<'_>,
        _len: u64,
        _at: Option<PayloadPlace>,
    ) -> bool {
        false
    }
}

impl InTurn for Entered<'_, Context> {
    fn context(&mut self) -> &mut Context {
        self
    }
    fn hand_up(&mut self, host: &Host, _slot: usize, message: Arrival<'_>) -> bool {
        self.deliver(host, message).stops()
    }
    fn tell_end(&mut self, done: Completion, status: Status) {
        Entered::complete(self, done, status);
    }
    fn place_of(&mut self, placer: &Placer, start: &Arrival<'_>, len: u64) -> Option<PayloadPlace> {
        Entered::place_of(self, placer, start, len)
    }
    fn claim(&mut self, placer: &Placer, start: &Arrival<'_>, len: u64) -> Option<(PayloadPlace, u64)> {
        Entered::claim(self, placer, start, len)
    }
    fn hand_up_placed(
        &mut self,
        placer: &Placer,
        start: &Arrival<'_>,
        len: u64,
        at: Option<PayloadPlace>,
    ) -> bool {
        self.deliver_placed(placer, start, len, at).stops()
    }
}

/// A context that parts: what comes is not handed up.
pub(crate) struct Parting<'a>(pub &'a mut Context);

impl InTurn for Parting<'_> {
    fn context(&mut self) -> &mut Context {
        self.0
    }
    fn hand_up(&mut self, _host: &Host, _slot: usize, _message: Arrival<'_>) -> bool {
        false
    }
    /// Nobody waits for it any more.
    fn tell_end(&mut self, _done: Completion, _status: Status) {}
}
