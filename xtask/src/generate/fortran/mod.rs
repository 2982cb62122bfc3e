//! Everything of Fortran that is made from `mpi/abi/fortran.tsv`: the procedures of the library, `mpif.h`, and the modules' sources.
//!
//! Map: `table` (reads it) · `procedures` (Rust) · `constants` (numbers and names that all of Fortran has) · `header` (mpif.h) · `modules` (module `mpi`) · `f08` (module `mpi_f08`) ·
//! `extensions` (module `mpi_ext_f08`, from a table of its own).

mod constants;
mod extensions;
mod f08;
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
    files.push(("fortran/modules/mpi_handle_types.f90".to_owned(), f08::handle_types()));
    files.push(("fortran/modules/mpi.f90".to_owned(), modules::procedures(&sections)));
    files.push(("fortran/modules/mpi_f08_types.f90".to_owned(), f08::types(tables)));
    files.push(("fortran/modules/mpi_f08_callbacks.f90".to_owned(), f08::callbacks()));
    files.push(("fortran/modules/mpi_f08.f90".to_owned(), f08::procedures(&sections)));
    let own = table::read_extensions(&root.join("mpi/abi"))?;
    files.push(("fortran/src/procedures/extensions.rs".to_owned(), extensions::procedures(&own)?));
    files.push(("fortran/modules/mpi_ext_f08.f90".to_owned(), extensions::module(&own)));
    let order = [
        "mpi_constants",
        "mpi_handle_types",
        "mpi",
        "mpi_f08_types",
        "mpi_f08_callbacks",
        "mpi_f08",
        "mpi_ext_f08",
    ];
    files.push(("fortran/modules/modules".to_owned(), order.map(|name| format!("{name}.f90\n")).concat()));
    Ok(files)
}
