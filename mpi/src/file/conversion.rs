//! Data of one access on its way between memory and a file whose representation is another one.

use super::file_types::in_file;
use super::representation::{Function, Registered, Representation};
use crate::constants::*;
use crate::datatype::{self, Part};
use crate::error::{Failure, Res, of_user};
use crate::types::Datatype;
use oxmpi_datatype::{Signature, TypeDesc, TypeRef};
use oxmpi_files::representation::{Convert, External};
use oxmpi_mca::Status;
use std::sync::Arc;

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
                let each = in_file(&old, representation)?.packed;
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
