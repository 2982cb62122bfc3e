//! Objects of each category by the rules of 2018 equal the paper's closed forms, with the extension of thread domains.

mod common;

use common::{Category, Taken, compare, measure};

#[test]
fn tables_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe {
        std::env::set_var("OXMPI_FAKE_VERBS", format!("fabric=t{},uar=static,patched=1", std::process::id()))
    };
    // The paper's table for 16 threads (figs. 2, 7 and 12): pages, registers, memory.
    for (category, pages, registers, kilobytes) in [
        (Category::MpiEverywhere, 128, 256, 5520),
        (Category::TwiceDynamic, 40, 80, 3104),
        (Category::Dynamic, 24, 48, 1680),
        (Category::SharedDynamic, 16, 32, 1680),
        (Category::Static, 8, 16, 1680),
        (Category::MpiThreads, 8, 16, 345),
    ] {
        let Taken { pages: p, registers: r, kilobytes: k, .. } = measure(category, 16, true);
        assert_eq!((p, r, k), (pages, registers, kilobytes), "{category:?}");
    }
    compare(8, |_| 0, true);
    // The same by domains that stay idle, as upstream allows.
    compare(8, |_| 0, false);
}
