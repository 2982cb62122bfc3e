//! No library, credentials that are not admitted, values that cannot be: silent, or by name.

mod common;

use common::{set_up, setup};
use oxmpi_btl_conformance::{Harness, Setup};

fn refused(setup: &Setup) -> String {
    match Harness::open(setup) {
        Ok(_) => panic!("it opens"),
        Err(why) => why,
    }
}

/// One test, since the library is set up by the environment.
#[test]
fn nothing_to_use_is_named() {
    set_up("ptag=7,cookie=99");
    let plain = || Setup::new(btl_ugni::descriptor());
    // Nobody has asked for it.
    let why = refused(&plain());
    assert!(why.contains("libugni.so.0") && why.contains("not available"), "{why}");
    let why = refused(&plain().param("library", "/no/such/libugni.so"));
    assert!(why.contains("/no/such/libugni.so") && !why.contains("not available"), "{why}");
    // Something that is no libugni.
    let why = refused(&plain().param("library", "libc.so.6"));
    assert!(why.contains("it has no function GNI_"), "{why}");
    let why = refused(&setup().param("smsg_limit", "100"));
    assert!(why.contains("btl_ugni_smsg_limit is 100"), "{why}");
    let why = refused(&setup().param("smsg_limit", "1k").param("eager_limit", "1k"));
    assert!(why.contains("btl_ugni_eager_limit is 1024") && why.contains("1016"), "{why}");
    let why = refused(&setup().param("cdm_flags", "fma-shared,fma-mine"));
    assert!(why.contains("\"fma-mine\"") && why.contains("fma-small-window"), "{why}");
    // Without a manager's credentials the network does not admit us.
    let why = refused(&setup());
    assert!(why.contains("PERMISSION_ERROR"), "{why}");
    // SAFETY: no other thread is there that looks at the environment.
    unsafe {
        std::env::set_var("PMI_GNI_PTAG", "7:8");
        std::env::set_var("PMI_GNI_COOKIE", "99:100");
    }
    assert!(Harness::open(&setup()).is_ok(), "with the job's credentials");
}
