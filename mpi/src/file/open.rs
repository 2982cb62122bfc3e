//! Files opened, closed, deleted, resized; what can be asked of one (MPI 5.0 §14.2).

use super::object::{FileObject, adopt, forget, require};
use crate::call::memory::{Out, Text, read, write, write_made};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call_on};
use crate::topo::intra;
use crate::types::{Comm, Count, File, Group, Info};
use crate::{group, info};
use core::ffi::{CStr, c_int};
use oxmpi_fs::mode;
use oxmpi_runtime::Error;
use oxmpi_runtime::file::{File as Opened, Wanted, delete};

/// The standard's bits of a mode beside those of the components.
const MODES: [(c_int, u32); 9] = [
    (MPI_MODE_CREATE, mode::CREATE),
    (MPI_MODE_RDONLY, mode::RDONLY),
    (MPI_MODE_WRONLY, mode::WRONLY),
    (MPI_MODE_RDWR, mode::RDWR),
    (MPI_MODE_DELETE_ON_CLOSE, mode::DELETE_ON_CLOSE),
    (MPI_MODE_UNIQUE_OPEN, mode::UNIQUE_OPEN),
    (MPI_MODE_EXCL, mode::EXCL),
    (MPI_MODE_APPEND, mode::APPEND),
    (MPI_MODE_SEQUENTIAL, mode::SEQUENTIAL),
];

/// A mode that MPI permits, in the bits of the components.
fn amode_of(amode: c_int) -> Res<u32> {
    let wrong = |why: &str| Failure::new(MPI_ERR_AMODE, format!("amode is {amode}: {why}"));
    let (known, bits) = MODES
        .iter()
        .filter(|(theirs, _)| amode & theirs != 0)
        .fold((0, 0), |sum, row| (sum.0 | row.0, sum.1 | row.1));
    if known != amode {
        return Err(wrong("it has bits that no MPI_MODE constant has"));
    }
    oxmpi_files::mode::check(bits.cast_signed()).map_err(|why| wrong(&why.to_string()))
}

/// The bytes of a file name, which need not be UTF-8.
fn name_of<'a>(filename: Text<'a>) -> Res<&'a [u8]> {
    if filename.is_null() {
        return Failure::err(MPI_ERR_ARG, "filename is a null pointer");
    }
    // SAFETY: not null, terminated by the promise of the caller of the C function.
    Ok(unsafe { CStr::from_ptr(filename.as_ptr()) }.to_bytes())
}

/// All that is wrong with this rank's arguments, for a call in which ranks fail together.
pub fn told(failure: Failure) -> Error {
    let kind = oxmpi_runtime::ErrorKind::of_class(failure.code).unwrap_or(oxmpi_runtime::ErrorKind::Arg);
    Error::new(kind, failure.message)
}

mpi_fn! {
    fn MPI_File_open(comm: Comm, filename: Text, amode: c_int, info: Info, fh: Out<File>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(File(MPI_FILE_NULL)), |_, entry| {
            let parent = intra(comm, "comm")?;
            if !fh.is_null() {
                fh.set(File(MPI_FILE_NULL));
            }
            let hints = info::optional(info).map(Option::unwrap_or_default);
            let wanted = (|| {
                if fh.is_null() {
                    return Failure::err(MPI_ERR_ARG, "fh is a null pointer");
                }
                let hints = hints.as_ref().map_err(|why| Failure::new(why.code, why.message.clone()))?;
                Ok(Wanted { name: name_of(filename)?, amode: amode_of(amode)?, info: hints })
            })();
            let file = Opened::open(&parent.comm, entry, wanted.map_err(told))?;
            write_made(fh, "fh", || adopt(file, amode))
        })
    }
}
mpi_fn! {
    fn MPI_File_close(fh: Out<File>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh.get().unwrap_or(File(MPI_FILE_NULL))), |_, entry| {
            let handle = read(fh, "fh")?;
            let object = require(handle)?;
            let closed = object.file.close(entry);
            if object.file.is_closed() {
                forget(handle);
                fh.set(File(MPI_FILE_NULL));
            }
            Ok(closed?)
        })
    }
}
mpi_fn! {
    fn MPI_File_delete(filename: Text, info: Info) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(File(MPI_FILE_NULL)), |process, _| {
            info::optional(info)?;
            Ok(delete(&process.instance, name_of(filename)?)?)
        })
    }
}

/// A size from C.
fn size_of(size: Count) -> Res<u64> {
    u64::try_from(size).or_else(|_| Failure::err(MPI_ERR_ARG, format!("size is {size}")))
}

mpi_fn! {
    fn MPI_File_set_size(fh: File, size: Count) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| {
            Ok(require(fh)?.file.set_size(entry, size_of(size).map_err(told))?)
        })
    }
}
mpi_fn! {
    fn MPI_File_preallocate(fh: File, size: Count) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| {
            Ok(require(fh)?.file.preallocate(entry, size_of(size).map_err(told))?)
        })
    }
}
mpi_fn! {
    fn MPI_File_get_size(fh: File, size: Out<Count>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let object = require(fh)?;
            write_made(size, "size", || Ok(object.file.bytes_now()?.cast_signed()))
        })
    }
}
mpi_fn! {
    fn MPI_File_get_group(fh: File, group: Out<Group>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let object = require(fh)?;
            write_made(group, "group", || group::adopt(object.file.comm().group().clone()))
        })
    }
}
mpi_fn! {
    fn MPI_File_get_amode(fh: File, amode: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| write(amode, "amode", require(fh)?.amode))
    }
}
mpi_fn! {
    fn MPI_File_set_info(fh: File, info: Info) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| {
            let object: &FileObject = require(fh)?;
            let hints = info::optional(info).map(Option::unwrap_or_default);
            let set = object.file.set_info(entry, hints.as_ref().ok());
            hints?;
            Ok(set?)
        })
    }
}
mpi_fn! {
    fn MPI_File_get_info(fh: File, info_used: Out<Info>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| {
            let object = require(fh)?;
            write_made(info_used, "info_used", || info::adopt(object.file.info()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_the_standard() {
        let fine = MPI_MODE_CREATE | MPI_MODE_RDWR;
        assert_eq!(amode_of(fine).expect("a mode"), mode::CREATE | mode::RDWR);
        for wrong in [0, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_MODE_RDONLY | MPI_MODE_CREATE, fine | 512, -1]
        {
            assert_eq!(amode_of(wrong).expect_err("no mode").code, MPI_ERR_AMODE, "{wrong}");
        }
    }
}
