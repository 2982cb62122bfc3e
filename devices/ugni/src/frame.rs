//! Frames that go between processes: a header of fixed size and at most 16 KiB of payload.

/// Bytes of payload in a frame.
pub const PAYLOAD: usize = 16 * 1024;

/// Kinds of frames. Those of the first group go to a target, those of the second come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Payload to `address + offset`; the last one (`LAST`) is answered.
    Put = 1,
    /// Asks for `length` bytes at `address`.
    Get,
    /// An atomic at `address`.
    Amo,
    /// A value into the queue at the memory handle.
    CqWrite,
    /// A datagram's data.
    Datagram,
    /// The answer to a datagram.
    Reply,
    /// A datagram is withdrawn.
    Withdraw,
    /// Outcome of an operation: `status`, and the old value of an atomic in `a`.
    Done = 16,
    /// Payload of a get to `offset`.
    Data,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        use Kind::*;
        [Put, Get, Amo, CqWrite, Datagram, Reply, Withdraw, Done, Data].into_iter().find(|k| *k as u8 == byte)
    }
}

/// Bits of `flags`.
pub mod flag {
    /// The last frame of a put.
    pub const LAST: u8 = 1;
    /// An event for the queue at the memory.
    pub const EVENT: u8 = 2;
    /// Eight bytes `a` go to address `b` behind the data.
    pub const SYNC: u8 = 4;
    /// The event says that a message has come.
    pub const MESSAGE: u8 = 8;
    /// The event goes out with the first frame, not the last.
    pub const EARLY: u8 = 16;
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub kind: u8,
    pub flags: u8,
    pub status: u8,
    pub unused: u8,
    /// Bytes of payload.
    pub len: u32,
    /// The initiator's operation.
    pub op: u64,
    /// Instance that is meant, and instance that speaks, with the address of its node.
    pub to_inst: u32,
    pub from_inst: u32,
    pub from_addr: u32,
    /// The job that the memory must belong to.
    pub cookie: u32,
    /// Data of a remote event, or an atomic's command.
    pub event: u32,
    pub spare: u32,
    pub handle: [u64; 2],
    pub address: u64,
    pub length: u64,
    pub offset: u64,
    pub a: u64,
    pub b: u64,
}

impl Header {
    pub const BYTES: usize = core::mem::size_of::<Header>();

    pub fn new(kind: Kind) -> Header {
        Header { kind: kind as u8, ..Header::default() }
    }

    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: integers without padding between them (asserted below).
        unsafe { core::slice::from_raw_parts(core::ptr::from_ref(self).cast(), Header::BYTES) }
    }

    /// Takes a record apart. `None`: it is no frame.
    pub fn parse(record: &[u8]) -> Option<(Kind, Header, &[u8])> {
        let (head, payload) = record.split_at_checked(Header::BYTES)?;
        // SAFETY: a header consists of integers, any bytes make one; the length is checked above.
        let header = unsafe { head.as_ptr().cast::<Header>().read_unaligned() };
        let kind = Kind::of(header.kind)?;
        (header.len as usize == payload.len() && payload.len() <= PAYLOAD).then_some((kind, header, payload))
    }
}

const _: () = assert!(Header::BYTES == 4 + 4 + 8 + 6 * 4 + 16 + 5 * 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_reads_as_it_was_written_and_garbage_does_not() {
        let header = Header { len: 3, op: 9, a: 7, ..Header::new(Kind::Put) };
        let record = [header.as_bytes(), b"abc"].concat();
        assert_eq!(Header::parse(&record), Some((Kind::Put, header, &b"abc"[..])));
        assert_eq!(Header::parse(&record[..record.len() - 1]), None, "shorter than it says");
        assert_eq!(Header::parse(&[0xee; 200]), None, "no kind");
        assert_eq!(Header::parse(&[1; 10]), None, "shorter than a header");
    }
}
