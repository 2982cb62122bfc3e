//! A count and a type: the elements of an operation at its target.

use oxmpi_datatype::TypeDesc;
use oxmpi_osc_support::Elements;

/// The elements of a type at a target.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    pub count: u64,
    pub dtype: &'a TypeDesc,
}

impl<'a> Shape<'a> {
    /// Elements of this shape at an address of this process.
    ///
    /// # Safety
    /// They lie there, in memory that can be read and written as long as the result is used.
    pub unsafe fn at(self, at: *mut u8) -> Elements<'a> {
        Elements { at, count: self.count, dtype: self.dtype }
    }

    pub fn bytes(&self) -> u64 {
        self.dtype.packed.saturating_mul(self.count)
    }
}
