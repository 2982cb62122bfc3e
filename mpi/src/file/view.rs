//! Views, and the pointers that count in their etypes (MPI 5.0 §14.3, §14.4.3, §14.4.4).

use super::file_types::in_file;
use super::object::require;
use super::open::told;
use super::representation::Representation;
use super::user_view::{self, UserView};
use crate::call::memory::{Out, Text, text, write, write_text};
use crate::constants::*;
use crate::datatype::{self, Part};
use crate::error::{ErrorObject, Failure, Res, call_on};
use crate::info;
use crate::types::{Count, Datatype, File, Info};
use core::ffi::{c_char, c_int};
use oxmpi_mca::Entry;
use oxmpi_runtime::file::{ViewData, Whence};
use std::sync::Arc;

/// A type of the program's that may be part of a view, as it is in the file.
fn part_of(
    datatype: Datatype,
    what: &str,
    representation: &Representation,
) -> Res<(Part, oxmpi_datatype::TypeRef)> {
    datatype::require_committed(datatype, what)?;
    let old = datatype::reference(datatype, what)?;
    let desc = in_file(&old, representation)?;
    Ok((old.part, desc))
}

/// The view that MPI_File_set_view was given, and a number for its representation.
fn view_of(
    object: &super::FileObject,
    entry: &mut Entry,
    disp: Count,
    (etype, filetype): (Datatype, Datatype),
    datarep: Text,
) -> Res<(ViewData, u64)> {
    let representation = Representation::named(&text(datarep, "datarep")?)?;
    let displacement = match (disp, object.amode & MPI_MODE_SEQUENTIAL != 0) {
        (MPI_DISPLACEMENT_CURRENT, true) => {
            // No other rank resets it before all have told what they want.
            let position = object.file.position_shared(entry)?;
            object.file.byte_offset(position)?.cast_signed()
        }
        (MPI_DISPLACEMENT_CURRENT, false) => {
            return Failure::err(
                MPI_ERR_ARG,
                "the displacement is MPI_DISPLACEMENT_CURRENT, and fh was opened without MPI_MODE_SEQUENTIAL",
            );
        }
        (_, true) => {
            return Failure::err(
                MPI_ERR_ARG,
                "disp is not MPI_DISPLACEMENT_CURRENT, fh was opened with MPI_MODE_SEQUENTIAL",
            );
        }
        (disp, _) if disp < 0 => return Failure::err(MPI_ERR_ARG, format!("disp is {disp}")),
        (disp, _) => disp,
    };
    let (etype, etype_in_file) = part_of(etype, "etype", &representation)?;
    let (filetype, filetype_in_file) = part_of(filetype, "filetype", &representation)?;
    let number = representation.number();
    let user = UserView { displacement, etype, filetype, representation };
    let data = ViewData {
        displacement: displacement.cast_unsigned(),
        etype: etype_in_file,
        filetype: filetype_in_file,
        user: Some(Arc::new(user)),
    };
    Ok((data, number))
}

mpi_fn! {
    fn MPI_File_set_view(fh: File, disp: Count, etype: Datatype, filetype: Datatype, datarep: Text, info: Info) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| {
            let object = require(fh)?;
            let hints = info::optional(info);
            let wanted = match &hints {
                Ok(_) => view_of(object, entry, disp, (etype, filetype), datarep),
                Err(why) => Failure::err(why.code, why.message.clone()),
            };
            let hints = hints.ok().flatten().unwrap_or_default();
            object.file.set_view(entry, wanted.map_err(told), &hints)?;
            Ok(())
        })
    }
}

/// A handle for a type of a view: a predefined one's own, a new one of another.
fn handle_of(part: &Part) -> Res<Datatype> {
    match part {
        Part::Predefined(datatype) => Ok(*datatype),
        Part::Derived(derived) => datatype::again(Arc::clone(derived)),
    }
}

mpi_fn! {
    fn MPI_File_get_view(fh: File, disp: Out<Count>, etype: Out<Datatype>, filetype: Out<Datatype>, datarep: Out<c_char>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let view = user_view::of(require(fh)?);
            if disp.is_null() || etype.is_null() || filetype.is_null() {
                return Failure::err(MPI_ERR_ARG, "a place for the view is a null pointer");
            }
            // SAFETY: the standard has the caller pass `datarep` with room for MPI_MAX_DATAREP_STRING bytes.
            unsafe { write_text(datarep, "datarep", view.representation.name(), MPI_MAX_DATAREP_STRING as usize) }?;
            write(disp, "disp", view.displacement)?;
            write(etype, "etype", handle_of(&view.etype)?)?;
            write(filetype, "filetype", handle_of(&view.filetype)?)
        })
    }
}

/// Where a pointer is moved from.
fn whence_of(whence: c_int) -> Res<Whence> {
    match whence {
        MPI_SEEK_SET => Ok(Whence::Set),
        MPI_SEEK_CUR => Ok(Whence::Cur),
        MPI_SEEK_END => Ok(Whence::End),
        other => Failure::err(MPI_ERR_ARG, format!("whence is {other}")),
    }
}

mpi_fn! {
    fn MPI_File_seek(fh: File, offset: Count, whence: c_int) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            Ok(require(fh)?.file.seek(offset, whence_of(whence)?)?)
        })
    }
}
mpi_fn! {
    fn MPI_File_seek_shared(fh: File, offset: Count, whence: c_int) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| {
            let to = whence_of(whence).map(|whence| (offset, whence));
            Ok(require(fh)?.file.seek_shared(entry, to.map_err(told))?)
        })
    }
}
mpi_fn! {
    fn MPI_File_get_position(fh: File, offset: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let object = require(fh)?;
            if object.amode & MPI_MODE_SEQUENTIAL != 0 {
                return Failure::err(MPI_ERR_UNSUPPORTED_OPERATION, "fh was opened with MPI_MODE_SEQUENTIAL");
            }
            write(offset, "offset", object.file.position().cast_signed())
        })
    }
}
mpi_fn! {
    fn MPI_File_get_position_shared(fh: File, offset: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| {
            let object = require(fh)?;
            write(offset, "offset", object.file.position_shared(entry)?.cast_signed())
        })
    }
}
mpi_fn! {
    fn MPI_File_get_byte_offset(fh: File, offset: Count, disp: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let object = require(fh)?;
            let Ok(offset) = u64::try_from(offset) else {
                return Failure::err(MPI_ERR_ARG, format!("offset is {offset}"));
            };
            if object.amode & MPI_MODE_SEQUENTIAL != 0 {
                return Failure::err(MPI_ERR_UNSUPPORTED_OPERATION, "fh was opened with MPI_MODE_SEQUENTIAL");
            }
            write(disp, "disp", object.file.byte_offset(offset)?.cast_signed())
        })
    }
}
mpi_fn! {
    fn MPI_File_get_type_extent[Count], MPI_File_get_type_extent_c[Count]<N>(fh: File, datatype: Datatype, extent: Out<N>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let representation = user_view::of(require(fh)?).representation;
            let old = datatype::reference(datatype, "datatype")?;
            write(extent, "extent", in_file(&old, &representation)?.extent)
        })
    }
}
