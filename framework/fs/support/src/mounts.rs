//! Types of file systems: how much they keep of what MPI promises, and which options of a mount take it away.
//!
//! Three things are asked of a type: whether a lock excludes processes of other nodes, whether another node reads what one has written without more, and whether space can be
//! had ahead. A file system that one node has for itself keeps all that nodes could ask of each other. Of a type that is not listed only this is relied upon: locks
//! exclude on this node. That refuses what needs more on a job of several nodes, and says so by name, where a guess would lose data.

use oxmpi_fs::{Facts, keeps};

/// Properties that a mount keeps, and why it does not keep the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Bits of [`keeps`].
    pub bits: u32,
    /// Clauses, one for each property that is missing.
    pub because: Vec<String>,
}

impl Kept {
    /// All that can be kept.
    pub fn everything() -> Kept {
        let bits = keeps::LOCKS_HERE | keeps::LOCKS | keeps::COHERENT | keeps::PREALLOCATES;
        Kept { bits, because: Vec::new() }
    }

    /// Takes properties away, for this reason if they were there.
    pub fn without(mut self, bits: u32, because: impl Into<String>) -> Kept {
        if self.bits & bits != 0 {
            self.bits &= !bits;
            self.because.push(because.into());
        }
        self
    }

    /// The reason as one clause; empty where nothing is missing that has one.
    pub fn reason(&self) -> String {
        self.because.join("; ")
    }
}

/// The scope of what a type of file systems keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// One node has it for itself.
    Node,
    /// All nodes see one file system, with locks and data that are of one piece.
    Cluster,
}

/// Types that keep everything: number of `statfs`, name in the table of mounts, scope, space ahead.
const WHOLE: &[(u64, &str, Scope, bool)] = &[
    (0xef53, "ext4", Scope::Node, true),
    (0xef53, "ext3", Scope::Node, false),
    (0xef53, "ext2", Scope::Node, false),
    (0x5846_5342, "xfs", Scope::Node, true),
    (0x9123_683e, "btrfs", Scope::Node, true),
    (0x0102_1994, "tmpfs", Scope::Node, true),
    (0x8584_58f6, "ramfs", Scope::Node, false),
    (0x794c_7630, "overlay", Scope::Node, true),
    (0xf2f5_2010, "f2fs", Scope::Node, true),
    (0xca45_1a4e, "bcachefs", Scope::Node, true),
    (0x2fc1_2fc1, "zfs", Scope::Node, false),
    (0x3153_464a, "jfs", Scope::Node, false),
    (0x5265_4973, "reiserfs", Scope::Node, false),
    (0x4d44, "vfat", Scope::Node, false),
    (0x2011_bab0, "exfat", Scope::Node, false),
    (0x7366_746e, "ntfs3", Scope::Node, true),
    (0x6573_5546, "fuseblk", Scope::Node, false),
    (0x4750_4653, "gpfs", Scope::Cluster, true),
    (0x00c3_6400, "ceph", Scope::Cluster, false),
    (0x0116_1970, "gfs2", Scope::Cluster, true),
    (0x7461_636f, "ocfs2", Scope::Cluster, true),
];

/// The magic of CIFS and of its second version.
const CIFS: [u64; 2] = [0xff53_4d42, 0xfe53_4d42];
/// The magic of Plan 9's protocol.
const V9FS: u64 = 0x0102_1997;

/// The name of a type for people.
pub fn type_of(facts: &Facts<'_>) -> String {
    if facts.fs_type.is_empty() {
        return format!("{:#x}", facts.magic);
    }
    String::from_utf8_lossy(facts.fs_type).into_owned()
}

/// Tells what the mount of a path keeps, by its type and options.
pub fn kept(facts: &Facts<'_>) -> Kept {
    let listed = WHOLE.iter().find(|(magic, name, ..)| {
        let named = facts.fs_type == name.as_bytes();
        // Where the name is not known the number decides, if it means one type.
        *magic == facts.magic && (named || facts.fs_type.is_empty() && *name != "fuseblk")
    });
    let name = type_of(facts);
    let Some((.., scope, ahead)) = listed else { return unlisted(facts, &name) };
    let mut kept = Kept::everything();
    if !ahead {
        kept.bits &= !keeps::PREALLOCATES;
    }
    for option in ["localflocks", "nolock"] {
        if *scope == Scope::Cluster && facts.has_option(option) {
            kept =
                kept.without(keeps::LOCKS, format!("the mount's option {option} keeps locks to each node"));
        }
    }
    kept
}

/// Types of which not everything is relied upon.
fn unlisted(facts: &Facts<'_>, name: &str) -> Kept {
    let mut kept = Kept::everything();
    kept.bits &= !keeps::PREALLOCATES;
    let cache = facts.option("cache");
    if CIFS.contains(&facts.magic) {
        for option in ["nobrl", "nolock"] {
            if facts.has_option(option) {
                let because = format!("the mount's option {option} keeps locks to each node");
                kept = kept.without(keeps::LOCKS, because);
            }
        }
        if cache != Some(b"none") {
            kept = kept.without(
                keeps::COHERENT,
                format!("a {name} mount without cache=none keeps data on each node"),
            );
        }
        return kept;
    }
    if facts.magic == V9FS {
        kept = kept.without(
            keeps::LOCKS,
            format!("whether locks of a {name} mount reach other nodes is its server's choice"),
        );
        if !matches!(cache, None | Some(b"none")) {
            kept = kept.without(
                keeps::COHERENT,
                format!("the option cache of the {name} mount keeps data on each node"),
            );
        }
        return kept;
    }
    let because =
        format!("locks and data of other nodes are not relied upon on a file system of type {name}");
    kept.without(keeps::LOCKS | keeps::COHERENT, because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(magic: u64, fs_type: &'static str, options: &'static str) -> Kept {
        let path = Path::new("/x");
        let (fs_type, options) = (fs_type.as_bytes(), options.as_bytes());
        kept(&Facts { magic, fs_type, options, ..Facts::unknown(path) })
    }

    #[test]
    fn types_that_one_node_has_keep_everything() {
        for (magic, name, ahead) in
            [(0xef53, "ext4", true), (0x0102_1994, "tmpfs", true), (0xef53, "ext2", false)]
        {
            let kept = of(magic, name, "rw,relatime");
            assert_eq!(kept.bits & keeps::PREALLOCATES != 0, ahead, "{name}");
            assert_eq!(kept.bits | keeps::PREALLOCATES, Kept::everything().bits, "{name}");
            assert_eq!(kept.reason(), "");
        }
    }

    #[test]
    fn options_take_away_and_are_named() {
        let kept = of(0x0116_1970, "gfs2", "rw,localflocks");
        assert_eq!(kept.bits & (keeps::LOCKS_HERE | keeps::LOCKS), keeps::LOCKS_HERE);
        assert!(kept.reason().contains("localflocks"), "{}", kept.reason());
        assert_eq!(of(0x5846_5342, "xfs", "rw,nolock").bits, Kept::everything().bits);
        let cifs = of(0xff53_4d42, "cifs", "rw,cache=strict,nobrl");
        assert_eq!(cifs.bits, keeps::LOCKS_HERE);
        assert!(cifs.reason().contains("nobrl") && cifs.reason().contains("cache=none"), "{}", cifs.reason());
        assert_eq!(
            of(0xff53_4d42, "cifs", "cache=none").bits,
            keeps::LOCKS_HERE | keeps::LOCKS | keeps::COHERENT
        );
    }

    #[test]
    fn nothing_is_guessed_of_types_that_are_not_known() {
        for (magic, name) in [(0x6573_5546, "fuse.sshfs"), (0x1234, "newfs"), (0x1234, "")] {
            let kept = of(magic, name, "rw");
            assert_eq!(kept.bits, keeps::LOCKS_HERE, "{name}");
            assert!(kept.reason().contains(if name.is_empty() { "0x1234" } else { name }));
        }
        assert_eq!(of(0x6573_5546, "", "").bits, keeps::LOCKS_HERE);
        assert_eq!(of(0x6573_5546, "fuseblk", "").bits & keeps::LOCKS, keeps::LOCKS);
    }
}
