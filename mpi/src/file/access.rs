//! Data access (MPI 5.0 §14.4): explicit offsets, individual and shared pointers; alone, by all ranks, in the order of ranks; blocking, nonblocking and split.
//!
//! The forms are few and their names many: each group of functions here is one body, made by a macro that takes the names.

use super::data::prepare;
use super::object::{FileObject, require};
use crate::call::memory::{Address, Out, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call_on};
use crate::request::give_of_file;
use crate::types::{Count, Datatype, File, Request, Status};
use core::ffi::c_int;
use oxmpi_mca::{Entry, MsgStatus};
use oxmpi_runtime::file::{SplitKind, Where, Wish};

/// The ranks that take part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    /// The calling one.
    Alone,
    /// All, each where it says.
    All,
    /// All, one behind the other at the shared pointer.
    Ordered,
}

/// Buffer, count and type of an access.
type Memory = (Address, i64, Datatype);

/// Where an access at an explicit offset begins.
fn at(offset: Count) -> Res<Where> {
    match u64::try_from(offset) {
        Ok(offset) => Ok(Where::At(offset)),
        Err(_) => Failure::err(MPI_ERR_ARG, format!("offset is {offset}")),
    }
}

/// The access that a call asks for.
fn wish(
    process: &Process,
    object: &FileObject,
    writes: bool,
    place: Res<Where>,
    memory: Memory,
) -> Res<Wish> {
    prepare(process, object, writes, place?, memory)
}

/// A blocking access.
fn run(
    (process, entry): (&Process, &mut Entry),
    fh: File,
    (writes, who, place): (bool, Who, Res<Where>),
    memory: Memory,
    status: Out<Status>,
) -> Res {
    let object = require(fh)?;
    let wish = wish(process, object, writes, place, memory);
    let bytes = match who {
        Who::Alone => object.file.access(entry, wish?)?,
        Who::All => object.file.access_all(entry, writes, wish)?,
        Who::Ordered => object.file.access_ordered(entry, writes, wish)?,
    };
    Status::store(status, &MsgStatus { bytes, ..MsgStatus::EMPTY });
    Ok(())
}

/// A nonblocking access.
fn start(
    (process, entry): (&Process, &mut Entry),
    fh: File,
    (writes, who, place): (bool, Who, Res<Where>),
    memory: Memory,
    request: Out<Request>,
) -> Res {
    let object = require(fh)?;
    let wish = match request.is_null() {
        true => Failure::err(MPI_ERR_ARG, "request is a null pointer"),
        false => wish(process, object, writes, place, memory),
    };
    let header = match who {
        Who::Alone => object.file.start(entry, wish?)?,
        _ => object.file.start_all(entry, writes, wish)?,
    };
    write(request, "request", give_of_file(object, header))
}

/// The functions of an access with an explicit offset.
macro_rules! explicit {
    ($($writes:literal $who:ident: fn $($now:ident [$nc:ty]),+; fn $($later:ident [$lc:ty]),+;)*) => { $(
        mpi_fn! {
            fn $($now[$nc]),+ <N> (fh: File, offset: Count, buf: Address, count: N, datatype: Datatype, status: Out<Status>) -> c_int |here| {
                call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
                    run((process, entry), fh, ($writes, Who::$who, at(offset)), (buf, count.into(), datatype), status)
                })
            }
        }
        mpi_fn! {
            fn $($later[$lc]),+ <N> (fh: File, offset: Count, buf: Address, count: N, datatype: Datatype, request: Out<Request>) -> c_int |here| {
                call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
                    start((process, entry), fh, ($writes, Who::$who, at(offset)), (buf, count.into(), datatype), request)
                })
            }
        }
    )* };
}

explicit! {
    false Alone:
        fn MPI_File_read_at[c_int], MPI_File_read_at_c[Count];
        fn MPI_File_iread_at[c_int], MPI_File_iread_at_c[Count];
    true Alone:
        fn MPI_File_write_at[c_int], MPI_File_write_at_c[Count];
        fn MPI_File_iwrite_at[c_int], MPI_File_iwrite_at_c[Count];
    false All:
        fn MPI_File_read_at_all[c_int], MPI_File_read_at_all_c[Count];
        fn MPI_File_iread_at_all[c_int], MPI_File_iread_at_all_c[Count];
    true All:
        fn MPI_File_write_at_all[c_int], MPI_File_write_at_all_c[Count];
        fn MPI_File_iwrite_at_all[c_int], MPI_File_iwrite_at_all_c[Count];
}

/// The blocking functions of an access at a pointer.
macro_rules! pointed {
    ($($writes:literal $who:ident $place:ident: fn $($now:ident [$nc:ty]),+;)*) => { $(
        mpi_fn! {
            fn $($now[$nc]),+ <N> (fh: File, buf: Address, count: N, datatype: Datatype, status: Out<Status>) -> c_int |here| {
                call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
                    run((process, entry), fh, ($writes, Who::$who, Ok(Where::$place)), (buf, count.into(), datatype), status)
                })
            }
        }
    )* };
}

pointed! {
    false Alone Individual:
        fn MPI_File_read[c_int], MPI_File_read_c[Count];
    true Alone Individual:
        fn MPI_File_write[c_int], MPI_File_write_c[Count];
    false All Individual:
        fn MPI_File_read_all[c_int], MPI_File_read_all_c[Count];
    true All Individual:
        fn MPI_File_write_all[c_int], MPI_File_write_all_c[Count];
    false Alone Shared:
        fn MPI_File_read_shared[c_int], MPI_File_read_shared_c[Count];
    true Alone Shared:
        fn MPI_File_write_shared[c_int], MPI_File_write_shared_c[Count];
    false Ordered Shared:
        fn MPI_File_read_ordered[c_int], MPI_File_read_ordered_c[Count];
    true Ordered Shared:
        fn MPI_File_write_ordered[c_int], MPI_File_write_ordered_c[Count];
}

/// The nonblocking functions of an access at a pointer.
macro_rules! pointed_later {
    ($($writes:literal $who:ident $place:ident: fn $($later:ident [$lc:ty]),+;)*) => { $(
        mpi_fn! {
            fn $($later[$lc]),+ <N> (fh: File, buf: Address, count: N, datatype: Datatype, request: Out<Request>) -> c_int |here| {
                call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
                    start((process, entry), fh, ($writes, Who::$who, Ok(Where::$place)), (buf, count.into(), datatype), request)
                })
            }
        }
    )* };
}

pointed_later! {
    false Alone Individual:
        fn MPI_File_iread[c_int], MPI_File_iread_c[Count];
    true Alone Individual:
        fn MPI_File_iwrite[c_int], MPI_File_iwrite_c[Count];
    false All Individual:
        fn MPI_File_iread_all[c_int], MPI_File_iread_all_c[Count];
    true All Individual:
        fn MPI_File_iwrite_all[c_int], MPI_File_iwrite_all_c[Count];
    false Alone Shared:
        fn MPI_File_iread_shared[c_int], MPI_File_iread_shared_c[Count];
    true Alone Shared:
        fn MPI_File_iwrite_shared[c_int], MPI_File_iwrite_shared_c[Count];
}

/// Begins a split collective access.
fn begin(
    (process, entry): (&Process, &mut Entry),
    fh: File,
    (writes, which, place): (bool, SplitKind, Res<Where>),
    memory: Memory,
) -> Res {
    let object = require(fh)?;
    let wish = wish(process, object, writes, place, memory);
    object.file.split_begin(entry, which, wish)
}

/// Ends one.
fn end(entry: &mut Entry, fh: File, which: SplitKind, status: Out<Status>) -> Res {
    let bytes = require(fh)?.file.split_end(entry, which)?;
    Status::store(status, &MsgStatus { bytes, ..MsgStatus::EMPTY });
    Ok(())
}

mpi_fn! {
    fn MPI_File_read_at_all_begin[c_int], MPI_File_read_at_all_begin_c[Count]<N>(fh: File, offset: Count, buf: Address, count: N, datatype: Datatype) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
            begin((process, entry), fh, (false, SplitKind::ReadAtAll, at(offset)), (buf, count.into(), datatype))
        })
    }
}
mpi_fn! {
    fn MPI_File_write_at_all_begin[c_int], MPI_File_write_at_all_begin_c[Count]<N>(fh: File, offset: Count, buf: Address, count: N, datatype: Datatype) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
            begin((process, entry), fh, (true, SplitKind::WriteAtAll, at(offset)), (buf, count.into(), datatype))
        })
    }
}

/// The functions that begin a split access at a pointer.
macro_rules! split_begin {
    ($($writes:literal $which:ident $place:ident: fn $($name:ident [$c:ty]),+;)*) => { $(
        mpi_fn! {
            fn $($name[$c]),+ <N> (fh: File, buf: Address, count: N, datatype: Datatype) -> c_int |here| {
                call_on(here, NAME, ErrorObject::File(fh), |process, entry| {
                    begin((process, entry), fh, ($writes, SplitKind::$which, Ok(Where::$place)), (buf, count.into(), datatype))
                })
            }
        }
    )* };
}

split_begin! {
    false ReadAll Individual:
        fn MPI_File_read_all_begin[c_int], MPI_File_read_all_begin_c[Count];
    true WriteAll Individual:
        fn MPI_File_write_all_begin[c_int], MPI_File_write_all_begin_c[Count];
    false ReadOrdered Shared:
        fn MPI_File_read_ordered_begin[c_int], MPI_File_read_ordered_begin_c[Count];
    true WriteOrdered Shared:
        fn MPI_File_write_ordered_begin[c_int], MPI_File_write_ordered_begin_c[Count];
}

/// The functions that end a split access.
macro_rules! split_end {
    ($($which:ident: fn $name:ident [];)*) => { $(
        mpi_fn! {
            #[allow(unused_variables, reason = "the buffer is the one of the call that began")]
            fn $name(fh: File, buf: Address, status: Out<Status>) -> c_int |here| {
                call_on(here, NAME, ErrorObject::File(fh), |_, entry| end(entry, fh, SplitKind::$which, status))
            }
        }
    )* };
}

split_end! {
    ReadAtAll:
        fn MPI_File_read_at_all_end[];
    WriteAtAll:
        fn MPI_File_write_at_all_end[];
    ReadAll:
        fn MPI_File_read_all_end[];
    WriteAll:
        fn MPI_File_write_all_end[];
    ReadOrdered:
        fn MPI_File_read_ordered_end[];
    WriteOrdered:
        fn MPI_File_write_ordered_end[];
}
