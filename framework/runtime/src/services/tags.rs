//! Active-message tags of one-sided components: a group of four for each, which follows from its name alone.
//!
//! Processes of a job may have loaded different components, in another order, and no message is sent before tags are
//! known; so the group must follow from nothing but the name. There are eight groups. The components of this repository have
//! the first three by a list (one is spare); the name's hash picks among the other five. Two components of one process that fall on the same
//! group cannot both be used: the later one is refused with a paragraph that names both. A process that has only one of
//! them is no danger: a window is served by components that all its ranks have.

use super::caller::caller;
use crate::objects::{ComponentCtx, Instance};
use oxmpi_loading::accept::accepted::Framework;
use oxmpi_mca::Status;
use std::ffi::c_void;

impl Instance {
    /// Claims the tags of a one-sided component, and tells the user where another one has them.
    fn osc_tags(&self, ctx: &ComponentCtx) -> Result<u8, Status> {
        if ctx.framework != Framework::Osc {
            return Err(Status::NOT_FOUND);
        }
        self.am_table().osc.claim(ctx.name).map_err(|owner| {
            self.show_help(
                oxmpi_loading::log::HOST,
                oxmpi_loading::help::HOST,
                "osc-tags",
                &[ctx.name, owner],
            );
            Status::BAD_PARAM
        })
    }
}

/// Claims the group of tags that follows from the calling component's name, and writes its first tag to `first`; in the
/// table as [`HostServices::osc_tags`](oxmpi_mca::services::HostServices::osc_tags). Not OK: it is no one-sided component,
/// or another component of this process has the group.
pub(super) extern "C" fn osc_tags(ctx: *mut c_void, first: *mut u8) -> Status {
    let (ctx, instance) = caller!(ctx);
    match instance.osc_tags(ctx) {
        Ok(tag) => {
            // SAFETY: the component's out pointer.
            unsafe { *first = tag };
            Status::OK
        }
        Err(status) => status,
    }
}
