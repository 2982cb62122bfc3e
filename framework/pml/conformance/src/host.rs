//! The host of one rank: what it has for its component, and a record of what that said.

use crate::net::Net;
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Reach};
use oxmpi_mca::host::{HostTable, ProgressFn};
use oxmpi_mca::{AmParts, Entry, LayerFunction, Status, ThreadCtx};
use oxmpi_pml::{PmlModule, PmlTable};
use oxmpi_progress::Engine;
use oxmpi_testing::{Desk, FakeHost};
use std::sync::{Arc, Mutex};

/// See the file's head. Lives as long as the process: components keep pointers into it.
pub struct Rank {
    pub number: u32,
    pub desk: Desk,
    pub net: Arc<Net>,
    pub tables: Option<Tables>,
    pub module: Option<PmlModule>,
    pub errors: Mutex<Vec<(u32, String)>>,
    pub armed: AtomicI32,
    pub turns: AtomicU64,
    pub engine: Engine,
}

pub struct Tables {
    pub host: Box<HostTable>,
    pub _attrs: Box<BtlAttrs>,
    pub btl: Box<BtlHandle>,
    pub services: Box<BtlServices>,
    pub reached: Box<[Reach]>,
}

// SAFETY: what is not atomic or locked is written before the rank is shared.
unsafe impl Send for Rank {}
// SAFETY: as above.
unsafe impl Sync for Rank {}

impl FakeHost for Rank {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    /// Nobody attaches a sync object here, and no verb of a PML waits.
    fn unused(&self, what: &str) -> Status {
        panic!("rank {} {what}", self.number)
    }
    fn failed(&self, proc: u32, _: Status, message: &str) {
        let mut errors = self.errors.lock().unwrap_or_else(|e| e.into_inner());
        errors.push((proc, message.to_owned()));
    }
    /// Messages are whole when they are handed up.
    fn am_register_parts(&self, _: u8, _: AmParts) -> Status {
        Status::OK
    }
    fn progress_register(&self, function: &LayerFunction) -> Status {
        // SAFETY: the component's, which is never unloaded; ranks stay.
        unsafe { self.engine.register(function) }
    }
    fn progress_unregister(&self, f: ProgressFn, ctx: *mut c_void) -> Status {
        self.engine.unregister(f, ctx.addr())
    }
    fn progress(&self, thread: *mut ThreadCtx) -> i32 {
        // SAFETY: the component's call passes its thread's context.
        self.engine.turn(&mut unsafe { self.entry(thread) })
    }
    fn expect(&self, thread: *mut ThreadCtx, set: u64) {
        // SAFETY: as in `progress`.
        self.engine.contexts().expect("served").expect(&unsafe { self.entry(thread) }, set);
    }
}

impl Rank {
    /// The way in of a call of the thread with this context.
    ///
    /// # Safety
    /// The calling thread's, or null; a rank that is not threaded is used by one thread.
    pub unsafe fn entry(&self, thread: *mut ThreadCtx) -> Entry {
        // SAFETY: the caller's promise; contexts of tests stay.
        unsafe { Entry::of(self.desk.is_threaded(), thread) }
    }
    pub fn net(&self) -> &Net {
        &self.net
    }
    /// True every third time.
    pub fn takes_turns(&self) -> bool {
        self.turns.fetch_add(1, Ordering::Relaxed) % 3 == 2
    }
    /// The component's table and state.
    pub fn pml(&self) -> (&'static PmlTable, *mut c_void) {
        let module = self.module.as_ref().expect("opened");
        // SAFETY: a component's table lives as long as the process.
        (unsafe { &*module.table }, module.state)
    }

    pub fn tables(&self) -> &Tables {
        self.tables.as_ref().expect("made")
    }
}
