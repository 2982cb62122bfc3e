//! The suite every PML must pass, over pml-ob1.

use oxmpi_pml_conformance::{Setup, suite};

suite!(Setup::new(pml_ob1::descriptor()));
