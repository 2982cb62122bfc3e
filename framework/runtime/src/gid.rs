//! Global ids of communicators: 128 bits, equal in all members, different from every other
//! communicator of the job, made without asking anybody.
//!
//! A collective constructor is called by all members of the parent in the same order, so the
//! parent's gid, how many constructors it has seen, and what tells siblings apart (a split's colour,
//! a group's first member) give all members of the child the same id. `create_group` is called by
//! the new group's members only, so a parent's counter would not agree: its leader makes a fresh
//! id from a counter of its own and sends it to the others.
//!
//! Ids are mixed, not concatenated: two different inputs collide with probability 2^-120 each, and
//! the ids are not secrets. The lowest byte of the first word is not mixed but counts: communicators that a parent gets one
//! after another have numbers that follow each other, so that a point-to-point layer gives them resources of their own.

/// A communicator's global id.
pub type Gid = [u64; 2];

/// Which constructor made it; keeps their inputs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Origin {
    World = 1,
    SelfComm = 2,
    Dup = 3,
    Split = 4,
    Create = 5,
    Group = 6,
    /// The local group of an inter-communicator, as a communicator of its own.
    Local = 7,
    Inter = 8,
    Merge = 9,
    /// For the messages of constructors that only some ranks call.
    Wire = 10,
    /// A part by nodes that a collective component asked for.
    Part = 11,
    Endpoints = 12,
    FromGroup = 16,
}

/// Replaces the lowest byte of an id, which is not mixed but counts.
fn numbered(id: Gid, number: u64) -> Gid {
    [id[0] & !0xff | number & 0xff, id[1]]
}

/// Mixes words into an id: two lanes, each a multiply-xor-shift chain with its own odd constants.
fn mix(words: &[u64]) -> Gid {
    let mut lanes = [0x9E37_79B9_7F4A_7C15u64, 0xD1B5_4A32_D192_ED03u64];
    for (i, &w) in words.iter().enumerate() {
        for (lane, k) in lanes.iter_mut().zip([0xBF58_476D_1CE4_E5B9u64, 0x94D0_49BB_1331_11EBu64]) {
            let x = (*lane ^ w.wrapping_add(i as u64)).wrapping_mul(k);
            *lane = x ^ (x >> 29) ^ lane.rotate_left(23);
        }
        // Each lane sees the other, so that 128 bits of state carry 128 bits.
        let [a, b] = lanes;
        lanes = [a ^ b.rotate_left(17), b.wrapping_add(a.rotate_left(41))];
    }
    lanes.map(finish)
}

/// Spreads every input bit over the word (a bijection).
fn finish(mut x: u64) -> u64 {
    x = (x ^ (x >> 32)).wrapping_mul(0xE9846AF9B1A615D5);
    x = (x ^ (x >> 32)).wrapping_mul(0xE9846AF9B1A615D5);
    x ^ (x >> 28)
}

/// The id of a job's world.
pub fn world(job_id: u64) -> Gid {
    numbered(mix(&[job_id, Origin::World as u64]), 0)
}

/// The id of one rank's own communicator.
pub fn self_comm(job_id: u64, proc: u32, endpoint: u16) -> Gid {
    mix(&[job_id, Origin::SelfComm as u64, u64::from(proc), u64::from(endpoint)])
}

/// The id of a parent's `nth` child; `which` tells siblings of one call apart.
pub fn child(parent: Gid, nth: u64, origin: Origin, which: u64) -> Gid {
    // Children of children start elsewhere.
    let number = (parent[0] & 0xff).wrapping_mul(5).wrapping_add(nth).wrapping_add(1);
    numbered(mix(&[parent[0], parent[1], nth, origin as u64, which]), number)
}

/// Makes an id that no other rank of the job makes, from the maker and the number `nth` of its own count.
pub fn fresh(job_id: u64, proc: u32, endpoint: u16, nth: u64) -> Gid {
    numbered(mix(&[job_id, Origin::Group as u64, u64::from(proc), u64::from(endpoint), nth]), nth)
}

/// Mixes the ids of two leaders into one; the order of the two does not matter.
pub fn pair(a: Gid, b: Gid) -> Gid {
    let (a, b) = (a.min(b), a.max(b));
    mix(&[a[0], a[1], b[0], b[1], Origin::Inter as u64])
}

/// An id as bytes, for messages.
pub fn encode(gid: Gid) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&gid[0].to_le_bytes());
    bytes[8..].copy_from_slice(&gid[1].to_le_bytes());
    bytes
}

/// Makes an id of the bytes that [`encode`] has made.
pub fn decode(bytes: [u8; 16]) -> Gid {
    let (words, _) = bytes.as_chunks::<8>();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

/// The id that the members of a group, by their marks, and a tag make together: the parent of the communicators that are made of
/// them.
pub fn from_group(members: impl Iterator<Item = u64>, tag: &str) -> Gid {
    let mut words = vec![Origin::FromGroup as u64, tag.len() as u64];
    words.extend(tag.as_bytes().chunks(8).map(|piece| {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        u64::from_le_bytes(word)
    }));
    words.extend(members);
    mix(&words)
}

/// A rank of a job as one word; of the ranks of one job no two have the same.
pub fn mark(job_id: u64, rank: u64) -> u64 {
    finish(job_id) ^ rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn siblings_and_generations_differ() {
        let mut seen = HashSet::new();
        let w = world(7);
        assert!(seen.insert(w) && seen.insert(self_comm(7, 0, 0)) && seen.insert(self_comm(7, 1, 0)));
        for nth in 0..50u64 {
            for which in 0..50u64 {
                for o in [Origin::Dup, Origin::Split, Origin::Create] {
                    assert!(seen.insert(child(w, nth, o, which)), "{nth} {which} {o:?}");
                }
            }
            assert!(seen.insert(fresh(7, 3, 0, nth)));
        }
        let numbers: HashSet<u64> = (0..200).map(|n| child(w, n, Origin::Dup, 0)[0] & 0xff).collect();
        assert_eq!(numbers.len(), 200, "one after another");
        let (a, b) = (fresh(7, 0, 0, 0), fresh(7, 1, 0, 0));
        assert!(pair(a, b) == pair(b, a) && seen.insert(pair(a, b)) && decode(encode(a)) == a);
        let c = child(w, 0, Origin::Dup, 0);
        assert!(seen.insert(child(c, 0, Origin::Dup, 0)), "a child's child is not its parent's sibling");
    }

    #[test]
    fn groups_and_tags_differ() {
        let mut seen = HashSet::new();
        for members in [&[(0, 0)][..], &[(1, 0)], &[(0, 0), (1, 0)], &[(1, 0), (0, 0)], &[(0, 1)]] {
            for tag in ["", "a", "a\0", "12345678", "123456789"] {
                let marks = members.iter().map(|(rank, endpoint)| mark(7, rank << 16 | endpoint));
                assert!(seen.insert(from_group(marks, tag)), "{members:?} {tag:?}");
            }
        }
    }

    #[test]
    fn each_lane_alone_spreads() {
        // Were a lane poor, 2^20 ids would collide in 64 bits (expected: 3e-8 collisions).
        for lane in 0..2 {
            let ids: HashSet<u64> =
                (0..1u64 << 20).map(|n| child(world(1), n >> 10, Origin::Split, n & 1023)[lane]).collect();
            assert_eq!(ids.len(), 1 << 20);
        }
    }
}
