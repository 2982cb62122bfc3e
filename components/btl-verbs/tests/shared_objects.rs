//! The suite every BTL must pass, with two lanes in a device context, a protection domain for each, and a register for each.

mod common;

oxmpi_btl_conformance::suite!(
    common::setup()
        .param("endpoint_category", "mpi_everywhere")
        .param("share_contexts", "2")
        .param("share_domains", "1")
        .param("share_registers", "own")
);
