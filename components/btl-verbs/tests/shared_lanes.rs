//! The suite every BTL must pass, with contexts that share lanes, and lanes that share a completion queue.

mod common;

oxmpi_btl_conformance::suite!(common::setup().param("virtual_device_count", "2").param("share_queues", "2"));
