//! Objects of each category where registers come on demand: a page at open, one for two pairs up to sixteen registers.

mod common;

use common::compare;

#[test]
fn tables_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", format!("fabric=l{},uar=lazy", std::process::id())) };
    compare(1, |pairs| pairs.min(16).div_ceil(2), false);
}
