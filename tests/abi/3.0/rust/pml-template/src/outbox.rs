//! Messages to processes that have not gone out yet, in the order in which they must.

use crate::wire::Frame;
use oxmpi_pml::simple::Link;
use std::collections::{BTreeMap, VecDeque};

/// Something that is to be sent to a process.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// A frame without data.
    Frame(Frame),
    /// A send that goes whole.
    Whole { frame: Frame, send: u64 },
    /// The data of a send from `offset` to `end`, in as many messages as it takes.
    Data { send: u64, receive: u64, offset: u64, end: u64 },
}

/// The way to a process, and what waits for it.
pub struct Queue {
    pub link: Link,
    pub items: VecDeque<Item>,
}

/// By process.
pub type Outbox = BTreeMap<u32, Queue>;
