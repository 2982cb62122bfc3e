//! Components that are seen from outside of a library that has its own linked in: those of a path of the user's, and nothing of the
//! library's.

mod common;

use common::component_dir;
use oxmpi_loading::registry::Registry;
use oxmpi_mca_params::{Places, Reader, Resolver, Sources};
use std::ffi::OsString;
use std::path::PathBuf;

fn settings(path: &str) -> Resolver {
    let variables = [
        ("OXMPI_MCA_mca_base_component_path", path),
        ("OXMPI_MCA_btl", "nowhere,self"),
        ("OXMPI_MCA_btl_nowhere_room", "1"),
    ];
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Sources::read(Reader::Process, variables, &Places::default(), &[]).resolver
}

fn look(path: &str, dirs: &[PathBuf]) -> Registry {
    // SAFETY: no descriptors.
    unsafe { Registry::look(settings(path), dirs, &[]) }
}

#[test]
fn a_selection_is_for_the_ranks_where_the_librarys_own_components_are_not_seen() {
    let (ours, empty) = (component_dir(), tempfile::tempdir().expect("a folder"));
    let own = look("", std::slice::from_ref(&ours));
    assert!(own.problems().iter().any(|why| why.contains("nowhere")), "{:?}", own.problems());
    assert!(!own.unknown().is_empty());
    // The same files, but as a user's path beside an installation without any.
    let users = look(&ours.display().to_string(), &[empty.path().to_path_buf()]);
    assert!(!users.components().is_empty(), "they are seen");
    assert_eq!(users.problems(), &[] as &[String]);
    assert!(users.unknown().is_empty());
}
