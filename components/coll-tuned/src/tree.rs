//! Trees of ranks, by place: the top of a tree has place 0, of an in-order tree the last place.

/// A place in a tree: the one above, and those below in rising order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    pub parent: Option<u32>,
    pub children: Vec<u32>,
}

impl Node {
    /// The same tree with other numbers.
    pub fn map(self, number: impl Fn(u32) -> u32) -> Node {
        Node { parent: self.parent.map(&number), children: self.children.into_iter().map(number).collect() }
    }
}

/// The shape of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The top has so many chains below it.
    Chains(u32),
    /// Two below each.
    Binary,
    /// A k-nomial tree; 2: binomial.
    Knomial(u32),
    /// Two below each, and those below hold the places before: post-order.
    InOrder,
}

impl Shape {
    /// The node of a place among `n`.
    pub fn node(self, place: u32, n: u32) -> Node {
        match self {
            Shape::Chains(fanout) => chains(place, n, fanout),
            Shape::Binary => binary(place, n),
            Shape::Knomial(radix) => knomial(place, n, radix),
            Shape::InOrder => in_order(place, n),
        }
    }

    /// The place of the top.
    pub fn top(self, n: u32) -> u32 {
        if self == Shape::InOrder { n - 1 } else { 0 }
    }
}

/// Place p is below the one without its lowest digit to the base `radix` that is not 0; what is below a place follows it without a gap.
pub fn knomial(place: u32, n: u32, radix: u32) -> Node {
    let (place, n, radix) = (u64::from(place), u64::from(n), u64::from(radix.max(2)));
    let mut node = Node::default();
    let mut width = 1;
    while width < n {
        let digit = place / width % radix;
        if digit != 0 {
            node.parent = Some((place - digit * width) as u32);
            break;
        }
        let below = (1..radix).map(|j| place + j * width).take_while(|child| *child < n);
        node.children.extend(below.map(|child| child as u32));
        width *= radix;
    }
    node
}

/// Places from `place` on in the binomial tree below it, itself among them.
pub fn binomial_width(place: u32, n: u32) -> u32 {
    if place == 0 { n } else { (1 << place.trailing_zeros()).min(n - place) }
}

fn binary(place: u32, n: u32) -> Node {
    let children = [2 * u64::from(place) + 1, 2 * u64::from(place) + 2].into_iter();
    Node {
        parent: place.checked_sub(1).map(|p| p / 2),
        children: children.filter(|c| *c < u64::from(n)).map(|c| c as u32).collect(),
    }
}

/// Chains that follow each other without a gap and differ by one place at most.
fn chains(place: u32, n: u32, fanout: u32) -> Node {
    let (rest, fanout) = (n - 1, fanout.clamp(1, (n - 1).max(1)));
    let (each, more) = (rest / fanout, rest % fanout);
    let begin = |chain: u32| 1 + chain * each + chain.min(more);
    if place == 0 {
        let heads = if rest == 0 { 0 } else { fanout };
        return Node { parent: None, children: (0..heads).map(begin).collect() };
    }
    let heads = |at: u32| at == n || (0..fanout).any(|chain| begin(chain) == at);
    Node {
        parent: Some(if heads(place) { 0 } else { place - 1 }),
        children: if heads(place + 1) { Vec::new() } else { vec![place + 1] },
    }
}

fn in_order(place: u32, n: u32) -> Node {
    let (mut low, mut high, mut parent) = (0, n, None);
    loop {
        let top = high - 1;
        let middle = low + (top - low).div_ceil(2);
        if place == top {
            let halves = [(low, middle), (middle, top)].into_iter().filter(|(from, to)| from < to);
            return Node { parent, children: halves.map(|(_, to)| to - 1).collect() };
        }
        parent = Some(top);
        if place < middle {
            high = middle;
        } else {
            (low, high) = (middle, top);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [Shape; 9] = [
        Shape::Chains(1),
        Shape::Chains(3),
        Shape::Chains(100),
        Shape::Binary,
        Shape::Knomial(2),
        Shape::Knomial(3),
        Shape::Knomial(4),
        Shape::Knomial(100),
        Shape::InOrder,
    ];

    /// Places below one, itself among them.
    fn below(shape: Shape, place: u32, n: u32) -> Vec<u32> {
        let children = shape.node(place, n).children;
        let mut all: Vec<u32> = children.into_iter().flat_map(|child| below(shape, child, n)).collect();
        all.push(place);
        all.sort_unstable();
        all
    }

    #[test]
    fn everybody_is_below_the_top_once() {
        for shape in SHAPES {
            for n in 1..=33 {
                assert_eq!(below(shape, shape.top(n), n), (0..n).collect::<Vec<_>>(), "{shape:?} of {n}");
                for place in 0..n {
                    let node = shape.node(place, n);
                    assert_eq!(node.parent.is_none(), place == shape.top(n));
                    for child in &node.children {
                        assert_eq!(shape.node(*child, n).parent, Some(place), "{shape:?} of {n}");
                    }
                }
            }
        }
    }

    /// Reductions in the order of ranks rest on this.
    #[test]
    fn what_is_below_has_no_gap() {
        for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Binary) {
            for n in 1..=33 {
                for place in 0..n {
                    let below = below(shape, place, n);
                    let (first, last) = (below[0], below[below.len() - 1]);
                    let chain_top = matches!(shape, Shape::Chains(_)) && place == 0;
                    assert!(chain_top || (last - first + 1) as usize == below.len(), "{shape:?} of {n}");
                    assert_eq!(if shape == Shape::InOrder { last } else { first }, place);
                    if shape == Shape::Knomial(2) {
                        assert_eq!(below.len(), binomial_width(place, n) as usize);
                    }
                    assert!(shape.node(place, n).children.is_sorted());
                }
            }
        }
    }
}
