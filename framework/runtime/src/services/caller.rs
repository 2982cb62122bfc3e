//! The calling component of a service, and its instance.

use crate::objects::{ComponentCtx, Instance};
use core::ffi::c_void;

/// The component that calls a function of the table, and its instance, by the first argument.
macro_rules! caller {
    ($ctx:expr) => {
        // SAFETY: a component passes back the `instance` of its own table (contract).
        unsafe { $crate::services::caller::of($ctx) }
    };
}
pub(super) use caller;

/// The calling component and its instance.
///
/// # Safety
/// The `instance` of a component's table, which lives as long as the component.
pub(super) unsafe fn of<'a>(ctx: *mut c_void) -> (&'a ComponentCtx, &'a Instance) {
    // SAFETY: the caller's promise; the instance outlives its components' contexts.
    unsafe {
        let ctx = &*(ctx as *const ComponentCtx);
        (ctx, &*ctx.instance)
    }
}
