//! The suite every PML must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_pml_conformance::{Setup, suite};

suite!(Setup::new(pml_template::descriptor()));
