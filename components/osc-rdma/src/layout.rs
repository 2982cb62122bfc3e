//! A type's data at an address is taken apart into blocks, in the order of its packed bytes.

use oxmpi_datatype::{TypeDesc, blocks};

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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_datatype::{Base, TypeRef, build};

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
}
