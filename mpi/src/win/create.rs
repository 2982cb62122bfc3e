//! Windows made and freed (MPI 5.0 §12.2). Constructors succeed or fail in all ranks together.

use super::object::{Facts, adopt, forget, get, require};
use crate::call::memory::{read, write, write_made};
use crate::call::process::Process;
use crate::constants::*;
use crate::environment::alignment;
use crate::error::{ErrorObject, Failure, Res, call, call_on};
use crate::topo::intra;
use crate::types::{Aint, Comm, Group, Info, Win};
use crate::{group, info};
use core::ffi::{c_int, c_void};
use oxmpi_runtime::Window;
use oxmpi_runtime::window::{Wanted, WantedMemory};

/// Arguments of all constructors.
struct CreateArguments {
    parent: &'static crate::comm::CommObject,
    bytes: u64,
    disp_unit: Aint,
    given: oxmpi_runtime::Info,
}

fn create_arguments(
    comm: Comm,
    size: Aint,
    disp_unit: Aint,
    hints: Info,
    win: *mut Win,
) -> Res<CreateArguments> {
    let parent = intra(comm, "comm")?;
    let Ok(bytes) = u64::try_from(size) else {
        return Failure::err(MPI_ERR_SIZE, format!("size is {size}"));
    };
    if disp_unit < 1 {
        return Failure::err(MPI_ERR_DISP, format!("disp_unit is {disp_unit}"));
    }
    let given = info::optional(hints)?.unwrap_or_default();
    if win.is_null() {
        return Failure::err(MPI_ERR_ARG, "win is a null pointer");
    }
    Ok(CreateArguments { parent, bytes, disp_unit, given })
}

impl CreateArguments {
    /// Makes the window and writes its handle; where its memory begins.
    fn make(self, process: &Process, flavor: c_int, memory: WantedMemory, win: *mut Win) -> Res<*mut c_void> {
        let wanted = Wanted { disp_unit: self.disp_unit, memory };
        let window = Window::make(&self.parent.comm, process.thread(), wanted, &self.given)?;
        let mut hints = self.given;
        if flavor == MPI_WIN_FLAVOR_SHARED {
            let apart = hints.is_true("alloc_shared_noncontig");
            hints.set("alloc_shared_noncontig", if apart { "true" } else { "false" });
        }
        let base: *mut c_void = window.own().base.cast();
        let facts = Facts {
            base: base as usize,
            size: self.bytes as Aint,
            // The attribute is an int; a larger unit can be asked for with MPI_Win_shared_query_c alone.
            disp_unit: self.disp_unit.min(c_int::MAX.into()) as c_int,
            flavor,
            model: MPI_WIN_UNIFIED,
        };
        write(win, "win", adopt(facts, window, hints)?)?;
        Ok(base)
    }
}

mpi_fn! {
    fn MPI_Win_create[c_int], MPI_Win_create_c[Aint]<N>(base: *mut c_void, size: Aint, disp_unit: N, info: Info, comm: Comm, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let create_arguments = create_arguments(comm, size, disp_unit.into(), info, win)?;
            let memory = WantedMemory::Users { base, bytes: create_arguments.bytes };
            create_arguments.make(process, MPI_WIN_FLAVOR_CREATE, memory, win).map(|_| ())
        })
    }
}
mpi_fn! {
    fn MPI_Win_create_dynamic(info: Info, comm: Comm, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let create_arguments = create_arguments(comm, 0, 1, info, win)?;
            create_arguments.make(process, MPI_WIN_FLAVOR_DYNAMIC, WantedMemory::Dynamic, win).map(|_| ())
        })
    }
}
mpi_fn! {
    fn MPI_Win_allocate[c_int], MPI_Win_allocate_c[Aint]<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: *mut *mut c_void, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let create_arguments = create_arguments(comm, size, disp_unit.into(), info, win)?;
            let memory = WantedMemory::Allocated { bytes: create_arguments.bytes, align: alignment(info)? };
            place(baseptr)?;
            let base = create_arguments.make(process, MPI_WIN_FLAVOR_ALLOCATE, memory, win)?;
            write(baseptr, "baseptr", base)
        })
    }
}
mpi_fn! {
    fn MPI_Win_allocate_shared[c_int], MPI_Win_allocate_shared_c[Aint]<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: *mut *mut c_void, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let create_arguments = create_arguments(comm, size, disp_unit.into(), info, win)?;
            place(baseptr)?;
            let apart = create_arguments.given.is_true("alloc_shared_noncontig");
            let memory = WantedMemory::Shared { bytes: create_arguments.bytes, apart };
            let base = create_arguments.make(process, MPI_WIN_FLAVOR_SHARED, memory, win)?;
            write(baseptr, "baseptr", base)
        })
    }
}

pub(super) fn place(baseptr: *mut *mut c_void) -> Res {
    if baseptr.is_null() { Failure::err(MPI_ERR_ARG, "baseptr is a null pointer") } else { Ok(()) }
}

mpi_fn! {
    /// Waits for the others.
    fn MPI_Win_free(win: *mut Win) -> c_int {
        // SAFETY: null, or the caller's place of a handle.
        let on = unsafe { win.as_ref() }.copied().filter(|win| get(*win).is_some());
        call_on(NAME, on.map_or(ErrorObject::Nothing, ErrorObject::Win), |process| {
            let handle = read(win, "win")?;
            let object = require(handle)?;
            object.attributes.delete_all(handle.0)?;
            object.window.free(process.thread())?;
            forget(handle);
            write(win, "win", Win(MPI_WIN_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_group(win: Win, group: *mut Group) -> c_int {
        call_on(NAME, ErrorObject::Win(win), |_| {
            let object = require(win)?;
            write_made(group, "group", || group::adopt(object.comm().group().clone()))
        })
    }
}
