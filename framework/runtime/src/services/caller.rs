//! The calling component of a service, and its instance.

use crate::objects::{ComponentCtx, Instance};
use core::ffi::c_void;

/// The calling component and its instance.
pub(super) fn caller<'a>(ctx: *mut c_void) -> (&'a ComponentCtx, &'a Instance) {
    // SAFETY: a component passes back the `instance` of its own table, which lives as long as it; the instance
    // outlives its components' contexts.
    unsafe {
        let ctx = &*(ctx as *const ComponentCtx);
        (ctx, &*ctx.instance)
    }
}
