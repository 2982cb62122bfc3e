//! A view as accesses use it: displacement and types, kept while an access walks them.

use crate::objects::Instance;
use oxmpi_datatype::TypeRef;
use oxmpi_files::View;
use std::any::Any;
use std::sync::Arc;

/// A view of one rank. The types are in the file's representation.
pub struct ViewData {
    /// Bytes before it.
    pub displacement: u64,
    /// The type that offsets count in.
    pub etype: TypeRef,
    /// The type that repeats.
    pub filetype: TypeRef,
    /// How the caller knows the view: its types and its representation, which stay as long as accesses use it.
    pub user: Option<Arc<dyn Any + Send + Sync>>,
}

impl ViewData {
    /// The view of a file that has just been opened: its bytes.
    pub(super) fn bytes(instance: &Instance) -> ViewData {
        // SAFETY: the instance's own type, which lives as long as it, as all files do.
        let byte = || unsafe { TypeRef::retain(instance.byte_type()) };
        ViewData { displacement: 0, etype: byte(), filetype: byte(), user: None }
    }

    /// As a walker.
    pub(super) fn walker(&self) -> View<'_> {
        View::new(self.displacement, &self.filetype)
    }

    /// Bytes of an etype; 1 where it has none, so that it can be divided by.
    pub(super) fn etype_bytes(&self) -> u64 {
        self.etype.packed.max(1)
    }
}
