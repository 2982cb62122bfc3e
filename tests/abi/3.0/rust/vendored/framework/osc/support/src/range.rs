//! A range check says where an operation's data begins in its target's memory, or that it does not lie inside.

use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// Finds where data begins that is `disp` units of `unit` bytes from the beginning of a rank's memory, in bytes from there. The answer is RMA_RANGE if
/// the data does not lie inside of that memory's `bytes`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::Base;

    #[test]
    fn data_lies_inside_or_not() {
        let int = TypeDesc::basic(Base::I32).expect("a basic type");
        assert_eq!(offset(2, 4, 20, 3, &int), Ok(8));
        assert_eq!(offset(2, 4, 1 << 40, 1 << 33, &int), Ok(8), "numbers of more than 31 bits");
        for (disp, count) in [(3, 3), (-1, 1), (i64::MAX, 1), (i64::MIN, 1), (0, u64::MAX)] {
            assert_eq!(offset(disp, 4, 20, count, &int), Err(Status::RMA_RANGE), "{disp} {count}");
        }
    }
}
