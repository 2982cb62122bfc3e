//! The engines by name, and what a communicator's engine is made of.

use super::arrivals::{Arrivals, ByKey, BySource};
use super::hash::PostedHash;
use super::lanes::{Exact, Folded, Lanes, Packed};
use super::perpeer::PerPeer;
use super::simd::Simd;
use super::{Index, Key, Pattern, Posted, Unexpected};
use core::ptr::NonNull;

/// The engines; README.md says what each is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A list; `hash` behind it once a search walked far.
    Adaptive,
    List,
    Hash,
    PerPeer,
    Vector,
    Fuzzy32,
    Fuzzy16,
    Fuzzy8,
}

impl Choice {
    pub const ALL: [Choice; 8] = [
        Choice::Adaptive,
        Choice::List,
        Choice::Hash,
        Choice::PerPeer,
        Choice::Vector,
        Choice::Fuzzy32,
        Choice::Fuzzy16,
        Choice::Fuzzy8,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Choice::Adaptive => "adaptive",
            Choice::List => "list",
            Choice::Hash => "hash",
            Choice::PerPeer => "perpeer",
            Choice::Vector => "vector",
            Choice::Fuzzy32 => "fuzzy32",
            Choice::Fuzzy16 => "fuzzy16",
            Choice::Fuzzy8 => "fuzzy8",
        }
    }

    /// By the name of an info key or parameter. `None`: no such engine.
    pub fn by_name(name: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// The choice by parameters and info key.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub choice: Choice,
    pub simd: Simd,
    /// Nodes that a search of the adaptive engine may walk before the queue gets its index; at least 1.
    pub walk: usize,
}

impl Setting {
    /// From which search depth on a queue has an index: 0, always; all ones, never.
    pub(super) fn limit(&self) -> usize {
        match self.choice {
            Choice::Adaptive => self.walk.max(1),
            Choice::List => usize::MAX,
            _ => 0,
        }
    }
}

/// A closed set, so that a call costs no indirection.
macro_rules! indices {
    ($name:ident of $node:ty, asked $ask:ty: $($variant:ident($index:ty) = $choice:pat => $make:expr,)*) => {
        #[allow(clippy::large_enum_variant, reason = "there are two per communicator, behind a pointer")]
        pub(crate) enum $name {
            $($variant($index),)*
        }
        impl $name {
            pub fn new(choice: Choice, simd: Simd) -> Option<$name> {
                let make: fn(Simd) -> $name = match choice {
                    $($choice => |simd| $name::$variant($make(simd)),)*
                    Choice::List => return None,
                };
                Some(make(simd))
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
            fn remove(&mut self, node: NonNull<$node>) -> bool {
                match self { $($name::$variant(index) => index.remove(node),)* }
            }
            fn take_all(&mut self, out: &mut Vec<NonNull<$node>>) {
                match self { $($name::$variant(index) => index.take_all(out),)* }
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
    Vector(Lanes<Posted, Exact, 32, 2, 2, 16>) = Choice::Vector => Lanes::new,
    Fuzzy32(Lanes<Posted, Packed, 32, 1, 1, 16>) = Choice::Fuzzy32 => Lanes::new,
    Fuzzy16(Lanes<Posted, Folded, 16, 1, 1, 32>) = Choice::Fuzzy16 => Lanes::new,
    Fuzzy8(Lanes<Posted, Folded, 8, 1, 1, 64>) = Choice::Fuzzy8 => Lanes::new,
}

indices! { WaitingIndex of Unexpected, asked Pattern:
    Hash(Arrivals<ByKey>) = Choice::Adaptive | Choice::Hash => |simd| Arrivals::new(ByKey::new(), simd),
    PerPeer(Arrivals<BySource>) = Choice::PerPeer => |simd| Arrivals::new(BySource::new(), simd),
    Vector(Lanes<Unexpected, Exact, 32, 2, 0, 16>) = Choice::Vector => Lanes::new,
    Fuzzy32(Lanes<Unexpected, Packed, 32, 1, 0, 16>) = Choice::Fuzzy32 => Lanes::new,
    Fuzzy16(Lanes<Unexpected, Folded, 16, 1, 0, 32>) = Choice::Fuzzy16 => Lanes::new,
    Fuzzy8(Lanes<Unexpected, Folded, 8, 1, 0, 64>) = Choice::Fuzzy8 => Lanes::new,
}
