//! Choosing checks: all of a list by name, or the one that `OXMPI_CHECK` names.

/// The items in the order of their names; those that the environment variable `OXMPI_CHECK` leaves. Fails where it names none.
pub fn chosen<T>(all: impl IntoIterator<Item = &'static T>, name: impl Fn(&T) -> &str) -> Vec<&'static T> {
    let only = std::env::var("OXMPI_CHECK").ok();
    let mut chosen = sorted(all, &name);
    chosen.retain(|check| only.as_deref().is_none_or(|only| only == name(check)));
    assert!(!chosen.is_empty(), "there is no check {only:?}");
    chosen
}

/// The items in the order of their names.
pub fn sorted<T>(all: impl IntoIterator<Item = &'static T>, name: impl Fn(&T) -> &str) -> Vec<&'static T> {
    let mut all: Vec<&T> = all.into_iter().collect();
    all.sort_by(|a, b| name(a).cmp(name(b)));
    all
}
