//! Random lists of pieces over a buffer.

use oxmpi_fbtl::Piece;

/// Numbers that look random and are the same in every run.
pub struct Random(u64);

impl Random {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// A piece by its place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in the file.
    pub offset: u64,
    /// Of its first byte in the buffer.
    pub at: usize,
    /// Number of bytes.
    pub len: usize,
}

/// Rising pieces, some of which touch and some of which are empty; their memory lies with holes in a buffer of the second answer's length, in another order where `shuffled`.
pub fn places(random: &mut Random, count: usize, longest: u64, shuffled: bool) -> (Vec<Place>, usize) {
    let mut offset = random.below(50);
    let mut list: Vec<Place> = (0..count)
        .map(|_| {
            let gap = if random.below(2) == 0 { 0 } else { random.below(12) };
            let len = if random.below(9) == 0 { 0 } else { random.below(longest) };
            let place = Place { offset: offset + gap, at: 0, len: len as usize };
            offset = place.offset + len;
            place
        })
        .collect();
    let mut order: Vec<usize> = (0..count).collect();
    if shuffled {
        (1..count).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
    }
    let mut end = 0;
    for i in order {
        list[i].at = end + random.below(3) as usize;
        end = list[i].at + list[i].len;
    }
    (list, end + 2)
}

/// The pieces over a buffer.
pub fn pieces(places: &[Place], buffer: &mut [u8]) -> Vec<Piece> {
    let base = buffer.as_mut_ptr();
    let piece = |place: &Place| {
        assert!(place.at + place.len <= buffer.len());
        Piece { offset: place.offset, memory: base.wrapping_add(place.at), len: place.len as u64 }
    };
    places.iter().map(piece).collect()
}

/// Reads such pieces into a buffer, as a component should; answers how many bytes that counts: those up to the first piece that the end of the file cuts.
pub fn read(places: &[Place], content: &[u8], buffer: &mut [u8]) -> u64 {
    let mut count = 0;
    for place in places {
        let from = (place.offset as usize).min(content.len());
        let there = (content.len() - from).min(place.len);
        buffer[place.at..place.at + there].copy_from_slice(&content[from..from + there]);
        count += there as u64;
        if there < place.len {
            break;
        }
    }
    count
}

/// Writes such pieces to a file's content, as a component should.
pub fn write(places: &[Place], content: &mut Vec<u8>, buffer: &[u8]) -> u64 {
    let mut count = 0;
    for place in places.iter().filter(|place| place.len > 0) {
        let end = place.offset as usize + place.len;
        if content.len() < end {
            content.resize(end, 0);
        }
        content[place.offset as usize..end].copy_from_slice(&buffer[place.at..place.at + place.len]);
        count += place.len as u64;
    }
    count
}
