//! The state behind a module's table and a window's.

use super::window::Window;
use crate::table::{OscTable, OscWindow};
use oxmpi_mca::Host;

/// The state of a component's module.
pub(super) struct Module<T> {
    pub osc: T,
    pub host: Host,
    /// Of its windows.
    pub table: &'static OscTable,
}

/// The state of a window's module.
pub(super) struct Open<W> {
    /// The component's object, in the place where it was made: it may know its address.
    pub window: Box<W>,
    pub host: Host,
    /// Of windows that are made from it.
    pub table: &'static OscTable,
}

/// Makes what the host gets of a new window.
pub(super) fn open<W: Window>(host: Host, table: &'static OscTable, window: Box<W>) -> OscWindow {
    let window = Box::into_raw(Box::new(Open { window, host, table })).cast();
    OscWindow { window, table }
}
