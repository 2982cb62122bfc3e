//! The index of each engine, as one closed set for receives and one for messages.

use super::arrivals::{Arrivals, ByKey, BySource};
use super::choice::{Choice, Setting};
use super::entry::{Index, Key, Node, Pattern, Posted, Unexpected};
use super::hash::PostedHash;
use super::lanes::{ExactForm, FoldedForm, Lanes, WindowedForm};
use super::perpeer::PerPeer;
use core::ptr::NonNull;

/// A node whose queues can have an index.
pub(crate) trait Indexed: Node {
    /// The index over such nodes.
    type Index: Index<Self>;
    /// Makes the empty index of the setting's engine. `None`: the engine is `list`, which has none.
    fn index(setting: Setting) -> Option<Self::Index>;
}

/// Defines the index of a queue as an enum over the indices of all engines: a closed set, so that a call costs no
/// indirection.
macro_rules! indices {
    ($name:ident of $node:ty, asked $ask:ty: $($variant:ident($index:ty) = $choice:pat => $make:expr,)*) => {
        /// The index of a queue, with a variant for each engine that has one.
        #[allow(clippy::large_enum_variant, reason = "there are two per communicator, behind a pointer")]
        pub(crate) enum $name {
            $($variant($index),)*
        }
        impl Indexed for $node {
            type Index = $name;
            fn index(setting: Setting) -> Option<$name> {
                let make: fn(Setting) -> $name = match setting.choice {
                    $($choice => |setting| $name::$variant($make(setting)),)*
                    Choice::List => return None,
                };
                Some(make(setting))
            }
        }
        impl Index<$node> for $name {
            unsafe fn push(&mut self, node: NonNull<$node>) {
                // SAFETY: the caller's promise, passed on.
                match self { $($name::$variant(index) => unsafe { index.push(node) },)* }
            }
            fn find(&mut self, ask: $ask, take: bool) -> Option<NonNull<$node>> {
                match self { $($name::$variant(index) => index.find(ask, take),)* }
            }
            unsafe fn remove(&mut self, node: NonNull<$node>) -> bool {
                // SAFETY: the caller's promise, passed on.
                match self { $($name::$variant(index) => unsafe { index.remove(node) },)* }
            }
            fn take_all(&mut self) -> Vec<NonNull<$node>> {
                match self { $($name::$variant(index) => index.take_all(),)* }
            }
            fn len(&self) -> usize {
                match self { $($name::$variant(index) => index.len(),)* }
            }
            fn bytes(&self) -> usize {
                let own = match self { $($name::$variant(index) => index.bytes() - size_of_val(index),)* };
                size_of::<$name>() + own
            }
        }
    };
}

indices! { PostedIndex of Posted, asked Key:
    Hash(PostedHash) = Choice::Adaptive | Choice::Hash => |_| PostedHash::new(),
    PerPeer(PerPeer) = Choice::PerPeer => |_| PerPeer::new(),
    Vector(Lanes<Posted, ExactForm, 32, 2, 2, 16>) = Choice::Vector => Lanes::new,
    Fuzzy32(Lanes<Posted, WindowedForm, 32, 1, 1, 16>) = Choice::Fuzzy32 => Lanes::new,
    Fuzzy16(Lanes<Posted, FoldedForm, 16, 1, 1, 32>) = Choice::Fuzzy16 => Lanes::new,
    Fuzzy8(Lanes<Posted, FoldedForm, 8, 1, 1, 64>) = Choice::Fuzzy8 => Lanes::new,
}

indices! { WaitingIndex of Unexpected, asked Pattern:
    Hash(Arrivals<ByKey>) = Choice::Adaptive | Choice::Hash => |s: Setting| Arrivals::new(ByKey::new(), s.simd),
    PerPeer(Arrivals<BySource>) = Choice::PerPeer => |s: Setting| Arrivals::new(BySource::new(), s.simd),
    Vector(Lanes<Unexpected, ExactForm, 32, 2, 0, 16>) = Choice::Vector => Lanes::new,
    Fuzzy32(Lanes<Unexpected, WindowedForm, 32, 1, 0, 16>) = Choice::Fuzzy32 => Lanes::new,
    Fuzzy16(Lanes<Unexpected, FoldedForm, 16, 1, 0, 32>) = Choice::Fuzzy16 => Lanes::new,
    Fuzzy8(Lanes<Unexpected, FoldedForm, 8, 1, 0, 64>) = Choice::Fuzzy8 => Lanes::new,
}
