//! Data of checks: random, reproducible, in buffers that know what was written beside it.

use oxmpi_datatype::build::{self, Part};
use oxmpi_datatype::{Base, TypeDesc, TypeRef, pack, unpack};

/// Small, good enough, and the same in all ranks.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.number() % n
    }
    pub fn bytes(&mut self, n: u64) -> Vec<u8> {
        let words = (0..n.div_ceil(4)).flat_map(|_| (self.number() as u32).to_ne_bytes());
        words.take(n as usize).collect()
    }
}

pub fn predefined(base: Base) -> TypeRef {
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(base).unwrap()));
    // SAFETY: leaked, so it lives.
    unsafe { TypeRef::retain(desc) }
}

/// Types of `4 * ints` bytes of data each: dense, with holes, and with data before their address.
pub fn layouts(ints: u64) -> Vec<TypeRef> {
    let int = predefined(Base::I32);
    let dense = build::contiguous(ints, &int).unwrap();
    let comb = build::vector(ints, 1, 3, &int).unwrap();
    let shifted = build::structure(&[
        Part { disp: -20, count: 1, old: &int },
        Part { disp: 12, count: ints - 1, old: &int },
    ])
    .unwrap();
    let shifted = build::resized(-24, 60 + 4 * ints as i64, &shifted).unwrap();
    vec![dense, comb, shifted]
}

/// The byte that stands where nothing was written.
pub const HOLE: u8 = 0xee;

/// Memory of `count` elements with a margin around it.
pub struct Buffer {
    memory: Vec<u8>,
    /// From the beginning of the memory to the address of element 0.
    origin: i64,
    pub count: u64,
    pub dtype: TypeRef,
}

impl Buffer {
    pub fn new(dtype: &TypeRef, count: u64) -> Buffer {
        let last = (count.max(1) as i64 - 1) * dtype.extent;
        let low = dtype.true_lb + last.min(0);
        let high = dtype.true_lb + dtype.true_extent + last.max(0);
        let margin = 64;
        Buffer {
            memory: vec![HOLE; (high - low + 2 * margin) as usize],
            origin: margin - low,
            count,
            dtype: dtype.clone(),
        }
    }

    pub fn holding(dtype: &TypeRef, count: u64, packed: &[u8]) -> Buffer {
        let mut buffer = Buffer::new(dtype, count);
        buffer.put(0, packed);
        buffer
    }

    /// Writes packed bytes from byte `from` of the data on.
    pub fn put(&mut self, from: u64, packed: &[u8]) {
        let base = self.address();
        // SAFETY: the memory spans all elements.
        let n = unsafe { unpack(&self.dtype, self.count, base, from, packed.as_ptr(), packed.len() as u64) };
        assert_eq!(n, packed.len() as u64);
    }

    pub fn address(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_offset(self.origin as isize)
    }

    pub fn bytes(&self) -> u64 {
        self.dtype.packed * self.count
    }

    /// The data, packed. Fails if anything beside the data was written.
    pub fn read(&self) -> Vec<u8> {
        let mut packed = vec![0; self.bytes() as usize];
        let base = self.memory.as_ptr().wrapping_offset(self.origin as isize);
        // SAFETY: the memory spans all elements.
        unsafe { pack(&self.dtype, self.count, base, 0, packed.as_mut_ptr(), packed.len() as u64) };
        let clean = Buffer::holding(&self.dtype, self.count, &packed);
        assert!(clean.memory == self.memory, "something beside the data was written");
        packed
    }
}
