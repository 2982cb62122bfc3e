//! The choice of the ranks that transfer for others in collective accesses, and of the unit by which they part the file. Pure arithmetic on the places of ranks: all ranks come to the same answer.

use crate::config::ConfigList;
use std::collections::HashSet;

/// Bytes of a unit where neither the file system nor a hint asks for more.
pub const UNIT: u64 = 1 << 20;
/// Bytes that an aggregator uses at once where no hint says otherwise (ROMIO's `cb_buffer_size`).
pub const BUFFER: u64 = 16 << 20;

/// The wishes of hints and parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Number of aggregators: `cb_nodes`, or `io_ompio_num_aggregators`.
    pub number: Option<u32>,
    /// `cb_config_list`.
    pub list: Option<&'a ConfigList>,
    /// Aggregators on a node where neither is given; 0 counts as 1.
    pub per_node: u32,
}

/// The ranks that transfer for others, in the order of their domains: neighbors in the file are on different nodes.
///
/// `nodes` has the node's number of each rank; `hosts` the names of the nodes by number, which only a list needs. At least one rank is chosen if there is one: a list
/// that allows none is passed over.
pub fn aggregators(nodes: &[u32], hosts: &[&str], wanted: &Wanted<'_>) -> Vec<u32> {
    let groups = by_node(nodes);
    let allowed = |list: Option<&ConfigList>| -> Vec<usize> {
        let most = |node: u32| match (list, wanted.number) {
            (Some(list), _) => hosts.get(node as usize).map_or(0, |host| list.most(host)),
            (None, Some(_)) => u32::MAX,
            (None, None) => wanted.per_node.max(1),
        };
        groups.iter().map(|(node, ranks)| ranks.len().min(most(*node) as usize)).collect()
    };
    let mut room = allowed(wanted.list);
    if room.iter().all(|n| *n == 0) {
        room = allowed(None);
    }
    let chosen = spread(&room, wanted.number.filter(|n| *n > 0).map_or(usize::MAX, |n| n as usize));
    let rounds = 0..chosen.iter().copied().max().unwrap_or(0);
    let of_round = |round: usize| {
        groups.iter().zip(&chosen).filter(move |(_, n)| round < **n).map(move |((_, ranks), n)| {
            // At equal distances among the ranks of the node.
            ranks[round * ranks.len() / n]
        })
    };
    rounds.flat_map(of_round).collect()
}

/// Ranks by node, nodes in the order of their lowest ranks.
fn by_node(nodes: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut place = std::collections::HashMap::new();
    for (rank, node) in nodes.iter().enumerate() {
        let at = *place.entry(*node).or_insert_with(|| {
            groups.push((*node, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(rank as u32);
    }
    groups
}

/// Takes `number` from what there is room for, one of each in turn.
fn spread(room: &[usize], number: usize) -> Vec<usize> {
    let mut taken = vec![0; room.len()];
    let mut left = number.min(room.iter().sum());
    while left > 0 {
        for (taken, room) in taken.iter_mut().zip(room) {
            if left > 0 && *taken < *room {
                *taken += 1;
                left -= 1;
            }
        }
    }
    taken
}

/// The unit: a multiple of the file system's `block`, and a whole stripe where there is one.
///
/// `striping_unit` is that of the file (0: not striped), `asked` the hint of that name, `least` the hint `romio_min_fdomain_size`.
pub fn unit(block: u64, striping_unit: u64, asked: Option<u64>, least: Option<u64>) -> u64 {
    let block = block.max(1);
    let stripe = if striping_unit > 0 { striping_unit } else { asked.unwrap_or(0) };
    let base = if stripe > 0 { stripe } else { UNIT };
    let base = base.checked_next_multiple_of(block).unwrap_or(block);
    least.filter(|least| *least > base).and_then(|least| least.checked_next_multiple_of(base)).unwrap_or(base)
}

/// Bytes for a round: the hint `cb_buffer_size`, at least a unit.
pub fn buffer(asked: Option<u64>, unit: u64) -> u64 {
    asked.filter(|asked| *asked > 0).unwrap_or(BUFFER).max(unit)
}

/// Whether a list names each of `num_ranks` ranks at most once: what a host checks of its own layout.
pub fn is_valid(aggregators: &[u32], num_ranks: u32) -> bool {
    let mut seen = HashSet::new();
    !aggregators.is_empty() && aggregators.iter().all(|rank| *rank < num_ranks && seen.insert(*rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_node_unless_asked() {
        let nodes = [7, 7, 3, 3, 3, 9];
        let wanted = Wanted::default();
        assert_eq!(aggregators(&nodes, &[], &wanted), [0, 2, 5]);
        assert_eq!(aggregators(&nodes, &[], &Wanted { per_node: 2, ..wanted }), [0, 2, 5, 1, 3]);
        assert_eq!(aggregators(&nodes, &[], &Wanted { number: Some(2), ..wanted }), [0, 2]);
        assert_eq!(aggregators(&nodes, &[], &Wanted { number: Some(4), ..wanted }), [0, 2, 5, 1]);
        assert_eq!(aggregators(&nodes, &[], &Wanted { number: Some(99), ..wanted }).len(), 6);
        assert!(aggregators(&[], &[], &wanted).is_empty());
    }

    #[test]
    fn lists_allow_and_numbers_limit() {
        let nodes = [0, 0, 0, 0, 1, 1];
        let list = ConfigList::parse("a:*,b:1").unwrap();
        let wanted = Wanted { list: Some(&list), ..Wanted::default() };
        assert_eq!(aggregators(&nodes, &["a", "b"], &wanted), [0, 4, 1, 2, 3]);
        let three = Wanted { number: Some(3), ..wanted };
        assert_eq!(aggregators(&nodes, &["a", "b"], &three), [0, 4, 2]);
        let none = ConfigList::parse("c:1").unwrap();
        assert_eq!(aggregators(&nodes, &["a", "b"], &Wanted { list: Some(&none), ..wanted }), [0, 4]);
        assert!(is_valid(&[0, 4, 2], 6) && !is_valid(&[0, 0], 6) && !is_valid(&[6], 6) && !is_valid(&[], 6));
    }

    #[test]
    fn units_are_blocks_and_stripes() {
        assert_eq!(unit(4096, 0, None, None), UNIT);
        assert_eq!(unit(3000, 0, None, None) % 3000, 0);
        assert_eq!(unit(4096, 65536, Some(1 << 22), None), 65536);
        assert_eq!(unit(4096, 0, Some(5000), None), 8192);
        assert_eq!(unit(4096, 65536, None, Some(100_000)), 131_072);
        assert_eq!(unit(4096, 65536, None, Some(5)), 65536);
        assert_eq!((buffer(None, 5), buffer(Some(10), 4096), buffer(Some(0), 1)), (BUFFER, 4096, BUFFER));
    }
}
