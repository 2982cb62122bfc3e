//! Messages on their way out, by process: in order, kept while the transport has no room.
//!
//! A message to this process itself goes through no transport: it is received in `drain.rs`, after the one that
//! caused it, so receivers do not nest.

use crate::wire::Header;
use oxmpi_btl::SendDesc;
use oxmpi_mca::{CriGuard, Host, Status};
use oxmpi_osc::Reach;
use std::collections::{HashMap, VecDeque};

pub struct Outbox {
    /// Of all messages.
    tag: u8,
    lanes: HashMap<u32, Lane>,
    waiting: usize,
}

/// The way to a process.
struct Lane {
    /// Null endpoint and transport: this process.
    reach: Option<Reach>,
    queue: VecDeque<Vec<u8>>,
}

impl Outbox {
    pub fn new(tag: u8) -> Outbox {
        Outbox { tag, lanes: HashMap::new(), waiting: 0 }
    }

    /// From now on there is a way to the process; `reach` `None`: it is this one.
    pub fn open(&mut self, proc: u32, reach: Option<Reach>) {
        self.lanes.entry(proc).or_insert(Lane { reach, queue: VecDeque::new() });
    }

    /// Puts a message behind the others to a process that has a way.
    pub fn put(&mut self, proc: u32, message: Vec<u8>) {
        if let Some(lane) = self.lanes.get_mut(&proc) {
            lane.queue.push_back(message);
            self.waiting += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Sends as much as the transports take; the messages to this process, and how many went out.
    pub fn send(&mut self, host: &Host, held: &mut CriGuard<'_>) -> (Vec<Vec<u8>>, i32) {
        let (mut own, mut sent) = (Vec::new(), 0);
        for (proc, lane) in &mut self.lanes {
            let Some(reach) = &lane.reach else {
                own.extend(lane.queue.drain(..));
                continue;
            };
            while let Some(message) = lane.queue.front() {
                match send(held, reach, self.tag, message) {
                    Status::NO_RESOURCE => break,
                    status => {
                        if status.is_err() {
                            host.peer_error(
                                *proc,
                                true,
                                &format!("a one-sided message cannot be sent: {status}"),
                            );
                        }
                        lane.queue.pop_front();
                        sent += 1;
                    }
                }
            }
        }
        self.waiting = self.lanes.values().map(|lane| lane.queue.len()).sum();
        (own, sent)
    }
}

fn send(held: &mut CriGuard<'_>, reach: &Reach, tag: u8, message: &[u8]) -> Status {
    let (head, rest) = message.split_at(Header::LEN);
    let desc = SendDesc {
        tag: tag.into(),
        hdr_len: Header::LEN as u32,
        hdr: head.as_ptr(),
        payload: rest.as_ptr(),
        len: rest.len() as u64,
        pack: None,
        pack_ctx: core::ptr::null_mut(),
    };
    // SAFETY: the endpoint is the handle's and stays as long as the instance; the message lives as long as the call.
    unsafe { reach.btl().send(held, reach.endpoint, &desc) }
}
