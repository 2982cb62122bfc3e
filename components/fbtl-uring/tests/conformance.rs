//! The suite every component that transfers data must pass, over fbtl-uring, where the kernel gives a ring.

use oxmpi_fbtl_conformance::{Setup, run_all};

/// Whether the component opens here.
fn is_available() -> bool {
    let available = oxmpi_fbtl_conformance::opens(fbtl_uring::descriptor());
    if !available {
        eprintln!("left out: the kernel gives no ring here");
    }
    available
}

#[test]
fn conformance() {
    if is_available() {
        let setup = Setup::new(fbtl_uring::descriptor());
        run_all(&setup.variant(&[("queue_depth", "3"), ("num_workers", "1")]).bound("queue_depth"));
    }
}
