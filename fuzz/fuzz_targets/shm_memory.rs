//! A peer that writes anything into the memory that btl-shm shares.
#![no_main]

#[path = "../../components/btl-shm/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|history: &[u8]| common::hostile::any_words(history));
