//! Arguments of messages: the elements that go out, the place of those that come in, and what stands on the envelope.
//!
//! A buffer's maker vouches for its memory, once; what is done with it from there on is safe. A buffer of bytes that the library itself has
//! is borrowed, and only calls take it that are over when they return. Operations that go on take a buffer for `'static`, which a promise alone makes.

use crate::objects::Instance;
use core::marker::PhantomData;
use oxmpi_datatype::TypeDesc;
use oxmpi_pml::mode;

/// Elements that a message takes along.
#[derive(Clone, Copy)]
pub struct SendBuffer<'a> {
    base: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    lent: PhantomData<&'a [u8]>,
}

/// The place of the elements that a message brings.
pub struct RecvBuffer<'a> {
    base: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    lent: PhantomData<&'a mut [u8]>,
}

impl<'a> SendBuffer<'a> {
    /// `count` elements of a type at `base`.
    ///
    /// # Safety
    /// The type is there during each call that gets this. So many of its elements are readable at `base` then, and until the operations that such a call
    /// starts are complete; for a persistent operation, whenever it is active.
    #[inline(always)]
    pub const unsafe fn new(base: *const u8, count: u64, dtype: &TypeDesc) -> SendBuffer<'a> {
        SendBuffer { base, count, dtype, lent: PhantomData }
    }

    /// Address, count and type, for the arguments of a component.
    #[inline(always)]
    pub(crate) const fn parts(self) -> (*const u8, u64, *const TypeDesc) {
        (self.base, self.count, self.dtype)
    }

    /// Packed bytes of all elements.
    #[inline(always)]
    pub fn packed(self) -> u64 {
        // SAFETY: there during the call that got this, by the promise of `new`, or borrowed with the bytes.
        unsafe { &*self.dtype }.packed.saturating_mul(self.count)
    }
}

impl<'a> RecvBuffer<'a> {
    /// A place of `count` elements of a type at `base`.
    ///
    /// # Safety
    /// As for [`SendBuffer::new`], and the elements are writable by nobody else meanwhile.
    #[inline(always)]
    pub const unsafe fn new(base: *mut u8, count: u64, dtype: &TypeDesc) -> RecvBuffer<'a> {
        RecvBuffer { base, count, dtype, lent: PhantomData }
    }

    /// The same place for an operation that goes on.
    ///
    /// # Safety
    /// It is complete, or the process at its end, before the borrow ends.
    pub(crate) const unsafe fn for_later(self) -> RecvBuffer<'static> {
        RecvBuffer { lent: PhantomData, ..self }
    }

    /// Address, count and type, for the arguments of a component.
    #[inline(always)]
    pub(crate) const fn parts(self) -> (*mut u8, u64, *const TypeDesc) {
        (self.base, self.count, self.dtype)
    }
}

impl Instance {
    /// Bytes to send, in a call that is over when it returns.
    pub(crate) fn outgoing<'a>(&'a self, bytes: &'a [u8]) -> SendBuffer<'a> {
        // SAFETY: borrowed, with the instance's type of one byte; only calls that go on ask for more than that.
        unsafe { SendBuffer::new(bytes.as_ptr(), bytes.len() as u64, self.byte_type()) }
    }

    /// Bytes to receive into, in a call that is over when it returns.
    pub(crate) fn incoming<'a>(&'a self, bytes: &'a mut [u8]) -> RecvBuffer<'a> {
        // SAFETY: borrowed for this alone, with the instance's type of one byte.
        unsafe { RecvBuffer::new(bytes.as_mut_ptr(), bytes.len() as u64, self.byte_type()) }
    }
}

/// The partner of a message by its rank, and the tag; of a send also its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub rank: i32,
    pub tag: i32,
    /// One of [`oxmpi_pml::mode`]; of no meaning for a receive.
    pub mode: u32,
}

impl Envelope {
    /// Of a standard send to a rank, or of a receive or probe from one.
    #[inline(always)]
    pub const fn new(rank: i32, tag: i32) -> Envelope {
        Envelope { rank, tag, mode: mode::STANDARD }
    }

    /// Of a send with a mode.
    #[inline(always)]
    pub const fn with_mode(rank: i32, tag: i32, mode: u32) -> Envelope {
        Envelope { rank, tag, mode }
    }
}
