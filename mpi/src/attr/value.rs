//! The value of an attribute, with the language that set it (MPI 5.0 §19.3.7).
//!
//! C puts an address, and Fortran an integer. Each reads the other's: C gets the address of the integer, which lives in a cell of the attribute's own until the attribute is
//! set anew or deleted, and Fortran gets the address as an integer.

use crate::constants::MPI_ERR_ARG;
use crate::error::{Failure, Res};
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicIsize, Ordering};
use std::sync::Arc;

/// The language of a value, or of a keyval's callbacks; numbered as in `mpi-ext.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    C = 0,
    /// Fortran, with integers of the size of an address.
    Fortran = 1,
    /// Fortran, with INTEGER: the procedures of MPI-1.
    Integer = 2,
}

impl Language {
    pub fn of_number(number: c_int) -> Res<Language> {
        match number {
            0 => Ok(Language::C),
            1 => Ok(Language::Fortran),
            2 => Ok(Language::Integer),
            _ => Failure::err(MPI_ERR_ARG, format!("language is {number}, none of the three")),
        }
    }
}

/// A value; clones share the cell.
#[derive(Clone)]
pub enum Value {
    Address(usize),
    Word(Arc<AtomicIsize>),
    Integer(Arc<AtomicI32>),
}

impl Value {
    /// The value that a function of that language gives, as wide as an address.
    pub fn of(language: Language, word: usize) -> Value {
        match language {
            Language::C => Value::Address(word),
            Language::Fortran => Value::Word(Arc::new(AtomicIsize::new(word as isize))),
            Language::Integer => Value::Integer(Arc::new(AtomicI32::new(word as i32))),
        }
    }

    pub fn language(&self) -> Language {
        match self {
            Value::Address(_) => Language::C,
            Value::Word(_) => Language::Fortran,
            Value::Integer(_) => Language::Integer,
        }
    }

    /// The value for C: the address, or that of the integer.
    pub fn for_c(&self) -> usize {
        match self {
            Value::Address(address) => *address,
            Value::Word(cell) => cell.as_ptr().addr(),
            Value::Integer(cell) => cell.as_ptr().addr(),
        }
    }

    /// The value for a function of that language; a Fortran integer is longer by its sign.
    pub fn seen_by(&self, language: Language) -> usize {
        match self {
            _ if language == Language::C => self.for_c(),
            Value::Address(address) => *address,
            Value::Word(cell) => cell.load(Ordering::Relaxed) as usize,
            Value::Integer(cell) => cell.load(Ordering::Relaxed) as usize,
        }
    }

    /// The same value by the same language, with a cell of its own.
    pub fn copy(&self) -> Value {
        Value::of(self.language(), self.seen_by(Language::Fortran))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_reads_what_the_other_set() {
        let minus_two = (-2isize) as usize;
        assert_eq!(Value::of(Language::C, 8).seen_by(Language::Fortran), 8);
        for language in [Language::Fortran, Language::Integer] {
            let value = Value::of(language, minus_two);
            assert_eq!((value.seen_by(Language::Fortran), value.language()), (minus_two, language));
            let copy = value.copy();
            assert_ne!(copy.for_c(), value.for_c(), "a cell of its own");
            assert_eq!(copy.seen_by(Language::Integer), minus_two);
        }
        let long = Value::of(Language::Integer, 0x1_0000_0005);
        assert_eq!(long.seen_by(Language::Fortran), 5, "the low half of a word");
    }
}
