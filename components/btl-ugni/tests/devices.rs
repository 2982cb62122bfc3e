//! How often the locks of devices are taken, and doorbells rung, for a put, by the number of devices.

mod common;

use common::{counter, setup};
use oxmpi_btl::access;
use oxmpi_btl_conformance::Harness;
use oxmpi_btl_conformance::rma::{Buffer, Completion, Memory, Transfer, Verb, offer, wait_for};
use oxmpi_mca::Status;

/// As many for each context and device.
const PUTS: usize = 256;

/// Each of 16 contexts puts once, and then all together `puts` times. Per device, the locks that were taken over its life, as it logs them at its end;
/// and the doorbells of those puts.
fn measure(devices: usize, bind: &str, puts: usize) -> (Vec<u64>, u64) {
    let devices_text = devices.to_string();
    let setup =
        setup().ranks(2).cris(16).param("virtual_device_count", &devices_text).param("bind_devices", bind);
    let mut h = Harness::new(&setup);
    let link = h.link();
    let all = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE;
    let (mut near, mut far) = (Buffer::new(64 * 16, 1), Buffer::new(64 * 16, 2));
    let local = Memory::try_of(&h, link.from, near.bytes(), all).expect("registered");
    let remote = Memory::try_of(&h, link.to, far.bytes(), all).expect("registered");
    let put = |ctx: u32| {
        let c = Completion::new(&h, link.from, ctx);
        let at = ctx as usize * 64;
        let t = Transfer { verb: Verb::Put, local: (&local, at), remote: (&remote, at), len: 64 };
        assert_eq!(offer(&h, link.from, ctx, || t.start(&h, link, ctx, &c)), Status::PENDING);
        wait_for(&h, link.from, ctx, [&*c]);
    };
    // Posts, endpoints and bindings are there afterwards.
    (0..16).for_each(put);
    let bells = counter(c"doorbells");
    for i in 0..puts {
        put(i as u32 % 16);
    }
    let rung = counter(c"doorbells") - bells;
    local.release(&h);
    remote.release(&h);
    let rank = &mut h.ranks[link.from];
    assert_eq!(rank.finalize(), Status::OK);
    let log = rank.host.logged();
    let taken = log.split("locks=").skip(1).map(|rest| {
        let number = rest.split(' ').next().expect("a word");
        number.parse().expect("a number")
    });
    (taken.collect(), rung)
}

#[test]
fn puts_spread_over_devices() {
    for devices in [1usize, 4, 16] {
        for bind in ["true", "false"] {
            let (before, _) = measure(devices, bind, 0);
            let (taken, rung) = measure(devices, bind, PUTS);
            println!(
                "{devices} devices, bind_devices {bind}: locks {before:?}, then {taken:?}, doorbells {rung}, puts {PUTS}"
            );
            assert_eq!((before.len(), taken.len()), (devices, devices));
            assert_eq!(rung, PUTS as u64, "a doorbell a put");
            let share = (PUTS / devices) as u64;
            // One to post, one to read the completion; the thread for links and idle turns take the first device's now and then.
            for (n, (taken, before)) in taken.iter().zip(&before).enumerate().skip(1) {
                assert!(
                    *taken >= 2 * share && taken.saturating_sub(*before) <= 2 * share + 64,
                    "device {n} of {devices}: {taken} locks, {before} without the puts"
                );
            }
            assert!(taken[0] >= 2 * share, "the first device: {taken:?}");
        }
    }
}
