//! Bytes of what an origin asks of the listener at a target (`serve.rs`): a head, where the elements lie, and their operands. Versioned by the job's build, as
//! the structures of `wire.rs`, and never trusted where they come in.
//!
//! **The layout** is a list of short runs ([`oxmpi_osc_support::wire`]).

use crate::layout::Block;
use oxmpi_datatype::Run;
use oxmpi_osc_support::runs::{Runs, bytes, each};
use oxmpi_osc_support::wire::{take_short_runs, write_short_runs};

/// The operation that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Combines elements with operands, of which MPI_NO_OP has none.
    Update { code: u32, base: u32 },
    /// Compares one element and replaces it; the operands are what it is compared with, then the new one.
    Swap { base: u32 },
    /// Reads bytes.
    Read,
}

const UPDATE: u8 = 1;
const SWAP: u8 = 2;
const READ: u8 = 3;

/// A question: the operation, its blocks at the target, and its operands.
#[derive(Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    pub deed: Deed,
    pub blocks: Vec<Block>,
    pub operands: &'a [u8],
}

/// Bytes before the layout.
const HEAD: usize = 16;

impl Ask<'_> {
    /// Bytes of the elements.
    pub fn len(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.packed + block.len)
    }
}

/// Appends what is asked for; the operands are to follow.
pub fn write(deed: Deed, blocks: &[Block], out: &mut Vec<u8>) {
    let (kind, code, base) = match deed {
        Deed::Update { code, base } => (UPDATE, code, base),
        Deed::Swap { base } => (SWAP, 0, base),
        Deed::Read => (READ, 0, 0),
    };
    let mut runs = Runs::default();
    blocks.iter().for_each(|block| runs.push(block.at.cast_signed(), block.len));
    let runs = runs.into_vec();
    out.extend_from_slice(&[kind, 0, 0, 0]);
    for word in [code, base, runs.len() as u32] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    write_short_runs(&runs, out);
}

/// Reads what is asked for; `None`: it makes no sense, or has more blocks than bytes can be sent for.
pub fn read(bytes: &[u8], most: u64) -> Option<Ask<'_>> {
    let (head, mut rest) = bytes.split_first_chunk::<HEAD>()?;
    let half = |at: usize| u32::from_le_bytes(core::array::from_fn(|i| head[at + i]));
    let (code, base, count) = (half(4), half(8), half(12));
    let deed = match head[0] {
        UPDATE => Deed::Update { code, base },
        SWAP => Deed::Swap { base },
        READ => Deed::Read,
        _ => return None,
    };
    let runs = take_short_runs(&mut rest, count)?;
    Some(Ask { deed, blocks: blocks_of(&runs, most)?, operands: rest })
}

/// The blocks of runs, if they have some bytes and not more than `most`.
fn blocks_of(runs: &[Run], most: u64) -> Option<Vec<Block>> {
    bytes(runs).filter(|all| *all > 0 && *all <= most)?;
    let (mut blocks, mut packed) = (Vec::new(), 0);
    each(runs, |disp, len| {
        blocks.push(Block { at: disp.cast_unsigned(), len, packed });
        packed += len;
    });
    Some(blocks)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn blocks(all: &[(u64, u64)]) -> Vec<Block> {
        let mut packed = 0;
        let block = |&(at, len): &(u64, u64)| {
            let block = Block { at, len, packed };
            packed += len;
            block
        };
        all.iter().map(block).collect()
    }

    #[test]
    fn what_is_asked_survives_the_wire() {
        for (deed, places) in [
            (Deed::Update { code: 7, base: 9 }, blocks(&[(1 << 60, 8)])),
            (Deed::Swap { base: u32::MAX }, blocks(&[(u64::MAX - 4, 4)])),
            (Deed::Read, blocks(&[(100, 16), (132, 16), (164, 16), (40, 3), (44, 3), (7, 1)])),
        ] {
            let mut message = Vec::new();
            write(deed, &places, &mut message);
            message.extend_from_slice(b"operands");
            let ask = read(&message, 1000).expect("it makes sense");
            assert_eq!(ask, Ask { deed, blocks: places, operands: b"operands" });
        }
    }

    #[test]
    fn regular_layouts_are_short_and_irregular_ones_take_a_few_bytes_a_block() {
        let len = |places: &[(u64, u64)]| {
            let mut message = Vec::new();
            write(Deed::Read, &blocks(places), &mut message);
            message.len()
        };
        let regular: Vec<(u64, u64)> = (0..1024).map(|i| ((1 << 46) + i * 32, 16)).collect();
        assert!(len(&regular) < HEAD + 16);
        let irregular: Vec<(u64, u64)> = (0..1024).map(|i| ((1 << 46) + i * 32 + i * i % 16, 4)).collect();
        assert!(len(&irregular) < HEAD + 4 * 1024 + 16);
    }

    #[test]
    fn what_makes_no_sense_is_none() {
        let mut message = Vec::new();
        write(Deed::Read, &blocks(&[(100, 16), (132, 16)]), &mut message);
        assert!(read(&message, 32).is_some() && read(&message, 31).is_none(), "more than there is room for");
        for len in 0..message.len() {
            assert_eq!(read(&message[..len], 1000), None, "{len}");
        }
        message[0] = 4;
        assert_eq!(read(&message, 1000), None, "no such deed");
        let odd = |numbers: &[u8]| {
            let mut message = vec![READ, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
            message.extend_from_slice(numbers);
            read(&message, u64::MAX).is_some()
        };
        assert!(odd(&[8, 4, 1]) && !odd(&[8, 0, 1]) && !odd(&[8, 4, 0]), "runs without bytes");
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert!(!odd(&[&[8][..], &most, &[2, 8]].concat()), "more bytes than a number holds");
        let mut more = most;
        more[9] = 2;
        assert!(!odd(&[&more[..], &[4, 1]].concat()), "a number of more than 64 bits");
        let none = [READ, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(read(&none, 1000), None, "nothing is asked for");
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..40)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 56) as u8 & if state >> 40 & 3 == 0 { 0xff } else { 3 }
                })
                .collect();
            if let Some(ask) = read(&bytes, 4096) {
                assert!(ask.len() > 0 && ask.len() <= 4096);
            }
        }
    }
}
