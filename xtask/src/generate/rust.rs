//! The Rust side of the tables: numbers.

use crate::generate::table::Tables;
use std::fmt::Write;

const MADE: &str = "Made by `cargo xtask generate` from mpi/abi; do not edit.";

/// `constants.rs`: handles as `usize`, everything else as `c_int`.
pub fn constants(tables: &Tables) -> String {
    let mut out = format!("//! Numbers of the standard ABI. {MADE}\n\n");
    out.push_str("#![allow(dead_code, reason = \"the table is whole, whoever uses it\")]\n\n");
    out.push_str("use core::ffi::c_int;\n");
    for section in &tables.constants {
        let _ = write!(out, "\n// {}\n", section.title);
        for c in &section.rows {
            let _ = match c.kind.as_str() {
                "define" if c.value.starts_with("MPI_") => {
                    writeln!(out, "pub const {}: usize = {};", c.name, c.value)
                }
                "define" | "enum" => writeln!(out, "pub const {}: c_int = {};", c.name, short(&c.value)),
                "MPI_Offset" => writeln!(out, "pub const {}: i64 = {};", c.name, c.value),
                _ => writeln!(out, "pub const {}: usize = {};", c.name, short(&c.value)),
            };
        }
    }
    out
}

/// `0x00000101` as `0x101`: the compiler's lint on zero-filled literals and the eye agree.
fn short(value: &str) -> String {
    match value.strip_prefix("0x") {
        Some(digits) => {
            let digits = digits.trim_start_matches('0').to_lowercase();
            format!("0x{}", if digits.is_empty() { "0" } else { &digits })
        }
        None => value.to_string(),
    }
}
