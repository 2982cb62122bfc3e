//! Every component of this repository linked into one binary: each registers once, and all are accepted.

use oxmpi_builtin::{BUILTIN, linkme};
use oxmpi_loading::accept::accept;
use oxmpi_loading::registry::Registry;
use oxmpi_mca::Descriptor;
use oxmpi_mca_params::{CannotSet, Origin, Resolver};
use oxmpi_runtime::{Config, Instance};
use oxmpi_tests::root;
use oxmpi_wireup::Source;
use std::collections::BTreeSet;

macro_rules! built_in {
    ($($name:ident: $component:ident),* $(,)?) => {
        $(
            #[linkme::distributed_slice(BUILTIN)]
            #[linkme(crate = linkme)]
            static $name: fn() -> *const Descriptor = $component::descriptor;
        )*
    };
}

built_in! {
    OFI: btl_ofi, SELF: btl_self, SHM: btl_shm, TCP: btl_tcp, TEMPLATE: btl_template, UGNI: btl_ugni, VERBS: btl_verbs, BASIC: coll_basic, HAN: coll_han, COLL_SHM: coll_shm,
    TUNED: coll_tuned, COLL_TEMPLATE: coll_template, OB1: pml_ob1, PT2PT: osc_pt2pt, RDMA: osc_rdma, PML_TEMPLATE: pml_template, OSC_TEMPLATE: osc_template,
    UFS: fs_ufs, NFS: fs_nfs, LUSTRE: fs_lustre, FS_TEMPLATE: fs_template, POSIX: fbtl_posix, URING: fbtl_uring, FBTL_TEMPLATE: fbtl_template,
    INDIVIDUAL: fcoll_individual, TWOPHASE: fcoll_twophase, FCOLL_TEMPLATE: fcoll_template,
}

#[test]
fn every_component_registers_once_and_is_accepted() {
    let mut names = BTreeSet::new();
    for descriptor in BUILTIN {
        // SAFETY: a linked-in component's static descriptor.
        let accepted = unsafe { accept(descriptor(), None, "linked in") }.unwrap_or_else(|e| panic!("{e}"));
        let name = format!("{}-{}", accepted.framework.name(), accepted.name);
        assert!(names.insert(name.clone()), "{name} registered twice");
    }
    let folders: BTreeSet<String> = std::fs::read_dir(root().join("components"))
        .expect("components/")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, folders, "components linked in, and components there are");
}

/// No name and no alias means two components of one framework.
#[test]
fn no_two_components_answer_to_one_name() {
    let mut names = BTreeSet::new();
    for descriptor in BUILTIN {
        // SAFETY: as above.
        let accepted = unsafe { accept(descriptor(), None, "linked in") }.unwrap_or_else(|e| panic!("{e}"));
        for name in accepted.aliases.iter().chain([&accepted.name]) {
            assert!(names.insert((accepted.framework, *name)), "{name} means two components");
        }
    }
}

/// A rank of linked-in components alone: nothing is loaded, nothing is looked for.
#[test]
fn a_rank_starts_with_nothing_but_what_is_linked_in() {
    let builtin: Vec<*const Descriptor> = BUILTIN.iter().map(|descriptor| descriptor()).collect();
    // SAFETY: linked-in components.
    let registry = unsafe { Registry::look(Resolver::new(), &[], &builtin) };
    assert_eq!(registry.problems(), [] as [String; 0]);
    assert!(registry.components().iter().all(|c| c.place == "linked in" && c.state.is_ok()));
    let config = Config { builtin, wireup: Source::Singleton, ..Config::default() };
    let instance = Instance::start(config).unwrap_or_else(|e| panic!("{e}"));
    let open = instance.components();
    for wanted in [("pml", "ob1"), ("coll", "basic"), ("btl", "self")] {
        assert!(open.contains(&wanted), "{wanted:?} is not among {open:?}");
    }
    instance.finalize().unwrap_or_else(|e| panic!("{e}"));
}

/// Parameters that tools may write, before a start and while a rank runs (MPI 5.0 §15.3.6).
#[test]
fn parameters_are_written_where_that_has_an_effect() {
    let builtin: Vec<*const Descriptor> = BUILTIN.iter().map(|descriptor| descriptor()).collect();
    // SAFETY: linked-in components.
    let mut registry = unsafe { Registry::look(Resolver::new(), &[], &builtin) };
    registry.write("runtime_num_cris", "3").expect("a tool may, before the start");
    assert_eq!(registry.write("btl_self_queue_size", "1m").map(drop), Err(CannotSet::Never));
    assert!(matches!(registry.write("runtime_num_cris", "129"), Err(CannotSet::Wrong(_))));
    let (wireup, params) = (Source::Singleton, registry.written());
    let instance = Instance::start(Config { builtin, wireup, params, ..Config::default() });
    let instance = instance.unwrap_or_else(|e| panic!("{e}"));
    let value = |name: &str| instance.param(name).and_then(|p| p.value.as_i64());
    assert_eq!(value("runtime_num_cris"), Some(3));
    assert_eq!(instance.write_param("runtime_num_cris", "2").map(drop), Err(CannotSet::NotNow));
    assert_eq!(instance.write_param("btl_self_queue_size", "1m").map(drop), Err(CannotSet::Never));
    assert_eq!(instance.write_param("nothing", "1").map(drop), Err(CannotSet::Unknown));
    for (name, text, number) in [("btl_base_verbose", "none", -1), ("mpi_spin_count", "77", 77)] {
        let written = instance.write_param(name, text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((written.value.as_i64(), &written.origin), (Some(number), &Origin::Set));
        assert_eq!(value(name), Some(number));
    }
    assert!(instance.params().iter().any(|p| p.declaration.full_name == "btl_shm_eager_limit"));
    instance.finalize().unwrap_or_else(|e| panic!("{e}"));
}
