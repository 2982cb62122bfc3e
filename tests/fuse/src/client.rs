//! A machine that mounts files of a server and keeps data for itself, as clients of NFS do.
//!
//! - Data that a program writes is kept as ranges of bytes, and reaches the server when the file is closed, synced, locked or unlocked.
//! - A page that was read is kept, and read from there until it is seen that the file has changed; that is asked for when a file is opened, when a lock was taken, and when attributes
//!   are asked for anew. A write to a page that is kept is taken for one of the whole page, as Linux does where the machine has no lock of the file: bytes that others have written there
//!   meanwhile are lost.
//! - The kernel believes attributes for so long that a program that does not insist gets old ones.

use crate::served::Behaviour;
use crate::server::{Answer, Server};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const PAGE: u64 = 4096;

/// All that a machine keeps of one file.
#[derive(Debug, Default)]
struct Kept {
    /// The server's count of changes, and length, as last seen.
    change: u64,
    length: u64,
    /// Pages as they were read.
    pages: BTreeMap<u64, Vec<u8>>,
    /// Bytes that were written and not sent, in the order of writing.
    dirty: Vec<(u64, Vec<u8>)>,
}

impl Kept {
    fn length(&self) -> u64 {
        let written = self.dirty.iter().map(|(offset, data)| offset + data.len() as u64).max();
        self.length.max(written.unwrap_or(0))
    }

    /// A page as this machine sees it with what is written to it, up to the end of the file.
    fn whole_page(&self, page: u64, mut bytes: Vec<u8>, (at, data): (u64, &[u8])) -> Vec<u8> {
        let length = self.length().max(at + data.len() as u64);
        bytes.resize(PAGE.min(length - page * PAGE) as usize, 0);
        self.dirty.iter().for_each(|(offset, data)| overlay(&mut bytes, page * PAGE, *offset, data));
        overlay(&mut bytes, page * PAGE, at, data);
        bytes
    }
}

#[derive(Clone)]
pub struct Client {
    server: Server,
    machine: u64,
    files: Arc<Mutex<BTreeMap<u64, Kept>>>,
    /// The server takes no further byte behind this length of a file.
    room: u64,
    errno: i32,
}

impl Client {
    /// A machine with its number.
    pub fn new(server: &Server, machine: u64) -> Client {
        Client { server: server.clone(), machine, files: Arc::default(), room: u64::MAX, errno: 0 }
    }

    /// The server refuses bytes behind `room`, with that number of an error.
    pub fn with_room(mut self, room: u64, errno: i32) -> Client {
        (self.room, self.errno) = (room, errno);
        self
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<u64, Kept>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees whether the file has changed, and forgets pages if it has.
    fn revalidate(&self, file: u64, kept: &mut Kept) -> Answer<()> {
        let (change, length) = self.server.with(file, |stored| (stored.change, stored.bytes.len() as u64))?;
        if change != kept.change {
            kept.pages.clear();
        }
        (kept.change, kept.length) = (change, length);
        Ok(())
    }

    /// Sends what was written. Data that the server refuses is lost, and that is told once.
    fn send(&self, file: u64, kept: &mut Kept) -> Answer<()> {
        let mut refused = Ok(());
        for (offset, data) in std::mem::take(&mut kept.dirty) {
            if offset + data.len() as u64 > self.room {
                refused = Err(self.errno);
                continue;
            }
            self.server.write(file, offset, &data)?;
            // Its own changes leave the machine's pages as they are.
            let changed = self.server.with(file, |stored| (stored.change, stored.bytes.len() as u64))?;
            if changed.0 == kept.change + 1 {
                (kept.change, kept.length) = changed;
            }
            for (page, bytes) in &mut kept.pages {
                overlay(bytes, page * PAGE, offset, &data);
            }
        }
        if refused.is_err() {
            kept.pages.clear();
            self.revalidate(file, kept)?;
        }
        refused
    }
}

/// Writes data into a page.
fn overlay(page: &mut Vec<u8>, page_at: u64, offset: u64, data: &[u8]) {
    let (from, end) = (offset.max(page_at), (offset + data.len() as u64).min(page_at + PAGE));
    if from >= end {
        return;
    }
    let (to, len) = ((from - page_at) as usize, (end - from) as usize);
    if page.len() < to + len {
        page.resize(to + len, 0);
    }
    page[to..to + len].copy_from_slice(&data[(from - offset) as usize..][..len]);
}

impl Behaviour for Client {
    fn server(&self) -> &Server {
        &self.server
    }

    fn machine(&self) -> u64 {
        self.machine
    }

    fn attributes_last(&self) -> Duration {
        Duration::from_secs(3600)
    }

    fn has_locks(&self) -> bool {
        true
    }

    /// As with version 3 of NFS.
    fn has_space_ahead(&self) -> bool {
        false
    }

    fn read(&self, file: u64, offset: u64, len: usize) -> Answer<Vec<u8>> {
        let mut files = self.files();
        let kept = files.entry(file).or_default();
        let end = kept.length().min(offset + len as u64);
        let mut out = Vec::new();
        let mut at = offset;
        while at < end {
            let page = at / PAGE;
            let mut bytes = match kept.pages.get(&page) {
                Some(bytes) => bytes.clone(),
                None => {
                    let bytes = self.server.read(file, page * PAGE, PAGE as usize)?;
                    kept.pages.insert(page, bytes.clone());
                    bytes
                }
            };
            bytes.resize(PAGE as usize, 0);
            for (offset, data) in &kept.dirty {
                overlay(&mut bytes, page * PAGE, *offset, data);
            }
            let until = end.min((page + 1) * PAGE);
            out.extend_from_slice(&bytes[(at % PAGE) as usize..][..(until - at) as usize]);
            at = until;
        }
        Ok(out)
    }

    fn write(&self, file: u64, offset: u64, data: &[u8]) -> Answer<usize> {
        let (mut files, extends) = (self.files(), !self.server.is_locked_by(file, self.machine));
        let kept = files.entry(file).or_default();
        let (mut at, end) = (offset, offset + data.len() as u64);
        while at < end {
            let page = at / PAGE;
            let until = end.min((page + 1) * PAGE);
            let part = &data[(at - offset) as usize..(until - offset) as usize];
            let write = match kept.pages.get(&page).filter(|_| extends) {
                Some(bytes) => (page * PAGE, kept.whole_page(page, bytes.clone(), (at, part))),
                None => (at, part.to_vec()),
            };
            kept.dirty.push(write);
            at = until;
        }
        Ok(data.len())
    }

    fn resize(&self, file: u64, bytes: u64) -> Answer<()> {
        let mut files = self.files();
        let kept = files.entry(file).or_default();
        self.send(file, kept)?;
        self.server.resize(file, bytes)?;
        kept.pages.clear();
        self.revalidate(file, kept)
    }

    fn length(&self, file: u64) -> Answer<u64> {
        let mut files = self.files();
        let kept = files.entry(file).or_default();
        self.revalidate(file, kept)?;
        Ok(kept.length())
    }

    fn opened(&self, file: u64) -> Answer<()> {
        self.length(file).map(|_| ())
    }

    fn flush(&self, file: u64) -> Answer<()> {
        let mut files = self.files();
        let kept = files.entry(file).or_default();
        self.send(file, kept)
    }
}
