use super::*;
use crate::params::host_params;
use oxmpi_mca::abi::{OpenArgs, Opened, TARGET};
use oxmpi_mca::{ABI_MAJOR, ABI_MINOR, Cri, LOCK_PROTOCOL, MAGIC, SliceRef, Status, StrRef, Version};
use std::cell::RefCell;
use std::ffi::OsString;

extern "C" fn never(_: *const OpenArgs, _: *mut Opened) -> Status {
    Status::INTERNAL
}

const fn descriptor(framework: Framework, name: &'static str, aliases: &'static [StrRef]) -> Descriptor {
    Descriptor {
        magic: MAGIC,
        abi_major: ABI_MAJOR,
        abi_minor: ABI_MINOR,
        size: size_of::<Descriptor>() as u32,
        target: StrRef::new(TARGET),
        framework: StrRef::new(framework.name()),
        framework_version: framework.version(),
        name: StrRef::new(name),
        version: Version { major: 0, minor: 1, patch: 0 },
        aliases: SliceRef::new(aliases),
        params: SliceRef::new(&[]),
        help: StrRef::EMPTY,
        open: never,
        lock_protocol: LOCK_PROTOCOL,
        cri_stride: size_of::<Cri>() as u32,
        resolve: None,
        table_version: 0,
        reserved: 0,
    }
}

const ALIASES: &[StrRef] = &[StrRef::new("sm"), StrRef::new("vader")];
static SHM: Descriptor = descriptor(Framework::Btl, "shm", ALIASES);
static LOOP: Descriptor = descriptor(Framework::Btl, "self", &[]);
static OB1: Descriptor = descriptor(Framework::Pml, "ob1", &[]);
static BASIC: Descriptor = descriptor(Framework::Coll, "basic", &[]);

/// Chosen names in order, and the help topics shown; or the error.
fn choose(variables: &[(&str, &str)], dirs: &[PathBuf]) -> Result<(Vec<String>, Vec<String>), String> {
    let variables = variables.iter().map(|(n, v)| (OsString::from(n), OsString::from(v)));
    let mut resolver = Resolver::from_variables(variables);
    let logger = Logger::new(&mut resolver, "h", 0).expect("good values");
    let params = host_params(&mut resolver).expect("good values");
    let shown = RefCell::new(Vec::new());
    let help = |topic: &str, args: &[&str]| shown.borrow_mut().push(format!("{topic} {}", args.join(" ")));
    let mut chooser = Chooser { resolver: &mut resolver, params: &params, logger: &logger, help: &help };
    let builtin: [*const Descriptor; 4] = [&SHM, &LOOP, &OB1, &BASIC];
    // SAFETY: statics of this test.
    let chosen = unsafe { chooser.choose(&Framework::ALL, &builtin, dirs) }.map_err(|e| e.message)?;
    let names = chosen.iter().map(|c| c.component.name.to_owned()).collect();
    Ok((names, shown.into_inner()))
}

fn names(variables: &[(&str, &str)]) -> Vec<String> {
    choose(variables, &[]).expect("a choice").0
}

#[test]
fn lists_include_and_exclude() {
    assert_eq!(names(&[]), ["shm", "self", "ob1", "basic"]);
    assert_eq!(names(&[("OXMPI_MCA_btl", "self")]), ["self", "ob1", "basic"]);
    assert_eq!(
        names(&[("OXMPI_MCA_btl", "vader,self,sm")]),
        ["shm", "self", "ob1", "basic"],
        "aliases, once"
    );
    assert_eq!(names(&[("OXMPI_MCA_btl", "^sm")]), ["self", "ob1", "basic"]);
    assert_eq!(names(&[("OXMPI_MCA_coll", "^basic,unknown")]), ["shm", "self", "ob1"]);
}

#[test]
fn what_is_named_must_be_there() {
    let e = choose(&[("OXMPI_MCA_btl", "self,tcp")], &["/no/where".into()]).expect_err("no tcp");
    for part in ["tcp", "btl", "OXMPI_MCA_btl", "shm, self", "/no/where"] {
        assert!(e.contains(part), "{part} in {e}");
    }
    let e = choose(&[("OMPI_MCA_btl", "self,nonesuch")], &[]).expect_err("not even Open MPI has it");
    assert!(e.contains("nonesuch") && e.contains("OMPI_MCA_btl"), "{e}");
}

#[test]
fn what_only_open_mpi_has_is_warned_about_once() {
    let (chosen, shown) =
        choose(&[("OMPI_MCA_pml", "ucx"), ("OMPI_MCA_btl", "^openib")], &[]).expect("ignored");
    assert_eq!(chosen, ["shm", "self", "ob1", "basic"]);
    assert_eq!(shown, ["open-mpi-component environment variable OMPI_MCA_pml ucx pml"]);
    let (chosen, shown) = choose(&[("OMPI_MCA_btl", "self")], &[]).expect("we have it");
    assert_eq!((chosen.len(), shown.len()), (3, 0));
    // The stronger source decides.
    let both = [("OMPI_MCA_pml", "ucx"), ("OXMPI_MCA_pml", "ob1")];
    assert_eq!(choose(&both, &[]).expect("ours is stronger").1.len(), 0);
}

#[test]
fn a_linked_in_one_wins_over_a_file_and_broken_files_matter_only_if_named() {
    let tmp = tempfile::tempdir().expect("a directory");
    for file in ["libbtl_shm.so", "libbtl_wreck.so"] {
        std::fs::write(tmp.path().join(file), "not a library").expect("a file");
    }
    let dirs = [tmp.path().to_path_buf()];
    assert_eq!(choose(&[], &dirs).expect("a choice").0, ["shm", "self", "ob1", "basic"]);
    let e = choose(&[("OXMPI_MCA_btl", "shm,wreck")], &dirs).expect_err("named");
    assert!(e.contains("wreck") && e.contains("cannot be loaded"), "{e}");
    let path = [("OXMPI_MCA_mca_base_component_path", tmp.path().to_str().expect("UTF-8"))];
    let named = [path[0], ("OXMPI_MCA_btl", "wreck")];
    assert!(choose(&named, &[]).expect_err("found through the path").contains("libbtl_wreck.so"));
}
