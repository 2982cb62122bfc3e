//! Requests in the device: sends, and receives of a queue.

use oxmpi_verbs_abi::{RecvWr, Sge};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub const EINVAL: i32 = 22;

pub const ENOMEM: i32 = 12;

/// A send request in the device.
pub struct Wqe {
    /// Counts a queue's requests.
    pub counter: u64,
    pub wr_id: u64,
    pub opcode: u32,
    pub signaled: bool,
    pub solicited: bool,
    pub immediate: u32,
    pub sges: Vec<Sge>,
    /// Of an inline request.
    pub inline: Option<Vec<u8>>,
    pub len: u64,
    pub remote: u64,
    pub rkey: u32,
    pub operands: [u64; 2],
    /// Of a datagram: queue pair and key.
    pub datagram: (u32, u32),
    // --- while it is under way ---
    pub psn: u32,
    pub answered: bool,
    pub got: u64,
    /// Fails by order.
    pub doomed: bool,
}

/// A receive request in the device.
pub struct Recv {
    pub wr_id: u64,
    pub sges: Vec<Sge>,
}

impl Recv {
    pub fn room(&self) -> u64 {
        self.sges.iter().map(|s| u64::from(s.length)).sum()
    }
}

/// Receive requests of one queue.
pub struct RecvQueue {
    requests: Mutex<VecDeque<Recv>>,
    most: u32,
    most_sge: u32,
}

impl RecvQueue {
    pub fn new(most: u32, most_sge: u32) -> RecvQueue {
        RecvQueue { requests: Mutex::default(), most, most_sge }
    }
    pub fn take(&self) -> Option<Recv> {
        locked(&self.requests).pop_front()
    }
    /// # Safety
    /// A list of requests as the verbs have them.
    pub unsafe fn post(&self, mut wr: *mut RecvWr, bad: *mut *mut RecvWr) -> i32 {
        while !wr.is_null() {
            // SAFETY: the caller's list.
            let (status, next) = unsafe { (self.one(&*wr), (*wr).next) };
            if status != 0 {
                // SAFETY: the caller's place.
                unsafe { *bad = wr };
                return status;
            }
            wr = next;
        }
        0
    }
    unsafe fn one(&self, wr: &RecvWr) -> i32 {
        if wr.num_sge < 0 || wr.num_sge as u32 > self.most_sge {
            return EINVAL;
        }
        let mut requests = locked(&self.requests);
        if requests.len() >= self.most as usize {
            return ENOMEM;
        }
        // SAFETY: the caller's list.
        let sges = unsafe { list(wr.sg_list, wr.num_sge) };
        requests.push_back(Recv { wr_id: wr.wr_id, sges });
        0
    }
}

pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub unsafe fn list(at: *const Sge, count: i32) -> Vec<Sge> {
    if count <= 0 {
        return Vec::new();
    }
    // SAFETY: the caller's entries.
    unsafe { core::slice::from_raw_parts(at, count as usize) }.to_vec()
}
