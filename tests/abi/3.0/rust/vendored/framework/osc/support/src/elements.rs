//! Elements of a datatype in memory of this process are packed into plain bytes and unpacked from them, part by part.

use crate::address::Address;
use oxmpi_datatype::{TypeDesc, TypeRef, pack, unpack};

/// Elements lie in memory of this process; their type is valid during a call.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    /// The first element is here.
    pub at: *mut u8,
    /// There are so many elements.
    pub count: u64,
    /// Each element is of this type.
    pub dtype: &'a TypeDesc,
}

impl<'a> Elements<'a> {
    /// Describes `count` elements; the result is `None` if `dtype` is null.
    ///
    /// # Safety
    /// `dtype` must be null or valid as long as the result is used.
    #[inline]
    pub unsafe fn new(at: *mut u8, count: u64, dtype: *const TypeDesc) -> Option<Elements<'a>> {
        // SAFETY: the caller's promise.
        unsafe { dtype.as_ref() }.map(|dtype| Elements { at, count, dtype })
    }

    /// Counts the bytes of data.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.dtype.packed)
    }

    /// Finds the address of the data, if that is one block.
    #[inline]
    pub fn one_block(&self) -> Option<*mut u8> {
        let (disp, _) = self.dtype.one_block(self.count)?;
        Some(self.at.wrapping_offset(disp as isize))
    }

    /// Copies packed bytes from `from` on to `to`.
    ///
    /// # Safety
    /// The data must be readable, and `len` bytes at `to` writable.
    #[inline]
    pub unsafe fn pack(&self, from: u64, to: *mut u8, len: u64) {
        // SAFETY: the caller's promise.
        unsafe { pack(self.dtype, self.count, self.at, from, to, len) };
    }

    /// Copies `len` bytes at `from` to where the packed ones from `at` on lie.
    ///
    /// # Safety
    /// The data must be writable, and `len` bytes at `from` readable.
    #[inline]
    pub unsafe fn unpack(&self, at: u64, from: *const u8, len: u64) {
        // SAFETY: the caller's promise.
        unsafe { unpack(self.dtype, self.count, self.at, at, from, len) };
    }

    /// Gives the packed bytes.
    ///
    /// # Safety
    /// The data must be readable.
    pub unsafe fn packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // SAFETY: the caller's promise.
        unsafe { self.append(0, self.bytes(), &mut out) };
        out
    }

    /// Appends `len` packed bytes from `from` on to a message, or as many as there are.
    ///
    /// # Safety
    /// The data must be readable.
    pub unsafe fn append(&self, from: u64, len: u64, message: &mut Vec<u8>) {
        let start = message.len();
        message.resize(start + len as usize, 0);
        // SAFETY: the caller's promise; the vector has `len` bytes from `start` on.
        let n = unsafe { pack(self.dtype, self.count, self.at, from, message[start..].as_mut_ptr(), len) };
        message.truncate(start + n as usize);
    }

    /// Keeps the type beyond the call.
    #[inline]
    pub fn retain(&self) -> TypeRef {
        // SAFETY: a reference is valid.
        unsafe { TypeRef::retain(self.dtype) }
    }
}

impl<'a> Elements<'a> {
    /// Makes them a source of data.
    ///
    /// # Safety
    /// The data can be read, and stays as it is, until the operation that it is for is complete.
    #[inline]
    pub unsafe fn source(self) -> Source<'a> {
        Source(self)
    }

    /// Makes them a place for data.
    ///
    /// # Safety
    /// The data can be written, and nobody else uses it, until the operation that it is for is complete.
    #[inline]
    pub unsafe fn sink(self) -> Sink<'a> {
        Sink(self)
    }
}

/// Elements of the program's are read by an operation: whoever made this has vouched for them.
#[derive(Clone, Copy)]
pub struct Source<'a>(Elements<'a>);

impl<'a> Source<'a> {
    /// Gives the elements.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        self.0
    }

    /// Counts the bytes of data.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Finds the address of the data, if that is one block.
    #[inline]
    pub fn one_block(&self) -> Option<*const u8> {
        self.0.one_block().map(<*mut u8>::cast_const)
    }

    /// Copies packed bytes from `from` on to `to`, as many as that has.
    #[inline]
    pub fn pack(&self, from: u64, to: &mut [u8]) {
        // SAFETY: the data can be read, by the promise of whoever made this.
        unsafe { self.0.pack(from, to.as_mut_ptr(), to.len() as u64) }
    }

    /// Gives the packed bytes.
    pub fn packed(&self) -> Vec<u8> {
        // SAFETY: the data can be read, by the promise of whoever made this.
        unsafe { self.0.packed() }
    }
}

/// Elements of the program's are written by an operation: whoever made this has vouched for them.
#[derive(Clone, Copy)]
pub struct Sink<'a>(Elements<'a>);

impl<'a> Sink<'a> {
    /// Gives the elements.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        self.0
    }

    /// Counts the bytes of data.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Finds the address of the data, if that is one block.
    #[inline]
    pub fn one_block(&self) -> Option<*mut u8> {
        self.0.one_block()
    }

    /// Copies bytes to where the packed ones from `at` on lie.
    #[inline]
    pub fn unpack(&self, at: u64, from: &[u8]) {
        // SAFETY: the data can be written, by the promise of whoever made this.
        unsafe { self.0.unpack(at, from.as_ptr(), from.len() as u64) }
    }
}

/// Data that comes later goes to these elements of the program, whose type is kept.
pub struct Destination {
    at: Address<u8>,
    count: u64,
    dtype: TypeRef,
}

impl Destination {
    /// Keeps where elements lie, and their type.
    pub fn of(elements: &Elements<'_>) -> Destination {
        // SAFETY: the elements are data of the program, which belongs to no thread; who fills them vouches for them.
        let at = unsafe { Address::of(elements.at) };
        Destination { at, count: elements.count, dtype: elements.retain() }
    }

    /// Puts bytes where the packed ones from `from` on lie; the result is false if the elements have fewer.
    ///
    /// # Safety
    /// The elements must be writable.
    pub unsafe fn fill(&self, from: u64, data: &[u8]) -> bool {
        // SAFETY: the caller's promise; `unpack` stops where the elements end.
        let n =
            unsafe { unpack(&self.dtype, self.count, self.at.get(), from, data.as_ptr(), data.len() as u64) };
        n == data.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::{Base, build};

    #[test]
    fn parts_go_out_and_come_back() {
        let byte = TypeDesc::basic(Base::BYTE).expect("a basic type");
        // SAFETY: predefined types are not counted; some bytes are leaked.
        let byte = unsafe { TypeRef::adopt(Box::leak(Box::new(byte))) };
        let vector = build::vector(3, 2, 4, &byte).expect("a vector");
        let mut memory: Vec<u8> = (0..20).collect();
        let elements = Elements { at: memory.as_mut_ptr(), count: 2, dtype: &vector };
        assert_eq!((elements.bytes(), elements.one_block()), (12, None));
        let mut message = vec![99];
        // SAFETY: inside the vector.
        unsafe {
            assert_eq!(elements.packed(), [0, 1, 4, 5, 8, 9, 10, 11, 14, 15, 18, 19]);
            elements.append(3, 4, &mut message);
            assert_eq!(message, [99, 5, 8, 9, 10]);
            elements.append(11, 4, &mut message);
            assert_eq!(message, [99, 5, 8, 9, 10, 19], "no more than there is");
            let destination = Destination::of(&elements);
            assert!(destination.fill(1, &[50, 51]) && !destination.fill(11, &[52, 53]));
        }
        assert_eq!([memory[1], memory[4], memory[19]], [50, 51, 52]);
    }
}
