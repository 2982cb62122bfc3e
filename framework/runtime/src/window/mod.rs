//! Windows (MPI 5.0 §12): a communicator, memory, and the module of a one-sided component.
//!
//! Map: here what a window is, made and freed · `memory` (the program's, own, shared on
//! the node) · `hints` (info keys) · `select` (which component) · `duplicate` (a second window on the
//! same memory) · `calls` (counts) · `services` (what the component may ask of the host).
//!
//! **Making one**, by all ranks: a communicator of the window's own, which sends nothing; one exchange of sizes and hints;
//! memory; two exchanges for the choice, and what the component itself sends. Ranks succeed or fail together.
//!
//! **Without a component.** A window that no component serves is still an object: it has memory, a group, hints; what is
//! shared can be loaded and stored. Its operations answer NOT_SUPPORTED, and of the synchronisations those that have a
//! meaning for loads and stores of shared memory are done here ([`Window::fence`], [`Window::sync`]).
//!
//! **Ownership.** The component's module has the address of [`WindowData`], which is boxed and goes after it. The module is
//! given back once (`freed`): by [`Window::free`], or, without communication, when the instance ends or the last
//! owner of the window goes. The instance knows windows weakly.

mod allocate;
pub(crate) mod calls;
mod data;
mod duplicate;
pub(crate) mod hints;
pub(crate) mod memory;
mod select;
mod services;

pub use calls::CallKind;
pub use oxmpi_osc::{Operation, Verbs};

use crate::info::Info;
use crate::objects::{Communicator, Instance, Window, WindowData};
use crate::places::Places;
use crate::shared_memory::Wish;
use calls::Calls;
use hints::Hints;
use memory::Memory;
use oxmpi_loading::error::Error;
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Mapped, WinComm, WinCounts, WinDesc, WinServices, flavor, hint};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock, Weak, atomic};

/// A rank's description of the window that it wants.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Bytes of a unit of displacement, at least 1.
    pub disp_unit: i64,
    pub memory: WantedMemory,
}

/// Which memory.
#[derive(Clone, Copy, Debug)]
pub enum WantedMemory {
    /// MPI_Win_create: the program's.
    Users { base: *mut c_void, bytes: u64 },
    /// MPI_Win_allocate; `align` is a power of two, at least a pointer's size.
    Allocated { bytes: u64, align: usize },
    /// MPI_Win_create_dynamic.
    Dynamic,
    /// MPI_Win_allocate_shared. `apart`: each rank's on pages of its own.
    Shared { bytes: u64, apart: bool },
}

impl WantedMemory {
    /// Bytes of this rank's memory; 0 for a dynamic window.
    fn bytes(&self) -> u64 {
        match *self {
            WantedMemory::Users { bytes, .. }
            | WantedMemory::Allocated { bytes, .. }
            | WantedMemory::Shared { bytes, .. } => bytes,
            WantedMemory::Dynamic => 0,
        }
    }

    /// The kind of window, one of [`oxmpi_osc::flavor`].
    fn flavor(&self) -> u32 {
        match self {
            WantedMemory::Users { .. } => flavor::CREATE,
            WantedMemory::Allocated { .. } => flavor::ALLOCATE,
            WantedMemory::Dynamic => flavor::DYNAMIC,
            WantedMemory::Shared { .. } => flavor::SHARED,
        }
    }
}

impl Window {
    /// Makes a window of the ranks of `parent`, all of which call this.
    ///
    /// # Safety
    /// Memory that is the program's ([`WantedMemory::Users`]) is there as long as the window.
    pub unsafe fn make(
        parent: &Communicator,
        entry: &mut Entry,
        wanted: Wanted,
        info: &Info,
    ) -> Result<Arc<Window>, Error> {
        let comm = parent.dup(None)?;
        let instance = comm.shared_instance().clone();
        let bytes = wanted.memory.bytes();
        let (first, hints) = meet(&comm, entry, &wanted, info)?;
        let places = comm.places();
        let memory = memory_for(&comm, entry, places, &wanted)?;
        let node_rank = places.get(comm.rank()).map_or(0, |place| place.node_rank);
        let base = match wanted.memory {
            WantedMemory::Users { base, .. } => base.cast(),
            _ => memory.base(node_rank),
        };
        let own = Mapped { base, bytes, disp_unit: wanted.disp_unit };
        let (flavor, memory) = (wanted.memory.flavor(), Arc::new(memory));
        let inner = Box::new(WindowData { comm, memory, flavor, own, first, seen: OnceLock::new() });
        let desc = inner.desc(&hints, services::services());
        let verbs = select::choose(&inner.comm, entry, &desc)?;
        Ok(Window::adopt(inner, verbs, hints, &instance, entry))
    }

    /// Makes the window object of a chosen component (`verbs`, `None`: nobody serves it) and has the instance remember
    /// it.
    fn adopt(
        inner: Box<WindowData>,
        verbs: Option<Verbs>,
        mut hints: Hints,
        instance: &Instance,
        entry: &mut Entry,
    ) -> Arc<Window> {
        let notifies = |verbs: &Verbs| verbs.notify_read(entry, 0, false) != Err(Status::NOT_SUPPORTED);
        if !verbs.as_ref().is_some_and(notifies) {
            hints.num_notify = 0;
        }
        let freed = AtomicBool::new(verbs.is_none());
        let window =
            Arc::new(Window { verbs, freed, hints: Mutex::new(hints), calls: Calls::default(), inner });
        if window.verbs.is_some() {
            instance.remember_window(&window);
        }
        window
    }

    /// The window's own communicator.
    pub fn comm(&self) -> &Arc<Communicator> {
        &self.inner.comm
    }
    /// One of [`oxmpi_osc::flavor`].
    pub fn flavor(&self) -> u32 {
        self.inner.flavor
    }
    /// This rank's memory.
    pub fn own(&self) -> Mapped {
        self.inner.own
    }
    /// A rank's memory in this process's address space, if it is there; of no rank of a dynamic window.
    pub fn mapped(&self, rank: u32) -> Option<Mapped> {
        self.inner.mapped(rank)
    }
    /// The lowest rank that has memory.
    pub fn first(&self) -> Option<u32> {
        self.inner.first
    }
    /// The component's verbs; `None`: no component serves the window.
    #[inline]
    pub fn verbs(&self) -> Option<&Verbs> {
        self.verbs.as_ref()
    }

    /// MPI_Win_fence. Without a component, of shared memory: stores before it are visible to loads behind it.
    pub fn fence(&self, entry: &mut Entry, assert: u32) -> Status {
        match &self.verbs {
            Some(verbs) => verbs.fence(entry, assert),
            None if self.inner.flavor == flavor::SHARED => {
                atomic::fence(atomic::Ordering::SeqCst);
                // SAFETY: it has no data.
                let met = unsafe { self.inner.comm.barrier(entry, &oxmpi_coll::CollArgs::NONE) };
                atomic::fence(atomic::Ordering::SeqCst);
                met
            }
            None => Status::NOT_SUPPORTED,
        }
    }

    /// MPI_Win_sync; without a component a full fence.
    pub fn sync(&self, entry: &mut Entry) -> Status {
        match &self.verbs {
            Some(verbs) => verbs.sync(entry),
            None => {
                atomic::fence(atomic::Ordering::SeqCst);
                Status::OK
            }
        }
    }

    /// The hints in force.
    fn in_force(&self) -> Hints {
        *self.hints.lock()
    }

    /// The hints in force, the library's own and those of the standard, as MPI_Win_get_info tells them.
    pub fn info(&self) -> Info {
        self.in_force().told()
    }

    /// Counters of notifications that each rank has; 0 where the component has none.
    pub fn num_notify(&self) -> u32 {
        self.in_force().num_notify
    }

    /// Puts the hints of an info object in force, as far as they may change and all ranks agree. Called by all ranks.
    pub fn set_info(&self, entry: &mut Entry, info: &Info) -> Result<(), Error> {
        let wanted = self.in_force().changed(info);
        let own = told(self.inner.own.bytes, self.inner.own.disp_unit, &wanted);
        let all = self.inner.comm.tell_all(entry, &own)?;
        let now = Hints { num_notify: wanted.num_notify, ..agreed(&all, &own) };
        *self.hints.lock() = now;
        let told = self.verbs.as_ref().map_or(Status::OK, |verbs| verbs.set_hints(now.hints, now.ordering));
        if told.is_err() { Err(Error::status(told, "the hints cannot be changed")) } else { Ok(()) }
    }

    /// Counts one call of a kind, for [`Window::calls`].
    pub fn note(&self, kind: CallKind) {
        self.calls.note(kind);
    }
    /// How many calls of a kind were noted.
    pub fn calls(&self, kind: CallKind) -> u64 {
        self.calls.get(kind)
    }
    /// Counts of the component; zeros where it counts nothing, and where the window was freed.
    pub fn counts(&self) -> WinCounts {
        let verbs = self.verbs.as_ref().filter(|_| !self.freed.load(Ordering::Acquire));
        verbs.map_or_else(WinCounts::default, Verbs::counts)
    }

    /// MPI_Win_free: waits for all ranks. After a failure the window is as it was.
    pub fn free(&self, entry: &mut Entry) -> Result<(), Error> {
        let Some(verbs) = self.verbs.as_ref().filter(|_| !self.freed.load(Ordering::Acquire)) else {
            return self.inner.comm.first_without(entry, true).map(|_| ());
        };
        let status = verbs.free(entry, false);
        if status.is_err() {
            return Err(Error::status(status, "the window cannot be freed"));
        }
        self.freed.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives the component's module back without communication, if that was not done yet.
    pub(crate) fn close(&self) {
        if self.freed.swap(true, Ordering::AcqRel) || self.inner.comm.instance().in_child() {
            return;
        }
        if let Some(verbs) = &self.verbs {
            // SAFETY: no thread is in the library but this one, or this is the last owner, which holds nothing; the module does not wait.
            let entry = &mut unsafe { self.inner.comm.instance().entry(null_mut()) };
            let _ = verbs.free(entry, true);
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = self.verbs.as_ref().map_or("no component", |verbs| verbs.component());
        write!(f, "window of {:?}, served by {by}", self.inner.comm)
    }
}

/// Provides the memory that the program wants for its window; called by all ranks.
fn memory_for(
    comm: &Communicator,
    entry: &mut Entry,
    places: &Places,
    wanted: &Wanted,
) -> Result<Memory, Error> {
    let wish = |bytes, apart| Wish { bytes, disp_unit: wanted.disp_unit, apart };
    match wanted.memory {
        WantedMemory::Users { .. } | WantedMemory::Dynamic => Ok(Memory::Users),
        WantedMemory::Allocated { bytes, align } => {
            Memory::allocate(comm, entry, places, wish(bytes, true), align)
        }
        WantedMemory::Shared { bytes, apart } => {
            comm.share_memory(entry, wish(bytes, apart)).map(Memory::Shared)
        }
    }
}

/// Exchanges sizes and hints with all ranks; returns the lowest rank that has memory and the hints in force.
fn meet(
    comm: &Communicator,
    entry: &mut Entry,
    wanted: &Wanted,
    info: &Info,
) -> Result<(Option<u32>, Hints), Error> {
    let own = told(wanted.memory.bytes(), wanted.disp_unit, &Hints::of(info));
    let all = comm.tell_all(entry, &own)?;
    let first = all.chunks(own.len()).position(|rank| rank[0] != 0);
    Ok((first.map(|rank| rank as u32), agreed(&all, &own)))
}

/// A rank's message to the others about its memory and its hints.
fn told(bytes: u64, disp_unit: i64, hints: &Hints) -> Vec<u64> {
    let mut words = vec![bytes.to_le(), disp_unit.cast_unsigned().to_le()];
    words.extend(hints.words());
    words
}

/// The hints in force, from what all ranks have told: `same_size` and `same_disp_unit` hold only where they are true.
fn agreed(all: &[u64], own: &[u64]) -> Hints {
    let ranks = || all.chunks(own.len());
    let mut hints = Hints::agreed(ranks().map(|rank| &rank[2..]));
    for (at, bit) in [(0, hint::SAME_SIZE), (1, hint::SAME_DISP_UNIT)] {
        if !ranks().all(|rank| rank[at] == own[at]) {
            hints.hints &= !bit;
        }
    }
    hints
}

impl WindowData {
    /// The description of the window that components get.
    fn desc(&self, hints: &Hints, services: *const WinServices) -> WinDesc {
        let seen = self.seen.get_or_init(|| WinComm {
            size: size_of::<WinComm>() as u32,
            num_ranks: self.comm.size(),
            rank: self.comm.rank(),
            num_nodes: self.comm.places().num_nodes(),
            comm: std::ptr::from_ref(self).cast_mut().cast(),
            services,
            btl: self.comm.instance().btl_services_for_rma(),
        });
        WinDesc {
            size: size_of::<WinDesc>() as u32,
            flavor: self.flavor,
            comm: seen,
            base: self.own.base,
            bytes: self.own.bytes,
            disp_unit: self.own.disp_unit,
            hints: hints.hints,
            ordering: hints.ordering,
            granularity: hints.granularity,
            host_win: null_mut(),
            num_notify: hints.num_notify,
            reserved: 0,
        }
    }
}

impl Instance {
    /// Enters a window in the instance's list, weakly, so that it is closed when the instance ends.
    fn remember_window(&self, window: &Arc<Window>) {
        let mut windows = self.life().windows.lock();
        if windows.len() == windows.capacity() {
            windows.retain(|w| w.strong_count() > 0);
        }
        windows.push(Arc::downgrade(window));
    }

    /// Gives the components' modules of all windows that nobody freed back, without communication.
    pub(crate) fn close_windows(&self) {
        let windows = std::mem::take(&mut *self.life().windows.lock());
        windows.iter().filter_map(Weak::upgrade).for_each(|window| window.close());
    }
}
