//! The Rust side of the tables: numbers, and bodies for what is not written yet.

use crate::generate::scan::Found;
use crate::generate::table::{Function, Tables};
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

/// `unsupported.rs`: one line for each function that no file defines.
pub fn unsupported(tables: &Tables, found: &Found) -> String {
    let mut out = format!("//! Functions of later work: each says so by name. {MADE}\n\n");
    out.push_str("use crate::types::*;\nuse core::ffi::c_int;\n");
    for section in &tables.functions {
        let missing: Vec<&Function> = section.rows.iter().filter(|f| !found.contains_key(&f.name)).collect();
        if missing.is_empty() {
            continue;
        }
        let _ = write!(out, "\n// {}\nunsupported! {{\n", section.title);
        for f in missing {
            let _ = writeln!(out, "    {}({}) {};", f.name, parameters(f), object(f));
        }
        out.push_str("}\n");
    }
    out
}

fn parameters(f: &Function) -> String {
    let list = f.parameters.iter().filter(|p| !p.name.is_empty());
    let list: Vec<String> = list.map(|p| format!("{}: {}", rust_name(&p.name), rust_type(&p.kind))).collect();
    list.join(", ")
}

fn rust_name(name: &str) -> String {
    if ["type", "in", "ref", "fn", "match", "move"].contains(&name) {
        format!("r#{name}")
    } else {
        name.to_string()
    }
}

/// How a C parameter type arrives. Only its register matters to a function that reads one handle.
fn rust_type(kind: &str) -> &'static str {
    match kind {
        "int" | "const int" | "MPI_T_cb_safety" => "c_int",
        "MPI_Aint" | "MPI_Count" | "MPI_Offset" => "Count",
        "MPI_Comm" => "Comm",
        "MPI_Win" => "Win",
        "MPI_File" => "File",
        "MPI_Session" => "Session",
        // Pointers, arrays, functions, handles nobody looks at: one address.
        _ => "usize",
    }
}

/// Which error handler the function asks.
fn object(f: &Function) -> String {
    if f.name.starts_with("MPI_T_") {
        return "[tool]".to_string();
    }
    // No file can be open, so these errors are raised on MPI_FILE_NULL (MPI 5.0 §14.7).
    if f.name.starts_with("MPI_File_") || f.name.starts_with("MPI_Register_datarep") {
        return "[file]".to_string();
    }
    match &f.object {
        Some(name) => match f.parameters.iter().find(|p| &p.name == name).map(|p| p.kind.as_str()) {
            Some("MPI_Comm") => format!("[comm {}]", rust_name(name)),
            Some("MPI_Win") => format!("[win {}]", rust_name(name)),
            _ => "[none]".to_string(),
        },
        None => "[none]".to_string(),
    }
}
