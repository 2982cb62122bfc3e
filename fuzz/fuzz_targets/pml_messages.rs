//! A peer that says anything to pml-ob1.
#![no_main]

#[path = "../../components/pml-ob1/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::hostile::any_messages(bytes));
