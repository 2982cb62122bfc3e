//! All that is equal in all ranks of a file and tells collective accesses who transfers what: aggregators and the unit by which they part the file.

use crate::objects::Communicator;
use oxmpi_fcoll::want;
use oxmpi_files::config::ConfigList;
use oxmpi_files::hints::{Choice, Hints};
use oxmpi_files::layout::{Wanted, aggregators, buffer, is_valid, unit};
use oxmpi_loading::file_params::FileParams;

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
    /// Ranks that transfer nothing for others open the file when they first need it.
    defers: bool,
    /// Writes are sieved, under locks.
    sieves: bool,
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

    /// Those of hints, and where these are silent of parameters.
    pub(super) fn of(hints: &Hints, params: FileParams) -> Wishes {
        let [nodes, buffer, unit, least] =
            ["cb_nodes", "cb_buffer_size", "striping_unit", "romio_min_fdomain_size"]
                .map(|key| hints.positive(key).unwrap_or(0));
        let or = |hint: u64, param: Option<u64>| if hint > 0 { hint } else { param.unwrap_or(0) };
        let (nodes, buffer) = (or(nodes, params.num_aggregators.map(u64::from)), or(buffer, params.buffer));
        let defers = hints.flag("romio_no_indep_rw") == Some(true);
        let [read, write] = [false, true].map(|writes| match hints.collective(writes) {
            // No rank is to access the file by itself.
            Choice::Automatic if defers => want::ALWAYS,
            choice => want(choice),
        });
        Wishes { nodes, buffer, unit, least, read, write, defers, sieves: hints.sieve_writes() }
    }

    /// As they travel.
    pub(super) fn encode(&self) -> [u64; Wishes::WORDS] {
        let flags = u64::from(self.defers) << 16 | u64::from(self.sieves) << 17;
        let choices = u64::from(self.read) | flags | u64::from(self.write) << 32;
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
            read: want(word(4) as u32 & 0xffff),
            write: want((word(4) >> 32) as u32),
            defers: word(4) >> 16 & 1 != 0,
            sieves: word(4) >> 17 & 1 != 0,
        }
    }

    /// Whether ranks that transfer nothing for others open the file later.
    pub(super) fn defers(&self) -> bool {
        self.defers
    }

    /// Whether writes are sieved.
    pub(super) fn sieves(&self) -> bool {
        self.sieves
    }
}

/// The word of a rank that gives no `cb_config_list`.
const NO_LIST: u64 = u64::MAX;

/// How many ranks of its host a rank's `cb_config_list` allows, as it travels.
pub(super) fn allowed_here(hints: &Hints, host: &str) -> u64 {
    let list = hints.text("cb_config_list").and_then(ConfigList::parse);
    list.map_or(NO_LIST, |list| list.most(host).into())
}

/// All that the file systems of all ranks tell, taken together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    pub block: u64,
    pub stripe: u64,
    pub keeps: u32,
}

impl Layout {
    /// Makes it of what is equal in all ranks. `allowed`: the ranks' words of [`allowed_here`].
    pub(super) fn new(wishes: Wishes, comm: &Communicator, ground: Ground, allowed: &[u64]) -> Layout {
        let places = comm.places();
        let nodes: Vec<u32> =
            (0..comm.size()).map(|rank| places.get(rank).map_or(0, |place| place.node)).collect();
        Layout::of_nodes(wishes, (&nodes, places.num_nodes()), ground, allowed)
    }

    /// The same of the numbers of the ranks' nodes.
    pub(super) fn of_nodes(
        wishes: Wishes,
        (nodes, num_nodes): (&[u32], u32),
        ground: Ground,
        allowed: &[u64],
    ) -> Layout {
        let given = |n: u64| (n > 0).then_some(n);
        // The lowest rank of a node speaks for it.
        let mut most = vec![None; num_nodes as usize];
        for (node, word) in nodes.iter().zip(allowed).filter(|(_, word)| **word != NO_LIST) {
            if let Some(most) = most.get_mut(*node as usize) {
                most.get_or_insert(u32::try_from(*word).unwrap_or(u32::MAX));
            }
        }
        let listed = most.iter().any(Option::is_some);
        let most: Vec<u32> = most.into_iter().map(|most| most.unwrap_or(0)).collect();
        let wanted = Wanted {
            number: given(wishes.nodes).map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            most: listed.then_some(most.as_slice()),
            per_node: 1,
        };
        let aggregators = aggregators(nodes, &wanted).into_boxed_slice();
        debug_assert!(is_valid(&aggregators, nodes.len() as u32));
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

    /// The aggregators and bytes of a round, for MPI_File_get_info.
    pub(super) fn told(&self) -> (&[u32], u64) {
        (&self.aggregators[..], self.buffer)
    }

    /// Whether data of accesses in a direction always goes by aggregators.
    pub(super) fn goes_by_aggregators(&self, writes: bool) -> bool {
        (if writes { self.write } else { self.read }) == want::ALWAYS
    }

    /// Bytes by which ranks part the file.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }
}
