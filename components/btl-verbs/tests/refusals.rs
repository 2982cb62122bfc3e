//! No library, no device, and devices that are not there: silent, or by name.

mod common;

use oxmpi_btl_conformance::{Harness, Setup};

fn refused(setup: &Setup) -> String {
    match Harness::open(setup) {
        Ok(_) => panic!("it opens"),
        Err(why) => why,
    }
}

/// One test, since the device is set up by the environment.
#[test]
fn nothing_to_use_is_named() {
    let plain = || Setup::new(btl_verbs::descriptor());
    // A machine with a device has it all the same.
    if !std::path::Path::new("/sys/class/infiniband_verbs").exists() {
        let why = refused(&plain());
        assert!(why.contains("no RDMA device") && why.contains("not available"), "{why}");
    }
    let why = refused(&plain().param("library", "/no/such/libibverbs.so"));
    assert!(why.contains("/no/such/libibverbs.so") && why.contains("rdma-core"), "{why}");
    // Something that is no verbs library.
    let why = refused(&plain().param("library", "libc.so.6"));
    assert!(why.contains("it has no function ibv_"), "{why}");
    let why = refused(&common::setup().param("if_include", "mlx5_7"));
    assert!(why.contains("mlx5_7 in btl_verbs_if_include"), "{why}");
    let why = refused(&common::setup().param("if_include", "fake0:2"));
    assert!(why.contains("fake0:2 in btl_verbs_if_include"), "{why}");
    let why = refused(&common::setup().param("if_include", "fake0").param("if_exclude", "fake0"));
    assert!(why.contains("both set"), "{why}");
    let why = refused(&common::setup().param("partition_key", "291"));
    assert!(why.contains("not in partition 0x0123"), "{why}");
    let why = refused(&common::setup().param("mtu", "1000"));
    assert!(why.contains("btl_verbs_mtu is 1000"), "{why}");
    let why = refused(&common::setup().param("if_exclude", "fake0"));
    assert!(why.contains("leave none") && why.contains("not available"), "{why}");
    // SAFETY: no other thread is there that looks at the environment: no rank of the above has opened a device for good.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "devices=0") };
    let why = refused(&common::setup());
    assert!(why.contains("finds no device") && why.contains("not available"), "{why}");
}
