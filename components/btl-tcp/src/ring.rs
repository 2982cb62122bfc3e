//! Bytes that a stream has sent and its peer has not acknowledged: by position, in a ring that grows up to a limit.
//!
//! `begin <= end`; everything between is kept. All frames begin at multiples of 8, and so does the wrap, so a header's words
//! are never torn. A ring that has become empty goes on at the beginning of its memory: so messages that are answered one by one lie in
//! memory that the cache still has, and never go round the end, which would take a second call of the system.

/// See the module's head.
pub struct Ring {
    bytes: Box<[u64]>,
    limit: usize,
    /// The position that lies at the beginning of the memory, of the first time round.
    origin: u64,
    begin: u64,
    end: u64,
}

/// A ring starts with so many bytes, once it is used.
const FIRST: usize = 16 << 10;

impl Ring {
    /// Empty; holds up to `limit` bytes, a power of two.
    pub fn new(limit: usize) -> Ring {
        debug_assert!(limit.is_power_of_two());
        Ring { bytes: Box::default(), limit, origin: 0, begin: 0, end: 0 }
    }

    #[cfg(test)]
    pub fn begin(&self) -> u64 {
        self.begin
    }
    pub fn end(&self) -> u64 {
        self.end
    }
    fn capacity(&self) -> usize {
        self.bytes.len() * 8
    }
    fn used(&self) -> usize {
        (self.end - self.begin) as usize
    }

    /// The place of a position in the memory, in bytes.
    fn index(&self, at: u64) -> usize {
        (at - self.origin) as usize & (self.capacity() - 1)
    }

    /// Makes room for `len` bytes more; false: the limit is reached.
    pub fn reserve(&mut self, len: usize) -> bool {
        let need = self.used() + len;
        if need > self.limit {
            return false;
        }
        if need > self.capacity() {
            self.grow(need.next_power_of_two().max(FIRST).min(self.limit));
        }
        true
    }

    fn grow(&mut self, capacity: usize) {
        let (begin, end) = (self.begin, self.end);
        let bytes = vec![0; capacity / 8].into();
        let mut larger = Ring { bytes, limit: self.limit, origin: begin, begin, end: begin };
        let mut at = begin;
        while at < end {
            let piece = self.piece(at, end);
            let len = piece.len();
            larger.put(piece);
            at += len as u64;
        }
        *self = larger;
    }

    /// The bytes from `at`, as far as they lie in one piece, but not beyond `end`.
    pub fn piece(&self, at: u64, end: u64) -> &[u8] {
        debug_assert!(self.begin <= at && at <= end && end <= self.end);
        if at == end {
            return &[];
        }
        let index = self.index(at);
        let len = (self.capacity() - index).min((end - at) as usize);
        // SAFETY: the words are `capacity` initialised bytes; index and length stay within.
        unsafe { core::slice::from_raw_parts(self.bytes.as_ptr().cast::<u8>().add(index), len) }
    }

    /// The next `len` bytes behind the end, in one or two pieces; room was reserved. They count once [`Ring::add`] says so.
    pub fn free(&mut self, skip: usize, len: usize) -> (*mut u8, usize, *mut u8) {
        debug_assert!(self.used() + skip + len <= self.capacity());
        let capacity = self.capacity();
        let index = self.index(self.end + skip as u64);
        let first = len.min(capacity - index);
        let base = self.bytes.as_mut_ptr().cast::<u8>();
        // SAFETY: index is below the capacity.
        (unsafe { base.add(index) }, first, base)
    }

    /// Writes bytes at a distance behind the end.
    pub fn write(&mut self, skip: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (first, len, second) = self.free(skip, bytes.len());
        // SAFETY: `free` gives `bytes.len()` writable bytes in these two pieces.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), first, len);
            core::ptr::copy_nonoverlapping(bytes[len..].as_ptr(), second, bytes.len() - len);
        }
    }

    /// Bytes that were written behind the end count from now on.
    pub fn add(&mut self, len: usize) {
        debug_assert!(self.used() + len <= self.capacity());
        self.end += len as u64;
    }

    fn put(&mut self, bytes: &[u8]) {
        self.write(0, bytes);
        self.add(bytes.len());
    }

    /// Gives the memory of an empty ring back. Positions go on from where they are.
    pub fn release(&mut self) {
        debug_assert!(self.begin == self.end);
        self.bytes = Box::default();
    }

    /// Forgets everything before `to`.
    pub fn drop_to(&mut self, to: u64) {
        debug_assert!(self.begin <= to && to <= self.end);
        self.begin = to;
        if to == self.end {
            self.origin = to;
        }
    }

    /// The length word of the frame that begins at `at`.
    pub fn len_at(&self, at: u64) -> usize {
        let piece = self.piece(at, at + 4);
        u32::from_le_bytes([piece[0], piece[1], piece[2], piece[3]]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn content(ring: &Ring) -> Vec<u8> {
        let (mut at, mut all) = (ring.begin(), Vec::new());
        while at < ring.end() {
            let piece = ring.piece(at, ring.end());
            all.extend_from_slice(piece);
            at += piece.len() as u64;
        }
        all
    }

    /// Messages that are answered one by one all lie in one piece, at the same place.
    #[test]
    fn an_empty_ring_begins_at_the_front() {
        let mut ring = Ring::new(64 << 10);
        let mut places = Vec::new();
        for _ in 0..10 {
            assert!(ring.reserve(10_000));
            ring.write(0, &[1; 10_000]);
            ring.add(10_000);
            let piece = ring.piece(ring.begin(), ring.end());
            assert_eq!(piece.len(), 10_000);
            places.push(piece.as_ptr());
            ring.drop_to(ring.end());
        }
        assert!(places.iter().all(|&place| place == places[0]));
    }

    proptest! {
        /// Against a plain queue of bytes, through growth, many times round, and without memory when it is empty.
        #[test]
        fn like_a_queue(steps in prop::collection::vec((0..9000usize, 0..9000usize), 1..100)) {
            let mut ring = Ring::new(64 << 10);
            let (mut model, mut next) = (std::collections::VecDeque::new(), 0u8);
            for (more, less) in steps {
                let more = more / 8 * 8;
                let fits = ring.reserve(more);
                prop_assert_eq!(fits, model.len() + more <= 64 << 10);
                if fits {
                    let bytes: Vec<u8> = (0..more).map(|_| { next = next.wrapping_mul(5).wrapping_add(3); next }).collect();
                    let cut = more / 3 / 8 * 8;
                    ring.write(0, &bytes[..cut]);
                    ring.write(cut, &bytes[cut..]);
                    ring.add(more);
                    model.extend(bytes);
                }
                let less = (less / 8 * 8).min(model.len());
                ring.drop_to(ring.begin() + less as u64);
                model.drain(..less);
                if model.is_empty() {
                    ring.release();
                }
                prop_assert_eq!(content(&ring), model.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
