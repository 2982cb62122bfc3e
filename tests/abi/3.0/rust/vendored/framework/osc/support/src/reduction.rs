//! Packed elements are combined by the reduction kernels, through a description of one such element that is made on the stack.

use oxmpi_datatype::kernel::{OpDesc, reduce};
use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::{SliceRef, Status};

/// Combines elements of a basic type that lie side by side: `inout[i] = input[i] op inout[i]`. `code` is a predefined operation, `width` an
/// element's packed bytes.
///
/// # Safety
/// Both must have `count` packed elements and must not overlap.
#[inline]
pub unsafe fn combine(
    code: u32,
    base: Base,
    width: u64,
    input: *const u8,
    inout: *mut u8,
    count: u64,
) -> Status {
    let run = Run { disp: 0, len: width, count: 1, stride: width.cast_signed() };
    let packed = TypeDesc {
        size: size_of::<TypeDesc>() as u32,
        flags: flag::CONTIGUOUS | flag::COMMITTED,
        packed: width,
        lb: 0,
        extent: width.cast_signed(),
        true_lb: 0,
        true_extent: width.cast_signed(),
        base,
        refs: AtomicU32::new(1),
        elements: 1,
        runs: SliceRef { ptr: &run, len: 1 },
        free: None,
        nest: SliceRef::new(&[]),
        top: 0,
        places: SliceRef::new(&[]),
    };
    let operation = OpDesc {
        size: size_of::<OpDesc>() as u32,
        code,
        commutative: 1,
        reserved: 0,
        user: None,
        ctx: core::ptr::null_mut(),
    };
    // SAFETY: the caller's promise.
    unsafe { reduce(&operation, input, inout, count, &packed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::kernel::op;

    #[test]
    fn elements_need_no_natural_place() {
        let input: Vec<u8> = [5i32, -1].iter().flat_map(|v| v.to_ne_bytes()).collect();
        let mut inout = vec![0xee];
        [7i32, 2].iter().for_each(|v| inout.extend_from_slice(&v.to_ne_bytes()));
        // SAFETY: two elements in each.
        let status =
            unsafe { combine(op::MIN, Base::I32, 4, input.as_ptr(), inout.as_mut_ptr().wrapping_add(1), 2) };
        assert_eq!((status, &inout[1..]), (Status::OK, &input[..]));
        assert_eq!(inout[0], 0xee);
    }
}
