//! `mpi/INDEX.md`: every function, its chapter, its place, and whether it is whole.

use crate::generate::scan::{Found, Place};
use crate::generate::table::Tables;
use std::fmt::Write;

/// Features that a program may look for in vain, first of all.
const NOT_THERE: &str = "\
Not there yet, whatever the tables say of single functions: **networks** but TCP on hardware (InfiniBand, RoCE and Cray's have run on devices in software).

";

pub fn make(tables: &Tables, found: &Found) -> String {
    let total = tables.all_functions().count();
    let partial = found.values().filter(|p| p.partial.is_some()).count();
    let whole = found.len() - partial;
    let mut out = String::from("# The functions of MPI 5.0 in this library\n\n");
    out.push_str(NOT_THERE);
    out.push_str("Made by `cargo xtask generate`; do not edit. **whole**: nothing is known to be missing, and a test of this\n");
    out.push_str("repository calls it with success. **partial**: what is missing is said.\n");
    out.push_str("Every function is there as `MPI_` and as `PMPI_`.\n\n");
    let _ = writeln!(out, "{total} functions: {whole} whole, {partial} partial.");
    for section in &tables.functions {
        let _ = write!(out, "\n## {}: {} ({})\n\n", section.name, section.title, section.rows.len());
        out.push_str("| function | chapter | where | state |\n| --- | --- | --- | --- |\n");
        for f in &section.rows {
            let Place { file, line, partial } = &found[&f.name];
            let state = partial.as_ref().map_or("whole".to_owned(), |why| format!("partial: {why}"));
            let _ = writeln!(out, "| {} | {} | src/{file}:{line} | {state} |", f.name, section.name);
        }
    }
    out
}
