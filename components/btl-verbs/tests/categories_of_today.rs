//! Endpoint categories on a device whose doorbell registers come on demand, without the extension of thread domains.

#[path = "common/categories.rs"]
mod categories;
mod common;

#[test]
fn objects_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "uar=lazy") };
    categories::compare(1, |pairs| pairs.min(16).div_ceil(2), false);
    categories::count_locks();
}
