//! Messages about a program's file that cannot be started, or should not be tried.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file a name stands for, looked up as execvp does.
pub fn file(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(name.into()).filter(|path: &PathBuf| path.exists());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

pub fn exists(name: &OsStr) -> bool {
    file(name).is_some()
}

pub fn is_folder(name: &OsStr) -> bool {
    Path::new(name).is_dir()
}

fn beginning(path: &Path) -> Option<Vec<u8>> {
    // Not a pipe or a device, which might keep us waiting.
    let file =
        std::fs::metadata(path).ok().filter(|about| about.is_file()).and(std::fs::File::open(path).ok())?;
    let mut bytes = Vec::new();
    file.take(64 << 10).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The program that this one asks to be started by: of a script, or the dynamic loader.
pub fn interpreter(name: &OsStr) -> Option<String> {
    let bytes = beginning(&file(name)?)?;
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        let line = rest.split(|&c| c == b'\n').next()?;
        let line = String::from_utf8_lossy(line);
        let name = line.trim_start().split([' ', '\t']).next()?.to_owned();
        return Some(match name.strip_suffix('\r') {
            // Nobody sees it, and it is a common reason.
            Some(before) => format!("the interpreter {before:?} with a carriage return behind it"),
            None => format!("the interpreter {name:?}"),
        });
    }
    use object::read::elf::{FileHeader, ProgramHeader};
    let header = object::elf::FileHeader64::<object::Endianness>::parse(&*bytes).ok()?;
    let endian = header.endian().ok()?;
    let mut segments = header.program_headers(endian, &*bytes).ok()?.iter();
    let loader = segments.find_map(|segment| segment.interpreter(endian, &*bytes).ok().flatten())?;
    Some(format!("the dynamic loader {:?}", String::from_utf8_lossy(loader)))
}

/// For another machine than this one: which. The C library would give such a file to a shell.
pub fn foreign(name: &OsStr) -> Option<String> {
    let bytes = beginning(&file(name)?)?;
    let header = bytes.get(..20).filter(|header| header.starts_with(b"\x7fELF"))?;
    let machine = match header[5] {
        2 => u16::from_be_bytes([header[18], header[19]]),
        _ => u16::from_le_bytes([header[18], header[19]]),
    };
    let ours = if cfg!(target_arch = "x86_64") { [62, 3] } else { [183, 40] };
    if ours.contains(&machine) || emulated() {
        return None;
    }
    let name = match machine {
        3 | 62 => "x86".to_owned(),
        8 => "MIPS".to_owned(),
        20 | 21 => "PowerPC".to_owned(),
        22 => "s390".to_owned(),
        40 => "32-bit ARM".to_owned(),
        183 => "64-bit ARM".to_owned(),
        243 => "RISC-V".to_owned(),
        other => format!("number {other}"),
    };
    Some(format!("it is for another kind of processor ({name})"))
}

/// The library of another MPI that a program is linked with: of Open MPI, MPICH and what is made of them.
pub fn other_mpi(name: &OsStr, folder: Option<&Path>) -> Option<String> {
    let path = match folder {
        Some(folder) if name.as_bytes().contains(&b'/') => folder.join(name),
        _ => file(name)?,
    };
    // Names stand near the end of a program, so all of it is looked at where it is one.
    beginning(&path).filter(|bytes| bytes.starts_with(b"\x7fELF"))?;
    // The job must not wait while a huge one is read.
    std::fs::metadata(&path).ok().filter(|about| about.len() <= 256 << 20)?;
    let bytes = std::fs::read(&path).ok()?;
    use object::read::elf::{Dyn, FileHeader};
    let header = object::elf::FileHeader64::<object::Endianness>::parse(&*bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &*bytes).ok()?;
    let (entries, link) = sections.dynamic(endian, &*bytes).ok()??;
    let strings = sections.strings(endian, &*bytes, link).ok()?;
    let needed = entries.iter().filter(|entry| entry.tag(endian) == object::elf::DT_NEEDED);
    let mut names = needed.filter_map(|entry| entry.string(endian, strings).ok());
    let found = names.find(|name| is_other_mpi(name))?;
    Some(String::from_utf8_lossy(found).into_owned())
}

/// A library of the standard ABI: another's than ours? Every part of ours has its name. `None`: it cannot be read.
pub fn is_others_abi(file: &Path) -> Option<bool> {
    std::fs::metadata(file).ok().filter(|about| about.is_file() && about.len() <= 256 << 20)?;
    let bytes = std::fs::read(file).ok()?;
    Some(!bytes.windows(5).any(|part| part == b"oxmpi"))
}

/// Names of MPI libraries, ours apart.
pub fn is_other_mpi(library: &[u8]) -> bool {
    let Some(rest) = library.strip_prefix(b"libmpi") else { return false };
    // Vendors' are named for the compiler.
    if rest.starts_with(b"_gnu")
        || rest.starts_with(b"_cray")
        || rest.starts_with(b"_ibm")
        || rest.starts_with(b"_intel")
    {
        return rest.windows(3).any(|part| part == b".so");
    }
    ["", "_cxx", "_mpifh", "_usempi", "_usempif08", "ch", "cxx", "fort", "chcxx", "chfort"]
        .iter()
        .any(|kind| rest.strip_prefix(kind.as_bytes()).is_some_and(|rest| rest.starts_with(b".so")))
}

/// Somebody has taught this kernel to run programs of other machines.
fn emulated() -> bool {
    let entries = std::fs::read_dir("/proc/sys/fs/binfmt_misc").into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name() != "register" && entry.file_name() != "status").count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("writable");
            path.into_os_string()
        };
        let script = write("a", b"#! /no/such -x\necho\n");
        assert_eq!(interpreter(&script).as_deref(), Some("the interpreter \"/no/such\""));
        let dos = write("b", b"#!/bin/sh\r\necho\r\n");
        assert!(interpreter(&dos).expect("one").contains("carriage return"));
        let mut elf = [0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[18] = 243;
        let risc = write("c", &elf);
        if !emulated() {
            assert!(foreign(&risc).expect("foreign").contains("RISC-V"));
        }
        assert_eq!(foreign(&script), None);
        assert_eq!(interpreter(OsStr::new("/proc/self/exe")).map(|i| i.contains("loader")), Some(true));
        for (library, other) in [
            ("libmpi.so.40", true),
            ("libmpi.so.12", true),
            ("libmpich.so.12", true),
            ("libmpi_mpifh.so.40", true),
            ("libmpi_gnu_91.so.12", true),
            ("libmpi_ibm.so.3", true),
            ("libmpi_gtl_cuda.so.0", false),
            ("libmpi_abi.so.1", false),
            ("libmpir.so", false),
            ("libc.so.6", false),
        ] {
            assert_eq!(is_other_mpi(library.as_bytes()), other, "{library}");
        }
        assert_eq!(other_mpi(OsStr::new("/proc/self/exe"), None), None);
        assert_eq!(other_mpi(&script, None), None);
        assert!(exists(OsStr::new("sh")) && !exists(OsStr::new("/no/such")));
    }
}
