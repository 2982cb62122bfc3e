//! `mpif.h`: declarations that both source forms read, since no line is longer than 72 columns and none goes on.

use super::constants::{CALLBACKS, CONSTANTS, STATUSES, handles, numbers};
use crate::generate::table::Tables;
use std::fmt::Write;

/// Makes the file.
pub fn make(tables: &Tables) -> String {
    let mut out = String::from(
        "! MPI 5.0 for Fortran programs that include this file.\n\
         !\n\
         ! Made from mpi/abi by `cargo xtask generate`. Good in fixed and in\n\
         ! free source form.\n",
    );
    for number in numbers(tables) {
        let of = number.kind.map_or("INTEGER".to_owned(), |kind| format!("INTEGER(KIND={kind})"));
        line(&mut out, &format!("{of} {}", number.name));
        line(&mut out, &format!("PARAMETER ({}={})", number.name, number.value));
    }
    for handle in handles(tables) {
        line(&mut out, &format!("INTEGER {}", handle.name));
        line(&mut out, &format!("PARAMETER ({}={})", handle.name, handle.value));
    }
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        line(&mut out, &format!("LOGICAL {name}"));
        line(&mut out, &format!("PARAMETER ({name}=.FALSE.)"));
    }
    out.push_str("! Known by their addresses.\n");
    let mut cells = 0..;
    for block in [CONSTANTS, STATUSES] {
        for (sentinel, i) in block.sentinels.iter().zip(&mut cells) {
            let (of, shape) = sentinel.of;
            let (of_padding, rest) = sentinel.padding;
            line(&mut out, &format!("{of} {}{shape}", sentinel.name));
            line(&mut out, &format!("{of_padding} MPIFORT_P{i}{rest}"));
            line(&mut out, &format!("COMMON /{}/ {}, MPIFORT_P{i}", block.name, sentinel.name));
        }
        line(&mut out, &format!("SAVE /{}/", block.name));
    }
    out.push_str("! Functions, and procedures to pass on.\n");
    for name in ["MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"] {
        line(&mut out, &format!("DOUBLE PRECISION {name}"));
        line(&mut out, &format!("EXTERNAL {name}"));
    }
    for name in ["MPI_AINT_ADD", "MPI_AINT_DIFF", "PMPI_AINT_ADD", "PMPI_AINT_DIFF"] {
        line(&mut out, &format!("INTEGER(KIND=MPI_ADDRESS_KIND) {name}"));
        line(&mut out, &format!("EXTERNAL {name}"));
    }
    for name in CALLBACKS {
        line(&mut out, &format!("EXTERNAL {name}"));
    }
    out
}

/// A statement, which has its line for itself.
fn line(out: &mut String, statement: &str) {
    assert!(statement.len() <= 66, "longer than a line of the fixed form: {statement}");
    writeln!(out, "      {statement}").expect("a string");
}
