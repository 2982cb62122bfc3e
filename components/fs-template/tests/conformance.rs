//! The suite every file system component must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_fs_conformance::{Setup, suite};

suite!(Setup::new(fs_template::descriptor()));
