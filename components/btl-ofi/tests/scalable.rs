//! Messages over scalable endpoints: the provider `sockets` has them, with contexts that peers can name. Each group runs with contexts of one, and once more
//! with endpoints.

mod common;

use oxmpi_btl_conformance::{Group, run_group};

/// Groups that the provider passes; README.md has the others.
const GROUPS: [Group; 2] = [Group::Declared, Group::Messages];

fn run(params: &[(&str, &str)]) {
    let Some(setup) = common::setup_over("sockets") else { return };
    let setup = params.iter().fold(setup, |setup, (name, value)| setup.param(name, value));
    for group in GROUPS {
        println!("sockets, {params:?}: {group:?}");
        run_group(&setup, group);
    }
}

#[test]
fn contexts_of_a_scalable_endpoint() {
    run(&[]);
}

#[test]
fn endpoints_instead() {
    run(&[("disable_sep", "true")]);
}
