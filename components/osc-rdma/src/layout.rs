//! Where the data of an operation lies, at either side: blocks of a type in the order of its packed bytes.

use oxmpi_datatype::{TypeDesc, TypeRef, blocks, pack, unpack};
use oxmpi_mca::Status;

/// Elements in memory of this process.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    pub at: *mut u8,
    pub count: u64,
    pub dtype: &'a TypeDesc,
}

impl<'a> Elements<'a> {
    /// # Safety
    /// `dtype` must be null or valid during the call.
    pub unsafe fn new(at: *mut u8, count: u64, dtype: *const TypeDesc) -> Option<Elements<'a>> {
        // SAFETY: the caller's promise.
        unsafe { dtype.as_ref() }.map(|dtype| Elements { at, count, dtype })
    }

    /// Bytes of data.
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.dtype.packed)
    }

    /// Its address, if the data is one block.
    pub fn one_block(&self) -> Option<*mut u8> {
        let (disp, _) = self.dtype.one_block(self.count)?;
        Some(self.at.wrapping_offset(disp as isize))
    }

    /// Copies packed bytes from `from` on to `to`.
    ///
    /// # Safety
    /// The data can be read, and `len` bytes written at `to`.
    pub unsafe fn pack(&self, from: u64, to: *mut u8, len: u64) {
        // SAFETY: the caller's promise.
        unsafe { pack(self.dtype, self.count, self.at, from, to, len) };
    }

    /// Copies packed bytes to where those from `at` on lie.
    ///
    /// # Safety
    /// The data can be written, and `len` bytes read at `from`.
    pub unsafe fn unpack(&self, at: u64, from: *const u8, len: u64) {
        // SAFETY: the caller's promise.
        unsafe { unpack(self.dtype, self.count, self.at, at, from, len) };
    }

    /// Keeps the type.
    pub fn retain(&self) -> TypeRef {
        // SAFETY: valid during the call.
        unsafe { TypeRef::retain(self.dtype) }
    }

    /// The packed bytes.
    ///
    /// # Safety
    /// The data can be read.
    pub unsafe fn packed(&self) -> Vec<u8> {
        let mut out = vec![0; self.bytes() as usize];
        // SAFETY: the caller's promise; as many bytes as the vector has.
        unsafe { self.pack(0, out.as_mut_ptr(), out.len() as u64) };
        out
    }
}

/// A block at the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Address there.
    pub at: u64,
    pub len: u64,
    /// Where its bytes are among the packed ones.
    pub packed: u64,
}

/// The blocks of elements at an address, those that touch as one.
pub fn blocks_at(base: u64, count: u64, dtype: &TypeDesc) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut packed = 0;
    blocks(dtype, count, 0, count.saturating_mul(dtype.packed), |disp, len| {
        let at = base.wrapping_add(disp as u64);
        match all.last_mut() {
            Some(last) if last.at.wrapping_add(last.len) == at => last.len += len,
            _ if len > 0 => all.push(Block { at, len, packed }),
            _ => {}
        }
        packed += len;
        true
    });
    all
}

/// Where data begins that is `disp` units from the beginning of a rank's memory, in bytes from there; RMA_RANGE if it does not lie inside.
#[inline]
pub fn offset(disp: i64, unit: i64, bytes: u64, count: u64, dtype: &TypeDesc) -> Result<i64, Status> {
    // Numbers of 31 bits, of which no product or sum here leaves 63: nearly always.
    let any = disp | unit | count as i64 | dtype.true_lb | dtype.true_extent | dtype.extent;
    if any >> 31 != 0 || count == 0 {
        return far_offset(disp, unit, bytes, count, dtype);
    }
    let offset = disp * unit;
    let end = offset + dtype.true_lb + dtype.true_extent + (count as i64 - 1) * dtype.extent;
    if end as u64 <= bytes { Ok(offset) } else { Err(Status::RMA_RANGE) }
}

#[cold]
fn far_offset(disp: i64, unit: i64, bytes: u64, count: u64, dtype: &TypeDesc) -> Result<i64, Status> {
    let wide = i128::from;
    let offset = wide(disp) * wide(unit);
    let stretch = (i128::from(count) - 1) * wide(dtype.extent);
    let from = offset + wide(dtype.true_lb) + stretch.min(0);
    let to = offset + wide(dtype.true_lb) + wide(dtype.true_extent) + stretch.max(0);
    if from < 0 || to > i128::from(bytes) {
        return Err(Status::RMA_RANGE);
    }
    i64::try_from(offset).map_err(|_| Status::RMA_RANGE)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_datatype::{Base, build};

    fn int() -> TypeRef {
        let desc = TypeDesc::basic(Base::I32).expect("a basic type");
        // SAFETY: predefined types are not counted; some bytes are leaked.
        unsafe { TypeRef::adopt(Box::leak(Box::new(desc))) }
    }

    #[test]
    fn blocks_that_touch_are_one() {
        let vector = build::vector(3, 2, 4, &int()).expect("a vector");
        let block = |at, len, packed| Block { at, len, packed };
        assert_eq!(blocks_at(100, 1, &vector), [block(100, 8, 0), block(116, 8, 8), block(132, 8, 16)]);
        assert_eq!(blocks_at(8, 5, &int()), [block(8, 20, 0)]);
        assert_eq!(blocks_at(8, 0, &int()), []);
    }

    #[test]
    fn data_lies_inside_or_not() {
        let int = int();
        assert_eq!(offset(2, 4, 20, 3, &int), Ok(8));
        for (disp, count) in [(3, 3), (-1, 1), (i64::MAX, 1), (i64::MIN, 1), (0, u64::MAX)] {
            assert_eq!(offset(disp, 4, 20, count, &int), Err(Status::RMA_RANGE), "{disp} {count}");
        }
    }
}
