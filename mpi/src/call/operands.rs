//! The checks of a message's arguments: one for the path of good arguments, one that finds out what
//! is wrong.
//!
//! [`Operands::find`] makes the look-ups and [`Operands::plain_send`] and `plain_recv` are true for
//! what nearly every call has: a rank of the communicator, a tag in range, a buffer. Everything else
//! (MPI_PROC_NULL, empty messages without a buffer, types with absolute addresses, mistakes) goes
//! through `check`, which is never inlined.
//!
//! `mpi_param_check = 0` skips what only a wrong program can get wrong and what the layers below
//! survive: the range of tags and null buffers. Handles, ranks and counts are always checked, since
//! their look-up is the check.

use crate::call::memory::Address;
use crate::call::process::{self, Process};
use crate::comm::{self, CommObject};
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res};
use crate::types::{Comm, Datatype};
use core::ffi::c_int;
use core::fmt::Display;
use oxmpi_datatype::TypeDesc;

/// The objects that the handles of a message's arguments stand for.
pub struct Operands {
    pub process: &'static Process,
    pub object: &'static CommObject,
    pub desc: &'static TypeDesc,
}

/// Sends and receives differ in their wildcards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Send,
    Recv,
}

impl Operands {
    #[inline(always)]
    pub fn find(process: &'static Process, comm: Comm, datatype: Datatype) -> Option<Operands> {
        let object = comm::get(comm)?;
        let desc = datatype::usable(datatype)?;
        Some(Operands { process, object, desc })
    }

    #[inline(always)]
    fn tag_is_plain(&self, tag: c_int) -> bool {
        // One comparison: a negative tag is a large unsigned number.
        tag as u32 <= self.process.tag_ub as u32
    }

    #[inline(always)]
    pub fn plain_send(&self, buf: Address, count: i64, dest: c_int, tag: c_int) -> bool {
        (dest as u32) < self.object.peers && self.tag_is_plain(tag) && count >= 0 && !buf.is_null()
    }

    #[inline(always)]
    pub fn plain_recv(&self, buf: Address, count: i64, source: c_int, tag: c_int) -> bool {
        ((source as u32) < self.object.peers || source == MPI_ANY_SOURCE)
            && (self.tag_is_plain(tag) || is_any(tag))
            && count >= 0
            && !buf.is_null()
    }
}

/// Apart, so that a tag in range takes one comparison.
#[cold]
#[inline(never)]
fn is_any(tag: c_int) -> bool {
    tag == MPI_ANY_TAG
}

/// Finds out what is wrong, or gives the operands of an unusual but right call.
#[cold]
#[inline(never)]
pub fn check(
    direction: Direction,
    (buf, count, datatype): (Address, i64, Datatype),
    rank: c_int,
    tag: c_int,
    comm: Comm,
) -> Res<Operands> {
    let process = process::require()?;
    let object = comm::require(comm)?;
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    }
    // Programs that grew up with MPICH name no type for no data.
    let nothing = count == 0 && datatype.0 == MPI_DATATYPE_NULL;
    let datatype = if nothing { Datatype(MPI_BYTE) } else { datatype };
    let desc = datatype::require_committed(datatype, "datatype")?;
    check_rank(direction, object, rank)?;
    check_tag(direction, process, tag)?;
    check_buffer(process, buf, count, desc, "buf")?;
    Ok(Operands { process, object, desc })
}

pub fn check_rank(direction: Direction, object: &CommObject, rank: c_int) -> Res {
    if (rank as u32) < object.peers
        || rank == MPI_PROC_NULL
        || (rank == MPI_ANY_SOURCE && direction == Direction::Recv)
    {
        return Ok(());
    }
    let what = if direction == Direction::Send { "dest" } else { "source" };
    let last = object.peers.saturating_sub(1);
    Failure::err(MPI_ERR_RANK, format!("{what} is {rank}, ranks are 0 to {last}"))
}

pub fn check_tag(direction: Direction, process: &Process, tag: c_int) -> Res {
    if !process.check
        || (0..=process.tag_ub).contains(&tag)
        || (tag == MPI_ANY_TAG && direction == Direction::Recv)
    {
        return Ok(());
    }
    Failure::err(MPI_ERR_TAG, format!("tag is {tag}, tags are 0 to {}", process.tag_ub))
}

/// A null buffer is right for no data, and for types whose displacements are addresses
/// (MPI_BOTTOM).
#[inline]
pub fn check_buffer(process: &Process, buf: Address, count: i64, desc: &TypeDesc, what: impl Display) -> Res {
    check_place(process, buf, count, (desc, 0), what)
}

/// The same for data at a displacement in bytes.
#[inline]
pub fn check_place(
    process: &Process,
    buf: Address,
    count: i64,
    (desc, displ): (&TypeDesc, i64),
    what: impl Display,
) -> Res {
    let first = desc.true_lb.wrapping_add(displ);
    let absolute = !(0..0x1000).contains(&first);
    if !buf.is_null() || count == 0 || desc.packed == 0 || absolute || !process.check {
        return Ok(());
    }
    Err(is_null(&what, count))
}

#[cold]
#[inline(never)]
fn is_null(what: &dyn Display, count: i64) -> Failure {
    Failure::new(MPI_ERR_BUFFER, format!("{what} is a null pointer, count is {count}"))
}
