//! A component that is older than the host: its table ends before the newer verbs. It is accepted, what it
//! has works, and what it lacks is a real function that refuses.

use crate::support::{compile_c, load, scratch};
use oxmpi_btl::{FlushDesc, RmaDesc, WaitSet};
use oxmpi_btl_conformance::{Reach, Setup, run_all};
use oxmpi_loading::accept::{Framework, Promise, accept, accept_btl};
use oxmpi_mca::Status;
use oxmpi_tests::root;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The C component with a table that ends in front of a slot.
fn build(ends_before: &str) -> PathBuf {
    let file = scratch(&format!("older-{ends_before}")).join("libbtl_cloop.so");
    let size = format!("-DTABLE_SIZE=offsetof(oxmpi_btl_table,{ends_before})");
    compile_c(&root().join("tests/plugins/c/btl_cloop.c"), &file, &[OsStr::new(&size)]);
    file
}

#[test]
fn an_older_table_passes_with_what_it_has() {
    for slot in ["get", "flush", "arm", "disarm", "service_open", "service_arm"] {
        let descriptor = load(&build(slot), "oxmpi_component_btl_cloop");
        run_all(&Setup::new(descriptor).reach(Reach::Itself));
    }
}

/// A table of collectives that ends in front of a slot leaves the rest to others, and what stands before it works.
#[test]
fn older_collectives_pass_with_what_they_have() {
    for slot in ["reduce", "gather", "neighbor_allgather"] {
        let file = scratch(&format!("older-coll-{slot}")).join("libcoll_cring.so");
        let size = format!("-DTABLE_SIZE=offsetof(oxmpi_coll_table,{slot})");
        compile_c(&root().join("tests/plugins/c/coll_cring.c"), &file, &[OsStr::new(&size)]);
        let setup = oxmpi_coll_conformance::Setup::new(load(&file, "oxmpi_component_coll_cring"));
        oxmpi_coll_conformance::run_all(&setup.ranks(4));
    }
}

#[test]
fn the_host_fills_the_gaps_of_an_older_table() {
    let file = build("get");
    let descriptor = load(&file, "oxmpi_component_btl_cloop");
    let promise = Promise { framework: Framework::Btl, name: "cloop" };
    // SAFETY: a component's static descriptor.
    let accepted = unsafe { accept(descriptor, Some(promise), "here") }.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(accepted.name, "cloop");
    oxmpi_btl_conformance::with_opened(&Setup::new(descriptor), |opened| {
        // SAFETY: what the component's `open` gave.
        let handles = unsafe { accept_btl(opened, "cloop", "here") }.unwrap_or_else(|e| panic!("{e}"));
        let [btl] = &handles[..] else { panic!("{} modules", handles.len()) };
        assert_eq!(btl.caps, 0, "a capability that the table does not reach to");
        let rma = RmaDesc {
            local: std::ptr::null_mut(),
            remote: 0,
            len: 0,
            local_handle: std::ptr::null(),
            remote_handle: std::ptr::null(),
            done: None,
            done_ctx: std::ptr::null_mut(),
        };
        let flush = FlushDesc { done: None, done_ctx: std::ptr::null_mut() };
        let mut set = WaitSet::new(&mut [], &mut []);
        let nobody = std::ptr::null_mut();
        // SAFETY: the host's own functions, since the table does not reach to these: they look at none of their arguments.
        let answers = unsafe {
            [
                (btl.get)(btl.state, nobody, 0, &rma),
                (btl.put)(btl.state, nobody, 0, &rma),
                (btl.flush)(btl.state, nobody, 0, &flush),
                (btl.deregister_mem)(btl.state, std::ptr::null()),
                (btl.arm)(btl.state, 0, &mut set),
                (btl.service_open)(btl.state),
                (btl.service_request)(btl.state, nobody, 0, std::ptr::null()),
                (btl.service_reply)(btl.state, 1, std::ptr::null()),
                (btl.service_arm)(btl.state, &mut set),
            ]
        };
        assert!(answers.iter().all(|status| *status == Status::NOT_SUPPORTED), "{answers:?}");
        // SAFETY: as for those that refuse: they do nothing.
        unsafe {
            (btl.disarm)(btl.state, 0);
            (btl.service_disarm)(btl.state);
            assert_eq!((btl.service_progress)(btl.state), 0);
            assert!((btl.service_pending)(btl.state).is_null());
        }
    });
}
