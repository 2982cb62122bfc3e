//! Windows made and freed (MPI 5.0 §12.2). Constructors succeed or fail in all ranks together.

use super::object::{Facts, adopt, forget, get, require};
use crate::call::memory::{Out, read, write, write_made};
use crate::constants::*;
use crate::environment::alignment;
use crate::error::{ErrorObject, Failure, Res, call, call_on};
use crate::topo::intra;
use crate::types::{Aint, Comm, Group, Info, Win};
use crate::{group, info};
use core::ffi::{c_int, c_void};
use oxmpi_mca::Entry;
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
    win: Out<Win>,
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
    ///
    /// # Safety
    /// As for [`Window::make`].
    unsafe fn make(
        self,
        entry: &mut Entry,
        flavor: c_int,
        memory: WantedMemory,
        win: Out<Win>,
    ) -> Res<*mut c_void> {
        let wanted = Wanted { disp_unit: self.disp_unit, memory };
        // SAFETY: the caller's promise.
        let window = unsafe { Window::make(&self.parent.comm, entry, wanted, &self.given) }?;
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
    fn MPI_Win_create[c_int], MPI_Win_create_c[Aint]<N>(base: *mut c_void, size: Aint, disp_unit: N, info: Info, comm: Comm, win: Out<Win>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let create_arguments = create_arguments(comm, size, disp_unit.into(), info, win)?;
            let memory = WantedMemory::Users { base, bytes: create_arguments.bytes };
            // SAFETY: the standard has the caller pass memory that stays as long as the window.
            unsafe { create_arguments.make(entry, MPI_WIN_FLAVOR_CREATE, memory, win) }.map(|_| ())
        })
    }
}
mpi_fn! {
    fn MPI_Win_create_dynamic(info: Info, comm: Comm, win: Out<Win>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let create_arguments = create_arguments(comm, 0, 1, info, win)?;
            // SAFETY: there is no memory of the program's.
            unsafe { create_arguments.make(entry, MPI_WIN_FLAVOR_DYNAMIC, WantedMemory::Dynamic, win) }.map(|_| ())
        })
    }
}
mpi_fn! {
    fn MPI_Win_allocate[c_int], MPI_Win_allocate_c[Aint]<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: Out<*mut c_void>, win: Out<Win>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let create_arguments = create_arguments(comm, size, disp_unit.into(), info, win)?;
            let memory = WantedMemory::Allocated { bytes: create_arguments.bytes, align: alignment(info)? };
            place(baseptr)?;
            // SAFETY: the memory is not the program's.
            let base = unsafe { create_arguments.make(entry, MPI_WIN_FLAVOR_ALLOCATE, memory, win) }?;
            write(baseptr, "baseptr", base)
        })
    }
}
mpi_fn! {
    fn MPI_Win_allocate_shared[c_int], MPI_Win_allocate_shared_c[Aint]<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: Out<*mut c_void>, win: Out<Win>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let create_arguments = create_arguments(comm, size, disp_unit.into(), info, win)?;
            place(baseptr)?;
            let apart = create_arguments.given.is_true("alloc_shared_noncontig");
            let memory = WantedMemory::Shared { bytes: create_arguments.bytes, apart };
            // SAFETY: the memory is the library's.
            let base = unsafe { create_arguments.make(entry, MPI_WIN_FLAVOR_SHARED, memory, win) }?;
            write(baseptr, "baseptr", base)
        })
    }
}

pub(super) fn place(baseptr: Out<*mut c_void>) -> Res {
    if baseptr.is_null() { Failure::err(MPI_ERR_ARG, "baseptr is a null pointer") } else { Ok(()) }
}

mpi_fn! {
    /// Waits for the others.
    fn MPI_Win_free(win: Out<Win>) -> c_int |here| {
        let on = win.get().filter(|win| get(*win).is_some());
        call_on(here, NAME, on.map_or(ErrorObject::Nothing, ErrorObject::Win), |_, entry| {
            let handle = read(win, "win")?;
            let object = require(handle)?;
            object.attributes.delete_all(entry, handle.0)?;
            object.window.free(entry)?;
            forget(handle);
            write(win, "win", Win(MPI_WIN_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_group(win: Win, group: Out<Group>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let object = require(win)?;
            write_made(group, "group", || group::adopt(object.comm().group().clone()))
        })
    }
}
