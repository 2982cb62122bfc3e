//! Endpoint categories on a device with the doorbell registers of 2018, all at open, and the extension of thread domains.

#[path = "common/categories.rs"]
mod categories;
mod common;

#[test]
fn objects_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "uar=static,patched=1") };
    categories::compare(8, |_| 0, true);
    categories::count_locks();
}
