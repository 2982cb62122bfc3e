//! How a component declares its parameters and receives their values.
//!
//! A declaration is data ([`ParamDecl`]); the host resolves it from files, environment and command
//! line (`mca-params/`) and hands the values to `open` in the order of the declarations. Components
//! never read the environment. The full name is `<framework>_<component>_<name>`.

use crate::refs::{SliceRef, StrRef};

/// How a value is written and read; numbers, because no Rust enum is taken from the other side.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParamKind(pub u32);

impl ParamKind {
    pub const INT: ParamKind = ParamKind(1);
    pub const UNSIGNED: ParamKind = ParamKind(2);
    /// Bytes, written with an optional k, m or g (powers of 1024).
    pub const SIZE: ParamKind = ParamKind(3);
    pub const BOOL: ParamKind = ParamKind(4);
    pub const DOUBLE: ParamKind = ParamKind(5);
    pub const STRING: ParamKind = ParamKind(6);
    /// One of `enumerators`, by name; arrives as the name's index in `int`.
    pub const ENUM: ParamKind = ParamKind(7);
    /// Comma-separated, `^` in front negates; arrives as written in `text`.
    pub const LIST: ParamKind = ParamKind(8);
}

/// MPI_T verbosity, 1 (user, basic) to 9 (developer, all).
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level(pub u32);

/// MPI_T scope.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope(pub u32);

impl Scope {
    pub const CONSTANT: Scope = Scope(1);
    pub const READONLY: Scope = Scope(2);
    pub const LOCAL: Scope = Scope(3);
    pub const GROUP: Scope = Scope(4);
    pub const GROUP_EQ: Scope = Scope(5);
    pub const ALL: Scope = Scope(6);
    pub const ALL_EQ: Scope = Scope(7);
}

/// Bits of [`ParamDecl::flags`].
pub mod param_flag {
    /// Using the parameter is warned about: it will go.
    pub const DEPRECATED: u32 = 1;
    /// Using one of the synonyms is warned about, and the name to use is named.
    pub const SYNONYMS_DEPRECATED: u32 = 2;
    /// For developers of the component: left out of listings unless they are asked for everything.
    pub const INTERNAL: u32 = 4;
}

#[repr(C)]
pub struct ParamDecl {
    pub name: StrRef,
    pub kind: ParamKind,
    pub level: Level,
    pub scope: Scope,
    /// Bits of `param_flag`.
    pub flags: u32,
    /// As a user would write it.
    pub default: StrRef,
    pub help: StrRef,
    /// Smallest and largest value for numbers; both zero means no bound.
    pub min: i64,
    pub max: i64,
    pub enumerators: SliceRef<StrRef>,
    /// Full names under which Open MPI users know it, if any.
    pub synonyms: SliceRef<StrRef>,
}

// SAFETY: immutable; its pointers are to statics of the component.
unsafe impl Sync for ParamDecl {}

impl ParamDecl {
    /// A declaration without bounds, enumerators or synonyms; the builder methods add those.
    pub const fn new(
        name: &'static str,
        kind: ParamKind,
        level: u32,
        default: &'static str,
        help: &'static str,
    ) -> ParamDecl {
        ParamDecl {
            name: StrRef::new(name),
            kind,
            level: Level(level),
            scope: Scope::READONLY,
            flags: 0,
            default: StrRef::new(default),
            help: StrRef::new(help),
            min: 0,
            max: 0,
            enumerators: SliceRef::new(&[]),
            synonyms: SliceRef::new(&[]),
        }
    }
    pub const fn range(mut self, min: i64, max: i64) -> ParamDecl {
        self.min = min;
        self.max = max;
        self
    }
    pub const fn one_of(mut self, names: &'static [StrRef]) -> ParamDecl {
        self.enumerators = SliceRef::new(names);
        self
    }
    pub const fn synonyms(mut self, names: &'static [StrRef]) -> ParamDecl {
        self.synonyms = SliceRef::new(names);
        self
    }
    pub const fn scope(mut self, scope: Scope) -> ParamDecl {
        self.scope = scope;
        self
    }
    /// Bits of [`param_flag`].
    pub const fn flags(mut self, flags: u32) -> ParamDecl {
        self.flags = flags;
        self
    }
}

/// A resolved value. `int` holds INT, UNSIGNED (as bits), SIZE, BOOL (0/1) and ENUM (index).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ParamValue {
    pub kind: ParamKind,
    pub reserved: u32,
    pub int: i64,
    pub double: f64,
    pub text: StrRef,
}

/// A component's view of its values, by the index of the declaration.
#[derive(Clone, Copy)]
pub struct Params<'a>(pub &'a [ParamValue]);

impl Params<'_> {
    pub fn int(&self, index: usize) -> i64 {
        self.0[index].int
    }
    pub fn size(&self, index: usize) -> usize {
        self.0[index].int.max(0) as usize
    }
    pub fn flag(&self, index: usize) -> bool {
        self.0[index].int != 0
    }
    pub fn double(&self, index: usize) -> f64 {
        self.0[index].double
    }
    pub fn text(&self, index: usize) -> &str {
        // SAFETY: the host keeps the text alive as long as the values.
        unsafe { self.0[index].text.get() }.unwrap_or("")
    }
}

const _: () = {
    assert!(core::mem::size_of::<ParamDecl>() == 112);
    assert!(core::mem::size_of::<ParamValue>() == 40);
};
