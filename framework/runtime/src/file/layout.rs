//! What is equal in all ranks of a file and tells collective accesses who transfers what: aggregators and the unit by which they part the file.
//!
//! Without a hint each node has one aggregator, its lowest rank of the file, and the file is parted by stripes or by pieces of a mebibyte, whichever is larger, always in whole blocks of
//! the file system. Byte `b` is the same aggregator's from open to close, so no two nodes write in one block.

use crate::info::Info;
use crate::places::Places;
use oxmpi_fcoll::want;

/// Bytes by which a file is parted at least.
const UNIT: u64 = 1 << 20;
/// Bytes of an aggregator's round without a hint.
const BUFFER: u64 = 16 << 20;

/// The owned form of [`oxmpi_fcoll::Layout`].
pub(super) struct Layout {
    aggregators: Box<[u32]>,
    unit: u64,
    buffer: u64,
    read: u32,
    write: u32,
    keeps: u32,
}

/// A number of an info object, if the key is there and its value is one that is not 0.
pub(super) fn number(info: &Info, key: &str) -> Option<u64> {
    info.get(key)?.trim().parse::<u64>().ok().filter(|n| *n > 0)
}

/// Whether accesses go by aggregators, from ROMIO's key and the standard's.
fn wanted(info: &Info, romio: &str) -> u32 {
    let word = |key: &str| info.get(key).map(|v| v.trim().to_ascii_lowercase());
    match (word(romio).as_deref(), word("collective_buffering").as_deref()) {
        (Some("enable" | "true"), _) => want::ALWAYS,
        (Some("disable" | "false"), _) => want::NEVER,
        (Some("automatic"), _) => want::AUTOMATIC,
        (_, Some("true")) => want::ALWAYS,
        (_, Some("false")) => want::NEVER,
        _ => want::AUTOMATIC,
    }
}

/// What hints ask of a layout; rank 0's hold for all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    /// 0: as many as there are nodes.
    nodes: u64,
    /// 0: the usual.
    buffer: u64,
    read: u32,
    write: u32,
}

impl Wishes {
    /// Number of words that travel.
    pub(super) const WORDS: usize = 3;

    /// Those of an info object.
    pub(super) fn of(info: &Info) -> Wishes {
        let [nodes, buffer] = ["cb_nodes", "cb_buffer_size"].map(|key| number(info, key).unwrap_or(0));
        let [read, write] = ["romio_cb_read", "romio_cb_write"].map(|key| wanted(info, key));
        Wishes { nodes, buffer, read, write }
    }

    /// As they travel.
    pub(super) fn encode(&self) -> [u64; Wishes::WORDS] {
        [self.nodes, self.buffer, u64::from(self.read) | u64::from(self.write) << 32]
    }

    /// Reads them; what is no wish is the usual.
    pub(super) fn decode(words: &[u64]) -> Wishes {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let want = |bits: u32| if bits <= want::NEVER { bits } else { want::AUTOMATIC };
        Wishes { nodes: word(0), buffer: word(1), read: want(word(2) as u32), write: want((word(2) >> 32) as u32) }
    }
}

/// What the file systems of all ranks tell, taken together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    pub block: u64,
    pub stripe: u64,
    pub keeps: u32,
}

impl Layout {
    /// Makes it of what is equal in all ranks.
    pub(super) fn new(wishes: Wishes, places: &Places, num_ranks: u32, ground: Ground) -> Layout {
        let nodes = u64::from(places.num_nodes().max(1));
        let count = if wishes.nodes == 0 { nodes } else { wishes.nodes }.clamp(1, u64::from(num_ranks));
        // Node by node, so that as many nodes as possible take part.
        let mut order: Vec<(u32, u32, u32)> = (0..num_ranks)
            .map(|rank| places.get(rank).map_or((0, 0, rank), |p| (p.node_rank, p.node, rank)))
            .collect();
        order.sort_unstable();
        let aggregators = order.into_iter().take(count as usize).map(|(_, _, rank)| rank).collect();
        let unit = ground.stripe.max(UNIT).next_multiple_of(ground.block.clamp(1, UNIT << 10));
        let buffer = if wishes.buffer == 0 { BUFFER } else { wishes.buffer }.max(unit);
        let (read, write) = (wishes.read, wishes.write);
        Layout { aggregators, unit, buffer, read, write, keeps: ground.keeps }
    }

    /// As components get it; valid as long as this is.
    pub(super) fn seen(&self) -> oxmpi_fcoll::Layout {
        oxmpi_fcoll::Layout {
            size: size_of::<oxmpi_fcoll::Layout>() as u32,
            num_aggregators: self.aggregators.len() as u32,
            aggregators: self.aggregators.as_ptr(),
            unit: self.unit,
            buffer: self.buffer,
            read: self.read,
            write: self.write,
            keeps: self.keeps,
            reserved: 0,
        }
    }

    /// Number of aggregators and bytes of a round, for MPI_File_get_info.
    pub(super) fn told(&self) -> (usize, u64) {
        (self.aggregators.len(), self.buffer)
    }
}
