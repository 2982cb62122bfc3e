//! Fortran programs by `mpif.h` and by both modules, compiled by the installed `mpifort`; sections of arrays; and the names of all procedures.
//!
//! Without gfortran the programs are left out, and the names are looked at all the same.

use oxmpi_tests::{Job, can_compile_fortran, in_path, leave_out, mpi, root};
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

/// Compiles a program of `tests/programs/fortran`, or of a path of its own, with such variables; its name. `None`: it is left out.
fn compiled(source: &str, options: &[&str], variables: &[(&str, &str)]) -> Option<PathBuf> {
    if !can_compile_fortran() {
        return None;
    }
    let values: String = variables.iter().map(|(_, value)| format!("_{value}")).collect();
    let path = root().join("tests/programs/fortran").join(source);
    let name = path.file_name().expect("a file's name").to_string_lossy().replace('.', "_");
    let program = mpi().programs().join(format!("{name}{values}"));
    // Compilers leave files of modules where they are started, and other tests compile the same source at the same time.
    let folder = program.with_extension("modules");
    std::fs::create_dir_all(&folder).expect("a folder for modules");
    let output = Command::new(mpi().bin("mpifort"))
        .args(["-g", "-O1", "-Wall", "-o"])
        .arg(&program)
        .arg(path)
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

/// The program of the page, as a user would copy it.
#[test]
fn the_example_of_the_page() {
    let page = std::fs::read_to_string(root().join("docs/fortran.md")).expect("the page");
    let example = page.split("```fortran\n").find(|part| part.starts_with("program ")).expect("a program");
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("hello.f90");
    std::fs::write(&source, example.split("```").next().unwrap_or(example))
        .expect("the folder can be written");
    let Some(program) = compiled(&source.display().to_string(), &[], &[]) else { return };
    let said = Job::new(3).arg(program).run().ended_with(0).out;
    for rank in 0..3 {
        let line = format!("rank {rank} of 3: the sum is 6");
        assert!(said.lines().any(|l| l == line), "no {line:?} in\n{said}");
    }
}

/// CMake's own search finds mpif.h and both modules, and what is linked with its target runs.
#[test]
fn cmake_finds_the_three_interfaces() {
    const WHAT: &str = "Fortran by CMake";
    if !can_compile_fortran() {
        return;
    }
    if !in_path("cmake") || !in_path("make") {
        return leave_out(WHAT, "cmake or make is missing (Debian packages cmake and make)");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(p Fortran)\nfind_package(MPI REQUIRED COMPONENTS Fortran)\n\
        message(STATUS \"has ${MPI_Fortran_HAVE_F77_HEADER} ${MPI_Fortran_HAVE_F90_MODULE} ${MPI_Fortran_HAVE_F08_MODULE}\")\n\
        add_executable(p module_f08.f90)\ntarget_link_libraries(p MPI::MPI_Fortran)\n";
    let source = root().join("tests/programs/fortran/module_f08.f90");
    std::fs::write(folder.path().join("CMakeLists.txt"), lists).expect("the folder can be written");
    std::fs::copy(source, folder.path().join("module_f08.f90")).expect("the folder can be written");
    let cmake = |words: &[&str]| {
        let output = Command::new("cmake")
            .args(words)
            .current_dir(folder.path())
            .env("OMPI_FC", "gfortran")
            .env("OXMPI_FORTRAN_CACHE", mpi().programs().join("fortran-modules"))
            .output()
            .expect("cmake runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "cmake {words:?}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        said
    };
    let wrapper = format!("-DMPI_Fortran_COMPILER={}", mpi().bin("mpifort").display());
    let said = cmake(&["-S", ".", "-B", "made", "-DCMAKE_Fortran_COMPILER=gfortran", &wrapper]);
    assert!(said.contains("has TRUE TRUE TRUE"), "{said}");
    cmake(&["--build", "made"]);
    Job::new(2).arg(folder.path().join("made/p")).limit(120).run().all_ok(2);
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
