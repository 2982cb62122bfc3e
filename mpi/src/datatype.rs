//! Datatype handles: finding, describing, committing, freeing (MPI 5.0 §5.1).
//!
//! A derived type is a descriptor ([`oxmpi_datatype::TypeDesc`]), which operations under way keep
//! alive by its own count, and what only this layer knows: whether it is committed, its name, its
//! attributes, and how it was made ([`Recipe`]). The last is shared by all handles of the type:
//! MPI_Type_get_contents gives new handles of types whose first ones may be gone.

use crate::attr::Attributes;
use crate::call::handle::{Kind, Table};
use crate::call::memory::{Out, Text, object_name, read, text, to_user, write, write_text};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::predefined;
use crate::types::{Aint, Count, Datatype};
use core::ffi::{c_char, c_int};
use core::fmt::Display;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_datatype::{Signature, TypeDesc, TypeRef, flag};
use parking_lot::Mutex;
use std::sync::Arc;

/// How a type was made: what MPI_Type_get_contents tells.
#[derive(Default)]
pub struct Recipe {
    pub combiner: c_int,
    pub integers: Vec<c_int>,
    pub addresses: Vec<Aint>,
    /// Numbers given to a large-count function.
    pub counts: Vec<Count>,
    pub types: Vec<Part>,
}

/// A type another one was made of.
#[derive(Clone)]
pub enum Part {
    Predefined(Datatype),
    Derived(Arc<Derived>),
}

/// State that all handles of a derived type share.
pub struct Derived {
    pub desc: TypeRef,
    pub signature: Arc<Signature>,
    pub recipe: Recipe,
    /// Of MPI_Type_create_f90_real and its like: such a type is not the user's to free.
    pub permanent: bool,
    committed: AtomicBool,
}

pub struct TypeObject {
    /// The same as `derived.desc`, one load nearer.
    desc: TypeRef,
    pub derived: Arc<Derived>,
    name: Mutex<String>,
    attributes: Attributes,
}

pub static TABLE: Table<TypeObject> = Table::new(Kind::Datatype);
/// Names the user gave predefined types.
static RENAMED: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
static PREDEFINED_ATTRIBUTES: [Attributes; predefined::LEN] = [const { Attributes::new() }; predefined::LEN];

/// The descriptor of a type that may be used in communication, on the path of a message.
#[inline(always)]
pub fn usable(datatype: Datatype) -> Option<&'static TypeDesc> {
    let index = datatype.0.wrapping_sub(predefined::FIRST);
    if index < predefined::LEN {
        let desc = predefined::at(index);
        return (desc.flags & flag::COMMITTED != 0).then_some(desc);
    }
    let object = TABLE.get(datatype.0)?;
    // SAFETY: the object lives until the user frees the type, and holds a reference.
    object.derived.committed.load(Ordering::Relaxed).then(|| unsafe { &*object.desc.as_ptr() })
}

/// The descriptor of a predefined type that may be used in communication.
#[inline(always)]
pub fn basic(datatype: Datatype) -> Option<&'static TypeDesc> {
    let index = datatype.0.wrapping_sub(predefined::FIRST);
    if index < predefined::LEN { usable(datatype) } else { None }
}

/// The descriptor of any type.
pub fn require(datatype: Datatype, what: &str) -> Res<&'static TypeDesc> {
    let index = datatype.0.wrapping_sub(predefined::FIRST);
    if index < predefined::LEN {
        return usable(datatype).ok_or_else(|| wrong(datatype, &what));
    }
    // SAFETY: the object lives until the user frees the type, and holds a reference.
    object(datatype, what).map(|object| unsafe { &*object.desc.as_ptr() })
}

/// The descriptor of a committed type. `what` names it in an error's text, which is made for an error alone.
pub fn require_committed(datatype: Datatype, what: impl Display) -> Res<&'static TypeDesc> {
    usable(datatype).ok_or_else(|| wrong(datatype, &what))
}

/// The object of a derived type.
pub fn object(datatype: Datatype, what: &str) -> Res<&'static TypeObject> {
    TABLE.get(datatype.0).ok_or_else(|| wrong(datatype, &what))
}

/// Why a type cannot be used.
#[cold]
#[inline(never)]
pub fn wrong(datatype: Datatype, what: &dyn Display) -> Failure {
    let message = match datatype.0 {
        MPI_DATATYPE_NULL => format!("{what} is MPI_DATATYPE_NULL"),
        h if TABLE.get(h).is_some() => format!("{what} was not committed"),
        h => format!("{what} {h:#x} is no datatype, or was freed"),
    };
    Failure::new(MPI_ERR_TYPE, message)
}

/// A type that others are built of.
pub struct OldType {
    pub desc: TypeRef,
    pub signature: Arc<Signature>,
    pub part: Part,
}

/// A counted reference to a type, for building on it.
pub fn reference(datatype: Datatype, what: &str) -> Res<OldType> {
    let desc = require(datatype, what)?;
    // SAFETY: alive, `require` found it.
    let desc = unsafe { TypeRef::retain(desc) };
    let part = match TABLE.get(datatype.0) {
        Some(object) => Part::Derived(object.derived.clone()),
        None => Part::Predefined(datatype),
    };
    Ok(OldType { desc, signature: signature(datatype, what)?, part })
}

/// The basic elements of a type.
pub fn signature(datatype: Datatype, what: &str) -> Res<Arc<Signature>> {
    match TABLE.get(datatype.0) {
        Some(object) => Ok(object.derived.signature.clone()),
        None => require(datatype, what).map(|_| Arc::new(predefined::signature(datatype.0))),
    }
}

/// A handle for a new type.
pub fn adopt(desc: TypeRef, signature: Arc<Signature>, recipe: Recipe, committed: bool) -> Res<Datatype> {
    let committed = AtomicBool::new(committed);
    again(Arc::new(Derived { desc, signature, recipe, permanent: false, committed }))
}

/// A handle for a type that is committed and stays.
pub fn adopt_for_ever(desc: TypeRef, signature: Arc<Signature>, recipe: Recipe) -> Res<Datatype> {
    let committed = AtomicBool::new(true);
    again(Arc::new(Derived { desc, signature, recipe, permanent: true, committed }))
}

/// One more handle for a type.
pub fn again(derived: Arc<Derived>) -> Res<Datatype> {
    let object = TypeObject {
        desc: derived.desc.clone(),
        derived,
        name: Mutex::new(String::new()),
        attributes: Attributes::new(),
    };
    match TABLE.insert(Box::new(object)) {
        Some(handle) => Ok(Datatype(handle)),
        None => Failure::err(MPI_ERR_NO_MEM, "too many datatypes"),
    }
}

pub fn is_committed(datatype: Datatype) -> bool {
    usable(datatype).is_some()
}

/// Named types, and those of MPI_Type_create_f90_real and its like.
pub fn is_predefined(datatype: Datatype) -> bool {
    match TABLE.get(datatype.0) {
        Some(object) => object.derived.permanent,
        None => predefined::name(datatype.0).is_some(),
    }
}

pub fn attributes(datatype: Datatype) -> Res<&'static Attributes> {
    let index = datatype.0.wrapping_sub(predefined::FIRST);
    if index < predefined::LEN {
        require(datatype, "datatype")?;
        return Ok(&PREDEFINED_ATTRIBUTES[index]);
    }
    Ok(&object(datatype, "datatype")?.attributes)
}

mpi_fn! {
    fn MPI_Type_size[c_int], MPI_Type_size_c[Count], MPI_Type_size_x[Count]<N>(datatype: Datatype, size: Out<N>) -> c_int |here| {
        call(here, NAME, None, |_, _| write(size, "size", to_user::<N>(Some(require(datatype, "datatype")?.packed))))
    }
}
mpi_fn! {
    fn MPI_Type_get_extent[Aint], MPI_Type_get_extent_c[Count], MPI_Type_get_extent_x[Count]<N>(datatype: Datatype, lb: Out<N>, extent: Out<N>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let desc = require(datatype, "datatype")?;
            write(lb, "lb", desc.lb)?;
            write(extent, "extent", desc.extent)
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_true_extent[Aint], MPI_Type_get_true_extent_c[Count], MPI_Type_get_true_extent_x[Count]<N>(datatype: Datatype, true_lb: Out<N>, true_extent: Out<N>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let desc = require(datatype, "datatype")?;
            write(true_lb, "true_lb", desc.true_lb)?;
            write(true_extent, "true_extent", desc.true_extent)
        })
    }
}
mpi_fn! {
    fn MPI_Type_commit(datatype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let handle = read(datatype, "datatype")?;
            if !is_committed(handle) {
                object(handle, "datatype")?.derived.committed.store(true, Ordering::Relaxed);
            }
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Type_free(datatype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, entry| {
            let handle = read(datatype, "datatype")?;
            if predefined::name(handle.0).is_some() {
                let name = predefined::name(handle.0).unwrap_or("");
                return Failure::err(MPI_ERR_TYPE, format!("datatype is {name}, which cannot be freed"));
            }
            let object = object(handle, "datatype")?;
            if object.derived.permanent {
                return Failure::err(
                    MPI_ERR_TYPE,
                    "datatype was given by MPI_Type_create_f90_*, such a type cannot be freed",
                );
            }
            object.attributes.delete_all(entry, handle.0)?;
            drop(TABLE.remove(handle.0));
            write(datatype, "datatype", Datatype(MPI_DATATYPE_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Type_dup(oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, entry| {
            if newtype.is_null() {
                return Failure::err(MPI_ERR_ARG, "newtype is a null pointer");
            }
            let old = reference(oldtype, "oldtype")?;
            let recipe = Recipe { combiner: MPI_COMBINER_DUP, types: vec![old.part], ..Recipe::default() };
            let copy = oxmpi_datatype::build::dup(&old.desc);
            let new = adopt(copy, old.signature, recipe, is_committed(oldtype))?;
            if let Err(failure) = attributes(oldtype)?.copy_to(entry, oldtype.0, attributes(new)?) {
                drop(TABLE.remove(new.0));
                return Err(failure);
            }
            write(newtype, "newtype", new)
        })
    }
}
mpi_fn! {
    fn MPI_Type_set_name(datatype: Datatype, type_name: Text) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            require(datatype, "datatype")?;
            let name = object_name(text(type_name, "type_name")?);
            match TABLE.get(datatype.0) {
                Some(object) => *object.name.lock() = name,
                None => {
                    let mut renamed = RENAMED.lock();
                    renamed.retain(|(h, _)| *h != datatype.0);
                    renamed.push((datatype.0, name));
                }
            }
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_name(datatype: Datatype, type_name: Out<c_char>, resultlen: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let name = match TABLE.get(datatype.0) {
                Some(object) => object.name.lock().clone(),
                None => {
                    let given = RENAMED.lock().iter().find(|(h, _)| *h == datatype.0).map(|(_, n)| n.clone());
                    given
                        .or_else(|| predefined::name(datatype.0).map(str::to_string))
                        .ok_or_else(|| wrong(datatype, &"datatype"))?
                }
            };
            // SAFETY: the standard has the caller pass `type_name` with room for MPI_MAX_OBJECT_NAME bytes.
            let n = unsafe { write_text(type_name, "type_name", &name, MPI_MAX_OBJECT_NAME as usize) }?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
