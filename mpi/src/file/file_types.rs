//! Types as they are in a file (MPI 5.0 §14.5.1): the calls that made a type, repeated with predefined types of the sizes that the file's representation gives them.
//!
//! Displacements that count elements so follow the elements' extents in the file. Those in bytes are taken as they are: a program has to give them as they are in the file, and asks
//! MPI_File_get_type_extent for that. Elements of a file have no alignment, so nothing is put behind them.
//!
//! A type that others are made of more than once is made once.

use super::representation::Representation;
use crate::constants::*;
use crate::datatype::{Derived, OldType, Part};
use crate::error::Res;
use crate::{type_array, type_create};
use oxmpi_datatype::TypeRef;
use std::collections::HashMap;
use std::sync::Arc;

/// A type as it is in a file of that representation.
pub fn in_file(old: &OldType, representation: &Representation) -> Res<TypeRef> {
    if *representation == Representation::NATIVE {
        return Ok(old.desc.clone());
    }
    Making { representation, known: HashMap::new() }.part(&old.part)
}

/// Types of one representation in the making.
struct Making<'a> {
    representation: &'a Representation,
    /// Those that are made, by the address of what is shared by a type's handles.
    known: HashMap<*const Derived, TypeRef>,
}

impl Making<'_> {
    fn part(&mut self, part: &Part) -> Res<TypeRef> {
        let derived = match part {
            Part::Predefined(datatype) => return self.representation.basic(*datatype),
            Part::Derived(derived) => derived,
        };
        if let Some(known) = self.known.get(&Arc::as_ptr(derived)) {
            return Ok(known.clone());
        }
        let made = self.derived(derived)?;
        self.known.insert(Arc::as_ptr(derived), made.clone());
        Ok(made)
    }

    fn derived(&mut self, derived: &Arc<Derived>) -> Res<TypeRef> {
        let recipe = &derived.recipe;
        let olds: Vec<TypeRef> = recipe.types.iter().map(|old| self.part(old)).collect::<Res<_>>()?;
        match (recipe.combiner, &olds[..]) {
            // Of MPI_Type_create_f90_real and its like, which are predefined types by other names.
            (_, []) if derived.permanent => self.representation.basic_of(derived),
            (MPI_COMBINER_DUP, [old]) => Ok(old.clone()),
            (MPI_COMBINER_SUBARRAY | MPI_COMBINER_DARRAY, [old]) => type_array::again(recipe, old),
            (_, olds) => type_create::again(recipe, olds),
        }
    }
}
