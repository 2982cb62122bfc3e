//! The emulated transports of an instance, and what one-sided components were told of them.

use crate::objects::{Emulation, Wrapped};
use oxmpi_btl::BtlHandle;

impl Emulation {
    /// The emulated transports that are in use.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Wrapped> {
        self.wrapped.get().into_iter().flat_map(|all| all.iter()).filter_map(|w| w.get().map(|w| &**w))
    }

    /// The emulated transport over the module whose state has this address; `None`: there is none.
    pub(crate) fn over(&self, module: usize) -> Option<&Wrapped> {
        self.all().find(|w| w.raw().state.addr() == module)
    }
}

impl Wrapped {
    /// The transport below.
    pub fn raw(&self) -> &BtlHandle {
        // SAFETY: accepted modules stay as long as the instance.
        unsafe { &*self.raw }
    }
}
