//! The tree in which daemons start each other: whoever has nodes to start gives each of its children a part of them.

/// A node: its number and its name.
pub type Member = (u32, String);

/// Parts of nearly the same size, at most `width`; the first of each is started, and starts the rest.
pub fn split(nodes: &[Member], width: usize) -> Vec<Vec<Member>> {
    let parts = width.max(1).min(nodes.len());
    let (size, more) = (nodes.len() / parts.max(1), nodes.len() % parts.max(1));
    let mut rest = nodes;
    (0..parts)
        .map(|part| {
            let (own, others) = rest.split_at(size + usize::from(part < more));
            rest = others;
            own.to_vec()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(count: u32) -> Vec<Member> {
        (0..count).map(|n| (n, format!("n{n}"))).collect()
    }

    #[test]
    fn every_node_is_started_once() {
        for (count, width) in [(0, 4), (1, 4), (3, 4), (4, 4), (5, 4), (1000, 7), (17, 1)] {
            let mut started = 0;
            let mut deepest = 0;
            let mut look: Vec<(Vec<Member>, u32)> =
                split(&members(count), width).into_iter().map(|p| (p, 1)).collect();
            assert!(look.len() <= width);
            while let Some((part, depth)) = look.pop() {
                started += 1;
                deepest = deepest.max(depth);
                assert!(!part.is_empty());
                look.extend(split(&part[1..], width).into_iter().map(|p| (p, depth + 1)));
            }
            assert_eq!(started, count);
            if width == 7 {
                assert!(deepest <= 4, "7 + 49 + 343 + ... : {deepest}");
            }
        }
    }

    #[test]
    fn a_million_nodes() {
        let parts = split(&members(1_000_000), 32);
        assert_eq!(parts.len(), 32);
        assert!(parts.iter().all(|part| part.len() == 31_250));
    }
}
