//! The suite every component that transfers file data must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_fbtl_conformance::{Setup, suite};

suite!(Setup::new(fbtl_template::descriptor()));
