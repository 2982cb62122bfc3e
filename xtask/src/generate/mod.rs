//! Everything that is made from the tables in `mpi/abi/`: the C header, the Rust constants, and the index that says where each
//! function is and what is missing in it.
//!
//! The functions that are implemented are found in the sources themselves: a function has a body when a line `fn MPI_...` stands in a
//! macro `mpi_fn!` somewhere under `mpi/src/`, and counts as whole when a test calls it; one without a body is an error. So a function cannot be
//! exported twice, forgotten, or called whole without a body and a test.
//!
//! Map: `table` (reads the tables) · `scan` (reads the sources) · `tested` (reads the tests) · `header` (mpi.h) · `rust`
//! (constants.rs) · `index` (INDEX.md) · `fortran` (all of Fortran's).

mod fortran;
mod header;
mod index;
mod rust;
mod scan;
mod table;
mod tested;

use std::fs;
use std::path::Path;

pub use fortran::sources as fortran_sources;

/// The action on the texts that were made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Write,
    /// Write nothing; an error names every file that is not what it should be.
    Check,
}

/// Makes all generated files of `mpi/` under the workspace root.
pub fn run(root: &Path, action: Action) -> Result<(), String> {
    let tables = table::Tables::read(&root.join("mpi/abi"))?;
    let mut found = scan::scan(&root.join("mpi/src"), &tables)?;
    let tested = tested::tested(root)?;
    scan::judge(&mut found, &tested, &tables);
    let mut files = vec![
        ("mpi/include/mpi.h".to_owned(), header::make(&tables)),
        ("mpi/src/constants.rs".to_owned(), rust::constants(&tables)),
        ("mpi/INDEX.md".to_owned(), index::make(&tables, &found)),
    ];
    files.extend(fortran::make(root, &tables)?);
    let mut stale = Vec::new();
    for (name, text) in files {
        let path = root.join(&name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        match action {
            Action::Check => stale.push(name),
            Action::Write => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
                }
                fs::write(&path, text).map_err(|e| format!("{name}: {e}"))?;
                println!("wrote {name}");
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("not what `cargo xtask generate` makes of mpi/abi and mpi/src: {}", stale.join(", ")))
}
