//! Packing into a buffer of the user, addresses (MPI 5.0 §5.1.5, §5.2).

use crate::comm;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call};
use crate::memory::{read, write};
use crate::operands::check_buffer;
use crate::process::Process;
use crate::types::{Aint, Comm, Count, Datatype};
use core::ffi::c_int;
use oxmpi_datatype::TypeDesc;

/// Checked arguments: the type, the bytes the data packs to, the position in the packed buffer.
struct Job {
    desc: &'static TypeDesc,
    bytes: u64,
    position: u64,
}

fn job(
    process: &Process,
    (buf, count, datatype): (*const u8, i64, Datatype),
    (packed, size, position): (*const u8, i64, i64),
    short: c_int,
) -> Res<Job> {
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    }
    let desc = datatype::require_committed(datatype, "datatype")?;
    check_buffer(process, buf, count, desc, "the data's buffer")?;
    let bytes = desc.packed.checked_mul(count as u64);
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
            short,
            format!(
                "the packed buffer has {room} bytes, position is {position}, the data has {} each",
                desc.packed
            ),
        ),
    }
}

mpi_fn! {
    fn MPI_Pack[c_int], MPI_Pack_c[Count]<N>(inbuf: *const u8, incount: N, datatype: Datatype, outbuf: *mut u8, outsize: N, position: *mut N, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            comm::require(comm)?;
            let at = read(position, "position")?;
            let j = job(process, (inbuf, incount as i64, datatype), (outbuf, outsize as i64, at as i64), MPI_ERR_TRUNCATE)?;
            // SAFETY: the user promises both buffers; the room was checked.
            unsafe { oxmpi_datatype::pack(j.desc, incount as u64, inbuf, 0, outbuf.wrapping_add(j.position as usize), j.bytes) };
            write(position, "position", at + j.bytes as N)
        })
    }
}
mpi_fn! {
    fn MPI_Unpack[c_int], MPI_Unpack_c[Count]<N>(inbuf: *const u8, insize: N, position: *mut N, outbuf: *mut u8, outcount: N, datatype: Datatype, comm: Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            comm::require(comm)?;
            let at = read(position, "position")?;
            let j = job(process, (outbuf, outcount as i64, datatype), (inbuf, insize as i64, at as i64), MPI_ERR_TRUNCATE)?;
            // SAFETY: the user promises both buffers; the length was checked.
            unsafe { oxmpi_datatype::unpack(j.desc, outcount as u64, outbuf, 0, inbuf.wrapping_add(j.position as usize), j.bytes) };
            write(position, "position", at + j.bytes as N)
        })
    }
}
mpi_fn! {
    fn MPI_Pack_size[c_int], MPI_Pack_size_c[Count]<N>(incount: N, datatype: Datatype, comm: Comm, size: *mut N) -> c_int {
        call(NAME, Some(comm), |_| {
            comm::require(comm)?;
            let Ok(count) = u64::try_from(incount) else {
                return Failure::err(MPI_ERR_COUNT, format!("incount is {incount}"));
            };
            let desc = datatype::require_committed(datatype, "datatype")?;
            let bytes = desc.packed.checked_mul(count).and_then(|n| N::try_from(n).ok());
            let Some(bytes) = bytes else {
                return Failure::err(MPI_ERR_VALUE_TOO_LARGE, format!("{incount} elements pack to too many bytes"));
            };
            write(size, "size", bytes)
        })
    }
}
mpi_fn! {
    fn MPI_Get_address(location: *const u8, address: *mut Aint) -> c_int {
        call(NAME, None, |_| write(address, "address", location as usize as Aint))
    }
}
mpi_fn! {
    fn MPI_Aint_add(base: Aint, disp: Aint) -> Aint {
        base.wrapping_add(disp)
    }
}
mpi_fn! {
    fn MPI_Aint_diff(addr1: Aint, addr2: Aint) -> Aint {
        addr1.wrapping_sub(addr2)
    }
}
