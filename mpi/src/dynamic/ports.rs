//! Ports: MPI_Open_port, MPI_Close_port, MPI_Comm_accept, MPI_Comm_connect (MPI 5.0 §11.9).

use super::arguments::{for_all, root_of, time_limit};
use crate::call::memory::{Out, Text, text, write, write_text};
use crate::comm::lifetime::adopt;
use crate::comm::require;
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::types::{Comm, Info};
use core::ffi::{c_char, c_int};
use oxmpi_mca::Entry;
use oxmpi_runtime::dynamic::Side;
use std::time::Duration;

/// The info key that says where a port's secret is: `name`, or in the user's key file.
const SECRET: &str = "oxmpi_port_secret";

/// Meets another group at a port; `side` makes what the root does of the port's name, and `limit` is how long that may take where no
/// hint says so.
fn meet(
    entry: &mut Entry,
    (comm, root): (Comm, c_int),
    (port_name, hints): (Text, Info),
    (side, limit): (impl for<'a> FnOnce(&'a str) -> Side<'a>, Option<Duration>),
    made: Out<Comm>,
) -> Res {
    let object = require(comm)?;
    let root = root_of(object, root)?;
    if made.is_null() {
        return Failure::err(MPI_ERR_ARG, "newcomm is a null pointer");
    }
    let is_root = object.comm.rank() == root;
    let read = || Ok((text(port_name, "port_name")?, time_limit(hints)?));
    let arguments: Option<Res<_>> = is_root.then(read);
    let met = match arguments {
        None => object.comm.meet_at_port(entry, root, None),
        Some(Err(failure)) => object.comm.meet_at_port(entry, root, Some(Err(for_all(failure)))),
        Some(Ok((name, hint))) => {
            object.comm.meet_at_port(entry, root, Some(Ok((side(&name), hint.or(limit)))))
        }
    };
    write(made, "newcomm", adopt(entry, object, met?)?)
}

mpi_fn! {
    fn MPI_Open_port(info: Info, port_name: Out<c_char>) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            if port_name.is_null() {
                return Failure::err(MPI_ERR_ARG, "port_name is a null pointer");
            }
            let hints = info::optional(info)?;
            let secret_in_name = match hints.as_ref().and_then(|hints| hints.get(SECRET)) {
                None => false,
                Some("name") => true,
                Some(other) => {
                    return Failure::err(MPI_ERR_INFO_VALUE, format!("{SECRET} is {other:?}; it can be \"name\""));
                }
            };
            let name = process.instance.open_port(secret_in_name)?;
            // SAFETY: the standard has the caller pass room for MPI_MAX_PORT_NAME bytes.
            unsafe { write_text(port_name, "port_name", &name, MPI_MAX_PORT_NAME as usize) }.map(drop)
        })
    }
}
mpi_fn! {
    fn MPI_Close_port(port_name: Text) -> c_int |here| {
        call(here, NAME, None, |process, _| Ok(process.instance.close_port(&text(port_name, "port_name")?)?))
    }
}
mpi_fn! {
    fn MPI_Comm_accept(port_name: Text, info: Info, root: c_int, comm: Comm, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            meet(entry, (comm, root), (port_name, info), (|name| Side::Accept(name), None), newcomm)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_connect(port_name: Text, info: Info, root: c_int, comm: Comm, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let limit = process.instance.connect_timeout();
            meet(entry, (comm, root), (port_name, info), (|name| Side::Connect(name), limit), newcomm)
        })
    }
}
