//! All cases: one file each, which registers itself. A place in the list is the chapter's number and the place in it: 3 patterns of
//! messages between processes and threads, 4 locks and waiting, 5 how threads get communication resources; 6 is the paper on one-sided communication, 7 that on endpoints, 8 that on matching, 9 that on scalable endpoints.

/// Registers a case: `case!(305, |sizes| …)`.
macro_rules! case {
    ($place:expr, $make:expr) => {
        const _: () = {
            #[linkme::distributed_slice(crate::cases::ENTRIES)]
            static ENTRY: crate::cases::Entry = crate::cases::Entry { place: $place, make: $make };
        };
    };
}

mod asking;
mod communicators;
mod devices;
mod endpoints;
mod factorisations;
mod halos;
mod hybrid;
mod locks;
mod many_to_many;
mod many_to_one;
mod matching;
mod one_pair;
mod one_sided;
mod one_sided_rates;
mod one_to_many;
mod packing;
mod pairwise;
mod ping_pong;
mod rates;
mod scalable;
mod shape;
mod sharing;
mod state_of_the_art;
mod strategy;
mod table;
mod thread_safety;
mod traces;
mod waits;
mod windows;

use crate::case::{Case, Sizes};
pub use endpoints::BY_PROXIES;
pub use scalable::{BY_CATEGORY, CATEGORY_NAMES, SHAPE_NAMES};
pub use strategy::{LOCK_MISSES, MATCH_TIME_EACH, OUT_OF_SEQUENCE, SHARED_WRITES};

/// A case that registered itself.
pub struct Entry {
    /// Where it stands in the list.
    pub place: u32,
    pub make: fn(&Sizes) -> Case,
}

/// Every case, in any order.
#[linkme::distributed_slice]
static ENTRIES: [Entry];

/// Every case, in the order of places.
pub fn all(sizes: &Sizes) -> Vec<Case> {
    let mut all: Vec<&Entry> = ENTRIES.iter().collect();
    all.sort_by_key(|entry| entry.place);
    all.into_iter().map(|entry| (entry.make)(sizes)).collect()
}

/// Options that every run of multirate has.
fn multirate(sizes: &Sizes, bytes: u64) -> String {
    with_window(sizes, bytes, sizes.window)
}

/// The same with each thread on a core of its own, where there are so many, as in chapter 5.
fn pinned(sizes: &Sizes, bytes: u64) -> String {
    format!("{} -P", multirate(sizes, bytes))
}

fn with_window(sizes: &Sizes, bytes: u64, window: u64) -> String {
    format!("-s {bytes} -w {window} -i {{i}}{}", if sizes.quick { " -v" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_every_series_has_a_place() {
        for sizes in [Sizes::whole(), Sizes::quick()] {
            let cases = all(&sizes);
            let names: HashSet<&str> = cases.iter().map(|c| c.name).collect();
            assert_eq!(names.len(), cases.len());
            // Nothing was left out by the linker.
            assert_eq!(cases.len(), 84);
            for case in &cases {
                let labels: HashSet<&str> = case.series.iter().map(|s| s.label.as_str()).collect();
                assert_eq!(labels.len(), case.series.len(), "{}", case.name);
                for series in &case.series {
                    assert!(
                        case.xs.iter().any(|x| (series.point)(*x).is_some()),
                        "{} {}",
                        case.name,
                        series.label
                    );
                }
                for ratio in &case.ratios {
                    for (label, _) in [Some(&ratio.over), ratio.under.as_ref()].into_iter().flatten() {
                        assert!(labels.contains(label.as_str()), "{}: no series {label}", case.name);
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_has_its_number_of_messages() {
        let cases = all(&Sizes::whole());
        let table = cases.iter().find(|c| c.name == "table5.2").unwrap();
        let warm_up = 10;
        let messages = table.xs[0] * 128 * (table.iterations.unwrap() + warm_up);
        assert_eq!(messages, 2_585_600);
    }
}
