//! Options of an NFS mount, and what it keeps by them.

use oxmpi_fs::{Facts, keeps};
use oxmpi_fs_support::mounts::Kept;

/// The number that `statfs` answers.
const MAGIC: u64 = 0x6969;
/// Properties that need the server's locks.
const OF_LOCKS: u32 = keeps::LOCKS | keeps::LOCK_REVALIDATES;

/// Whether a path is on an NFS mount.
pub fn is_nfs(facts: &Facts<'_>) -> bool {
    facts.magic == MAGIC || matches!(facts.fs_type, b"nfs" | b"nfs4")
}

/// Tells what the mount keeps, if the trial of a lock went well.
pub fn kept(facts: &Facts<'_>, has_locks: bool) -> Kept {
    let all = Kept::everything();
    let mut kept = Kept { bits: all.bits | keeps::LOCK_REVALIDATES, ..all };
    kept = kept.without(keeps::COHERENT, "an NFS mount keeps data of a file on each node");
    let version = facts.option("vers").or(facts.option("nfsvers"));
    if version != Some(b"4.2") {
        kept.bits &= !keeps::PREALLOCATES;
    }
    if !has_locks {
        return kept.without(keeps::LOCKS_HERE | OF_LOCKS, "the NFS server refuses locks");
    }
    if facts.has_option("nolock") {
        kept = kept.without(OF_LOCKS, "the mount's option nolock keeps locks to each node");
    }
    match facts.option("local_lock") {
        Some(which @ (b"all" | b"posix")) => {
            let which = String::from_utf8_lossy(which);
            let because = format!("the mount's option local_lock={which} keeps locks to each node");
            kept.without(OF_LOCKS, because)
        }
        _ => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(options: &'static str, has_locks: bool) -> Kept {
        kept(
            &Facts { magic: MAGIC, options: options.as_bytes(), ..Facts::unknown(Path::new("/x")) },
            has_locks,
        )
    }

    #[test]
    fn options_decide_what_locks_do() {
        let kept = of("rw,vers=4.2,local_lock=none", true);
        let expected = keeps::LOCKS_HERE | keeps::LOCKS | keeps::LOCK_REVALIDATES | keeps::PREALLOCATES;
        assert_eq!(kept.bits, expected);
        assert_eq!(of("rw,vers=3,local_lock=flock", true).bits, expected & !keeps::PREALLOCATES);
        for option in ["nolock", "local_lock=all", "local_lock=posix"] {
            let kept = of(option, true);
            assert_eq!(kept.bits, keeps::LOCKS_HERE, "{option}");
            assert!(kept.reason().contains(option), "{}", kept.reason());
        }
        let refused = of("rw,vers=3", false);
        assert_eq!(refused.bits, 0);
        assert!(refused.reason().contains("refuses locks"), "{}", refused.reason());
    }

    #[test]
    fn mounts_are_known_by_number_or_name() {
        let unknown = Facts::unknown(Path::new("/x"));
        assert!(is_nfs(&Facts { magic: MAGIC, ..unknown }) && is_nfs(&Facts { fs_type: b"nfs4", ..unknown }));
        assert!(!is_nfs(&unknown) && !is_nfs(&Facts { fs_type: b"nfsd", ..unknown }));
    }
}
