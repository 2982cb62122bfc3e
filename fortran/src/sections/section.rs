//! Where a byte of the array lies that a section stands for.

use super::descriptor::{self, Descriptor};

/// A dimension with more than one index. Bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dimension {
    pub extent: i64,
    pub stride: i64,
}

/// Runs of contiguous bytes, and dimensions over them, the fastest first. Two that continue each other are one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    pub run: i64,
    pub dimensions: Vec<Dimension>,
}

/// A descriptor whose elements overlap: compilers that describe polymorphic objects so give no length of an element.
#[derive(Debug, PartialEq, Eq)]
pub struct Overlapping;

impl Section {
    /// Reads a descriptor. A section without elements has no bytes.
    ///
    /// # Safety
    /// A descriptor.
    pub unsafe fn of(of: *const Descriptor) -> Result<Section, Overlapping> {
        // SAFETY: the caller's promise.
        let (element, dimensions) = unsafe { (descriptor::element(of), descriptor::dimensions(of)) };
        Section::new(element as i64, dimensions.iter().map(|d| (d.extent as i64, d.stride as i64)))
    }

    fn new(element: i64, dimensions: impl Iterator<Item = (i64, i64)>) -> Result<Section, Overlapping> {
        let mut section = Section { run: element, dimensions: Vec::new() };
        for (extent, stride) in dimensions.filter(|(extent, _)| *extent != 1) {
            if extent <= 0 {
                return Ok(Section { run: 0, dimensions: Vec::new() });
            }
            if stride.abs() < element {
                return Err(Overlapping);
            }
            match section.dimensions.last_mut() {
                None if stride == section.run => section.run *= extent,
                Some(last) if stride == last.stride * last.extent => last.extent *= extent,
                _ => section.dimensions.push(Dimension { extent, stride }),
            }
        }
        Ok(section)
    }

    /// Bytes of a slab: what so many dimensions reach. All of them: the whole array.
    pub fn slab(&self, dimensions: usize) -> i64 {
        self.run * self.dimensions[..dimensions].iter().map(|d| d.extent).product::<i64>()
    }

    /// Bytes of the array.
    pub fn len(&self) -> i64 {
        self.slab(self.dimensions.len())
    }

    /// The same section up to that byte, without outer dimensions of which it has one index. `end`: at most [`Section::len`].
    pub fn up_to(&self, end: i64) -> Section {
        let enough = (0..self.dimensions.len()).find(|n| self.slab(*n) >= end);
        let n = enough.unwrap_or(self.dimensions.len());
        Section { run: self.run, dimensions: self.dimensions[..n].to_vec() }
    }

    /// Bytes from the section's address to a run.
    pub fn place_of_run(&self, mut run: i64) -> i64 {
        let mut at = 0;
        for dimension in &self.dimensions {
            at += run % dimension.extent * dimension.stride;
            run /= dimension.extent;
        }
        at
    }

    /// Bytes from the section's address to a byte of the array.
    pub fn place(&self, byte: i64) -> i64 {
        self.place_of_run(byte / self.run) + byte % self.run
    }

    /// Names pieces of memory for bytes of the array, in order: where, from which byte, how many. `from + len`: at most [`Section::len`].
    pub fn pieces(&self, from: i64, len: i64, mut piece: impl FnMut(i64, i64, i64)) {
        let (mut at, end) = (from, from + len);
        while at < end {
            let n = (self.run - at % self.run).min(end - at);
            piece(self.place(at), at, n);
            at += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_continue_each_other_are_one() {
        let section = |element, dimensions: &[(i64, i64)]| {
            Section::new(element, dimensions.iter().copied()).map(|s| (s.run, s.dimensions))
        };
        assert_eq!(section(4, &[(10, 4), (3, 40)]), Ok((120, vec![])));
        let strided = Dimension { extent: 15, stride: 8 };
        assert_eq!(section(4, &[(5, 8), (3, 40)]), Ok((4, vec![strided])));
        assert_eq!(section(4, &[(1, 999), (15, 8), (1, -7)]), Ok((4, vec![strided])));
        assert_eq!(section(4, &[(3, 8), (0, 40)]), Ok((0, vec![])));
        assert_eq!(section(80, &[(20, 4)]), Err(Overlapping));
    }

    #[test]
    fn bytes_of_the_array_lie_where_the_indices_say() {
        let section = Section::new(4, [(2, -8), (3, 100)].into_iter()).unwrap();
        assert_eq!(section.len(), 24);
        let places: Vec<i64> = (0..6).map(|i| section.place(4 * i + 1)).collect();
        assert_eq!(places, [1, -7, 101, 93, 201, 193]);
        let mut pieces = Vec::new();
        section.pieces(2, 8, |at, from, len| pieces.push((at, from, len)));
        assert_eq!(pieces, [(2, 2, 2), (-8, 4, 4), (100, 8, 2)]);
        assert_eq!(section.up_to(8).dimensions.len(), 1);
        assert_eq!(section.up_to(9).dimensions.len(), 2);
    }
}
