//! Lanes: what a context needs to communicate alone, so that its verbs need no lock but the device's. Each has a queue of arriving
//! messages, one of sent messages, and mailboxes; the last lane is the service context's.
//!
//! A lane's device is the first one, or its own (`btl_ugni_smsg_devices`). Any thread may use what is here: a thread that connects adds
//! links, one that reads a device's queue leaves operations that are over. The context that holds the lane has the rest to itself
//! ([`crate::context::Context`]): send buffers, counts of links, operations.

use crate::link::{Link, Mailbox, held};
use crate::nic::{Channel, Cq, Nic};
use crate::posts::Operation;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_btl_support::{Bell, Pages};
use std::sync::{Arc, Mutex};

pub struct Lane {
    pub nic: Arc<Nic>,
    /// Wakes sleepers; `None`: the library cannot.
    pub channel: Option<Channel>,
    pub arrivals: Cq,
    pub sends: Cq,
    pub bell: Bell,
    mailboxes: Mutex<Mailboxes>,
    links: Mutex<Vec<Arc<Link>>>,
    /// Links that were connected and have not been looked at since, by index.
    news: Mutex<Vec<u32>>,
    has_news: AtomicBool,
    /// Operations of the lane that are over, from whoever read the device's queue.
    finished: Mutex<Vec<Arc<Operation>>>,
    has_finished: AtomicBool,
}

/// Memory for mailboxes, in chunks that are registered with the lane's queue of arrivals.
struct Mailboxes {
    size: usize,
    per_chunk: usize,
    chunks: Vec<Chunk>,
    free: Vec<Mailbox>,
}

struct Chunk {
    /// Unmapped with the lane.
    _pages: Pages,
    handle: crate::abi::MemHandle,
}

/// How a lane is made.
pub struct Wish {
    pub remote_entries: u32,
    pub local_entries: u32,
    /// Bytes of a mailbox, and how many are made together.
    pub mailbox: usize,
    pub mailboxes: usize,
    /// Sleepers are to be woken.
    pub sleeps: bool,
}

impl Lane {
    pub fn new(nic: &Arc<Nic>, wish: Wish) -> Result<Lane, String> {
        let text = |code| nic.api.code_text(code);
        let arrivals = Cq::new(nic, wish.remote_entries, wish.sleeps);
        let arrivals = arrivals.map_err(|c| format!("a queue of arriving messages: {}", text(c)))?;
        let sends = Cq::new(nic, wish.local_entries, wish.sleeps);
        let sends = sends.map_err(|c| format!("a queue of sent messages: {}", text(c)))?;
        let channel = if wish.sleeps { Channel::new(nic, &[&arrivals, &sends]) } else { Ok(None) };
        let channel = channel.map_err(|c| format!("a completion channel: {}", text(c)))?;
        let (size, per_chunk) = (wish.mailbox, wish.mailboxes);
        Ok(Lane {
            nic: nic.clone(),
            channel,
            arrivals,
            sends,
            bell: Bell::new().map_err(|e| e.to_string())?,
            mailboxes: Mutex::new(Mailboxes { size, per_chunk, chunks: Vec::new(), free: Vec::new() }),
            links: Mutex::default(),
            news: Mutex::default(),
            has_news: AtomicBool::new(false),
            finished: Mutex::default(),
            has_finished: AtomicBool::new(false),
        })
    }

    /// A zeroed mailbox.
    fn mailbox(&self) -> Result<Mailbox, String> {
        let mut all = held(&self.mailboxes);
        if let Some(mailbox) = all.free.pop() {
            return Ok(mailbox);
        }
        let len = all.size * all.per_chunk;
        let pages = Pages::new(len).map_err(|e| format!("memory for mailboxes: {e}"))?;
        let (base, bytes) = (pages.base().expose_provenance() as u64, pages.len() as u64);
        // SAFETY: the pages stay until the chunk is deregistered, by `close`.
        let handle = unsafe { self.nic.lock().register(base, bytes, Some(&self.arrivals), 0) };
        let handle = handle
            .map_err(|c| format!("registering {bytes} bytes of mailboxes: {}", self.nic.api.code_text(c)))?;
        all.chunks.push(Chunk { _pages: pages, handle });
        let size = all.size;
        for n in (0..all.per_chunk).rev() {
            all.free.push(Mailbox { base, offset: (n * size) as u32, handle });
        }
        all.free.pop().ok_or_else(|| "no mailbox".to_owned())
    }

    /// Adds a link with a mailbox of its own.
    pub fn add(&self, make: impl FnOnce(u32, Mailbox) -> Link) -> Result<Arc<Link>, String> {
        let mailbox = self.mailbox()?;
        let mut links = held(&self.links);
        let link = Arc::new(make(links.len() as u32, mailbox));
        links.push(link.clone());
        Ok(link)
    }

    /// The links from an index on.
    pub fn links_behind(&self, known: usize) -> Vec<Arc<Link>> {
        held(&self.links).get(known..).unwrap_or_default().to_vec()
    }

    pub fn links(&self) -> Vec<Arc<Link>> {
        self.links_behind(0)
    }

    /// A link was connected, or has failed. Any thread.
    pub fn tell(&self, link: &Link) {
        held(&self.news).push(link.index);
        self.has_news.store(true, Ordering::SeqCst);
        self.bell.ring();
    }

    /// Has the holder look again. Any thread.
    pub fn wake(&self) {
        self.has_news.store(true, Ordering::SeqCst);
        self.bell.ring();
    }

    pub fn has_news(&self) -> bool {
        self.has_news.load(Ordering::SeqCst)
    }

    pub fn news(&self) -> Vec<u32> {
        self.bell.silence();
        self.has_news.store(false, Ordering::SeqCst);
        std::mem::take(&mut *held(&self.news))
    }

    /// An operation of the lane is over. Any thread.
    pub fn finish(&self, op: Arc<Operation>) {
        held(&self.finished).push(op);
        if !self.has_finished.swap(true, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    pub fn has_finished(&self) -> bool {
        self.has_finished.load(Ordering::SeqCst)
    }

    pub fn take_finished(&self) -> Vec<Arc<Operation>> {
        if !self.has_finished() {
            return Vec::new();
        }
        self.bell.silence();
        self.has_finished.store(false, Ordering::SeqCst);
        std::mem::take(&mut *held(&self.finished))
    }

    /// Ends the endpoints of its links and the registrations of its mailboxes.
    pub fn close(&self) {
        for link in self.links() {
            if let Some(ep) = link.ep() {
                self.nic.lock().end(ep);
            }
        }
        for chunk in &held(&self.mailboxes).chunks {
            let _ = self.nic.lock().deregister(chunk.handle);
        }
    }
}
