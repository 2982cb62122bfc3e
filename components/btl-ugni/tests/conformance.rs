//! The suite every BTL must pass, on libugni in software.

mod common;

oxmpi_btl_conformance::suite!(common::setup());
