//! Endpoint categories on a device whose doorbell registers come on demand, without the extension of thread domains.

#[path = "common/categories.rs"]
mod categories;
mod common;

#[test]
fn objects_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "uar=lazy") };
    categories::compare(1, |pairs| pairs.min(16).div_ceil(2), false);
    categories::compare_single(1, |pairs| pairs.min(16).div_ceil(2), false);
    // The first four pairs of a context have registers without a lock, those behind share twelve with one.
    categories::count_locks([
        [100, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 100],
        [100, 75, 0, 100],
        [100, 0, 0, 0],
    ]);
}
