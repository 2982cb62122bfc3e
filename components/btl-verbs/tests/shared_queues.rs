//! The suite every BTL must pass, with completion queues of several contexts: full ones, and another for the last.

mod common;

oxmpi_btl_conformance::suite!(
    common::setup().param("share_queues", "3").param("completion_depth", "512").param("share_contexts", "8")
);
