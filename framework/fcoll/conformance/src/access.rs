//! Accesses of ranks, and what they mean byte by byte.

use crate::random::Random;
use oxmpi_datatype::build::{Part, hvector, resized, structure};
use oxmpi_datatype::{Base, TypeDesc, TypeRef};

/// The type of a byte.
pub fn byte() -> TypeRef {
    static BYTE: std::sync::LazyLock<TypeDesc> =
        std::sync::LazyLock::new(|| match TypeDesc::basic(Base::BYTE) {
            Some(byte) => byte,
            None => unreachable!("a byte is a basic type"),
        });
    // SAFETY: it lives for ever.
    unsafe { TypeRef::retain(&*BYTE) }
}

/// A rank's part of an access, with its memory.
pub struct Access {
    pub displacement: u64,
    pub filetype: TypeRef,
    /// First byte of the view, and number of elements in memory.
    pub from: u64,
    pub count: u64,
    pub memtype: TypeRef,
    pub memory: Vec<u8>,
}

/// Offsets of the bytes of so many elements.
pub fn places(desc: &TypeDesc, from: u64, len: u64) -> Vec<i64> {
    let mut all = Vec::new();
    let count = (from + len).checked_div(desc.packed).map_or(0, |whole| whole + 1);
    oxmpi_datatype::blocks(desc, count, from, len, |disp, len| {
        all.extend((0..len as i64).map(|i| disp + i));
        true
    });
    all
}

/// Blocks as a type of that extent.
pub fn listed(blocks: &[(u64, u64)], extent: u64) -> TypeRef {
    let old = byte();
    let parts: Vec<_> =
        blocks.iter().map(|(disp, count)| Part { disp: *disp as i64, count: *count, old: &old }).collect();
    let data = structure(&parts).unwrap_or_else(|status| panic!("a type of blocks: {status}"));
    resized(0, extent as i64, &data).unwrap_or_else(|status| panic!("its extent: {status}"))
}

impl Access {
    /// Bytes that are accessed.
    pub fn num_bytes(&self) -> u64 {
        self.memtype.packed * self.count
    }

    /// Where in the file the bytes lie, in order.
    pub fn offsets(&self) -> Vec<u64> {
        let places = places(&self.filetype, self.from, self.num_bytes());
        places.into_iter().map(|disp| self.displacement.wrapping_add_signed(disp)).collect()
    }

    /// Where in the memory they lie.
    pub fn in_memory(&self) -> Vec<usize> {
        places(&self.memtype, 0, self.num_bytes()).into_iter().map(|disp| disp as usize).collect()
    }

    /// With memory of `count` elements, which are filled with bytes of the rank's.
    pub fn new(
        rank: u32,
        displacement: u64,
        filetype: TypeRef,
        from: u64,
        count: u64,
        memtype: TypeRef,
    ) -> Access {
        let bytes = memtype.extent as u64 * count + 8;
        let memory = (0..bytes).map(|i| (i * 7 + rank as u64 * 31 + 1) as u8).collect();
        Access { displacement, filetype, from, count, memtype, memory }
    }

    /// Without data.
    pub fn nothing(rank: u32) -> Access {
        Access::new(rank, 0, byte(), 0, 0, byte())
    }
}

/// Memory for about `len` bytes: its type and how many.
fn memory(random: &mut Random, len: u64) -> (TypeRef, u64) {
    let old = byte();
    match random.below(3) {
        0 => (old, len),
        _ => {
            let (block, times) = (1 + random.below(5), 1 + random.below(4));
            let row = hvector(times, block, (block + random.below(4)) as i64, &old);
            let row = row.unwrap_or_else(|status| panic!("a vector: {status}"));
            let count = len / row.packed;
            (row, count)
        }
    }
}

/// Parts of `n` ranks in a tile that repeats: each byte is of one rank or nobody, or with `overlap` of several.
pub fn interleaved(random: &mut Random, n: u32, overlap: bool) -> Vec<Access> {
    let chunk = 1 + random.below(40);
    let chunks = 1 + random.below(24);
    let displacement = random.below(70);
    let mut blocks: Vec<Vec<(u64, u64)>> = vec![Vec::new(); n as usize];
    for i in 0..chunks {
        let len = 1 + random.below(chunk);
        let owner = random.below(n as u64 + 1);
        for rank in 0..n as u64 {
            let has = if overlap { random.one_in(2) } else { rank == owner };
            if has {
                blocks[rank as usize].push((i * chunk, len));
            }
        }
    }
    let tile = chunk * chunks;
    (0..)
        .zip(blocks)
        .map(|(rank, blocks)| {
            if blocks.is_empty() || random.one_in(9) {
                return Access::nothing(rank);
            }
            let filetype = listed(&blocks, tile);
            let from = if random.one_in(2) { 0 } else { random.below(filetype.packed * 2) };
            let len = random.below(filetype.packed * 4 + 1);
            let (memtype, count) = memory(random, len);
            Access::new(rank, displacement, filetype, from, count, memtype)
        })
        .collect()
}
