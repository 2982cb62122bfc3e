//! The suite every BTL must pass, over btl-shm.

use oxmpi_btl_conformance::{Reach, Setup, suite};

suite!(Setup::new(btl_shm::descriptor()).reach(Reach::Others).grows());
