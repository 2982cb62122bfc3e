//! The suite every BTL must pass, with eager messages by memory: small rings, offered soon, so that all of it is on the way between ring and queue.

mod common;

oxmpi_btl_conformance::suite!(
    common::setup()
        .param("use_eager_rdma", "true")
        .param("eager_rdma_threshold", "2")
        .param("eager_rdma_num", "4")
        .param("eager_limit", "1k")
        .param("max_send_size", "16k")
);
