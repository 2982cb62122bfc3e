//! The suite every BTL must pass, on the device in software.

mod common;

oxmpi_btl_conformance::suite!(common::setup());
