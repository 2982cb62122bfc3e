//! Names of services: MPI_Publish_name, MPI_Unpublish_name, MPI_Lookup_name (MPI 5.0 §11.9.4).

use crate::call::memory::{Out, Text, text, write_text};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::types::Info;
use core::ffi::{c_char, c_int};

/// Open MPI's info key: `false` has a name published within the mpirun alone.
const GLOBAL: &str = "ompi_global_scope";

/// The name of a service from C.
fn service(name: Text) -> Res<String> {
    let name = text(name, "service_name")?;
    match name.len() < MPI_MAX_PORT_NAME as usize && !name.is_empty() {
        true => Ok(name),
        false => Failure::err(MPI_ERR_ARG, format!("service_name has {} bytes", name.len())),
    }
}

/// Whether the name is for other jobs of the user, too.
fn is_global(hints: Info) -> Res<bool> {
    let hints = info::optional(hints)?;
    Ok(hints
        .as_ref()
        .and_then(|hints| hints.get(GLOBAL))
        .is_none_or(|value| !value.eq_ignore_ascii_case("false")))
}

mpi_fn! {
    fn MPI_Publish_name(service_name: Text, info: Info, port_name: Text) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let (service, port) = (service(service_name)?, text(port_name, "port_name")?);
            Ok(process.instance.publish_name(entry, &service, &port, is_global(info)?)?)
        })
    }
}
mpi_fn! {
    fn MPI_Unpublish_name(service_name: Text, info: Info, port_name: Text) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let (service, port) = (service(service_name)?, text(port_name, "port_name")?);
            is_global(info)?;
            Ok(process.instance.unpublish_name(entry, &service, &port)?)
        })
    }
}
mpi_fn! {
    fn MPI_Lookup_name(service_name: Text, info: Info, port_name: Out<c_char>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            if port_name.is_null() {
                return Failure::err(MPI_ERR_ARG, "port_name is a null pointer");
            }
            let port = process.instance.look_up_name(entry, &service(service_name)?, is_global(info)?)?;
            // SAFETY: the standard has the caller pass room for MPI_MAX_PORT_NAME bytes.
            unsafe { write_text(port_name, "port_name", &port, MPI_MAX_PORT_NAME as usize) }.map(drop)
        })
    }
}
