//! The engines against a plain model: every operation sequence gives the same pairs in the same order.

use super::super::*;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};
use proptest::prelude::*;

/// Two vectors, searched from the front with MPI's words instead of masks.
#[derive(Default)]
struct Model {
    posted: Vec<(usize, i32, i32)>,
    unexpected: Vec<(usize, i32, i32)>,
}

fn fits(ask: (i32, i32), source: i32, tag: i32) -> bool {
    (ask.0 == ANY_SOURCE || ask.0 == source) && if ask.1 == ANY_TAG { tag >= 0 } else { ask.1 == tag }
}

impl Model {
    fn arrive(&mut self, id: usize, source: i32, tag: i32) -> Option<usize> {
        let at = self.posted.iter().position(|p| fits((p.1, p.2), source, tag));
        if at.is_none() {
            self.unexpected.push((id, source, tag));
        }
        at.map(|i| self.posted.remove(i).0)
    }
    fn find(&mut self, ask: (i32, i32), take: bool) -> Option<usize> {
        let i = self.unexpected.iter().position(|u| fits(ask, u.1, u.2))?;
        Some(if take { self.unexpected.remove(i).0 } else { self.unexpected[i].0 })
    }
    fn cancel(&mut self, id: usize) -> bool {
        let before = self.posted.len();
        self.posted.retain(|p| p.0 != id);
        self.posted.len() < before
    }
}

#[derive(Clone, Debug)]
enum Op {
    Receive(i32, i32),
    Arrive(i32, i32),
    Probe(i32, i32),
    Mprobe(i32, i32),
    Cancel(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let ask = || (prop_oneof![Just(ANY_SOURCE), 0..3i32], prop_oneof![Just(ANY_TAG), -5..-2i32, 0..3i32]);
    prop_oneof![
        4 => ask().prop_map(|(s, t)| Op::Receive(s, t)),
        4 => (0..3i32, prop_oneof![-5..-2i32, 0..3i32]).prop_map(|(s, t)| Op::Arrive(s, t)),
        1 => ask().prop_map(|(s, t)| Op::Probe(s, t)),
        1 => ask().prop_map(|(s, t)| Op::Mprobe(s, t)),
        1 => any::<usize>().prop_map(Op::Cancel),
    ]
}

/// A node that knows its number.
#[repr(C)]
struct Numbered<N> {
    node: N,
    id: usize,
}

fn id_of<N>(node: NonNull<N>) -> usize {
    // SAFETY: all nodes in these tests are the first field of a `Numbered`.
    unsafe { node.cast::<Numbered<N>>().as_ref() }.id
}

fn agree(mut engine: Engine, ops: Vec<Op>) {
    use core::ptr::null_mut;
    let mut model = Model::default();
    let mut receives: Vec<Box<Numbered<Posted>>> = Vec::new();
    let mut messages: Vec<Box<Numbered<Unexpected>>> = Vec::new();
    for op in ops {
        match op {
            Op::Receive(s, t) => {
                let found = engine.find_unexpected(Pattern::new(s, t), true).map(id_of);
                assert_eq!(found, model.find((s, t), true));
                if found.is_none() {
                    let id = receives.len();
                    let node = Posted { next: null_mut(), pattern: Pattern::new(s, t), stamp: id as u64 };
                    receives.push(Box::new(Numbered { node, id }));
                    // SAFETY: boxed, and kept to the end.
                    unsafe { engine.post(NonNull::from(&mut *receives[id]).cast()) };
                    model.posted.push((id, s, t));
                }
            }
            Op::Arrive(s, t) => {
                let key = crate::wire::source_tag(s, t);
                let id = messages.len();
                let found = engine.match_arrival(Arrival { key, comm: 0, order_key: 0 }).map(id_of);
                assert_eq!(found, model.arrive(id, s, t));
                if found.is_none() {
                    let node = Unexpected { next: null_mut(), key, order_key: 0 };
                    messages.push(Box::new(Numbered { node, id }));
                    // SAFETY: boxed, and kept to the end.
                    unsafe { engine.add_unexpected(NonNull::from(&mut *messages[id]).cast()) };
                }
            }
            Op::Probe(s, t) => {
                assert_eq!(
                    engine.find_unexpected(Pattern::new(s, t), false).map(id_of),
                    model.find((s, t), false)
                );
            }
            Op::Mprobe(s, t) => {
                assert_eq!(
                    engine.find_unexpected(Pattern::new(s, t), true).map(id_of),
                    model.find((s, t), true)
                );
            }
            Op::Cancel(n) if !receives.is_empty() => {
                let id = n % receives.len();
                let node = NonNull::from(&mut *receives[id]).cast();
                assert_eq!(engine.cancel(node), model.cancel(id));
            }
            Op::Cancel(_) => {}
        }
        assert_eq!(engine.has_posted(), !model.posted.is_empty());
    }
    while let Some(node) = engine.pop_unexpected() {
        assert_eq!(id_of(node), model.unexpected.remove(0).0);
    }
    assert!(model.unexpected.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn list_agrees_with_the_model(ops in prop::collection::vec(op(), 0..80)) {
        agree(Engine::by_name("list").unwrap(), ops);
    }
}

#[test]
fn unknown_engines_are_refused() {
    assert!(Engine::by_name("").is_none());
    assert!(Engine::by_name("quantum").is_none());
}
