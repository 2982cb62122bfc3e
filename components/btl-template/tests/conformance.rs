//! The suite every BTL must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_btl_conformance::{Reach, Setup, suite};

suite!(Setup::new(btl_template::descriptor()).reach(Reach::Others));
