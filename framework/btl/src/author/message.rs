//! Descriptors as authors see them: their pointers are vouched for by whoever made them, which is the host.

use crate::table::SendDesc;
use core::marker::PhantomData;
use core::ops::Deref;

/// A descriptor whose maker vouches for what its type says of the pointers in it. Authors get them; its fields are reached by deref.
pub struct Vouched<'a, D>(&'a D);

impl<D> Clone for Vouched<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D> Copy for Vouched<'_, D> {}

impl<'a, D> Vouched<'a, D> {
    /// Vouches for a descriptor.
    ///
    /// # Safety
    /// Its pointers are valid as its type says, for `'a`, and those behind which something is written are nobody else's meanwhile.
    #[inline(always)]
    pub unsafe fn new(desc: &'a D) -> Vouched<'a, D> {
        Vouched(desc)
    }
}

impl<D> Deref for Vouched<'_, D> {
    type Target = D;
    #[inline(always)]
    fn deref(&self) -> &D {
        self.0
    }
}

/// Bytes that came in, where they lie: a slice, or memory that a peer may still write to.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    ptr: *const u8,
    len: u64,
    lent: PhantomData<&'a [u8]>,
}

impl<'a> Bytes<'a> {
    /// Bytes in memory that is no slice, because another process can write to it.
    ///
    /// # Safety
    /// So many bytes are readable from there for `'a`. They may change meanwhile only where nobody makes a reference to them.
    #[inline(always)]
    pub unsafe fn new(ptr: *const u8, len: u64) -> Bytes<'a> {
        Bytes { ptr, len, lent: PhantomData }
    }
    /// Address of the first byte.
    #[inline(always)]
    pub fn as_ptr(self) -> *const u8 {
        self.ptr
    }
    /// Number of bytes.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "a message without bytes is a message")]
    pub fn len(self) -> u64 {
        self.len
    }
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    #[inline(always)]
    fn from(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { ptr: bytes.as_ptr(), len: bytes.len() as u64, lent: PhantomData }
    }
}

/// A message to send, as the author sees it.
#[repr(transparent)]
pub struct Message<'a>(SendDesc, PhantomData<&'a ()>);

impl Message<'_> {
    /// Row of the receiver in the target's table of active messages.
    #[inline(always)]
    pub fn tag(&self) -> u8 {
        self.0.tag as u8
    }
    /// Whether it may wait for others, and `send` may answer PENDING ([`crate::MAY_WAIT`]).
    #[inline(always)]
    pub fn may_wait(&self) -> bool {
        self.0.tag & crate::MAY_WAIT != 0
    }
    /// The bytes in front of the payload.
    #[inline(always)]
    pub fn header(&self) -> &[u8] {
        // SAFETY: the sender's descriptor is valid for the call.
        unsafe { core::slice::from_raw_parts(self.0.hdr, self.0.hdr_len as usize) }
    }
    /// Bytes of payload behind the header.
    #[inline(always)]
    pub fn payload_len(&self) -> usize {
        self.0.len as usize
    }
    /// Header and payload together.
    #[inline(always)]
    pub fn total_len(&self) -> usize {
        self.0.hdr_len as usize + self.0.len as usize
    }
    /// Writes header and payload to `dst`, which is as long as both. Panics if it is not.
    pub fn write(&self, dst: &mut [u8]) {
        assert_eq!(dst.len(), self.total_len(), "a message and the place for it have one length");
        let (header, payload) = dst.split_at_mut(self.0.hdr_len as usize);
        header.copy_from_slice(self.header());
        // SAFETY: the rest is as long as the payload.
        unsafe { self.write_payload(payload.as_mut_ptr()) }
    }
    /// Writes `payload_len` bytes of payload to memory that is no slice.
    ///
    /// # Safety
    /// `dst` must be writable for that many bytes.
    #[inline(always)]
    pub unsafe fn write_payload(&self, dst: *mut u8) {
        match self.0.pack {
            None => {
                if self.0.len > 0 {
                    // SAFETY: the sender's payload is readable, `dst` writable by the caller's promise.
                    unsafe { core::ptr::copy_nonoverlapping(self.0.payload, dst, self.0.len as usize) }
                }
            }
            // SAFETY: `dst` is writable by the caller's promise; the function is the sender's, for this call.
            Some(pack) => unsafe { pack(self.0.pack_ctx, 0, dst, self.0.len) },
        }
    }
    /// The raw descriptor.
    #[inline(always)]
    pub fn desc(&self) -> &SendDesc {
        &self.0
    }
}
