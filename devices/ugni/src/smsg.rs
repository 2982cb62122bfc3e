//! Mailboxes of short messages: layout, credits, sequence.
//!
//! A mailbox begins with 64 bytes of control, of which the first eight are the number of messages that the peer has released, written by
//! the peer; `maxcredit` slots follow. A slot is a sequence number of eight bytes, written last, then four bytes of length, one
//! of tag, three that are unused, and the message. Slot `n mod maxcredit` carries message `n`, whose sequence number is `n + 1`, so
//! memory that was zeroed has no message. The size is a function of credits and message size alone.

use crate::layouts::{MemHandle, SmsgAttr};
use crate::numbers::{SMSG_MAX_SIZE, smsg_type};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes before the slots.
const CONTROL: u64 = 64;
/// Bytes of a slot before the message.
pub const SLOT_HEAD: u64 = 16;

fn slot_bytes(maxsize: u32) -> u64 {
    (SLOT_HEAD + u64::from(maxsize)).next_multiple_of(64)
}

/// Bytes of a mailbox. `None`: the attributes make none.
pub fn size_needed(attr: &SmsgAttr) -> Option<u32> {
    let known = matches!(attr.msg_type, smsg_type::MBOX | smsg_type::MBOX_AUTO_RETRANSMIT);
    if !known || attr.mbox_maxcredit == 0 || attr.msg_maxsize == 0 || attr.msg_maxsize > SMSG_MAX_SIZE {
        return None;
    }
    u32::try_from(CONTROL + u64::from(attr.mbox_maxcredit) * slot_bytes(attr.msg_maxsize)).ok()
}

/// The pair of mailboxes of an endpoint.
pub struct Mailboxes {
    local: u64,
    remote: u64,
    pub remote_handle: MemHandle,
    pub maxcredit: u64,
    pub maxsize: u32,
    /// Messages sent, read by the program, and told to the peer as read.
    sent: u64,
    released: u64,
    told: u64,
    current: bool,
}

/// A message in the local mailbox.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    pub address: u64,
    pub length: u32,
    pub tag: u8,
}

impl Mailboxes {
    /// Joins two mailboxes. `None`: their attributes differ, or one is smaller than it must be.
    pub fn of(local: &SmsgAttr, remote: &SmsgAttr) -> Option<Mailboxes> {
        let needed = size_needed(local)?;
        let same = (local.msg_type, local.mbox_maxcredit, local.msg_maxsize)
            == (remote.msg_type, remote.mbox_maxcredit, remote.msg_maxsize);
        if !same || local.buff_size < needed || remote.buff_size < needed {
            return None;
        }
        Some(Mailboxes {
            local: local.msg_buffer as u64 + u64::from(local.mbox_offset),
            remote: remote.msg_buffer as u64 + u64::from(remote.mbox_offset),
            remote_handle: remote.mem_hndl,
            maxcredit: local.mbox_maxcredit.into(),
            maxsize: local.msg_maxsize,
            sent: 0,
            released: 0,
            told: 0,
            current: false,
        })
    }

    fn word(&self, address: u64) -> u64 {
        // SAFETY: within the local mailbox, which the program keeps while the endpoint has it; aligned, since mailboxes and slots are.
        unsafe { (*(address as *const AtomicU64)).load(Ordering::Acquire) }
    }

    pub fn has_credit(&self) -> bool {
        self.sent - self.word(self.local) < self.maxcredit
    }

    /// The place of the next message in the peer's mailbox, and its sequence number.
    pub fn next_slot(&mut self) -> (u64, u64) {
        let slot = self.remote + CONTROL + self.sent % self.maxcredit * slot_bytes(self.maxsize);
        self.sent += 1;
        (slot, self.sent)
    }

    /// The next message. It is current until it is released.
    pub fn peek(&self) -> Option<Message> {
        let slot = self.local + CONTROL + self.released % self.maxcredit * slot_bytes(self.maxsize);
        if self.word(slot) != self.released + 1 {
            return None;
        }
        let meta = self.word(slot + 8);
        Some(Message { address: slot + SLOT_HEAD, length: meta as u32, tag: (meta >> 32) as u8 })
    }

    pub fn hold(&mut self) {
        self.current = true;
    }

    /// Releases the current message. False: there is none.
    pub fn release(&mut self) -> bool {
        let had = std::mem::take(&mut self.current);
        self.released += u64::from(had);
        had
    }

    /// Address and value of the credits to tell the peer: at half of them, or all that there are.
    pub fn credits(&mut self, all: bool) -> Option<(u64, u64)> {
        let owed = self.released - self.told;
        if owed == 0 || (!all && owed * 2 < self.maxcredit) {
            return None;
        }
        self.told = self.released;
        Some((self.remote, self.told))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(buffer: &mut [u64], credits: u16, size: u32) -> SmsgAttr {
        SmsgAttr {
            msg_type: smsg_type::MBOX_AUTO_RETRANSMIT,
            msg_buffer: buffer.as_mut_ptr().cast(),
            buff_size: buffer.len() as u32 * 8,
            mem_hndl: MemHandle::default(),
            mbox_offset: 0,
            mbox_maxcredit: credits,
            msg_maxsize: size,
        }
    }

    #[test]
    fn attributes_that_make_no_mailbox() {
        let mut memory = vec![0; 1024];
        let good = attr(&mut memory, 4, 100);
        assert_eq!(size_needed(&good), Some(64 + 4 * 128));
        assert_eq!(size_needed(&SmsgAttr { msg_type: 0, ..good }), None);
        assert_eq!(size_needed(&SmsgAttr { mbox_maxcredit: 0, ..good }), None);
        assert_eq!(size_needed(&SmsgAttr { msg_maxsize: 65536, ..good }), None);
        assert!(Mailboxes::of(&good, &SmsgAttr { mbox_maxcredit: 5, ..good }).is_none(), "they differ");
        assert!(Mailboxes::of(&good, &SmsgAttr { buff_size: 64, ..good }).is_none(), "too small");
    }

    /// Both ends in one process: what one writes at the addresses it is given is what the other reads.
    #[test]
    fn messages_in_order_within_the_credits() {
        let (mut near, mut far) = (vec![0u64; 256], vec![0u64; 256]);
        let (a, b) = (attr(&mut near, 2, 48), attr(&mut far, 2, 48));
        let (mut sender, mut receiver) =
            (Mailboxes::of(&a, &b).expect("a pair"), Mailboxes::of(&b, &a).expect("a pair"));
        let store = |address: u64, value: u64| {
            // SAFETY: an address in one of the two vectors, which nothing else touches meanwhile.
            unsafe { (*(address as *const AtomicU64)).store(value, Ordering::Release) }
        };
        for n in 0..10u64 {
            assert!(sender.has_credit());
            let (slot, sequence) = sender.next_slot();
            assert!(receiver.peek().is_none(), "nothing before the sequence number");
            store(slot + 8, 48 | n << 32);
            store(slot, sequence);
            let message = receiver.peek().expect("a message");
            assert_eq!((message.length, message.tag), (48, n as u8));
            assert!(!receiver.release(), "none is current");
            receiver.hold();
            assert!(receiver.release());
            if let Some((address, value)) = receiver.credits(false) {
                store(address, value);
            }
        }
        sender.next_slot();
        sender.next_slot();
        assert!(!sender.has_credit(), "both are out");
    }
}
