//! Fortran programs by `mpif.h` and by both modules, compiled by the installed `mpifort`; sections of arrays; and the names of all procedures.
//!
//! Without gfortran the programs are left out, and the names are looked at all the same.

use oxmpi_tests::{Job, in_path, leave_out, mpi, root};
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

/// Compiles a program of `tests/programs/fortran` with such variables; its name. `None`: it is left out.
fn compiled(source: &str, options: &[&str], variables: &[(&str, &str)]) -> Option<PathBuf> {
    if !in_path("gfortran") {
        leave_out(source, "there is no gfortran");
        return None;
    }
    if !mpi().is_ours() {
        leave_out(source, "mpifort is ours");
        return None;
    }
    let values: String = variables.iter().map(|(_, value)| format!("_{value}")).collect();
    let program = mpi().programs().join(format!("{}{values}", source.replace('.', "_")));
    // Compilers leave files of modules where they are started, and other tests compile the same source at the same time.
    let folder = program.with_extension("modules");
    std::fs::create_dir_all(&folder).expect("a folder for modules");
    let output = Command::new(mpi().bin("mpifort"))
        .args(["-g", "-O1", "-Wall", "-o"])
        .arg(&program)
        .arg(root().join("tests/programs/fortran").join(source))
        .args(options)
        .env("OMPI_FC", "gfortran")
        .env("OXMPI_FORTRAN_CACHE", mpi().programs().join("fortran-modules"))
        .envs(variables.iter().copied())
        .current_dir(&folder)
        .output()
        .expect("mpifort runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "mpifort {source}: {}\n{said}", output.status);
    assert!(!said.contains("ld: warning"), "{said}");
    Some(program)
}

/// Runs such a program on 1, 2 and 4 ranks, each of which says ok.
fn run(source: &str, options: &[&str], variables: &[(&str, &str)]) {
    if let Some(program) = compiled(source, options, variables) {
        for ranks in [1, 2, 4] {
            Job::new(ranks).arg(&program).limit(120).run().all_ok(ranks);
        }
    }
}

#[test]
fn procedures_by_mpif_h() {
    run("included.f", &["-fallow-argument-mismatch", "-Wno-argument-mismatch"], &[]);
}

#[test]
fn procedures_by_module_mpi() {
    run("module.f90", &[], &[]);
}

#[test]
fn procedures_by_module_mpi_f08() {
    run("module_f08.f90", &[], &[]);
}

#[test]
fn procedures_by_module_mpi_f08_without_descriptors() {
    run("module_f08.f90", &[], &[("OXMPI_FORTRAN_DESCRIPTORS", "no")]);
}

/// A call with a section does the same as one with a contiguous copy, of whatever shape, strides and datatype.
#[test]
fn sections_of_arrays() {
    let Some(program) = compiled("sections.f90", &["-Wno-maybe-uninitialized"], &[]) else { return };
    // In the last one a process has one block, which lies in a later row.
    for (ranks, seed) in [(1, 1), (2, 2), (3, 3), (4, 4), (2, 43)] {
        let file = mpi().programs().join(format!("sections-{ranks}.data"));
        let job = Job::new(ranks).arg(&program).arg(seed.to_string()).arg("174").arg(&file);
        job.limit(180).run().all_ok(ranks);
        let _ = std::fs::remove_file(&file);
    }
}

/// A displacement in memory that no INTEGER holds goes by a datatype. The array is 4 GB of address space, of which few pages are touched.
#[test]
fn sections_whose_elements_lie_far_apart() {
    let Some(program) = compiled("sections_far.f90", &[], &[]) else { return };
    Job::new(1).arg(&program).limit(120).run().all_ok(1);
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
                let has_buffers = columns[2].contains(" choice ") && columns.get(3) != Some(&"hand");
                let names = [
                    Some(format!("{prefix}{form}")),
                    of_f08.then(|| format!("{prefix}{form}f08_")),
                    has_buffers.then(|| format!("{prefix}{form}f08ts_")),
                ];
                missing.extend(names.into_iter().flatten().filter(|name| !exported.contains(name.as_str())));
            }
        }
    }
    let table = std::fs::read_to_string(root().join("mpi/abi/fortran-extensions.tsv")).expect("the table");
    for row in table.lines().filter(|line| line.starts_with("MPIX_")) {
        let columns: Vec<&str> = row.split('\t').collect();
        let name = columns[0].to_lowercase();
        let large = (columns[1] == "c").then(|| format!("{name}_c"));
        for form in [Some(name), large].into_iter().flatten() {
            let names = ["", "p"].map(|prefix| format!("{prefix}{form}_f08_"));
            missing.extend(names.into_iter().filter(|name| !exported.contains(name.as_str())));
        }
    }
    assert!(procedures > 570, "{procedures} procedures");
    assert!(missing.is_empty(), "{} names are missing: {missing:?}", missing.len());
}
