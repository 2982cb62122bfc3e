//! The suite every BTL must pass.

use oxmpi_btl_conformance::{Reach, Setup, suite};

suite!(Setup::new(btl_tcp::descriptor()).reach(Reach::Others).connects());
