//! Services for the steps of plans, called outside of a plan, where a component does these things itself.

use oxmpi_coll::{CollComm, ExtendFn, StepFn};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;
use std::ffi::c_void;

macro_rules! refuse {
    ($($name:ident($($t:ty),*);)*) => {
        $(pub extern "C" fn $name(_: *const CollComm $(, _: $t)*) -> Status {
            Status::NOT_SUPPORTED
        })*
    };
}
refuse! {
    memory(u64, *mut *mut u8);
    pack(*const TypeDesc, u64, *const u8, u64, *mut u8, u64);
    unpack(*const TypeDesc, u64, *mut u8, u64, *const u8, u64);
    copy(*const TypeDesc, u64, *const u8, *mut u8);
    reduce(*const TypeDesc, u64, *const u8, *mut u8);
    step(StepFn, *mut c_void);
    extend(ExtendFn, *mut c_void);
}
