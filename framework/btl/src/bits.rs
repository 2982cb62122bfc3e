//! Constants of verbs: atomic operations with their operands, rights of registered memory, and which verbs a device has.

/// Atomic memory operations (MPI 5.0 §12.3.4), by number in `atomic` and lists, by bit (1 << number) in `amo_ops`.
pub mod amo {
    /// Adds the operand (MPI_SUM); integers wrap around.
    pub const ADD: u32 = 0;
    /// Bitwise and with the operand (MPI_BAND).
    pub const AND: u32 = 1;
    /// Bitwise or with the operand (MPI_BOR).
    pub const OR: u32 = 2;
    /// Bitwise exclusive or with the operand (MPI_BXOR).
    pub const XOR: u32 = 3;
    /// Replaces the word by the operand (MPI_REPLACE).
    pub const SWAP: u32 = 4;
    /// Keeps the smaller of word and operand (MPI_MIN).
    pub const MIN: u32 = 5;
    /// Keeps the larger of word and operand (MPI_MAX).
    pub const MAX: u32 = 6;
    /// Replaces the word by the operand if it equals `compare`, bit for bit (MPI_Compare_and_swap).
    pub const COMPARE_SWAP: u32 = 7;
    /// In `flags`: the operand has 32 bits; without it, 64.
    pub const WIDTH_32: u32 = 1;
    /// In `flags`: the operand is a binary floating-point number of its width.
    pub const FLOAT: u32 = 2;
    /// In `flags`: the operand is a signed integer, and MIN and MAX compare as such.
    pub const SIGNED: u32 = 4;

    /// Kinds of operands, by bit in `BtlAttrs::amo_operands`. Bitwise operations, SWAP and COMPARE_SWAP need the
    /// unsigned one of their width alone.
    pub mod operand {
        /// Unsigned integers of 64 bits.
        pub const U64: u32 = 1;
        /// Signed integers of 64 bits.
        pub const I64: u32 = 2;
        /// Floating-point numbers of 64 bits.
        pub const F64: u32 = 4;
        /// Unsigned integers of 32 bits.
        pub const U32: u32 = 8;
        /// Signed integers of 32 bits.
        pub const I32: u32 = 16;
        /// Floating-point numbers of 32 bits.
        pub const F32: u32 = 32;
        /// All kinds there are.
        pub const ALL: u32 = 63;
    }
}

/// Bits of `access` in `register_mem`. Memory that this process's puts read needs none.
pub mod access {
    /// Verbs of this process write it: gets, and results of atomic operations and lists.
    pub const LOCAL_WRITE: u32 = 1;
    /// Gets of peers read it.
    pub const REMOTE_READ: u32 = 2;
    /// Puts and lists of peers write it.
    pub const REMOTE_WRITE: u32 = 4;
    /// Atomic operations of peers update it.
    pub const REMOTE_ATOMIC: u32 = 8;
}

/// The verbs that a device has, computed by the host from the filled slots.
pub mod cap {
    /// `get`.
    pub const GET: u32 = 1;
    /// `put`.
    pub const PUT: u32 = 2;
    /// `atomic`; the operations are in `amo_ops` and `amo_operands`.
    pub const ATOMIC: u32 = 4;
    /// `flush`.
    pub const FLUSH: u32 = 8;
    /// `register_mem` and `deregister_mem`.
    pub const REGISTER: u32 = 16;
    /// `arm` and `disarm`.
    pub const SLEEP: u32 = 32;
    /// `get_vector`.
    pub const GET_VECTOR: u32 = 64;
    /// `hold` and `held`.
    pub const HOLD: u32 = 128;
    /// All of `service_*` but the arming ones.
    pub const SERVICE: u32 = 256;
    /// `service_arm` and `service_disarm`.
    pub const SERVICE_SLEEP: u32 = 512;
    /// `list`.
    pub const LIST: u32 = 1024;
    /// `partner`.
    pub const PARTNER: u32 = 2048;
    /// Lists take [`LIST_ASK`](crate::LIST_ASK); of handles that the host carries lists out for.
    pub const ASK: u32 = 4096;
    /// `place_by`.
    pub const PLACES: u32 = 8192;
    /// `send_kept`.
    pub const KEEPS: u32 = 16384;
}
