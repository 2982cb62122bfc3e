//! Cutting data into segments, each of which goes through all phases while others are at the next one.

/// Cuts `count` elements of `size` bytes each into segments of about `segment` bytes; 0: one segment. Yields the first element of each and how many it has.
pub fn segments(count: u64, size: u64, segment: u64) -> impl Iterator<Item = (u64, u64)> {
    let each = each(count, size, segment);
    (0..count.div_ceil(each)).map(move |nth| (nth * each, each.min(count - nth * each)))
}

/// Elements of the longest segment, at least 1.
pub fn each(count: u64, size: u64, segment: u64) -> u64 {
    let fits = if segment == 0 { count } else { segment / size.max(1) };
    fits.clamp(1, count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_have_every_element_once() {
        let all = |count, size, segment| segments(count, size, segment).collect::<Vec<_>>();
        assert_eq!(all(10, 4, 16), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(all(10, 4, 0), [(0, 10)]);
        assert_eq!(all(3, 100, 16), [(0, 1), (1, 1), (2, 1)], "an element is not cut");
        assert_eq!(all(2, 0, 16), [(0, 2)]);
        assert_eq!(all(0, 4, 16), []);
    }
}
