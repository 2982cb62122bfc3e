//! Fortran programs by `mpif.h` and by both modules, compiled by the installed `mpifort`; and the names of all procedures.
//!
//! Without gfortran the programs are left out, and the names are looked at all the same.

use oxmpi_tests::{Job, in_path, leave_out, mpi, root};
use std::collections::HashSet;
use std::process::Command;

/// Compiles a program of `tests/programs/fortran` and runs it on 1, 2 and 4 ranks, each of which says ok.
fn run(source: &str, options: &[&str]) {
    if !in_path("gfortran") {
        return leave_out(source, "there is no gfortran");
    }
    if !mpi().is_ours() {
        return leave_out(source, "mpifort is ours");
    }
    let program = mpi().programs().join(source.replace('.', "_"));
    let output = Command::new(mpi().bin("mpifort"))
        .args(["-g", "-O1", "-Wall", "-o"])
        .arg(&program)
        .arg(root().join("tests/programs/fortran").join(source))
        .args(options)
        .env("OMPI_FC", "gfortran")
        .env("OXMPI_FORTRAN_CACHE", mpi().programs().join("fortran-modules"))
        // Compilers leave files of modules where they are started.
        .current_dir(mpi().programs())
        .output()
        .expect("mpifort runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "mpifort {source}: {}\n{said}", output.status);
    assert!(!said.contains("ld: warning"), "{said}");
    for ranks in [1, 2, 4] {
        Job::new(ranks).arg(&program).limit(120).run().all_ok(ranks);
    }
}

#[test]
fn procedures_by_mpif_h() {
    run("included.f", &["-fallow-argument-mismatch", "-Wno-argument-mismatch"]);
}

#[test]
fn procedures_by_module_mpi() {
    run("module.f90", &[]);
}

#[test]
fn procedures_by_module_mpi_f08() {
    run("module_f08.f90", &[]);
}

/// A name of the table that the library does not export is a procedure that no program can call.
#[test]
fn every_procedure_of_the_table_is_there_under_its_names() {
    if !mpi().is_ours() {
        return leave_out("names of Fortran's procedures", "they are ours");
    }
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(mpi().prefix.join("lib/libmpifort_abi.so.1"))
        .output()
        .expect("nm runs");
    let exported = String::from_utf8(output.stdout).expect("names");
    let exported: HashSet<&str> = exported.lines().filter_map(|line| line.split(' ').next()).collect();
    let table = std::fs::read_to_string(root().join("mpi/abi/fortran.tsv")).expect("the table");
    let rows = table.lines().filter(|line| line.starts_with("MPI_"));
    let (mut missing, mut procedures) = (Vec::new(), 0);
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let name = columns[0].to_lowercase();
        let of_f08 = !["mpi_attr_", "mpi_keyval_"].iter().any(|old| name.starts_with(old));
        let forms = [Some(format!("{name}_")), (columns[1] == "c").then(|| format!("{name}_c_"))];
        for form in forms.into_iter().flatten() {
            procedures += 1;
            for prefix in ["", "p"] {
                let names = [Some(format!("{prefix}{form}")), of_f08.then(|| format!("{prefix}{form}f08_"))];
                missing.extend(names.into_iter().flatten().filter(|name| !exported.contains(name.as_str())));
            }
        }
    }
    assert!(procedures > 570, "{procedures} procedures");
    assert!(missing.is_empty(), "{} names are missing: {missing:?}", missing.len());
}
