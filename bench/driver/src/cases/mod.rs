//! All cases, by chapter.

mod patterns;
mod strategies;
mod waiting;

use crate::case::{Case, Sizes};
pub use strategies::OUT_OF_SEQUENCE;

pub fn all(sizes: &Sizes) -> Vec<Case> {
    let mut all = patterns::cases(sizes);
    all.extend(waiting::cases(sizes));
    all.extend(strategies::cases(sizes));
    all
}

/// Options that every run of multirate has.
fn multirate(sizes: &Sizes, bytes: u64) -> String {
    with_window(sizes, bytes, sizes.window)
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
