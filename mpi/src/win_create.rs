//! Windows made and freed (MPI 5.0 §12.2). What is exchanged through them is not in this version; what they are is.
//!
//! A window has a communicator of its own, of the group it was made for, so that what its ranks agree on meets nobody
//! else's messages. Constructors that get memory succeed or fail in all ranks together.

use crate::constants::*;
use crate::environment::alignment;
use crate::error::{Failure, On, Res, call, call_on};
use crate::memory::{read, write, write_made};
use crate::process::Process;
use crate::topo::intra;
use crate::types::{Aint, Comm, Group, Info, Win};
use crate::win::{Facts, Made, Memory, WinObject, adopt, forget, get, require};
use crate::{group, info};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use oxmpi_runtime::Communicator;
use oxmpi_runtime::shared::Wish;
use std::sync::Arc;

/// Hints that the standard gives a value where the program gives none (MPI 5.0 §12.2.1), and the flavor that
/// alone has them (0: all).
const DEFAULTS: [(&str, &str, c_int); 6] = [
    ("no_locks", "false", 0),
    ("accumulate_ordering", "rar,raw,war,waw", 0),
    ("accumulate_ops", "same_op_no_op", 0),
    ("same_size", "false", 0),
    ("same_disp_unit", "false", 0),
    ("alloc_shared_noncontig", "false", MPI_WIN_FLAVOR_SHARED),
];

/// What all constructors are told.
struct Wanted {
    parent: &'static crate::comm::CommObject,
    bytes: u64,
    disp_unit: Aint,
    given: oxmpi_runtime::Info,
}

fn wanted(comm: Comm, size: Aint, disp_unit: Aint, hints: Info, win: *mut Win) -> Res<Wanted> {
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
    Ok(Wanted { parent, bytes, disp_unit, given })
}

impl Wanted {
    fn communicator(&self, process: &Process) -> Res<Arc<Communicator>> {
        Ok(self.parent.comm.dup(process.thread(), None)?)
    }

    /// The lowest rank that has memory, which all are to know.
    fn first(&self, process: &Process, own: &Communicator) -> Res<Option<u32>> {
        Ok(own.first_without(process.thread(), self.bytes == 0)?)
    }

    /// The handle of the window, at last.
    fn give(
        self,
        comm: Arc<Communicator>,
        flavor: c_int,
        base: *mut c_void,
        memory: Memory,
        first: Option<u32>,
        win: *mut Win,
    ) -> Res {
        let mut hints = oxmpi_runtime::Info::new();
        for (key, value, of) in DEFAULTS {
            if of == 0 || of == flavor {
                hints.set(key, value);
            }
        }
        hints.merge(&self.given);
        let facts = Facts {
            base: base as usize,
            size: self.bytes as Aint,
            disp_unit: self.disp_unit,
            // The attribute is an int; a larger unit can be asked for with MPI_Win_shared_query_c alone.
            disp_unit_attribute: self.disp_unit.min(c_int::MAX.into()) as c_int,
            flavor,
            model: MPI_WIN_UNIFIED,
            first,
        };
        write(win, "win", adopt(Made { facts, comm, memory, hints })?)
    }
}

mpi_fn! {
    fn MPI_Win_create[c_int], MPI_Win_create_c[Aint]<N>(base: *mut c_void, size: Aint, disp_unit: N, info: Info, comm: Comm, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let wanted = wanted(comm, size, disp_unit.into(), info, win)?;
            let own = wanted.communicator(process)?;
            let first = wanted.first(process, &own)?;
            wanted.give(own, MPI_WIN_FLAVOR_CREATE, base, Memory::Users, first, win)
        })
    }
}
mpi_fn! {
    fn MPI_Win_create_dynamic(info: Info, comm: Comm, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let wanted = wanted(comm, 0, 1, info, win)?;
            let own = wanted.communicator(process)?;
            wanted.give(own, MPI_WIN_FLAVOR_DYNAMIC, null_mut(), Memory::Users, None, win)
        })
    }
}
mpi_fn! {
    fn MPI_Win_allocate[c_int], MPI_Win_allocate_c[Aint]<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: *mut *mut c_void, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let wanted = wanted(comm, size, disp_unit.into(), info, win)?;
            let align = alignment(info)?;
            place(baseptr)?;
            let own = wanted.communicator(process)?;
            let memory = allocate(wanted.bytes, align);
            let missing = own.first_without(process.thread(), memory.is_some())?;
            if let Some(rank) = missing {
                return Failure::err(MPI_ERR_NO_MEM, format!("rank {rank} of the communicator has not the memory it asks for"));
            }
            let Some(memory) = memory else {
                return Failure::err(MPI_ERR_NO_MEM, format!("there are no {} bytes", wanted.bytes));
            };
            let base = memory.base();
            let first = wanted.first(process, &own)?;
            wanted.give(own, MPI_WIN_FLAVOR_ALLOCATE, base, memory, first, win)?;
            write(baseptr, "baseptr", base)
        })
    }
}
mpi_fn! {
    fn MPI_Win_allocate_shared[c_int], MPI_Win_allocate_shared_c[Aint]<N>(size: Aint, disp_unit: N, info: Info, comm: Comm, baseptr: *mut *mut c_void, win: *mut Win) -> c_int {
        call(NAME, Some(comm), |process| {
            let wanted = wanted(comm, size, disp_unit.into(), info, win)?;
            place(baseptr)?;
            let own = wanted.communicator(process)?;
            let apart = wanted.given.is_true("alloc_shared_noncontig");
            let wish = Wish { bytes: wanted.bytes, disp_unit: wanted.disp_unit, apart };
            let memory = own.share_memory(process.thread(), wish)?;
            let base = memory.at(&memory.parts()[own.rank() as usize]).cast();
            wanted.give(own, MPI_WIN_FLAVOR_SHARED, base, Memory::Shared(memory), None, win)?;
            write(baseptr, "baseptr", base)
        })
    }
}

fn place(baseptr: *mut *mut c_void) -> Res {
    if baseptr.is_null() { Failure::err(MPI_ERR_ARG, "baseptr is a null pointer") } else { Ok(()) }
}

fn allocate(bytes: u64, align: usize) -> Option<Memory> {
    let bytes = usize::try_from(bytes).ok()?;
    let mut memory = null_mut();
    // SAFETY: a place for the answer; the alignment is a power of two and of pointer size.
    let failed = unsafe { libc::posix_memalign(&mut memory, align, bytes.max(1)) };
    (failed == 0).then_some(Memory::Allocated(memory))
}

mpi_fn! {
    /// Waits for the others.
    fn MPI_Win_free(win: *mut Win) -> c_int {
        // SAFETY: null, or the caller's place of a handle.
        let on = unsafe { win.as_ref() }.copied().filter(|win| get(*win).is_some());
        call_on(NAME, on.map_or(On::Nothing, On::Win), |process| {
            let handle = read(win, "win")?;
            let object = require(handle)?;
            object.attributes.delete_all(handle.0)?;
            object.comm.first_without(process.thread(), true)?;
            forget(handle);
            write(win, "win", Win(MPI_WIN_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_group(win: Win, group: *mut Group) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = require(win)?;
            write_made(group, "group", || group::adopt(object.comm.group().clone()))
        })
    }
}
mpi_fn! {
    fn MPI_Win_shared_query[c_int], MPI_Win_shared_query_c[Aint]<N>(win: Win, rank: c_int, size: *mut Aint, disp_unit: *mut N, baseptr: *mut *mut c_void) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let (bytes, unit, base) = seen(require(win)?, rank)?;
            let unit: N = fits(unit)?;
            place(baseptr)?;
            write(size, "size", bytes)?;
            write(disp_unit, "disp_unit", unit)?;
            write(baseptr, "baseptr", base)
        })
    }
}

/// A unit that was given as a wide number, where it is asked for as an int.
fn fits<N: TryFrom<Aint>>(unit: Aint) -> Res<N> {
    let too_large =
        |_| Failure::new(MPI_ERR_DISP, format!("disp_unit is {unit}, which does not fit into an int"));
    N::try_from(unit).map_err(too_large)
}

/// What this process can load and store of a rank's memory; nothing of ranks that do not share it. MPI_PROC_NULL is the
/// lowest rank that has any, shared or not.
fn seen(object: &WinObject, rank: c_int) -> Res<(Aint, Aint, *mut c_void)> {
    let (facts, size, me) = (&object.facts, object.comm.size(), object.comm.rank());
    let rank = match u32::try_from(rank) {
        Ok(rank) if rank < size => Some(rank),
        _ if rank == MPI_PROC_NULL => None,
        _ => {
            return Failure::err(
                MPI_ERR_RANK,
                format!("rank is {rank}, ranks are 0 to {}", size.saturating_sub(1)),
            );
        }
    };
    match &object.memory {
        _ if facts.flavor == MPI_WIN_FLAVOR_DYNAMIC => {
            Failure::err(MPI_ERR_RMA_FLAVOR, "win is a dynamic window; no memory belongs to it")
        }
        Memory::Shared(memory) => {
            let part = match rank {
                Some(rank) => memory.parts().get(rank as usize),
                None => memory.parts().iter().find(|part| part.bytes > 0),
            };
            let told = |part: &oxmpi_runtime::shared::Part| {
                (part.bytes as Aint, part.disp_unit, memory.at(part).cast::<c_void>())
            };
            Ok(part.map_or((0, 1, null_mut()), told))
        }
        _ if rank.or(facts.first) == Some(me) => Ok((facts.size, facts.disp_unit, facts.base as *mut c_void)),
        _ => Ok((0, 1, null_mut())),
    }
}

/// A dynamic window.
fn dynamic(win: Win) -> Res<&'static WinObject> {
    let object = require(win)?;
    if object.facts.flavor != MPI_WIN_FLAVOR_DYNAMIC {
        return Failure::err(MPI_ERR_RMA_FLAVOR, "win is no dynamic window");
    }
    Ok(object)
}

mpi_fn! {
    fn MPI_Win_attach(win: Win, base: *mut c_void, size: Aint) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = dynamic(win)?;
            let start = base as usize;
            let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
            let Some(end) = end else {
                return Failure::err(MPI_ERR_SIZE, format!("size is {size}"));
            };
            let mut attached = object.attached.lock();
            match attached.iter().find(|(from, to)| start < *to && *from < end || start == *from) {
                Some((from, _)) => {
                    Failure::err(MPI_ERR_RMA_ATTACH, format!("base is {start:#x}, memory at {from:#x} is attached already"))
                }
                None => {
                    attached.push((start, end));
                    Ok(())
                }
            }
        })
    }
}
mpi_fn! {
    fn MPI_Win_detach(win: Win, base: *const c_void) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = dynamic(win)?;
            let mut attached = object.attached.lock();
            match attached.iter().position(|(from, _)| *from == base as usize) {
                Some(at) => {
                    attached.swap_remove(at);
                    Ok(())
                }
                None => Failure::err(MPI_ERR_RMA_ATTACH, format!("base is {base:p}, where nothing is attached")),
            }
        })
    }
}
