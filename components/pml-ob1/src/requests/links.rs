//! Links of free objects: how an object leads to the next on a list of its kind, and from where a thread's list begins.

use core::cell::Cell;
use oxmpi_mca::sync::AtomicPtr;

/// Something that lies on a list of its kind while it is free.
pub trait Linked: 'static {
    /// Gives the link to the next object of the list, which belongs to the list while the object is free.
    fn next(&self) -> &Cell<*const Self>;
}

/// Free objects of one thread: a list of its own, and one of those that other threads gave back (`free_list.rs`).
#[repr(align(128))]
pub struct FreeList<T: Linked> {
    pub(super) own: Cell<*const T>,
    /// The number of the thread that owns it.
    pub(super) owner: u32,
    pub(super) returned: ReturnedList<T>,
}

/// The list of objects that other threads gave back. It is on lines of its own, since others write it.
#[repr(align(128))]
pub(super) struct ReturnedList<T>(pub(super) AtomicPtr<T>);
