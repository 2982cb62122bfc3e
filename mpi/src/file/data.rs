//! The memory of an access: the program's own where the file holds data as memory does, else bytes in between that are converted.

use super::object::FileObject;
use super::representation::{self, Conversion, Representation};
use super::user_view;
use crate::call::memory::Address;
use crate::call::operands::check_buffer;
use crate::call::process::Process;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res};
use crate::types::Datatype;
use oxmpi_datatype::TypeRef;
use oxmpi_runtime::file::{Elements, Finish, Where, Wish};

/// The access of a call, with its data as it is in the file. Data that is written is converted here, data that is read when it is there.
pub fn prepare(
    process: &Process,
    object: &FileObject,
    writes: bool,
    place: Where,
    (buf, count, datatype): (Address, i64, Datatype),
) -> Res<Wish> {
    let Ok(number) = u64::try_from(count) else {
        return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
    };
    let nothing = count == 0 && datatype.0 == MPI_DATATYPE_NULL;
    let datatype = if nothing { Datatype(MPI_BYTE) } else { datatype };
    let desc = datatype::require_committed(datatype, "datatype")?;
    check_buffer(process, buf, count, desc, "buf")?;
    let view = user_view::of(object);
    if view.representation == Representation::NATIVE {
        // SAFETY: the caller of the C function promises the data, and the type is alive.
        let elements = unsafe { Elements::new(buf.as_mut_ptr(), number, TypeRef::retain(desc)) };
        return Ok(Wish { writes, at: place, elements, finish: None, kept: None });
    }
    let conversion = Conversion::new(datatype, &view.representation)?;
    let bytes = conversion.file_bytes(number);
    let room = usize::try_from(bytes).ok().filter(|room| isize::try_from(*room).is_ok());
    let mut between: Vec<u8> = Vec::new();
    match room {
        Some(room) if between.try_reserve_exact(room).is_ok() => between.resize(room, 0),
        _ => return Failure::err(MPI_ERR_NO_MEM, format!("{bytes} bytes are needed to convert the data")),
    }
    // SAFETY: a predefined type, which is a static.
    let byte = unsafe { TypeRef::retain(datatype::require(Datatype(MPI_BYTE), "datatype")?) };
    let base = between.as_mut_ptr();
    // SAFETY: the bytes are kept by the access, or by what is done with them when it has ended.
    let elements = unsafe { Elements::new(base, bytes, byte) };
    if writes {
        // SAFETY: the caller of the C function promises the data; there is room for as many bytes.
        unsafe { conversion.encode(buf.as_mut_ptr(), number, base) }?;
        let (each, packed) = (conversion.file_bytes(1).max(1), desc.packed);
        // The status tells bytes of the program's data.
        let finish: Finish = Box::new(move |moved| Ok(moved / each * packed));
        return Ok(Wish { writes, at: place, elements, finish: Some(finish), kept: Some(Box::new(between)) });
    }
    let target = Target(buf.as_mut_ptr());
    let finish: Finish = Box::new(move |moved| {
        let target = target;
        // SAFETY: the caller of the C function promises the place for the data until the access has ended, which it does behind this.
        unsafe { conversion.decode(between.as_ptr(), moved, target.0) }
            .map_err(|failure| representation::status_of(&failure))
    });
    Ok(Wish { writes, at: place, elements, finish: Some(finish), kept: None })
}

/// Where the program wants its data.
#[derive(Clone, Copy)]
struct Target(*mut u8);

// SAFETY: memory that the program has given for whichever thread ends the access.
unsafe impl Send for Target {}
