//! Completion channels and asynchronous events: pipes, so that programs wait on them by whatever means.

use crate::sys;
use oxmpi_verbs_abi::{AsyncEvent, CompChannel, Context, Cq};
use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// State that a channel and its queues share.
pub struct Channel {
    write: OwnedFd,
    /// Queues that report here, by number: an event may come out of the pipe when its queue is gone.
    queues: Mutex<HashMap<u64, usize>>,
}

#[repr(C)]
pub struct FakeChannel {
    pub raw: CompChannel,
    read: OwnedFd,
    pub shared: Arc<Channel>,
}

impl FakeChannel {
    pub fn new(context: *mut Context) -> std::io::Result<Box<FakeChannel>> {
        let (read, write) = sys::pipe()?;
        let raw = CompChannel { context, fd: read.as_raw_fd(), refcnt: 0 };
        Ok(Box::new(FakeChannel { raw, read, shared: Arc::new(Channel { write, queues: Mutex::default() }) }))
    }

    /// Waits for an event of a queue that is there. The error is the descriptor's, also that nothing is there.
    pub fn next(&self) -> std::io::Result<*mut Cq> {
        loop {
            let mut number = [0; 8];
            sys::read(&self.read, &mut number)?;
            let queues = self.shared.queues.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = queues.get(&u64::from_ne_bytes(number)) {
                return Ok(*at as *mut Cq);
            }
        }
    }
}

impl Channel {
    pub fn join(&self, number: u64, queue: *mut Cq) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).insert(number, queue as usize);
    }
    pub fn leave(&self, number: u64) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }
    pub fn report(&self, number: u64) {
        let _ = sys::write(&self.write, &number.to_ne_bytes());
    }
}

/// A context's asynchronous events.
pub struct Events {
    pub read: OwnedFd,
    write: OwnedFd,
}

const EVENT: usize = size_of::<AsyncEvent>();

impl Events {
    pub fn new() -> std::io::Result<Events> {
        let (read, write) = sys::pipe()?;
        Ok(Events { read, write })
    }
    pub fn raise(&self, event_type: u32, element: u64) {
        let mut bytes = [0; EVENT];
        bytes[..8].copy_from_slice(&element.to_ne_bytes());
        bytes[8..12].copy_from_slice(&event_type.to_ne_bytes());
        let _ = sys::write(&self.write, &bytes);
    }
    pub fn next(&self) -> std::io::Result<AsyncEvent> {
        let mut bytes = [0; EVENT];
        sys::read(&self.read, &mut bytes)?;
        let (element, rest) = bytes.split_first_chunk().expect("eight and more");
        let kind = rest.first_chunk().expect("four and more");
        Ok(AsyncEvent { element: u64::from_ne_bytes(*element), event_type: u32::from_ne_bytes(*kind) })
    }
}
