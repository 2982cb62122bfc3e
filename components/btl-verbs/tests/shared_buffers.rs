//! The suite every BTL must pass, with a pool of few send buffers for several contexts, and nothing inside requests.

mod common;

oxmpi_btl_conformance::suite!(
    common::setup().param("share_buffers", "3").param("send_buffers", "8").param("max_inline", "0")
);
