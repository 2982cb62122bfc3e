//! Every matching engine against the plain model.
#![no_main]

libfuzzer_sys::fuzz_target!(|history: &[u8]| pml_ob1::matching::harness::every_engine(history));
