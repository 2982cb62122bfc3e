//! Data representations (MPI 5.0 §14.5): the predefined ones, and those that the program registers, whose functions are really called.
//!
//! **Sizes.** A representation tells how many bytes a predefined type has in the file; all that is made of it follows (`file_types`). The data of an access is converted by `conversion`.
//!
//! **The program's functions** run with the gate open, as all code of the program does, in the thread that ends the access.

use crate::call::gate;
use crate::call::memory::{Text, text};
use crate::constants::*;
use crate::datatype::{self, Derived};
use crate::error::{Failure, Res};
use crate::types::{Count, Datatype};
use core::ffi::{c_int, c_void};
use oxmpi_datatype::TypeRef;
use oxmpi_files::representation::Predefined;
use parking_lot::Mutex;
use std::sync::Arc;

/// `MPI_Datarep_conversion_function`.
pub type ConversionFn =
    unsafe extern "C-unwind" fn(*mut c_void, Datatype, c_int, *mut c_void, Count, *mut c_void) -> c_int;
/// `MPI_Datarep_conversion_function_c`.
pub type LargeConversionFn =
    unsafe extern "C-unwind" fn(*mut c_void, Datatype, Count, *mut c_void, Count, *mut c_void) -> c_int;
/// `MPI_Datarep_extent_function`.
type ExtentFunction = unsafe extern "C-unwind" fn(Datatype, *mut Count, *mut c_void) -> c_int;

/// A conversion function of the program's, in one of its two forms; `None`: data is as in memory.
#[derive(Clone, Copy)]
pub enum Function {
    None,
    Plain(ConversionFn),
    Large(LargeConversionFn),
}

/// A representation that was registered; it stays.
pub struct Registered {
    name: String,
    number: u64,
    pub read: Function,
    pub write: Function,
    extent: ExtentFunction,
    extra: usize,
}

/// The look of data in a file.
#[derive(Clone)]
pub enum Representation {
    Predefined(Predefined),
    Registered(Arc<Registered>),
}

impl PartialEq for Representation {
    fn eq(&self, other: &Representation) -> bool {
        self.number() == other.number()
    }
}

static REGISTERED: Mutex<Vec<Arc<Registered>>> = Mutex::new(Vec::new());

impl Representation {
    pub const NATIVE: Representation = Representation::Predefined(Predefined::Native);

    /// The one of a name.
    pub fn named(name: &str) -> Res<Representation> {
        if let Some(predefined) = Predefined::named(name) {
            return Ok(Representation::Predefined(predefined));
        }
        let found = REGISTERED.lock().iter().find(|registered| registered.name == name).cloned();
        found.map(Representation::Registered).ok_or_else(|| {
            let message =
                format!("datarep {name:?} is neither native, internal, external32, nor was it registered");
            Failure::new(MPI_ERR_UNSUPPORTED_DATAREP, message)
        })
    }

    pub fn name(&self) -> &str {
        match self {
            Representation::Predefined(Predefined::Native) => "native",
            Representation::Predefined(Predefined::Internal) => "internal",
            Representation::Predefined(Predefined::External32) => "external32",
            Representation::Registered(registered) => &registered.name,
        }
    }

    /// A number by which ranks tell whether they gave the same.
    pub fn number(&self) -> u64 {
        match self {
            Representation::Predefined(predefined) => *predefined as u64,
            Representation::Registered(registered) => registered.number,
        }
    }
}

/// A number of a name, equal in all processes and of no predefined representation.
fn number_of(name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    hash | 1 << 63
}

impl Registered {
    /// Bytes of a predefined type in the file.
    fn extent(&self, datatype: Datatype) -> Res<u64> {
        let mut extent: Count = -1;
        let place: *mut Count = &mut extent;
        let code = gate::run_outside_without_entry(|| {
            // SAFETY: the program's function, with what it asked for.
            unsafe { (self.extent)(datatype, place, self.extra as *mut c_void) }
        });
        if code != MPI_SUCCESS {
            return Failure::err(code, format!("the extent function of datarep {:?} failed", self.name));
        }
        u64::try_from(extent).or_else(|_| {
            Failure::err(
                MPI_ERR_CONVERSION,
                format!("the extent function of datarep {:?} says {extent}", self.name),
            )
        })
    }
}

impl Representation {
    /// A predefined type as it is in the file: so many bytes.
    pub fn basic(&self, datatype: Datatype) -> Res<TypeRef> {
        bytes(match self {
            Representation::Predefined(Predefined::Native) => datatype::require(datatype, "datatype")?.packed,
            Representation::Predefined(_) => datatype::signature(datatype, "datatype")?.external_bytes(),
            Representation::Registered(registered) => registered.extent(datatype)?,
        })
    }

    /// The same of a type that is predefined without a name of its own (MPI_Type_create_f90_real and its like).
    pub fn basic_of(&self, derived: &Arc<Derived>) -> Res<TypeRef> {
        match self {
            Representation::Predefined(Predefined::Native) => Ok(derived.desc.clone()),
            Representation::Predefined(_) => bytes(derived.signature.external_bytes()),
            Representation::Registered(registered) => {
                let handle = datatype::again(Arc::clone(derived))?;
                let extent = registered.extent(handle);
                drop(datatype::TABLE.remove(handle.0));
                bytes(extent?)
            }
        }
    }
}

/// A type of that many bytes.
fn bytes(number: u64) -> Res<TypeRef> {
    oxmpi_files::representation::bytes_in_file(number).map_err(Failure::from)
}

impl Registered {
    /// Calls a function of the program's for so many elements, in several calls where their number is none of its form.
    ///
    /// # Safety
    /// Both places have as many elements, `extent` bytes and `each` bytes apart.
    pub unsafe fn call(
        &self,
        function: Function,
        datatype: Datatype,
        (base, extent): (*mut u8, i64),
        count: u64,
        (file, each): (*mut u8, u64),
    ) -> Res {
        let most = if matches!(function, Function::Plain(_)) { c_int::MAX as u64 } else { i64::MAX as u64 };
        let mut done = 0;
        while done < count {
            let now = (count - done).min(most);
            let user = base.wrapping_offset((done as i64).wrapping_mul(extent) as isize).cast::<c_void>();
            let in_file = file.wrapping_add((done * each) as usize).cast::<c_void>();
            let extra = self.extra as *mut c_void;
            let code = gate::run_outside_without_entry(|| {
                // SAFETY: the program's function, for places that the caller has promised.
                unsafe {
                    match function {
                        Function::None => MPI_SUCCESS,
                        Function::Plain(f) => f(user, datatype, now as c_int, in_file, done as Count, extra),
                        Function::Large(f) => f(user, datatype, now as Count, in_file, done as Count, extra),
                    }
                }
            });
            if code != MPI_SUCCESS {
                let code = if code > 0 { code } else { MPI_ERR_CONVERSION };
                return Failure::err(
                    code,
                    format!("a conversion function of datarep {:?} failed", self.name),
                );
            }
            done += now;
        }
        Ok(())
    }
}

/// A function that the program gave as a word.
pub fn function_of(word: usize, large: bool) -> Function {
    match (word, large) {
        (MPI_CONVERSION_FN_NULL, _) => Function::None,
        // SAFETY: the program says that it is one of this type; the sentinel is excluded.
        (word, true) => Function::Large(unsafe { core::mem::transmute::<usize, LargeConversionFn>(word) }),
        // SAFETY: as above.
        (word, false) => Function::Plain(unsafe { core::mem::transmute::<usize, ConversionFn>(word) }),
    }
}

/// Registers a representation for good.
pub fn register(datarep: Text, (read, write): (Function, Function), extent: usize, extra: usize) -> Res {
    let name = text(datarep, "datarep")?;
    if name.is_empty() || name.len() >= MPI_MAX_DATAREP_STRING as usize {
        let message =
            format!("datarep has {} bytes, 1 to {} are taken", name.len(), MPI_MAX_DATAREP_STRING - 1);
        return Failure::err(MPI_ERR_ARG, message);
    }
    if extent < 0x1000 {
        return Failure::err(MPI_ERR_ARG, format!("dtype_file_extent_fn {extent:#x} is no function"));
    }
    let mut all = REGISTERED.lock();
    if Predefined::named(&name).is_some() || all.iter().any(|registered| registered.name == name) {
        return Failure::err(MPI_ERR_DUP_DATAREP, format!("datarep {name:?} exists"));
    }
    // SAFETY: the program says that it is one of this type; null and sentinels are excluded.
    let extent = unsafe { core::mem::transmute::<usize, ExtentFunction>(extent) };
    all.push(Arc::new(Registered { number: number_of(&name), name, read, write, extent, extra }));
    Ok(())
}
