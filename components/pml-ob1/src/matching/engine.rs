//! The engine of a shard: a queue of posted receives and one of waiting messages.

use super::choice::Setting;
use super::entry::{Arrival, Pattern, Posted, Unexpected};
use super::queue::Queue;
use core::ptr::NonNull;

/// The engine of a shard: a queue of posted receives and one of waiting messages. The holder of the shard's lock uses
/// it.
pub struct Engine {
    pub(super) posted: Queue<Posted>,
    pub(super) waiting: Queue<Unexpected>,
}

impl Engine {
    /// Makes an engine whose two queues are empty and of the setting's kind.
    pub fn new(setting: Setting) -> Engine {
        Engine { posted: Queue::new(setting), waiting: Queue::new(setting) }
    }

    /// Queues a receive that no waiting message fits, as the youngest. Its stamp is above those of all receives posted
    /// before.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the engine gives it out again.
    #[inline(always)]
    pub unsafe fn post(&mut self, node: NonNull<Posted>) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.posted.push(node) }
    }

    /// Takes out the oldest posted receive that the message fits. `None`: no receive fits, and the message has to wait.
    #[inline(always)]
    pub fn match_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>> {
        self.posted.find(arrival.key, true)
    }

    /// Finds the posted receive that [`Engine::match_arrival`] would take out, and leaves it in the queue. Its stamp
    /// decides where several engines have one.
    #[inline(always)]
    pub fn peek_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>> {
        self.posted.find(arrival.key, false)
    }

    /// Queues a message that no posted receive fits, as the youngest waiting one.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the engine gives it out again.
    #[inline(always)]
    pub unsafe fn add_unexpected(&mut self, node: NonNull<Unexpected>) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.waiting.push(node) }
    }

    /// Finds the oldest waiting message that fits the receive's pattern, and takes it out if `take`. `None`: none fits.
    #[inline(always)]
    pub fn find_unexpected(&mut self, pattern: Pattern, take: bool) -> Option<NonNull<Unexpected>> {
        self.waiting.find(pattern, take)
    }

    /// Takes all posted receives out, oldest first.
    pub fn take_posted(&mut self) -> Vec<NonNull<Posted>> {
        let mut all = self.posted.take_all();
        // SAFETY: nodes that the queue gave out, valid by the promise of `post`.
        all.sort_by_key(|node| unsafe { node.as_ref() }.stamp);
        all
    }

    /// Takes all waiting messages out, oldest first.
    pub fn take_waiting(&mut self) -> Vec<NonNull<Unexpected>> {
        self.waiting.take_all()
    }

    /// Gives the setting that the engine was made with.
    pub fn setting(&self) -> Setting {
        self.posted.setting()
    }

    /// Takes a posted receive out of its queue. `false`: it is not there; a message has matched it, or it was never
    /// posted here.
    ///
    /// # Safety
    /// The node is valid, posted here or not, and nobody writes its pattern meanwhile.
    pub unsafe fn cancel(&mut self, node: NonNull<Posted>) -> bool {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.posted.remove(node) }
    }

    /// Takes out the oldest waiting message, whatever its source and tag, for clearing up. `None`: none waits.
    pub fn pop_unexpected(&mut self) -> Option<NonNull<Unexpected>> {
        self.waiting.pop()
    }

    /// Counts the posted receives; walks the list if the index is not in use.
    pub fn posted_len(&self) -> usize {
        self.posted.len()
    }

    /// Whether the queue of waiting messages is an empty list, which one load tells. `false` decides nothing:
    /// [`Engine::find_unexpected`] does.
    #[inline(always)]
    pub fn surely_none_waits(&self) -> bool {
        self.waiting.is_bare()
    }

    /// Whether any receive is posted.
    pub fn has_posted(&self) -> bool {
        !self.posted.is_empty()
    }

    /// Gives the bytes of memory of the engine: its own and those that its queues have allocated.
    pub fn bytes(&self) -> usize {
        size_of::<Engine>() + self.posted.bytes() + self.waiting.bytes()
    }
}
