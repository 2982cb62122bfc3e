//! Components that are wrong, as files, through the real loader: refused before anything of them is
//! called, with a sentence that names the field, their value, ours, and the file.

use crate::support::{compile_c, scratch};
use oxmpi_loading::accept::Framework;
use oxmpi_loading::loader::{Found, load};
use oxmpi_tests::{Job, mpi, root};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Builds the wrong component with these definitions, in a folder of its own.
fn build(case: &str, defines: &[&str]) -> PathBuf {
    let file = scratch(&format!("refused-{case}")).join("libbtl_wrong.so");
    let defines: Vec<&OsStr> = defines.iter().map(OsStr::new).collect();
    compile_c(&root().join("tests/plugins/c/btl_wrong.c"), &file, &defines);
    file
}

fn refusal(file: &std::path::Path) -> String {
    let found = Found { framework: Framework::Btl, name: "wrong".into(), path: file.to_owned() };
    match load(&found) {
        Ok(accepted) => panic!("{} was accepted: {accepted:?}", file.display()),
        Err(sentence) => sentence,
    }
}

/// The fault, how it is made, and what the sentence must say besides the file.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    ("magic", &["-DMAGIC=0x1234"], &["magic", "0x0000000000001234", "0x504d4349504d584f"]),
    ("major", &["-DMAJOR=7"], &["ABI version", "7.0", "3."]),
    ("minor", &["-DMINOR=9"], &["ABI version", "3.9", "3.0"]),
    ("truncated", &["-DSIZE=40"], &["size", "40", "160"]),
    ("monstrous", &["-DSIZE=0xffffffffu"], &["size", "4294967295"]),
    ("target", &["-DTARGET=OXMPI_STR(\"32-be-line128\")"], &["target", "32-be-line128", "64-le-line64"]),
    ("lock-protocol", &["-DLOCK_PROTOCOL=77"], &["lock protocol", "77", "1"]),
    ("cri-stride", &["-DCRI_STRIDE=64"], &["CRI stride", "64", "256"]),
    ("framework", &["-DFRAMEWORK=OXMPI_STR(\"pml\")"], &["framework", "pml", "btl"]),
    ("framework-major", &["-DFRAMEWORK_VERSION={4,0,0}"], &["framework version", "4.0", "3.3"]),
    ("framework-minor", &["-DFRAMEWORK_VERSION={3,77,0}"], &["framework version", "3.77", "3.3"]),
    // Components of the first edition of the contracts: their verbs have other arguments, their tables other places.
    ("first-abi", &["-DMAJOR=1", "-DMINOR=1"], &["ABI version", "1.1", "3.x"]),
    ("first-btl", &["-DFRAMEWORK_VERSION={1,2,0}"], &["framework version", "btl 1.2", "btl 3.3"]),
    (
        "first-of-both",
        &["-DMAJOR=1", "-DMINOR=1", "-DFRAMEWORK_VERSION={1,2,0}"],
        &["ABI version", "1.1", "3.x"],
    ),
    // Those of the second one, in which PMLs polled the transports.
    ("second-abi", &["-DMAJOR=2", "-DMINOR=2"], &["ABI version", "2.2", "3.x"]),
    ("second-btl", &["-DFRAMEWORK_VERSION={2,1,0}"], &["framework version", "btl 2.1", "btl 3.3"]),
    ("table-version", &["-DTABLE_VERSION=77"], &["table version", "77", "2"]),
    ("name", &["-DNAME=OXMPI_STR(\"other\")"], &["name", "other", "wrong"]),
    ("not-a-name", &["-DNAME=OXMPI_STR(\"No Name\")"], &["name", "No Name"]),
    ("open", &["-DOPEN=NULL"], &["open", "none"]),
    ("help", &["-DHELP={NULL,5}"], &["help", "5"]),
    ("not-utf8", &["-DHELP=OXMPI_STR(\"\\xff\\xfe\")"], &["help", "UTF-8"]),
    ("params", &["-DPARAMS={NULL,3}"], &["parameters", "3"]),
];

#[test]
fn every_wrong_field_is_named() {
    for (case, defines, words) in CASES {
        let file = build(case, defines);
        let sentence = refusal(&file);
        let path = file.display().to_string();
        for word in words.iter().chain(&[path.as_str()]) {
            assert!(sentence.contains(word), "{case}: the refusal does not say \"{word}\": {sentence}");
        }
    }
}

/// With nothing wrong the same source is accepted, so what is refused above is refused for its field.
#[test]
fn the_same_component_unspoilt_is_accepted() {
    let path = build("nothing", &[]);
    let found = Found { framework: Framework::Btl, name: "wrong".into(), path };
    let accepted = load(&found).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(accepted.name, "wrong");
}

#[test]
fn a_file_without_the_symbol_is_no_component() {
    let file = build("symbol", &["-DSYMBOL=something_else"]);
    let sentence = refusal(&file);
    assert!(
        sentence.contains("oxmpi_component_btl_wrong") && sentence.contains(&file.display().to_string()),
        "{sentence}"
    );
}

/// mpirun looks at what its user names before it starts a process.
#[test]
fn the_launcher_refuses_it_first() {
    let cases: [(&str, &[&str], &str); 2] = [
        ("before-start", &["-DTABLE_VERSION=77"], "table version: it has 77"),
        ("old-before-start", &["-DMAJOR=2", "-DMINOR=2"], "ABI version: it has 2.2"),
    ];
    for (case, defines, said) in cases {
        let file = build(case, defines);
        let job = Job::new(2).args(["--mca", "btl", "wrong,self", "--mca", "mca_base_component_path"]);
        let ended = job.arg(file.parent().expect("a folder")).arg(mpi().program("ring")).run().failed();
        for part in ["No process was started", said, &file.display().to_string()] {
            assert!(ended.err.contains(part), "{part} is missing: {ended:?}");
        }
    }
}
