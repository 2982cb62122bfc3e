//! The memory of a window's ranks: what this process can load and store of it, and what is attached to a dynamic window
//! (MPI 5.0 §12.2.3, §12.2.4).

use super::create::place;
use super::{WinObject, require};
use crate::call::memory::{Out, write};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call_on, check};
use crate::types::{Aint, Win};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

mpi_fn! {
    fn MPI_Win_shared_query[c_int], MPI_Win_shared_query_c[Aint]<N>(win: Win, rank: c_int, size: Out<Aint>, disp_unit: Out<N>, baseptr: Out<*mut c_void>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
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

/// A rank's memory that this process can load and store; nothing, at no address, of ranks that do not share it or have none. MPI_PROC_NULL is the
/// lowest rank that has any, shared or not.
fn seen(object: &WinObject, rank: c_int) -> Res<(Aint, Aint, *mut c_void)> {
    let (window, size) = (&object.window, object.comm().size());
    let rank = match u32::try_from(rank) {
        Ok(rank) if rank < size => Some(rank),
        _ if rank == MPI_PROC_NULL => window.first(),
        _ => {
            return Failure::err(
                MPI_ERR_RANK,
                format!("rank is {rank}, ranks are 0 to {}", size.saturating_sub(1)),
            );
        }
    };
    if object.facts.flavor == MPI_WIN_FLAVOR_DYNAMIC {
        return Failure::err(MPI_ERR_RMA_FLAVOR, "win is a dynamic window; no memory belongs to it");
    }
    let mapped = rank.and_then(|rank| window.mapped(rank));
    Ok(mapped.map_or((0, 1, null_mut()), |m| {
        let base = if m.bytes == 0 { null_mut() } else { m.base.cast() };
        (m.bytes as Aint, m.disp_unit, base)
    }))
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
    fn MPI_Win_attach(win: Win, base: *mut c_void, size: Aint) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = dynamic(win)?;
            let start = base as usize;
            let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
            let Some(end) = end else {
                return Failure::err(MPI_ERR_SIZE, format!("size is {size}"));
            };
            if let Some(verbs) = object.window.verbs() {
                // SAFETY: the standard has the caller pass memory that stays until it is detached.
                return check(unsafe { verbs.attach(entry, base.cast(), size as u64) });
            }
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
    fn MPI_Win_detach(win: Win, base: *const c_void) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = dynamic(win)?;
            if let Some(verbs) = object.window.verbs() {
                return check(verbs.detach(entry, base.addr()));
            }
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
