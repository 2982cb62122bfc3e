//! A step of two messages.

use crate::script::{Piece, Script};

/// Sends and receives at the same time.
pub fn exchange(s: &mut dyn Script, data: Piece, to: u32, place: Piece, from: u32) {
    s.recv(place, from);
    s.send(data, to);
    s.wait(0);
}
