//! A message of which only a part has come: its parts go to the request that it met (`receive/streamed.rs`).

use crate::receive::incoming::Envelope;
use crate::requests::request::Request;

/// A message whose request is known and whose end has not come yet.
#[derive(Clone, Copy)]
pub struct Streamed {
    pub req: &'static Request,
    /// Bytes of its header.
    pub header: u64,
    /// Where its payload goes in the request's buffer, and how much of that there is room for.
    pub at: u64,
    pub room: u64,
    pub part: StreamedPart,
}

/// The part of a message that is streamed: all of it, its first part, or a fragment.
#[derive(Clone, Copy)]
pub enum StreamedPart {
    /// Matched and complete: the request is over with it, but for an answer that the sender may wait for.
    Whole(Envelope),
    /// Matched, as the first part of a message whose fragments its sender has been asked for.
    First,
    /// A fragment of a message that was matched before.
    Fragment,
}
