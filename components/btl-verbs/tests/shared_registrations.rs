//! The suite every BTL must pass, with buffers of several contexts in one registration, and all else shared with them, too.

mod common;

oxmpi_btl_conformance::suite!(
    common::setup()
        .param("share_registrations", "4")
        .param("share_buffers", "2")
        .param("share_queues", "4")
        .param("use_eager_rdma", "true")
        .param("eager_rdma_threshold", "2")
);
