//! Packets between devices, and what a process publishes about itself. Peers compare [`VERSION`].

use oxmpi_mca::ProcName;

pub const VERSION: u32 = 1;
/// Bytes of a packet, header included.
pub const PACKET: usize = 4096;
/// Bytes of data in one packet.
pub const DATA: usize = PACKET - size_of::<Header>();

/// Kinds of packets.
pub mod kind {
    pub const PUT: u32 = 1;
    pub const GET: u32 = 2;
    pub const ATOMIC: u32 = 3;
    /// Data of a get, from byte `at` on.
    pub const GET_DATA: u32 = 4;
    /// The end of a put or an atomic (`operand` is the old value), or the failure of a get.
    pub const ANSWER: u32 = 5;
}

/// A registration as it travels: which one, and which life of the slot.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handle {
    pub slot: u64,
    pub life: u64,
    /// Random number of the process that made it.
    pub process: u64,
}

pub const HANDLE: usize = size_of::<Handle>();

/// First part of every packet. Numbers only, so any bytes are a header; all of it is checked before use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    pub kind: u32,
    /// Bytes of data behind the header.
    pub len: u32,
    /// Number of the operation at the process that started it.
    pub op: u64,
    pub handle: Handle,
    /// In the target's memory: where the operation begins.
    pub addr: u64,
    /// Where this packet's data belongs, from there.
    pub at: u64,
    /// Bytes of the whole operation.
    pub total: u64,
    pub status: i32,
    pub amo: u32,
    pub amo_flags: u32,
    pub reserved: u32,
    pub operand: u64,
    pub compare: u64,
}

/// The way to a process's memory: a descriptor of it under /proc, and the random number in it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Address {
    pub version: u32,
    pub pid: u32,
    pub fd: u32,
    pub contexts: u32,
    pub senders: u32,
    pub ring: u32,
    pub process: u64,
    pub name: ProcName,
}

impl Address {
    pub fn bytes(&self) -> [u8; size_of::<Address>()] {
        // SAFETY: numbers without padding (asserted below).
        unsafe { core::mem::transmute(*self) }
    }

    pub fn of(bytes: &[u8]) -> Option<Address> {
        let bytes: [u8; size_of::<Address>()] = bytes.try_into().ok()?;
        // SAFETY: any bytes are numbers.
        Some(unsafe { core::mem::transmute::<[u8; size_of::<Address>()], Address>(bytes) })
    }
}

const _: () = {
    assert!(size_of::<Address>() == 48 && align_of::<Address>() == 8);
    assert!(size_of::<Header>() == 96);
    assert!(DATA == 4000);
};
