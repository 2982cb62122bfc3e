//! Everything of Fortran that is made from `mpi/abi/fortran.tsv`: the procedures of the library, `mpif.h`, and the modules' sources.
//!
//! Map: `table` (reads it) · `procedures` (Rust) · `constants` (numbers and names that all of Fortran has) · `header` (mpif.h) · `modules` (module `mpi`).

mod constants;
mod header;
mod modules;
mod procedures;
mod table;

use super::table::Tables;
use std::path::Path;

/// Makes the files, by name from the workspace root.
pub fn make(root: &Path, tables: &Tables) -> Result<Vec<(String, String)>, String> {
    let sections = table::read(&root.join("mpi/abi"))?;
    let mut files = procedures::make(&sections, tables)?;
    files.push(("fortran/include/mpif.h".to_owned(), header::make(tables)));
    files.push(("fortran/modules/mpi_constants.f90".to_owned(), modules::constants(tables)));
    files.push(("fortran/modules/mpi.f90".to_owned(), modules::procedures(&sections)));
    files.push(("fortran/modules/modules".to_owned(), "mpi_constants.f90\nmpi.f90\n".to_owned()));
    Ok(files)
}
