//! Everything of Fortran that is made from `mpi/abi/fortran.tsv`: the procedures of the library and `mpif.h`, which stand in the tree, and the modules' sources, which are made for an installation.
//!
//! Map: `table` (reads it) · `procedures` (Rust) · `buffers` (what belongs to a buffer) · `constants` (numbers and names that all of Fortran has) · `header` (mpif.h) · `modules` (module `mpi`) · `f08` (module `mpi_f08`) ·
//! `extensions` (module `mpi_ext_f08`, from a table of its own).

mod buffers;
mod constants;
mod extensions;
mod f08;
mod header;
mod modules;
mod procedures;
mod table;

use super::table::Tables;
use f08::Buffers;
use std::path::Path;

/// Makes the files that stand in the tree, by name from the workspace root.
pub fn make(root: &Path, tables: &Tables) -> Result<Vec<(String, String)>, String> {
    let sections = table::read(&root.join("mpi/abi"))?;
    let mut files = procedures::make(&sections, tables)?;
    files.push(("fortran/include/mpif.h".to_owned(), header::make(tables)));
    let own = table::read_extensions(&root.join("mpi/abi"))?;
    files.push(("fortran/src/procedures/extensions.rs".to_owned(), extensions::procedures(&own)?));
    Ok(files)
}

/// The probe of `fortran/probes`, and the sources of module `mpi_f08` that a compiler gets by its answer.
const CHOICE: &str = "descriptors.f90 ? mpi_f08_descriptors.f90 : mpi_f08_addresses.f90";

/// Makes the modules' sources and the list of the order in which `mpifort` compiles them, by name; they are made when oxmpi is installed.
pub fn sources(root: &Path) -> Result<Vec<(String, String)>, String> {
    let folder = root.join("mpi/abi");
    let (tables, sections) = (Tables::read(&folder)?, table::read(&folder)?);
    let plain = [
        ("mpi_constants.f90", modules::constants(&tables)),
        ("mpi_handle_types.f90", f08::handle_types()),
        ("mpi.f90", modules::procedures(&sections)),
        ("mpi_f08_types.f90", f08::types(&tables)),
        ("mpi_f08_callbacks.f90", f08::callbacks()),
        ("mpi_ext_f08.f90", extensions::module(&table::read_extensions(&folder)?)),
    ];
    let list: String = plain.iter().map(|(name, _)| format!("{name}\n")).collect();
    let chosen = [
        ("mpi_f08_descriptors.f90", f08::procedures(&sections, Buffers::Descriptors)),
        ("mpi_f08_addresses.f90", f08::procedures(&sections, Buffers::Addresses)),
        ("modules", format!("{list}{CHOICE}\n")),
    ];
    Ok(plain.into_iter().chain(chosen).map(|(name, text)| (name.to_owned(), text)).collect())
}
