//! All that is equal in all ranks of a file and tells collective accesses who transfers what: aggregators and the unit by which they part the file.

use crate::objects::Communicator;
use oxmpi_fcoll::want;
use oxmpi_files::hints::{Choice, Hints};
use oxmpi_files::layout::{Wanted, aggregators, buffer, is_valid, unit};

/// The owned form of [`oxmpi_fcoll::Layout`].
pub(super) struct Layout {
    aggregators: Box<[u32]>,
    unit: u64,
    buffer: u64,
    read: u32,
    write: u32,
    keeps: u32,
}

/// All that hints ask of a layout; rank 0's hold for all ranks. 0 where nothing is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    nodes: u64,
    buffer: u64,
    unit: u64,
    least: u64,
    read: u32,
    write: u32,
}

/// A choice as components get it.
fn want(choice: Choice) -> u32 {
    match choice {
        Choice::Automatic => want::AUTOMATIC,
        Choice::Enable => want::ALWAYS,
        Choice::Disable => want::NEVER,
    }
}

impl Wishes {
    /// Number of words that travel.
    pub(super) const WORDS: usize = 5;

    /// Those of hints.
    pub(super) fn of(hints: &Hints) -> Wishes {
        let [nodes, buffer, unit, least] =
            ["cb_nodes", "cb_buffer_size", "striping_unit", "romio_min_fdomain_size"]
                .map(|key| hints.positive(key).unwrap_or(0));
        let [read, write] = [false, true].map(|writes| want(hints.collective(writes)));
        Wishes { nodes, buffer, unit, least, read, write }
    }

    /// As they travel.
    pub(super) fn encode(&self) -> [u64; Wishes::WORDS] {
        let choices = u64::from(self.read) | u64::from(self.write) << 32;
        [self.nodes, self.buffer, self.unit, self.least, choices]
    }

    /// Reads them; what is no wish is the usual.
    pub(super) fn decode(words: &[u64]) -> Wishes {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let want = |bits: u32| if bits <= want::NEVER { bits } else { want::AUTOMATIC };
        Wishes {
            nodes: word(0),
            buffer: word(1),
            unit: word(2),
            least: word(3),
            read: want(word(4) as u32),
            write: want((word(4) >> 32) as u32),
        }
    }
}

/// All that the file systems of all ranks tell, taken together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    pub block: u64,
    pub stripe: u64,
    pub keeps: u32,
}

impl Layout {
    /// Makes it of what is equal in all ranks.
    pub(super) fn new(wishes: Wishes, comm: &Communicator, ground: Ground) -> Layout {
        let given = |n: u64| (n > 0).then_some(n);
        let places = comm.places();
        let nodes: Vec<u32> =
            (0..comm.size()).map(|rank| places.get(rank).map_or(0, |place| place.node)).collect();
        let wanted = Wanted {
            number: given(wishes.nodes).map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            list: None,
            per_node: 1,
        };
        let aggregators = aggregators(&nodes, &[], &wanted).into_boxed_slice();
        debug_assert!(is_valid(&aggregators, comm.size()));
        let unit = unit(ground.block, ground.stripe, given(wishes.unit), given(wishes.least));
        let buffer = buffer(given(wishes.buffer), unit);
        Layout { aggregators, unit, buffer, read: wishes.read, write: wishes.write, keeps: ground.keeps }
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
