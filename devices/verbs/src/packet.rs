//! Packets between devices of one fabric. Both ends come out of one file, so there is no version; lengths are checked all the same.

/// Kinds.
pub mod kind {
    pub const SEND: u8 = 1;
    pub const WRITE: u8 = 2;
    pub const READ: u8 = 3;
    pub const COMPARE_SWAP: u8 = 4;
    pub const FETCH_ADD: u8 = 5;
    pub const ACK: u8 = 6;
    /// `code` is one of [`super::nak`].
    pub const NAK: u8 = 7;
    pub const READ_DATA: u8 = 8;
    /// `a` is the old value.
    pub const ATOMIC_DATA: u8 = 9;
    pub const DATAGRAM: u8 = 10;
}

/// Reasons of a refusal.
pub mod nak {
    /// No receive request; `a` is the time to wait, in microseconds.
    pub const RNR: u16 = 1;
    pub const SEQUENCE: u16 = 2;
    pub const ACCESS: u16 = 3;
    pub const INVALID: u16 = 4;
    pub const OPERATION: u16 = 5;
}

/// Bits of `flags`.
pub mod flag {
    /// The last packet of its message.
    pub const LAST: u8 = 1;
    pub const SOLICITED: u8 = 2;
    pub const IMMEDIATE: u8 = 4;
    /// Its sender reports it when it is answered.
    pub const REPORTED: u8 = 8;
}

/// Bytes of payload in a packet.
pub const PAYLOAD: usize = 4096;

/// First part of every packet: numbers, so any bytes are one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    pub kind: u8,
    pub flags: u8,
    pub code: u16,
    /// Bytes of payload.
    pub len: u32,
    pub to: u32,
    pub from: u32,
    /// Number of the message.
    pub psn: u32,
    pub immediate: u32,
    pub rkey: u32,
    pub qkey: u32,
    /// Where this payload is in its message, and the bytes of that.
    pub offset: u64,
    pub total: u64,
    pub addr: u64,
    pub a: u64,
    pub b: u64,
}

impl Packet {
    pub const BYTES: usize = size_of::<Packet>();
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

const _: () = assert!(Packet::BYTES == 72 && align_of::<Packet>() == 8);

/// Message numbers have 24 bits.
pub const PSN: u32 = 0xff_ffff;

/// How far `a` is in front of `b`, negative if behind.
pub fn ahead(a: u32, b: u32) -> i32 {
    let difference = a.wrapping_sub(b) & PSN;
    if difference > PSN / 2 { difference as i32 - (PSN as i32 + 1) } else { difference as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        assert_eq!((ahead(5, 3), ahead(3, 5), ahead(1, PSN), ahead(PSN, 1)), (2, -2, 2, -2));
    }
}
