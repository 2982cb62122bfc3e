//! Packing into a buffer of the user (MPI 5.0 §5.2), also in external32 (§5.3).

use crate::call::memory::{Address, Out, Text, read, text, to_user, write};
use crate::call::operands::{Operands, check_buffer};
use crate::call::process::Process;
use crate::comm;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call};
use crate::types::{Comm, Count, Datatype};
use core::ffi::c_int;
use oxmpi_datatype::{Signature, TypeDesc, external};
use std::sync::Arc;

/// Checked arguments (`each`: bytes of an element, where not the type's): the type, the bytes the data packs to, the position in the packed buffer.
struct Job {
    desc: &'static TypeDesc,
    bytes: u64,
    position: u64,
}

fn job(
    process: &Process,
    (buf, count, datatype): (Address, i64, Datatype),
    (packed, size, position): (Address, i64, i64),
    each: Option<u64>,
) -> Res<Job> {
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    }
    let desc = datatype::require_committed(datatype, "datatype")?;
    check_buffer(process, buf, count, desc, "the data's buffer")?;
    let each = each.unwrap_or(desc.packed);
    let bytes = each.checked_mul(count as u64);
    let (Ok(room), Ok(position)) = (u64::try_from(size), u64::try_from(position)) else {
        return Failure::err(
            MPI_ERR_ARG,
            format!("the packed buffer has size {size} and position {position}"),
        );
    };
    match bytes.filter(|n| n.checked_add(position).is_some_and(|end| end <= room)) {
        Some(bytes) if bytes == 0 || !packed.is_null() => Ok(Job { desc, bytes, position }),
        Some(_) => Failure::err(MPI_ERR_BUFFER, "the packed buffer is a null pointer"),
        None => Failure::err(
            MPI_ERR_TRUNCATE,
            format!("the packed buffer has {room} bytes, position is {position}, an element has {each}"),
        ),
    }
}

/// As [`job`] where nothing is unusual; `None`: to be looked at closer.
#[inline(always)]
fn plain_job(
    process: &'static Process,
    (comm, datatype): (Comm, Datatype),
    (buf, count): (Address, i64),
    (packed, size, position): (Address, i64, i64),
) -> Option<Job> {
    let o = Operands::find(process, comm, datatype)?;
    let bytes = o.desc.packed.checked_mul(u64::try_from(count).ok()?)?;
    let end = bytes.checked_add(u64::try_from(position).ok()?)?;
    let fits = i64::try_from(end).is_ok_and(|end| end <= size);
    (fits && !buf.is_null() && !packed.is_null()).then_some(Job {
        desc: o.desc,
        bytes,
        position: position as u64,
    })
}

mpi_fn! {
    hot fn MPI_Pack[c_int], MPI_Pack_c[Count]<N>(inbuf: Address, incount: N, datatype: Datatype, outbuf: Address, outsize: N, position: Out<N>, comm: Comm) -> c_int |here| {
        let inside = match here.quick() {
            Ok(here) => {
                if let Some(at) = position.get()
                    && let Some(j) = plain_job(here.process, (comm, datatype), (inbuf, incount as i64), (outbuf, outsize as i64, at as i64))
                {
                    let out = outbuf.behind(j.position as usize);
                    // SAFETY: the user promises both buffers; the room was checked.
                    unsafe { here.process.instance.pack(j.desc, incount as u64, inbuf.as_ptr(), out.as_mut_ptr()) };
                    position.set(at + j.bytes as N);
                    return MPI_SUCCESS;
                }
                here.unusual()
            }
            Err(inside) => inside,
        };
        call(inside, NAME, Some(comm), |process, _| {
            comm::require(comm)?;
            let at = read(position, "position")?;
            let j = job(process, (inbuf, incount as i64, datatype), (outbuf, outsize as i64, at as i64), None)?;
            let out = outbuf.behind(j.position as usize);
            // SAFETY: the user promises both buffers; the room was checked.
            unsafe { process.instance.pack(j.desc, incount as u64, inbuf.as_ptr(), out.as_mut_ptr()) };
            write(position, "position", at + j.bytes as N)
        })
    }
}
mpi_fn! {
    hot fn MPI_Unpack[c_int], MPI_Unpack_c[Count]<N>(inbuf: Address, insize: N, position: Out<N>, outbuf: Address, outcount: N, datatype: Datatype, comm: Comm) -> c_int |here| {
        let inside = match here.quick() {
            Ok(here) => {
                if let Some(at) = position.get()
                    && let Some(j) = plain_job(here.process, (comm, datatype), (outbuf, outcount as i64), (inbuf, insize as i64, at as i64))
                {
                    let input = inbuf.behind(j.position as usize);
                    // SAFETY: the user promises both buffers; the length was checked.
                    unsafe { here.process.instance.unpack(j.desc, outcount as u64, outbuf.as_mut_ptr(), input.as_ptr()) };
                    position.set(at + j.bytes as N);
                    return MPI_SUCCESS;
                }
                here.unusual()
            }
            Err(inside) => inside,
        };
        call(inside, NAME, Some(comm), |process, _| {
            comm::require(comm)?;
            let at = read(position, "position")?;
            let j = job(process, (outbuf, outcount as i64, datatype), (inbuf, insize as i64, at as i64), None)?;
            let input = inbuf.behind(j.position as usize);
            // SAFETY: the user promises both buffers; the length was checked.
            unsafe { process.instance.unpack(j.desc, outcount as u64, outbuf.as_mut_ptr(), input.as_ptr()) };
            write(position, "position", at + j.bytes as N)
        })
    }
}
mpi_fn! {
    fn MPI_Pack_size[c_int], MPI_Pack_size_c[Count]<N>(incount: N, datatype: Datatype, comm: Comm, size: Out<N>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            comm::require(comm)?;
            let Ok(count) = u64::try_from(incount) else {
                return Failure::err(MPI_ERR_COUNT, format!("incount is {incount}"));
            };
            let desc = datatype::require_committed(datatype, "datatype")?;
            write(size, "size", to_user::<N>(desc.packed.checked_mul(count)))
        })
    }
}

/// The basic elements of a type that is to be converted to the representation named, which must be
/// external32: the standard has no other for packing.
fn convertible(datarep: Text, datatype: Datatype) -> Res<Arc<Signature>> {
    let name = text(datarep, "datarep")?;
    if name != "external32" {
        return Failure::err(
            MPI_ERR_UNSUPPORTED_DATAREP,
            format!("datarep is \"{name}\", not \"external32\""),
        );
    }
    datatype::require_committed(datatype, "datatype")?;
    datatype::signature(datatype, "datatype")
}

mpi_fn! {
    fn MPI_Pack_external[c_int], MPI_Pack_external_c[Count]<N>(datarep: Text, inbuf: Address, incount: N, datatype: Datatype, outbuf: Address, outsize: Count, position: Out<Count>) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            let signature = convertible(datarep, datatype)?;
            let at = read(position, "position")?;
            let j = job(process, (inbuf, incount as i64, datatype), (outbuf, outsize, at), Some(signature.external_bytes()))?;
            let out = outbuf.behind(j.position as usize);
            // SAFETY: the user promises both buffers; the room was checked.
            unsafe { external::encode((j.desc, &signature), incount as u64, inbuf.as_ptr(), out.as_mut_ptr()) }.map_err(|misfit| {
                let message = format!("{} does not fit into the {} bytes of external32", misfit.value, misfit.bytes);
                Failure::new(MPI_ERR_CONVERSION, message)
            })?;
            write(position, "position", at + j.bytes as Count)
        })
    }
}
mpi_fn! {
    fn MPI_Unpack_external[c_int], MPI_Unpack_external_c[Count]<N>(datarep: Text, inbuf: Address, insize: Count, position: Out<Count>, outbuf: Address, outcount: N, datatype: Datatype) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            let signature = convertible(datarep, datatype)?;
            let at = read(position, "position")?;
            let j = job(process, (outbuf, outcount as i64, datatype), (inbuf, insize, at), Some(signature.external_bytes()))?;
            let input = inbuf.behind(j.position as usize);
            // SAFETY: the user promises both buffers; the length was checked.
            unsafe { external::decode((j.desc, &signature), outcount as u64, input.as_ptr(), outbuf.as_mut_ptr()) };
            write(position, "position", at + j.bytes as Count)
        })
    }
}
mpi_fn! {
    fn MPI_Pack_external_size[c_int], MPI_Pack_external_size_c[Count]<N>(datarep: Text, incount: N, datatype: Datatype, size: Out<Count>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let signature = convertible(datarep, datatype)?;
            let Ok(count) = u64::try_from(incount) else {
                return Failure::err(MPI_ERR_COUNT, format!("incount is {incount}"));
            };
            write(size, "size", to_user::<Count>(signature.external_bytes().checked_mul(count)))
        })
    }
}
