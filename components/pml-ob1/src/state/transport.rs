//! An accepted transport (BTL module), and which contexts it has.

use oxmpi_btl::BtlHandle;

/// One accepted BTL module.
pub struct Transport {
    pub btl: &'static BtlHandle,
    /// The transport takes a process to itself: nothing comes through it that we did not send.
    pub own: bool,
}

impl Transport {
    /// Whether it has a context of that number.
    #[inline(always)]
    pub fn has(&self, ctx: u32) -> bool {
        ctx < self.btl.attrs().contexts
    }
}
