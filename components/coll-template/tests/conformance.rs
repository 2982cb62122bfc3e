//! The suite every collective component must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_coll_conformance::{Setup, suite};

suite!(Setup::new(coll_template::descriptor()));
