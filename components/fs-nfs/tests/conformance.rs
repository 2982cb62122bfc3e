//! The suite every file system component must pass, over fs-nfs, which is told of NFS mounts with locks of several kinds.

use oxmpi_fs_conformance::{Setup, run_all};

#[test]
fn conformance() {
    for options in ["rw,vers=4.2,local_lock=none", "rw,vers=3,nolock,local_lock=all"] {
        run_all(&Setup::new(fs_nfs::descriptor()).mount(0x6969, "nfs4", options));
    }
}
