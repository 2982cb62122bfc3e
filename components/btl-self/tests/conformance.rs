//! The suite every BTL must pass, over btl-self.

use oxmpi_btl_conformance::{Reach, Setup, suite};

suite!(Setup::new(btl_self::descriptor()).reach(Reach::Itself));
