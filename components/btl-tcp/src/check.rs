//! A 32-bit checksum: four lanes of multiply and rotate over 8 bytes each, folded at the end.
//!
//! It finds what a network or a bad card does to bytes; it is no proof against somebody who means harm, which is what the
//! handshake's answers are for. About as fast as memory.

const ODD: [u64; 4] =
    [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63];

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    let mut w = [0; 8];
    w[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(w)
}

#[inline(always)]
fn mix(lane: u64, word: u64, odd: u64) -> u64 {
    (lane ^ word).wrapping_mul(odd).rotate_left(29)
}

/// The checksum of bytes that come in pieces: equal to [`sum`] of all of them.
pub struct Summing {
    lanes: [u64; 4],
    /// Bytes that are no whole block yet.
    block: [u8; 32],
    len: u64,
}

impl Default for Summing {
    fn default() -> Summing {
        Summing { lanes: ODD, block: [0; 32], len: 0 }
    }
}

impl Summing {
    /// Adds the next piece.
    pub fn add(&mut self, mut bytes: &[u8]) {
        let have = (self.len % 32) as usize;
        self.len += bytes.len() as u64;
        if have > 0 {
            let more = bytes.len().min(32 - have);
            self.block[have..have + more].copy_from_slice(&bytes[..more]);
            bytes = &bytes[more..];
            if have + more < 32 {
                return;
            }
            add_block(&mut self.lanes, &self.block);
        }
        let (blocks, rest) = bytes.as_chunks::<32>();
        blocks.iter().for_each(|block| add_block(&mut self.lanes, block));
        self.block[..rest.len()].copy_from_slice(rest);
    }

    /// The checksum of all pieces.
    pub fn sum(&self) -> u32 {
        fold(self.lanes, &self.block[..(self.len % 32) as usize], self.len)
    }
}

#[inline(always)]
fn add_block(lanes: &mut [u64; 4], block: &[u8; 32]) {
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = mix(*lane, word(&block[i * 8..i * 8 + 8]), ODD[i]);
    }
}

/// The checksum of `len` bytes whose whole blocks are in the lanes.
#[inline(always)]
fn fold(mut lanes: [u64; 4], rest: &[u8], len: u64) -> u32 {
    for (i, rest) in rest.chunks(8).enumerate() {
        lanes[i] = mix(lanes[i], word(rest), ODD[i]);
    }
    let mut all = len;
    for (lane, odd) in lanes.into_iter().zip(ODD) {
        all = mix(all, lane, odd);
    }
    all ^= all >> 31;
    all = all.wrapping_mul(ODD[0]);
    (all ^ (all >> 32)) as u32
}

/// The checksum of some bytes.
#[inline]
pub fn sum(bytes: &[u8]) -> u32 {
    let mut lanes = ODD;
    let (blocks, rest) = bytes.as_chunks::<32>();
    blocks.iter().for_each(|block| add_block(&mut lanes, block));
    fold(lanes, rest, bytes.len() as u64)
}

/// Makes the last four bytes the checksum of those before, as in frames and handshakes: for tests and fuzzing.
pub fn with_right_sum(bytes: &mut [u8]) {
    if let Some((body, last)) = bytes.split_last_chunk_mut::<4>() {
        *last = sum(body).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every single bit and every swap of neighbours shows.
    #[test]
    fn damage_shows() {
        for len in [1usize, 7, 8, 9, 28, 31, 32, 33, 64, 100] {
            let good: Vec<u8> = (0..len).map(|i| (i * 37 + 11) as u8).collect();
            let due = sum(&good);
            for bit in 0..len * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(sum(&bad), due, "bit {bit} of {len} bytes");
            }
            for at in 1..len {
                let mut bad = good.clone();
                bad.swap(at - 1, at);
                assert_ne!(sum(&bad), due, "bytes {at} of {len}");
            }
            assert_ne!(sum(&[&good[..], &[0]].concat()), due, "a byte more than {len}");
        }
    }

    /// However the bytes are cut.
    #[test]
    fn pieces_have_the_sum_of_the_whole() {
        let bytes: Vec<u8> = (0..300u32).map(|i| (i * 41 + 3) as u8).collect();
        for len in 0..100 {
            for step in 1..40 {
                let mut summing = Summing::default();
                bytes[..len].chunks(step).for_each(|piece| summing.add(piece));
                assert_eq!(summing.sum(), sum(&bytes[..len]), "{len} bytes in pieces of {step}");
            }
        }
    }
}
