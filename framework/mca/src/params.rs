//! Parameters of a component: their declarations, and the values that it receives.
//!
//! A declaration is data ([`ParamDecl`]); the host resolves it from files, environment and command
//! line (`mca-params/`) and hands the values to `open` in the order of the declarations. Components
//! never read the environment. The full name is `<framework>_<component>_<name>`.

use crate::refs::{SliceRef, StrRef};

/// The type of a parameter's values, which tells how they are written and read; numbers, because no Rust enum is taken from the other side.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParamKind(pub u32);

impl ParamKind {
    /// A signed number of 64 bits; arrives in `int`.
    pub const INT: ParamKind = ParamKind(1);
    /// A number of 64 bits without sign; arrives in `int`, bit for bit.
    pub const UNSIGNED: ParamKind = ParamKind(2);
    /// Bytes, written with an optional k, m or g (powers of 1024).
    pub const SIZE: ParamKind = ParamKind(3);
    /// A truth value; arrives in `int` as 0 or 1.
    pub const BOOL: ParamKind = ParamKind(4);
    /// A floating-point number of 64 bits, finite; arrives in `double`.
    pub const DOUBLE: ParamKind = ParamKind(5);
    /// Any text; arrives in `text` as it was written.
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
    /// The value never changes (MPI_T_SCOPE_CONSTANT).
    pub const CONSTANT: Scope = Scope(1);
    /// A program cannot write it; the library may change it (MPI_T_SCOPE_READONLY). The default.
    pub const READONLY: Scope = Scope(2);
    /// A program may write it in one process alone (MPI_T_SCOPE_LOCAL).
    pub const LOCAL: Scope = Scope(3);
    /// A program must write it in a group of processes, consistently (MPI_T_SCOPE_GROUP).
    pub const GROUP: Scope = Scope(4);
    /// A program must write the same value in a group of processes (MPI_T_SCOPE_GROUP_EQ).
    pub const GROUP_EQ: Scope = Scope(5);
    /// A program must write it in all connected processes, consistently (MPI_T_SCOPE_ALL).
    pub const ALL: Scope = Scope(6);
    /// A program must write the same value in all connected processes (MPI_T_SCOPE_ALL_EQ).
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
    /// The value names a file of text (UTF-8, at most 100 KiB): whoever reads parameter files, which is the launcher of a job, reads it, too, and its text
    /// is a setting of the parameter that is declared next. A setting of that parameter itself comes first within one source.
    pub const FILE_OF_NEXT: u32 = 8;
}

/// The declaration of a parameter: its name, type, bounds, default and help. It and all that it points to live as long as the component.
#[repr(C)]
pub struct ParamDecl {
    /// The parameter's own name, which `<framework>_<component>_` precedes in the full name. No white space and no `=`.
    pub name: StrRef,
    /// The type of its values.
    pub kind: ParamKind,
    /// The detail it belongs to, 1 to 9: 1 to 5 for users, 6 to 8 for tuners, 9 for developers.
    pub level: Level,
    /// Tells in which processes a program may write it, and that equally or not.
    pub scope: Scope,
    /// Bits of `param_flag`.
    pub flags: u32,
    /// As a user would write it.
    pub default: StrRef,
    /// At most two sentences without a full stop at the end: the parameter's effect, and when to change it.
    pub help: StrRef,
    /// Smallest and largest value for numbers; both zero means no bound.
    pub min: i64,
    /// Largest value for numbers; `i64::MAX` means no upper bound for kinds without a sign.
    pub max: i64,
    /// The names that a value of kind ENUM may have, in the order of their indices; empty for other kinds.
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
    /// Bounds a number: `min` and `max` are the smallest and the largest value it takes. Values outside of them are refused before `open`.
    pub const fn range(mut self, min: i64, max: i64) -> ParamDecl {
        self.min = min;
        self.max = max;
        self
    }
    /// Gives a parameter of kind ENUM its names; a value arrives as its index in this list.
    pub const fn one_of(mut self, names: &'static [StrRef]) -> ParamDecl {
        self.enumerators = SliceRef::new(names);
        self
    }
    /// Adds full names of Open MPI under which the parameter may be set, too.
    pub const fn synonyms(mut self, names: &'static [StrRef]) -> ParamDecl {
        self.synonyms = SliceRef::new(names);
        self
    }
    /// Makes the value the name of a file whose text is a setting of the parameter that is declared next.
    pub const fn file_of_next(mut self) -> ParamDecl {
        self.flags |= param_flag::FILE_OF_NEXT;
        self
    }
    /// Sets the scope, which is [`Scope::READONLY`] without this.
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
    /// The kind of the parameter's declaration, which says which of the fields below has the value.
    pub kind: ParamKind,
    /// 0 from the host; a component does not look at it.
    pub reserved: u32,
    /// The value of a number, a size in bytes, a truth value or an index of an enumerator; 0 for other kinds.
    pub int: i64,
    /// The value of a parameter of kind DOUBLE; 0 for other kinds.
    pub double: f64,
    /// The value of a parameter of kind STRING or LIST as it was written, or the name of an ENUM; empty for other kinds. Valid as long as the values.
    pub text: StrRef,
}

/// A component's view of its values, by the index of the declaration.
#[derive(Clone, Copy)]
pub struct Params<'a>(pub &'a [ParamValue]);

impl Params<'_> {
    /// The value of a parameter of kind INT, BOOL or ENUM. Panics where nothing with that index is declared, as all methods here do.
    pub fn int(&self, index: usize) -> i64 {
        self.0[index].int
    }
    /// The value of a parameter of kind SIZE in bytes, or of kind UNSIGNED; a number that `i64` cannot hold counts as 0.
    pub fn size(&self, index: usize) -> usize {
        self.0[index].int.max(0) as usize
    }
    /// The value of a parameter of kind BOOL.
    pub fn flag(&self, index: usize) -> bool {
        self.0[index].int != 0
    }
    /// The value of a parameter of kind DOUBLE.
    pub fn double(&self, index: usize) -> f64 {
        self.0[index].double
    }
    /// The text of a parameter of kind STRING, LIST or ENUM; empty where it is not UTF-8.
    pub fn text(&self, index: usize) -> &str {
        // SAFETY: the host keeps the text alive as long as the values.
        unsafe { self.0[index].text.get() }.unwrap_or("")
    }
}

const _: () = {
    assert!(core::mem::size_of::<ParamDecl>() == 112);
    assert!(core::mem::size_of::<ParamValue>() == 40);
};
