//! Puts around the size at which the fast path gives way to the engine: which of them carried each, with how many doorbells, and what a
//! model of costs makes of the counts for 1, 4 and 16 devices. `bench/results/btl-ugni.md` has the table.

mod common;

use common::{counter, setup};
use oxmpi_btl::access;
use oxmpi_btl_conformance::Harness;
use oxmpi_btl_conformance::rma::{Buffer, Completion, Memory, Transfer, Verb, offer, wait_for};
use oxmpi_mca::Status;

/// Where the paper's measurements switch.
const SWITCH: usize = 16 * 1024;

#[test]
fn the_engine_takes_over_behind_the_limit() {
    let limit = SWITCH.to_string();
    let setup = setup().ranks(2).cris(4).param("virtual_device_count", "4").param("fma_put_limit", &limit);
    let h = Harness::new(&setup);
    let link = h.link();
    let all = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE;
    let (mut near, mut far) = (Buffer::new(2 * SWITCH, 1), Buffer::new(2 * SWITCH, 2));
    let local = Memory::try_of(&h, link.from, near.bytes(), all).expect("registered");
    let remote = Memory::try_of(&h, link.to, far.bytes(), all).expect("registered");
    let counts = || [counter(c"fma_puts"), counter(c"bte_puts"), counter(c"doorbells")];
    for (len, by_engine) in [(8, 0), (1024, 0), (SWITCH, 0), (SWITCH + 1, 1), (2 * SWITCH, 1)] {
        for ctx in 0..4u32 {
            let before = counts();
            let c = Completion::new(&h, link.from, ctx);
            let t = Transfer { verb: Verb::Put, local: (&local, 0), remote: (&remote, 0), len };
            assert_eq!(offer(&h, link.from, ctx, || t.start(&h, link, ctx, &c)), Status::PENDING);
            wait_for(&h, link.from, ctx, [&*c]);
            let after = counts();
            let made: Vec<u64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
            assert_eq!(made, [1 - by_engine, by_engine, 1], "{len} bytes: fast puts, bulk puts, doorbells");
        }
    }
    local.release(&h);
    remote.release(&h);
}

/// Microseconds for which a put has its device: the processor stores the bytes of a fast one through the window, a bulk one is
/// handed over. Gigabytes per second, and microseconds, as published for Aries.
fn on_device(len: f64, fast: bool) -> f64 {
    if fast { 0.2 + len / 3700.0 } else { 0.5 }
}

/// Puts per microsecond of many threads: devices work beside each other, the link of the node carries them all.
fn rate(len: f64, fast: bool, devices: f64) -> f64 {
    const LINK: f64 = 10_000.0;
    (devices / on_device(len, fast)).min(LINK / len)
}

#[test]
fn ratios_of_the_model() {
    // Bytes, the fast path, ratios of 4 and 16 devices to one.
    for (len, fast, four, sixteen) in [
        (8.0, true, 4.0, 16.0),
        (1024.0, true, 4.0, 4.7),
        (16384.0, true, 2.8, 2.8),
        (16384.0, false, 1.0, 1.0),
    ] {
        let one = rate(len, fast, 1.0);
        for (devices, expected) in [(4.0, four), (16.0, sixteen)] {
            let ratio = rate(len, fast, devices) / one;
            assert!(
                (ratio - expected).abs() < 0.06,
                "{len} bytes, fast {fast}, {devices} devices: {ratio:.2}"
            );
        }
    }
    let gain = rate(16384.0, false, 1.0) / rate(16384.0, true, 1.0);
    assert!((gain - 2.8).abs() < 0.06, "the engine beside the fast path on one device: {gain:.2}");
}
