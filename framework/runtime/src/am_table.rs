//! The receivers of active messages, by tag.

use crate::services::osc_tags::OscTags;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use oxmpi_mca::{AmEntry, AmParts, AmReceive, Status};
use oxmpi_system::locks::Mutex;

/// The receivers of active messages, by tag. Rows are written while nothing is received yet (before
/// the first progress; contract of `HostTable::am_table`), one writer at a time.
pub(crate) struct AmTable {
    pub(crate) rows: Box<UnsafeCell<[AmEntry; 256]>>,
    /// The receiver that takes messages in parts, too.
    pub(crate) parts: Box<UnsafeCell<[Option<AmParts>; 256]>>,
    /// Which rows somebody has taken.
    pub(crate) taken: Mutex<[bool; 256]>,
    /// Which one-sided component has which tags.
    pub osc: OscTags,
}

// SAFETY: contexts of receivers are not owned; any thread may use them.
unsafe impl Send for AmTable {}

// SAFETY: rows are written by one thread at a time, under `taken`, and before anything is received; they are read afterwards (the type's text).
unsafe impl Sync for AmTable {}

impl AmTable {
    /// Makes a table in which every tag is free and has the receiver `unclaimed`.
    pub fn new(unclaimed: AmReceive) -> AmTable {
        let nobody = AmEntry { receive: unclaimed, ctx: std::ptr::null_mut() };
        AmTable {
            rows: Box::new(UnsafeCell::new([nobody; 256])),
            parts: Box::new(UnsafeCell::new([None; 256])),
            taken: Mutex::new([false; 256]),
            osc: OscTags::default(),
        }
    }

    /// Makes `instance` the context of the receivers of all tags that nobody has registered.
    ///
    /// # Safety
    /// The receiver that the table was made with takes it, as long as the table is used.
    pub unsafe fn report_to(&self, instance: *const c_void) {
        let taken = self.taken.lock();
        for (tag, taken) in taken.iter().enumerate() {
            if !taken {
                // SAFETY: no message arrives yet, and the lock is held.
                unsafe { (*self.rows.get())[tag].ctx = instance as *mut c_void };
            }
        }
    }

    /// The address of the 256 receivers, by tag, for the host table.
    pub fn as_ptr(&self) -> *const AmEntry {
        self.rows.get().cast()
    }

    /// The address of the 256 receivers of messages in parts, by tag, for the host table.
    pub fn parts_ptr(&self) -> *const Option<AmParts> {
        self.parts.get().cast()
    }

    /// Gives a registered tag a receiver of messages in parts; BAD_PARAM: the tag is not registered.
    pub(crate) fn set_parts(&self, tag: u8, take: AmParts) -> Status {
        let taken = self.taken.lock();
        if !taken[tag as usize] {
            return Status::BAD_PARAM;
        }
        // SAFETY: no message arrives yet (contract), and the lock is held.
        unsafe { (*self.parts.get())[tag as usize] = Some(take) };
        Status::OK
    }

    /// Registers a receiver for a tag; BAD_PARAM: the tag is taken. Before the first progress.
    pub fn set(&self, tag: u8, entry: AmEntry) -> Status {
        let mut taken = self.taken.lock();
        if std::mem::replace(&mut taken[tag as usize], true) {
            return Status::BAD_PARAM;
        }
        // SAFETY: no message arrives yet (contract), and the lock is held.
        unsafe { (*self.rows.get())[tag as usize] = entry };
        Status::OK
    }
}
