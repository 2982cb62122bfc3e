//! The suite every component that transfers file data must pass: faults that delay and refuse change nothing of what is promised.

use oxmpi_fbtl_conformance::{Setup, suite};

suite!(
    Setup::new(oxmpi_fbtl_faults::descriptor())
        .variant(&[("kind", "full")])
        .variant(&[("kind", "slow"), ("every", "2")])
        .variant(&[("kind", "reordered")])
);
