//! Both ends of service links: requests of a context, and the server (the essay is in `mod.rs`).

use crate::segment::joined::Joined;
use crate::service::link::{self, DATA, MOST, ROOM, SLOT, SLOTS};
use crate::sys::Mapping;
use oxmpi_btl::Message;
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::Arc;

/// One side's view of a link.
pub(super) struct Link {
    memory: Mapping,
    /// Its place, as the directory says it.
    pub(super) word: u64,
    /// Requester: the next reply. Server: the next request.
    pub(super) next: u64,
    /// Requester: the next request.
    pub(super) end: u64,
}

impl Link {
    /// One side's view of a link, which `memory` is the mapping of, and whose next request has number `next`.
    pub(super) fn new(memory: Mapping, word: u64, next: u64) -> Link {
        Link { memory, word, next, end: next }
    }

    /// Address of byte `offset` in the slot of request number `position`.
    fn at(&self, position: u64, offset: u64) -> *mut u8 {
        self.memory.at(SLOTS + position % ROOM * SLOT + offset)
    }
    /// The words of a request's slot: state, length and tag.
    fn words(&self, position: u64) -> [&AtomicU32; 3] {
        // SAFETY: aligned words of a mapped link.
        [0, 4, 8].map(|offset| unsafe { &*self.at(position, offset).cast() })
    }
    /// The state word of a request's slot.
    pub(super) fn state(&self, position: u64) -> &AtomicU32 {
        self.words(position)[0]
    }
    /// The word in which the server counts the requests that it has answered.
    pub(super) fn answered(&self) -> &AtomicU64 {
        // SAFETY: an aligned word of a mapped link.
        unsafe { &*self.memory.at(0).cast() }
    }

    /// Writes a message into a slot that is ours. Panics if it is longer than [`MOST`] bytes.
    pub(super) fn write(&self, position: u64, msg: &Message<'_>) {
        assert!(msg.total_len() as u64 <= MOST, "a message and its slot");
        let (header, to) = (msg.header(), self.at(position, DATA));
        // SAFETY: the slot is ours, and the message is no longer than it.
        unsafe {
            core::ptr::copy_nonoverlapping(header.as_ptr(), to, header.len());
            msg.write_payload(to.add(header.len()));
        }
        let [_, len, tag] = self.words(position);
        len.store(msg.total_len() as u32, Ordering::Relaxed);
        tag.store(msg.tag().into(), Ordering::Relaxed);
    }

    /// Copies the message that the other side wrote into a slot; returns its length and tag. `None`: the length is
    /// impossible.
    pub(super) fn read(&self, position: u64, into: &mut [u8; MOST as usize]) -> Option<(usize, u8)> {
        let [_, len, tag] = self.words(position).map(|word| word.load(Ordering::Relaxed));
        let to = into.get_mut(..len as usize)?;
        // SAFETY: so many bytes are mapped. Should the other side write at the same time, the bytes are its own nonsense.
        unsafe { core::ptr::copy_nonoverlapping(self.at(position, DATA), to.as_mut_ptr(), to.len()) };
        Some((to.len(), tag as u8))
    }
}

impl Link {
    /// Whether the reply to the oldest request has come (the requester's side).
    pub(super) fn has_reply(&self) -> bool {
        self.next != self.end && link::is_answered(self.state(self.next))
    }

    /// Whether a request has come that was not answered (the server's side).
    pub(super) fn has_request(&self) -> bool {
        link::is_asked(self.state(self.next))
    }
}

/// A buffer that is taken out while a message in it is handed up.
pub(super) type Stage = Option<Box<[u8; MOST as usize]>>;

/// Takes the buffer out of a stage; makes one if it is in use, or the first time.
pub(super) fn staged(stage: &mut Stage) -> Box<[u8; MOST as usize]> {
    stage.take().unwrap_or_else(|| Box::new([0; MOST as usize]))
}

/// The requests of one context.
#[derive(Default)]
#[repr(C)]
pub struct Requests {
    /// The links, by the peers' numbers.
    pub(super) links: HashMap<u32, Link>,
    pub(super) stage: Stage,
}

impl Requests {
    /// Whether a reply has come on any link of the context.
    pub fn has_reply(&self) -> bool {
        self.links.values().any(Link::has_reply)
    }

    /// Drops the links to these peers; returns how many requests on them are without a reply.
    pub fn forget(&mut self, is_gone: impl Fn(u32) -> bool) -> u32 {
        let gone = self.links.extract_if(|&peer, _| is_gone(peer));
        gone.map(|(_, link)| (link.end - link.next) as u32).sum()
    }
}

/// The service context of this process.
#[derive(Default)]
pub struct Service {
    /// The further segments that are served, and the version of the module's list that they follow.
    pub(super) further: Vec<Arc<Joined>>,
    pub(super) version: u64,
    /// The links, by number and context of the requester.
    pub(super) links: HashMap<Requester, Link>,
    pub(super) stage: Stage,
    /// The request whose receiver runs, until it is answered: the next one of this requester's link.
    pub(super) current: Option<Requester>,
}

/// The number of the peer and the context from which the requests of a link come.
pub(super) type Requester = (u32, u32);
