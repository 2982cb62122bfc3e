//! The suite every file system component must pass, over fs-lustre, which is told of Lustre mounts; the ioctls of layouts are refused here.

use oxmpi_fs_conformance::{Setup, run_all};

#[test]
fn conformance() {
    for options in ["rw,flock", "rw,localflock"] {
        let setup = Setup::new(fs_lustre::descriptor()).mount(0x0bd0_0bd0, "lustre", options);
        run_all(&setup.param("stripe_size", "1m"));
    }
}
