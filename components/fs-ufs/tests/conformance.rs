//! The suite every file system component must pass, over fs-ufs.

use oxmpi_fs_conformance::{Setup, suite};

suite!(Setup::new(fs_ufs::descriptor()));
