//! Segments of other processes of the node, mapped when memory in them is shared for the first time.

use super::lock;
use super::state::Client;
use crate::protocol::segment::Segment;
use std::collections::HashMap;
use std::sync::Mutex;

static MAPPED: Mutex<Option<HashMap<usize, Segment>>> = Mutex::new(None);

/// The segment of a process of the application; none on another node, or where the system does not let it be opened.
pub fn segment(client: &Client, process: usize) -> Option<Segment> {
    if process == client.rank {
        return Some(client.heap.segment);
    }
    let hello = client.job.hellos[client.job.clients[process]];
    if hello.node != client.job.hellos[client.job.rank].node {
        return None;
    }
    let mut mapped = lock(&MAPPED);
    let mapped = mapped.get_or_insert_default();
    if let Some(segment) = mapped.get(&process) {
        return Some(*segment);
    }
    let (_, segment) = hello.open().ok()?;
    mapped.insert(process, segment);
    Some(segment)
}

/// The process in whose segment memory lies, and where; none that this process has mapped.
pub fn find(at: *const u8, bytes: usize) -> Option<(usize, usize)> {
    let mapped = lock(&MAPPED);
    let (process, segment) = mapped.as_ref()?.iter().find(|(_, segment)| segment.holds(at, bytes))?;
    Some((*process, at as usize - segment.base as usize))
}
