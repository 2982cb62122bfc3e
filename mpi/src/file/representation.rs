//! Data representations (MPI 5.0 §14.5): the predefined ones, and those that the program registers, whose functions are really called.
//!
//! **Sizes.** A registered representation tells how many bytes a predefined type has in the file. The bytes of a derived type follow from the predefined ones that it is made of, and so does
//! its layout in a view, as long as all of them change their size by one ratio: then distances and lengths change by that, too. Types that mix ratios have no such layout here, and
//! a view of them is refused with MPI_ERR_UNSUPPORTED_DATAREP.
//!
//! **The program's functions** run with the gate open, as all code of the program does, in the thread that ends the access.

use crate::call::gate;
use crate::call::memory::{Text, text};
use crate::constants::*;
use crate::datatype::{self, OldType, Part};
use crate::error::{Failure, Res, of_user};
use crate::types::{Count, Datatype};
use core::ffi::{c_int, c_void};
use oxmpi_datatype::{Signature, TypeDesc, TypeRef};
use oxmpi_files::representation::{Convert, External, Predefined, in_file as external_in_file, scaled};
use oxmpi_mca::Status;
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
    read: Function,
    write: Function,
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

    /// Bytes of a type in the file, with each predefined type that it has told to `leaf` as (bytes in the file, bytes in memory).
    fn bytes(&self, part: &Part, leaf: &mut dyn FnMut(u64, u64)) -> Res<u64> {
        let derived = match part {
            Part::Predefined(datatype) => {
                let (in_file, in_memory) =
                    (self.extent(*datatype)?, datatype::require(*datatype, "datatype")?.packed);
                if in_memory > 0 {
                    leaf(in_file, in_memory);
                }
                return Ok(in_file);
            }
            Part::Derived(derived) => derived,
        };
        let packed = |part: &Part| match part {
            Part::Predefined(datatype) => datatype::require(*datatype, "datatype").map(|desc| desc.packed),
            Part::Derived(derived) => Ok(derived.desc.packed),
        };
        let recipe = &derived.recipe;
        if recipe.types.len() == 1 {
            let old = &recipe.types[0];
            let each = self.bytes(old, leaf)?;
            let elements = derived.desc.packed.checked_div(packed(old)?).unwrap_or(0);
            return Ok(elements.saturating_mul(each));
        }
        // A structure: its lengths stand behind the number of its parts.
        let mut sum = 0u64;
        for (at, old) in recipe.types.iter().enumerate() {
            let length = match recipe.counts.get(1 + at) {
                Some(length) => *length,
                None => recipe.integers.get(1 + at).copied().unwrap_or(0).into(),
            };
            let length = u64::try_from(length).unwrap_or(0);
            sum = sum.saturating_add(self.bytes(old, leaf)?.saturating_mul(length));
        }
        Ok(sum)
    }
}

/// A type as it is in a file of that representation.
pub fn in_file(old: &OldType, representation: &Representation) -> Res<TypeRef> {
    let refuse = || {
        let name = representation.name();
        let message =
            format!("the elements of the datatype change their sizes in different ways in datarep {name:?}");
        Failure::new(MPI_ERR_UNSUPPORTED_DATAREP, message)
    };
    match representation {
        Representation::Predefined(Predefined::Native) => Ok(old.desc.clone()),
        Representation::Predefined(_) => external_in_file(&old.desc, &old.signature).map_err(|_| refuse()),
        Representation::Registered(registered) => {
            let (mut ratio, mut equal) = (None, true);
            registered.bytes(&old.part, &mut |in_file, in_memory| {
                let (to, from) = *ratio.get_or_insert((in_file, in_memory));
                equal &= u128::from(to) * u128::from(in_memory) == u128::from(in_file) * u128::from(from);
            })?;
            match ratio {
                _ if !equal => Err(refuse()),
                Some((to, from)) if to != from => {
                    scaled(&old.desc, to.cast_signed(), from.cast_signed()).map_err(|_| refuse())
                }
                _ => Ok(old.desc.clone()),
            }
        }
    }
}

/// The conversion of one access: of elements of one type.
pub struct Conversion {
    desc: TypeRef,
    how: ConversionKind,
}

enum ConversionKind {
    External(Arc<Signature>),
    Registered {
        registered: Arc<Registered>,
        /// Bytes of an element in the file.
        each: u64,
        datatype: Datatype,
        /// The handle is the conversion's own.
        owns: bool,
    },
}

impl Drop for Conversion {
    fn drop(&mut self) {
        if let ConversionKind::Registered { datatype, owns: true, .. } = self.how {
            drop(datatype::TABLE.remove(datatype.0));
        }
    }
}

/// A failure as the status of a request.
pub fn status_of(failure: &Failure) -> Status {
    of_user(failure.code)
}

impl Conversion {
    pub fn new(datatype: Datatype, representation: &Representation) -> Res<Conversion> {
        let old = datatype::reference(datatype, "datatype")?;
        let how = match representation {
            Representation::Predefined(_) => ConversionKind::External(old.signature),
            Representation::Registered(registered) => {
                let each = registered.bytes(&old.part, &mut |_, _| {})?;
                // The program may free its handle before a nonblocking access ends.
                let (datatype, owns) = match old.part {
                    Part::Predefined(datatype) => (datatype, false),
                    Part::Derived(derived) => (datatype::again(derived)?, true),
                };
                ConversionKind::Registered { registered: registered.clone(), each, datatype, owns }
            }
        };
        Ok(Conversion { desc: old.desc, how })
    }

    fn desc(&self) -> &TypeDesc {
        &self.desc
    }

    /// Bytes of so many elements in the file.
    pub fn file_bytes(&self, count: u64) -> u64 {
        match &self.how {
            ConversionKind::External(signature) => signature.external_bytes().saturating_mul(count),
            ConversionKind::Registered { each, .. } => each.saturating_mul(count),
        }
    }

    /// Converts elements for the file.
    ///
    /// # Safety
    /// `base` is readable for `count` elements, `out` writable for their bytes in the file.
    pub unsafe fn encode(&self, base: *mut u8, count: u64, out: *mut u8) -> Res {
        match &self.how {
            ConversionKind::External(signature) => {
                let external = External { desc: self.desc(), signature };
                // SAFETY: the caller's promise.
                unsafe { external.encode(base, count, 0, out) }.map_err(|_| {
                    Failure::new(MPI_ERR_CONVERSION, "a value does not fit into its external32 form")
                })
            }
            ConversionKind::Registered { registered, each, datatype, .. } => match registered.write {
                Function::None => {
                    // SAFETY: the caller's promise; without a function both forms are of one size.
                    unsafe {
                        oxmpi_datatype::pack(self.desc(), count, base, 0, out, each.saturating_mul(count))
                    };
                    Ok(())
                }
                // SAFETY: the caller's promise.
                function => unsafe {
                    registered.call(function, *datatype, (base, self.desc().extent), count, (out, *each))
                },
            },
        }
    }

    /// Converts what was read; bytes of the program's data.
    ///
    /// # Safety
    /// `input` is readable for `moved` bytes, `base` writable for as many elements as these are.
    pub unsafe fn decode(&self, input: *const u8, moved: u64, base: *mut u8) -> Res<u64> {
        match &self.how {
            ConversionKind::External(signature) => {
                let external = External { desc: self.desc(), signature };
                // SAFETY: the caller's promise.
                unsafe { external.decode(input, moved, 0, base) }
                    .map_err(|_| Failure::new(MPI_ERR_CONVERSION, "data of the file cannot be converted"))
            }
            ConversionKind::Registered { registered, each, datatype, .. } => {
                let count = moved.checked_div(*each).unwrap_or(0);
                match registered.read {
                    Function::None => {
                        // SAFETY: as above.
                        let bytes =
                            unsafe { oxmpi_datatype::unpack(self.desc(), count + 1, base, 0, input, moved) };
                        return Ok(bytes);
                    }
                    // SAFETY: as above.
                    function => unsafe {
                        let place = (base, self.desc().extent);
                        registered.call(function, *datatype, place, count, (input.cast_mut(), *each))?;
                    },
                }
                Ok(count * self.desc().packed)
            }
        }
    }
}

impl Registered {
    /// Calls a function of the program's for so many elements, in several calls where their number is none of its form.
    ///
    /// # Safety
    /// Both places have as many elements, `extent` bytes and `each` bytes apart.
    unsafe fn call(
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
