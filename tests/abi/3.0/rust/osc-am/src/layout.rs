//! A type's layout is cut into the runs of messages.
//!
//! An operation is cut into messages. Each carries the runs of its own part, so the target needs nothing of the messages before
//! it; a part ends at a boundary of basic elements, since elements are accumulated as one.

use oxmpi_datatype::{Run, TypeDesc, blocks};
use oxmpi_osc_support::runs::Runs;
use oxmpi_osc_support::wire::RUN;

/// Limits of one message.
#[derive(Clone, Copy)]
pub struct Room {
    pub bytes: usize,
    /// The data travels in the same message as the runs; else in the answer, which has as much room.
    pub carried: bool,
    /// Parts are multiples of this.
    pub unit: u64,
}

/// The runs of packed bytes from `from` on, as many as fit and at most up to `end`; and how many bytes that is.
pub fn cut(desc: &TypeDesc, count: u64, from: u64, end: u64, room: Room) -> (u64, Vec<Run>) {
    let (mut runs, mut len) = (Runs::default(), 0);
    blocks(desc, count, from, end - from, |disp, n| {
        let taken = (runs.count() + 1) * RUN;
        if taken > room.bytes {
            return false;
        }
        let limit = if room.carried { room.bytes - taken } else { room.bytes } as u64;
        let part = n.min(limit.saturating_sub(len));
        if part > 0 {
            runs.push(disp, part);
            len += part;
        }
        part == n
    });
    let whole = if from + len < end { len - len % room.unit } else { len };
    if whole < len {
        runs = Runs::default();
        blocks(desc, count, from, whole, |disp, n| {
            runs.push(disp, n);
            true
        });
    }
    (whole, runs.into_vec())
}
