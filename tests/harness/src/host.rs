//! The host of a check, fulfilled by the runtime.

use oxmpi_mca::{Entry, RequestHeader, ThreadCtx};
use oxmpi_osc::{Mapped, Verbs, WinCounts};
use oxmpi_osc_conformance::host::{Host, HostWindow, Refused, WantedMemory};
use oxmpi_runtime::request::Header;
use oxmpi_runtime::window::{self, Wanted};
use oxmpi_runtime::{Communicator, Error, Info, Instance, Window};
use std::ptr::NonNull;
use std::sync::Arc;

/// A rank of a communicator.
pub struct Member {
    pub instance: Arc<Instance>,
    pub comm: Arc<Communicator>,
}

/// A window of the runtime.
struct Made(Arc<Window>);

fn refused(error: Error) -> Refused {
    Refused { class: error.class(), message: error.message }
}

fn info(hints: &[(&str, &str)]) -> Info {
    let mut info = Info::new();
    hints.iter().for_each(|(key, value)| info.set(key, value));
    info
}

/// The way in of a thread of a check, for one call.
fn entry(thread: *mut ThreadCtx) -> Entry {
    // SAFETY: among others; checks hand on their thread's own context, which lives until they detach it.
    unsafe { Entry::of(true, thread) }
}

impl Host for Member {
    fn rank(&self) -> u32 {
        self.comm.rank()
    }
    fn size(&self) -> u32 {
        self.comm.size()
    }
    fn thread(&self) -> *mut ThreadCtx {
        self.instance.main_thread()
    }
    fn attach_thread(&self) -> *mut ThreadCtx {
        self.instance.attach_thread()
    }
    fn detach_thread(&self, thread: *mut ThreadCtx) {
        self.instance.detach_thread(thread);
    }
    fn barrier(&self) -> Result<(), Refused> {
        self.comm.first_without(&mut entry(self.thread()), true).map(drop).map_err(refused)
    }
    fn wait(&self, thread: *mut ThreadCtx, request: *mut RequestHeader) {
        let request = NonNull::new(request).expect("a request");
        // SAFETY: a verb of this instance handed it out, and it is released behind this.
        self.instance.wait(&mut entry(thread), unsafe { Header::new(request) });
    }
    fn window(
        &self,
        disp_unit: i64,
        memory: WantedMemory,
        hints: &[(&str, &str)],
    ) -> Result<Arc<dyn HostWindow>, Refused> {
        let memory = match memory {
            WantedMemory::Users { base, bytes } => window::WantedMemory::Users { base, bytes },
            WantedMemory::Allocated { bytes, align } => window::WantedMemory::Allocated { bytes, align },
            WantedMemory::Dynamic => window::WantedMemory::Dynamic,
            WantedMemory::Shared { bytes, apart } => window::WantedMemory::Shared { bytes, apart },
        };
        let wanted = Wanted { disp_unit, memory };
        // SAFETY: a check keeps its memory until the window is free.
        let made = unsafe { Window::make(&self.comm, &mut entry(self.thread()), wanted, &info(hints)) };
        made.map(|window| Arc::new(Made(window)) as Arc<dyn HostWindow>).map_err(refused)
    }
    fn split(&self, color: u32, key: i32) -> Result<Box<dyn Host>, Refused> {
        let part = self.comm.split(&mut entry(self.thread()), Some(color), key).map_err(refused)?;
        let nobody = || Refused { class: 0, message: "a rank with a color is in no part".into() };
        Ok(Box::new(Member { instance: self.instance.clone(), comm: part.ok_or_else(nobody)? }))
    }
}

impl HostWindow for Made {
    fn verbs(&self) -> Option<&Verbs> {
        self.0.verbs()
    }
    fn own(&self) -> Mapped {
        self.0.own()
    }
    fn mapped(&self, rank: u32) -> Option<Mapped> {
        self.0.mapped(rank)
    }
    fn counts(&self) -> WinCounts {
        self.0.counts()
    }
    fn num_notify(&self) -> u32 {
        self.0.num_notify()
    }
    fn set_hints(&self, thread: *mut ThreadCtx, hints: &[(&str, &str)]) -> Result<(), Refused> {
        self.0.set_info(&mut entry(thread), &info(hints)).map_err(refused)
    }
    fn dup(&self, thread: *mut ThreadCtx, hints: &[(&str, &str)]) -> Result<Arc<dyn HostWindow>, Refused> {
        let made = self.0.dup(&mut entry(thread), &info(hints));
        made.map(|window| Arc::new(Made(window)) as Arc<dyn HostWindow>).map_err(refused)
    }
    fn free(&self, thread: *mut ThreadCtx) -> Result<(), Refused> {
        self.0.free(&mut entry(thread)).map_err(refused)
    }
}
