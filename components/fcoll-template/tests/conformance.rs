//! The suite every component for collective file access must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_fcoll_conformance::{Setup, suite};

suite!(Setup::new(fcoll_template::descriptor()));
