//! Functions of communicators that are there: rank, size, group, name, hints, and their end (MPI 5.0 §7.4, §7.8).

use super::lifetime::free;
use super::object::{get, require};
use crate::call::handle::{Kind, is_of};
use crate::call::memory::{Out, Text, object_name, read, text, write, write_made, write_text};
use crate::call::thread_rank;
use crate::constants::*;
use crate::error::{Failure, Res, call, call_outside};
use crate::types::{Comm, Group, Info};
use crate::{group, info, request};
use core::ffi::{c_char, c_int};
use oxmpi_runtime::group::GroupCompare;

mpi_fn! {
    any_time fn MPI_Comm_rank(comm: Comm, rank: Out<c_int>) -> c_int {
        match get(comm) {
            Some(object) if !rank.is_null() => {
                rank.set(object.comm.rank() as c_int);
                MPI_SUCCESS
            }
            _ => call_outside(NAME, Some(comm), |_| write(rank, "rank", require(comm)?.comm.rank() as c_int)),
        }
    }
}
mpi_fn! {
    any_time fn MPI_Comm_size(comm: Comm, size: Out<c_int>) -> c_int {
        match get(comm) {
            Some(object) if !size.is_null() => {
                size.set(object.comm.size() as c_int);
                MPI_SUCCESS
            }
            _ => call_outside(NAME, Some(comm), |_| write(size, "size", require(comm)?.comm.size() as c_int)),
        }
    }
}
mpi_fn! {
    fn MPI_Comm_free(comm: Out<Comm>) -> c_int |here| {
        call(here, NAME, comm.get(), |process, entry| {
            free(process, entry, read(comm, "comm")?)?;
            write(comm, "comm", Comm(MPI_COMM_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_disconnect(comm: Out<Comm>) -> c_int |here| {
        call(here, NAME, comm.get(), |process, entry| {
            let handle = read(comm, "comm")?;
            let object = require(handle)?;
            process.instance.wait_until(entry, |_| !request::uses(process, object, true));
            // Of several jobs: nobody leaves before all are here, so that nothing is on the way any more.
            let parted = object.comm.part_from_jobs(entry);
            free(process, entry, handle)?;
            write(comm, "comm", Comm(MPI_COMM_NULL))?;
            Ok(parted?)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm1), |_, _| {
            let (a, b) = (require(comm1)?, require(comm2)?);
            let groups = |a: &oxmpi_runtime::Group, b: &oxmpi_runtime::Group| match a.compare(b) {
                GroupCompare::Ident => MPI_CONGRUENT,
                GroupCompare::Similar => MPI_SIMILAR,
                GroupCompare::Unequal => MPI_UNEQUAL,
            };
            let here = groups(a.comm.group(), b.comm.group());
            let value = match (a.comm.remote_group(), b.comm.remote_group()) {
                _ if comm1 == comm2 => MPI_IDENT,
                (None, None) => here,
                (Some(one), Some(other)) => match (here, groups(one, other)) {
                    (MPI_UNEQUAL, _) | (_, MPI_UNEQUAL) => MPI_UNEQUAL,
                    (MPI_SIMILAR, _) | (_, MPI_SIMILAR) => MPI_SIMILAR,
                    _ => MPI_CONGRUENT,
                },
                _ => MPI_UNEQUAL,
            };
            write(result, "result", value)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_group(comm: Comm, group: Out<Group>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = require(comm)?;
            write_made(group, "group", || group::adopt(object.comm.group().clone()))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_set_name(comm: Comm, comm_name: Text) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = require(comm)?;
            object.comm.set_name(&object_name(text(comm_name, "comm_name")?));
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_name(comm: Comm, comm_name: Out<c_char>, resultlen: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let name = match comm.0 {
                // Asked for by the standard since MPI 4.1: null handles have names.
                MPI_COMM_NULL => "MPI_COMM_NULL".to_string(),
                _ => require(comm)?.comm.name(),
            };
            // SAFETY: the standard has the caller pass `comm_name` with room for MPI_MAX_OBJECT_NAME bytes.
            let n = unsafe { write_text(comm_name, "comm_name", &name, MPI_MAX_OBJECT_NAME as usize) }?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
/// The calling thread's place in the order of a thread communicator's threads.
fn set_thread_key(comm: Comm, info: &oxmpi_runtime::Info) -> Res {
    let Some(text) = info.get("thread_order") else { return Ok(()) };
    match text.trim().parse() {
        Ok(key) if thread_rank::set_key(comm.0, key) => Ok(()),
        Ok(_) => Failure::err(MPI_ERR_COMM, "the thread communicator was freed"),
        Err(_) => {
            let why = format!("a thread's thread_order is {text}; it has to be an integer");
            Failure::err(MPI_ERR_INFO_VALUE, why)
        }
    }
}

mpi_fn! {
    fn MPI_Comm_set_info(comm: Comm, info: Info) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            if is_of(Kind::Threadcomm, comm.0) {
                set_thread_key(comm, &info::require(info)?)?;
                if thread_rank::of(comm.0).is_none() {
                    return Ok(());
                }
            }
            let object = require(comm)?;
            object.comm.set_info(&info::require(info)?);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_info(comm: Comm, info_used: Out<Info>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = require(comm)?;
            write_made(info_used, "info_used", || info::adopt(object.comm.info()))
        })
    }
}
