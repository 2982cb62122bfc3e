//! Parameter files of both syntaxes.
#![no_main]

use oxmpi_mca_params::file::{is_name, parse};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let lines = 1 + bytes.iter().filter(|&&b| b == b'\n').count() as u32;
    for is_toml in [false, true] {
        let read = parse(bytes, is_toml);
        let numbers = read.entries.iter().map(|e| e.line).chain(read.exports.iter().map(|e| e.line));
        for line in numbers.chain(read.wrong.iter().map(|w| w.0)) {
            assert!((1..=lines).contains(&line), "line {line} of {lines}");
        }
        assert!(read.entries.iter().all(|e| is_name(&e.name)));
    }
});
