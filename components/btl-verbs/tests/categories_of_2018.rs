//! Endpoint categories on a device with the doorbell registers of 2018, all at open, and the extension of thread domains.

#[path = "common/categories.rs"]
mod categories;
mod common;

#[test]
fn objects_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "uar=static,patched=1") };
    categories::compare(8, |_| 0, true);
    categories::compare_single(8, |_| 0, true);
    // Twelve of sixteen static registers have a lock; the fifth and the sixteenth pair are on one, beside the register that takes plain doorbells only.
    categories::count_locks([
        [100, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 100],
        [100, 75, 12, 87],
        [100, 0, 0, 0],
    ]);
}
