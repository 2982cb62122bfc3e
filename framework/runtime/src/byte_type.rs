//! The type of bytes that the host's own messages and operations have.

use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::SliceRef;

/// The type of the host's own messages.
pub(crate) struct ByteType {
    run: Run,
    pub desc: TypeDesc,
}

// SAFETY: `desc` points to `run` beside it, in the same box.
unsafe impl Send for ByteType {}
// SAFETY: nothing in it changes.
unsafe impl Sync for ByteType {}

impl ByteType {
    /// Makes the committed type of one byte. Boxed, because the description points to the run beside it.
    pub fn new() -> Box<ByteType> {
        let run = Run { disp: 0, len: 1, count: 1, stride: 1 };
        let desc = TypeDesc {
            size: size_of::<TypeDesc>() as u32,
            flags: flag::CONTIGUOUS | flag::PREDEFINED | flag::COMMITTED,
            packed: 1,
            lb: 0,
            extent: 1,
            true_lb: 0,
            true_extent: 1,
            base: Base::BYTE,
            refs: oxmpi_mca::sync::AtomicU32::new(1),
            elements: 1,
            runs: SliceRef { ptr: std::ptr::null(), len: 0 },
            free: None,
            nest: SliceRef::new(&[]),
            top: 0,
            places: SliceRef::new(&[]),
        };
        let mut byte = Box::new(ByteType { run, desc });
        byte.desc.runs = SliceRef { ptr: &raw const byte.run, len: 1 };
        byte
    }
}
