//! The state behind a module's table: the layer, and what its thunks need beside it.

use super::care::Care;
use oxmpi_mca::Host;

/// The state of a module.
pub(super) struct Module<T> {
    pub care: Care,
    pub pml: T,
    pub host: Host,
}
