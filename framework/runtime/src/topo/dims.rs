//! MPI_Dims_create (MPI 5.0 §8.5.2): a number of ranks as a product of dimensions that are as close to each other as
//! possible. "As close as possible" means here: the difference between the largest and the smallest is as small as it can
//! be; of all such products those whose smallest dimension is largest (and so is the first); of these the one whose second
//! dimension is smallest, then the third, and so on. Dimensions do not increase.
//!
//! Found by search, over divisors only and with what cannot be better than the best so far left out.

/// Splits `n` (at least 1) into `k` dimensions that are as close to each other as possible, in descending order.
pub fn balanced(n: u32, k: usize) -> Vec<u32> {
    if k == 0 {
        return Vec::new();
    }
    let mut search = Search { divisors: divisors(n), best: Vec::new(), spread: u64::MAX, now: Vec::new() };
    search.from(n.into(), k, n.into());
    search.best
}

/// Lists the divisors of `n`, ascending.
fn divisors(n: u32) -> Vec<u64> {
    let n = u64::from(n);
    let low: Vec<u64> = (1..).take_while(|d| d * d <= n).filter(|d| n.is_multiple_of(*d)).collect();
    let high = low.iter().rev().map(|d| n / d).filter(|d| d * d != n);
    low.iter().copied().chain(high).collect()
}

/// The search for the best product: the best so far, and the dimensions chosen now.
struct Search {
    divisors: Vec<u64>,
    best: Vec<u32>,
    /// Largest minus smallest of the best.
    spread: u64,
    now: Vec<u64>,
}

impl Search {
    /// Tries all ways to go on with `k` more dimensions whose product is `rest`, none above `cap`, in ascending order,
    /// and keeps the best product.
    fn from(&mut self, rest: u64, k: usize, cap: u64) {
        if k == 0 || rest == 1 {
            self.found(k);
            return;
        }
        let mut at = self.divisors.partition_point(|d| !power_reaches(*d, k, rest));
        while let Some(&d) = self.divisors.get(at).filter(|d| **d <= cap) {
            at += 1;
            // One that is as good has no dimension below this.
            let first = self.now.first().copied().unwrap_or(d);
            let least = first.saturating_sub(self.spread).max(1);
            if least > 1 && power_reaches(least, k - 1, rest / d + 1) {
                return;
            }
            if rest.is_multiple_of(d) {
                self.now.push(d);
                self.from(rest / d, k - 1, d);
                self.now.pop();
            }
        }
    }

    /// Compares the product found with the best so far and keeps the better one. `ones`: how many dimensions are left,
    /// of 1 each.
    fn found(&mut self, ones: usize) {
        let first = self.now.first().copied().unwrap_or(1);
        let last = if ones > 0 { 1 } else { self.now.last().copied().unwrap_or(1) };
        // In ascending order: what begins with the same dimension comes with the smaller second one first.
        let larger = self.best.first().is_none_or(|best| first > u64::from(*best));
        if first - last < self.spread || first - last == self.spread && larger {
            self.spread = first - last;
            self.best = self.now.iter().map(|d| *d as u32).chain(std::iter::repeat_n(1, ones)).collect();
        }
    }
}

/// Whether `base` to the power of `k` is at least `goal`.
fn power_reaches(base: u64, k: usize, goal: u64) -> bool {
    let mut power = 1u64;
    for _ in 0..k {
        if power >= goal || base <= 1 {
            break;
        }
        power = power.saturating_mul(base);
    }
    power >= goal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every product of `k` dimensions that do not increase.
    fn all(n: u32, k: usize, cap: u32) -> Vec<Vec<u32>> {
        if k == 0 {
            return if n == 1 { vec![vec![]] } else { vec![] };
        }
        let fits = (1..=cap.min(n)).filter(|d| n.is_multiple_of(*d));
        let with = |d: u32| all(n / d, k - 1, d).into_iter().map(move |rest| [&[d], &rest[..]].concat());
        fits.flat_map(with).collect()
    }

    fn plain(n: u32, k: usize) -> Vec<u32> {
        all(n, k, n)
            .into_iter()
            .min_by_key(|d| (d[0] - d[k - 1], std::cmp::Reverse(d[0]), d.clone()))
            .unwrap()
    }

    #[test]
    fn agrees_with_trying_all() {
        for n in 1..=240 {
            for k in 1..=5 {
                assert_eq!(balanced(n, k), plain(n, k), "{n} in {k}");
            }
        }
        for n in [720, 1024, 2310, 5040] {
            for k in 1..=4 {
                assert_eq!(balanced(n, k), plain(n, k), "{n} in {k}");
            }
        }
    }

    #[test]
    fn what_people_expect() {
        let expected: [(u32, usize, &[u32]); 10] = [
            (6, 2, &[3, 2]),
            (7, 2, &[7, 1]),
            (6, 3, &[3, 2, 1]),
            (16, 2, &[4, 4]),
            (60, 3, &[5, 4, 3]),
            (1, 3, &[1, 1, 1]),
            (72, 3, &[6, 4, 3]),
            (2197, 3, &[13, 13, 13]),
            (2 * 65537, 2, &[65537, 2]),
            (i32::MAX as u32, 2, &[i32::MAX as u32, 1]),
        ];
        for (n, k, dims) in expected {
            assert_eq!(balanced(n, k), dims, "{n} in {k}");
        }
        assert_eq!(balanced(1 << 30, 40).iter().filter(|d| **d == 2).count(), 30);
    }

    proptest! {
        #[test]
        fn is_a_product_and_does_not_increase(n in 1u32..=i32::MAX as u32, k in 1usize..12) {
            let dims = balanced(n, k);
            prop_assert_eq!(dims.len(), k);
            prop_assert_eq!(dims.iter().map(|d| u64::from(*d)).product::<u64>(), u64::from(n));
            prop_assert!(dims.is_sorted_by(|a, b| a >= b));
        }
    }
}
