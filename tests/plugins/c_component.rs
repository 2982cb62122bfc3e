//! A component written in C: built with the committed header, loaded, and put through the whole suite.

use crate::support::{compile_c, load, run, scratch};
use oxmpi_btl_conformance::{Reach, Setup, run_all};
use oxmpi_tests::root;
use std::process::Command;

#[test]
fn a_btl_in_c_passes_the_suite() {
    let file = scratch("c").join("libbtl_cloop.so");
    compile_c(&root().join("tests/plugins/c/btl_cloop.c"), &file, &[]);
    run_all(&Setup::new(load(&file, "oxmpi_component_btl_cloop")).reach(Reach::Itself));
}

#[test]
fn collectives_in_c_pass_the_suite() {
    let file = scratch("c").join("libcoll_cring.so");
    compile_c(&root().join("tests/plugins/c/coll_cring.c"), &file, &[]);
    let setup = oxmpi_coll_conformance::Setup::new(load(&file, "oxmpi_component_coll_cring"));
    // Rings are long; the suite's larger groups are for trees.
    oxmpi_coll_conformance::run_all(&setup.ranks(12));
}

#[test]
fn transfers_of_files_in_c_pass_the_suite() {
    let file = scratch("c").join("libfbtl_cplain.so");
    compile_c(&root().join("tests/plugins/c/fbtl_cplain.c"), &file, &["-pthread".as_ref()]);
    let descriptor = load(&file, "oxmpi_component_fbtl_cplain");
    oxmpi_fbtl_conformance::run_all(&oxmpi_fbtl_conformance::Setup::new(descriptor));
}

#[test]
fn a_file_system_in_c_passes_the_suite() {
    let file = scratch("c").join("libfs_cplain.so");
    compile_c(&root().join("tests/plugins/c/fs_cplain.c"), &file, &[]);
    let descriptor = load(&file, "oxmpi_component_fs_cplain");
    oxmpi_fs_conformance::run_all(&oxmpi_fs_conformance::Setup::new(descriptor));
}

#[test]
fn plans_of_file_access_in_c_pass_the_suite() {
    let file = scratch("c").join("libfcoll_ceach.so");
    compile_c(&root().join("tests/plugins/c/fcoll_ceach.c"), &file, &[]);
    let descriptor = load(&file, "oxmpi_component_fcoll_ceach");
    oxmpi_fcoll_conformance::run_all(&oxmpi_fcoll_conformance::Setup::new(descriptor));
}

/// The header's own assertions compare sizes and offsets; C++ reads it too.
#[test]
fn the_header_compiles_as_c_and_as_cxx() {
    let dir = scratch("header");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    for (language, standard, file) in [("c", "-std=c11", "h.c"), ("c++", "-std=c++17", "h.cc")] {
        let source = dir.join(file);
        std::fs::write(&source, "#include \"oxmpi_component.h\"\n#include \"oxmpi_component.h\"\n")
            .expect("source");
        run(Command::new(&compiler)
            .args([
                "-x",
                language,
                standard,
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-fsyntax-only",
                "-I",
            ])
            .arg(root().join("framework/include"))
            .arg(&source));
    }
}
