//! Every component of this repository linked into one binary: each registers once, and all are accepted.

use oxmpi_builtin::{BUILTIN, linkme};
use oxmpi_mca::Descriptor;
use oxmpi_runtime::accept::accept;
use oxmpi_tests::root;
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
    SELF: btl_self, SHM: btl_shm, TEMPLATE: btl_template, BASIC: coll_basic, OB1: pml_ob1,
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
