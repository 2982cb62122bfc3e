//! Completion queues, plain and extended.

use crate::channel::Channel;
use crate::counters::{self, Counter};
use crate::lock::ModelLock;
use crate::objects::{CqCore, Entry};
use oxmpi_verbs_abi::Wc;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub struct Shape {
    pub number: u64,
    pub capacity: u32,
    pub single_threaded: bool,
    pub lenient: bool,
    pub full_at: u64,
}

impl CqCore {
    pub fn new(shape: Shape, channel: Option<Arc<Channel>>) -> CqCore {
        let counted = (!shape.single_threaded).then_some(Counter::CqLocks);
        CqCore {
            number: shape.number,
            capacity: AtomicU32::new(shape.capacity),
            entries: Mutex::default(),
            armed: AtomicU32::new(0),
            channel,
            lock: ModelLock::new(counted, shape.lenient),
            overrun: AtomicBool::new(false),
            full_at: shape.full_at,
            taken: AtomicU64::new(0),
        }
    }

    fn entries(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry. False: it was full, and is of no use any more.
    pub fn push(&self, entry: Entry) -> bool {
        let solicited = entry.solicited || entry.wc.status != 0;
        {
            let mut entries = self.entries();
            let before = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
            if entries.len() >= self.capacity.load(Ordering::Relaxed) as usize || before == self.full_at {
                self.overrun.store(true, Ordering::Release);
                return false;
            }
            entries.push_back(entry);
        }
        counters::add(Counter::CqeWrites, 1);
        let wants = self.armed.load(Ordering::SeqCst);
        if (wants == 1 || wants == 2 && solicited) && self.armed.swap(0, Ordering::SeqCst) != 0 {
            self.report();
        }
        true
    }

    fn report(&self) {
        if let Some(channel) = &self.channel {
            channel.report(self.number);
        }
    }

    pub fn arm(&self, solicited: bool) {
        self.armed.store(if solicited { 2 } else { 1 }, Ordering::SeqCst);
    }

    /// Takes out up to so many entries at once: what comes meanwhile is for the next call.
    pub fn take(&self, most: usize, mut each: impl FnMut(Wc)) -> usize {
        let mut entries = self.entries();
        let n = entries.len().min(most);
        for entry in entries.drain(..n) {
            if let Some((qp, up_to)) = entry.frees {
                qp.free_up_to(up_to);
            }
            each(entry.wc);
        }
        n
    }

    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Takes out what is of a queue pair that goes.
    pub fn clean(&self, qp_num: u32) {
        self.entries().retain(|e| e.wc.qp_num != qp_num);
    }

    pub fn resize(&self, capacity: u32) -> bool {
        let entries = self.entries();
        let fits = entries.len() <= capacity as usize;
        if fits {
            self.capacity.store(capacity, Ordering::Relaxed);
        }
        fits
    }
}
