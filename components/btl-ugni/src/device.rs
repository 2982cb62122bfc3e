//! A device as operations see it: the queue that their completions come to, and how many of them there may be.

use crate::nic::{Channel, Cq, Nic};
use core::sync::atomic::AtomicBool;
use std::sync::Arc;

pub struct Device {
    /// Wakes sleepers; `None`: the library cannot.
    pub channel: Option<Channel>,
    pub completions: Cq,
    /// Most posts at once.
    pub most: usize,
    /// Posts wait for room.
    pub has_waiting: AtomicBool,
    /// The queue has overrun: completions of posts may be lost.
    pub is_suspect: AtomicBool,
    pub nic: Arc<Nic>,
}

impl Device {
    pub fn new(nic: Arc<Nic>, most: u32, sleeps: bool) -> Result<Device, String> {
        let text = |code| nic.api.code_text(code);
        let completions = Cq::new(&nic, most, sleeps);
        let completions = completions.map_err(|c| format!("a queue of completions: {}", text(c)))?;
        let channel = if sleeps { Channel::new(&nic, &[&completions]) } else { Ok(None) };
        let channel = channel.map_err(|c| format!("a completion channel: {}", text(c)))?;
        Ok(Device {
            channel,
            completions,
            most: most as usize,
            has_waiting: AtomicBool::new(false),
            is_suspect: AtomicBool::new(false),
            nic,
        })
    }
}
