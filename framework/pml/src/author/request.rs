//! Requests as the host and a layer share them: an object whose first part is the header.

use oxmpi_mca::RequestHeader;

/// A request of a layer's own kind.
///
/// # Safety
/// The header is the first field of a `repr(C)` type, whose objects are never freed while the layer lives; `header` answers its address.
pub unsafe trait Object: Send + Sync + Sized + 'static {
    /// The header.
    fn header(&self) -> *mut RequestHeader;
}
