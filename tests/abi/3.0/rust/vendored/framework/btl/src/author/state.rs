//! The state of a module: the device, its contexts, and its service context.

use super::device::Btl;
use core::cell::UnsafeCell;

/// A module as its verbs know it that have nothing to do with its service context.
pub(super) struct Core<T: Btl> {
    pub device: T,
    pub contexts: Box<[UnsafeCell<T::Context>]>,
}

/// The state of a module: its core first, whatever its service context has.
#[repr(C)]
pub(super) struct Module<T: Btl, S> {
    pub core: Core<T>,
    pub service: UnsafeCell<S>,
}
