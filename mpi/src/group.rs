//! Groups (MPI 5.0 §7.3): all local.

use crate::call::handle::{Kind, Table};
use crate::call::memory::{In, Out, length, read, slice, slice_mut, write, write_made};
use crate::call::process;
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::types::Group;
use core::ffi::c_int;
use oxmpi_runtime::group::GroupCompare;

type Object = oxmpi_runtime::Group;

pub static TABLE: Table<Object> = Table::new(Kind::Group);

/// The group of a handle.
pub fn require(group: Group) -> Res<Object> {
    match group.0 {
        MPI_GROUP_EMPTY => Ok(Object::empty(process::require()?.instance.me())),
        MPI_GROUP_NULL => Failure::err(MPI_ERR_GROUP, "group is MPI_GROUP_NULL"),
        other => match TABLE.get(other) {
            Some(object) => Ok(object.clone()),
            None => Failure::err(MPI_ERR_GROUP, format!("group {other:#x} is no group, or was freed")),
        },
    }
}

/// A handle for a group; the empty one is predefined.
pub fn adopt(group: Object) -> Res<Group> {
    if group.size() == 0 {
        return Ok(Group(MPI_GROUP_EMPTY));
    }
    match TABLE.insert(Box::new(group)) {
        Some(handle) => Ok(Group(handle)),
        None => Failure::err(MPI_ERR_NO_MEM, "too many groups"),
    }
}

/// Ranks from C; what is not a rank at all is named here, what is too large by the group.
///
/// # Safety
/// As for [`slice()`].
unsafe fn ranks(n: c_int, ranks: In<c_int>) -> Res<Vec<u32>> {
    // SAFETY: the caller's promise.
    let all = unsafe { slice(ranks, length(n, "n")?, "ranks") }?;
    all.iter()
        .map(|&r| u32::try_from(r).or_else(|_| Failure::err(MPI_ERR_RANK, format!("rank is {r}"))))
        .collect()
}

mpi_fn! {
    fn MPI_Group_size(group: Group, size: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| write(size, "size", require(group)?.size() as c_int))
    }
}
mpi_fn! {
    fn MPI_Group_rank(group: Group, rank: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let value = require(group)?.rank().map_or(MPI_UNDEFINED, |r| r as c_int);
            write(rank, "rank", value)
        })
    }
}
mpi_fn! {
    fn MPI_Group_translate_ranks(group1: Group, n: c_int, ranks1: In<c_int>, group2: Group, ranks2: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let (from, to) = (require(group1)?, require(group2)?);
            let n = length(n, "n")?;
            // SAFETY: the standard has the caller pass `ranks1` with `n` elements.
            let given = unsafe { slice(ranks1, n, "ranks1") }?;
            // MPI_PROC_NULL stays what it is.
            let real: Vec<u32> = given
                .iter()
                .filter(|&&r| r != MPI_PROC_NULL)
                .map(|&r| u32::try_from(r).or_else(|_| Failure::err(MPI_ERR_RANK, format!("rank is {r}"))))
                .collect::<Res<_>>()?;
            let mut found = from.translate(&real, &to)?.into_iter();
            let answers: Vec<c_int> = given
                .iter()
                .map(|&r| match r {
                    MPI_PROC_NULL => MPI_PROC_NULL,
                    _ => found.next().flatten().map_or(MPI_UNDEFINED, |r| r as c_int),
                })
                .collect();
            // SAFETY: the standard has the caller pass `ranks2` with `n` elements.
            unsafe { slice_mut(ranks2, n, "ranks2") }?.copy_from_slice(&answers);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Group_compare(group1: Group, group2: Group, result: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let value = match require(group1)?.compare(&require(group2)?) {
                GroupCompare::Ident => MPI_IDENT,
                GroupCompare::Similar => MPI_SIMILAR,
                GroupCompare::Unequal => MPI_UNEQUAL,
            };
            write(result, "result", value)
        })
    }
}
mpi_fn! {
    fn MPI_Group_union(group1: Group, group2: Group, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || adopt(require(group1)?.union(&require(group2)?)))
        })
    }
}
mpi_fn! {
    fn MPI_Group_intersection(group1: Group, group2: Group, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || adopt(require(group1)?.intersection(&require(group2)?)))
        })
    }
}
mpi_fn! {
    fn MPI_Group_difference(group1: Group, group2: Group, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || adopt(require(group1)?.difference(&require(group2)?)))
        })
    }
}
mpi_fn! {
    fn MPI_Group_incl(group: Group, n: c_int, ranks: In<c_int>, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || {
                // SAFETY: the standard has the caller pass `ranks` with `n` elements.
                let ranks = unsafe { crate::group::ranks(n, ranks) }?;
                adopt(require(group)?.incl(&ranks)?)
            })
        })
    }
}
mpi_fn! {
    fn MPI_Group_excl(group: Group, n: c_int, ranks: In<c_int>, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || {
                // SAFETY: the standard has the caller pass `ranks` with `n` elements.
                let ranks = unsafe { crate::group::ranks(n, ranks) }?;
                adopt(require(group)?.excl(&ranks)?)
            })
        })
    }
}
mpi_fn! {
    fn MPI_Group_range_incl(group: Group, n: c_int, ranges: In<[c_int; 3]>, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || {
                // SAFETY: the standard has the caller pass `ranges` with `n` elements.
                let ranges = unsafe { slice(ranges, length(n, "n")?, "ranges") }?;
                adopt(require(group)?.range_incl(ranges)?)
            })
        })
    }
}
mpi_fn! {
    fn MPI_Group_range_excl(group: Group, n: c_int, ranges: In<[c_int; 3]>, newgroup: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            write_made(newgroup, "newgroup", || {
                // SAFETY: the standard has the caller pass `ranges` with `n` elements.
                let ranges = unsafe { slice(ranges, length(n, "n")?, "ranges") }?;
                adopt(require(group)?.range_excl(ranges)?)
            })
        })
    }
}
mpi_fn! {
    fn MPI_Group_free(group: Out<Group>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let handle = read(group, "group")?;
            require(handle)?;
            // The empty group may be freed as if it had been made; it stays.
            drop(TABLE.remove(handle.0));
            write(group, "group", Group(MPI_GROUP_NULL))
        })
    }
}
