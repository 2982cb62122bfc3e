//! Contexts that take turns (`progress.rs`), by where their messages go.

use crate::context::Context;
use oxmpi_btl::{Arrival, Entered};
use oxmpi_mca::Host;

/// A context in its turn, and where its messages go.
pub(crate) trait InTurn {
    fn context(&mut self) -> &mut Context;
    /// Takes a message of the stream in a slot. True: the batch should end behind it.
    fn hand_up(&mut self, host: &Host, slot: usize, message: Arrival<'_>) -> bool;
}

impl InTurn for Entered<'_, Context> {
    fn context(&mut self) -> &mut Context {
        self
    }
    fn hand_up(&mut self, host: &Host, _slot: usize, message: Arrival<'_>) -> bool {
        self.deliver(host, message).stops()
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
}
