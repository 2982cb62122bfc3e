//! `mpi.h`: C99 and later, C++98 and later.

use crate::generate::table::{Section, Tables, Type};
use std::fmt::Write;

const HEAD: &str = "\
/* mpi.h: the C interface of MPI 5.0, standard ABI 1.0.
 *
 * Made by `cargo xtask generate` from the tables in mpi/abi; change those. A program compiled with
 * this header runs with every library that implements the standard ABI. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#if defined(__cplusplus)
extern \"C\" {
#endif
";

const FORTRAN: &str = "
/* Handles as Fortran INTEGERs. Not part of the standard ABI's table: a library for the standard ABI
 * may leave these out, MPI_X_toint and MPI_X_fromint are always there. */
";

const REMOVED: &str = "
/* Functions that MPI 3.0 removed. Not part of the standard ABI either: a program that calls them runs with this library
 * and others that kept them. */
#if defined(__GNUC__)
#define OXMPI_REMOVED(text) __attribute__((deprecated(text)))
#else
#define OXMPI_REMOVED(text)
#endif
typedef MPI_Comm_errhandler_function MPI_Handler_function;
";

const TAIL: &str = "
#if defined(__cplusplus)
}
#endif
#endif
";

/// Handle types that have a c2f and an f2c, and the short name in those functions.
pub const CONVERTIBLE: [(&str, &str); 11] = [
    ("MPI_Comm", "Comm"),
    ("MPI_Group", "Group"),
    ("MPI_Datatype", "Type"),
    ("MPI_Op", "Op"),
    ("MPI_Request", "Request"),
    ("MPI_Message", "Message"),
    ("MPI_Info", "Info"),
    ("MPI_Errhandler", "Errhandler"),
    ("MPI_Win", "Win"),
    ("MPI_File", "File"),
    ("MPI_Session", "Session"),
];

pub fn make(tables: &Tables) -> String {
    let mut out = String::from(HEAD);
    for section in &tables.types {
        types(&mut out, section);
    }
    for section in &tables.constants {
        constants(&mut out, section);
    }
    for section in &tables.functions {
        let _ = write!(out, "\n/* {} */\n", section.title);
        for f in &section.rows {
            let parameters: Vec<&str> = f.parameters.iter().map(|p| p.text.as_str()).collect();
            let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
            if !f.remark.is_empty() {
                let _ = writeln!(out, "/* {} */", f.remark);
            }
            let _ = writeln!(out, "{} {}({parameters});", f.result, f.name);
            let _ = writeln!(out, "{} P{}({parameters});", f.result, f.name);
        }
    }
    out.push_str(FORTRAN);
    for (kind, short) in CONVERTIBLE {
        for prefix in ["", "P"] {
            let _ = writeln!(out, "MPI_Fint {prefix}MPI_{short}_c2f({kind} handle);");
            let _ = writeln!(out, "{kind} {prefix}MPI_{short}_f2c(MPI_Fint handle);");
        }
    }
    for prefix in ["", "P"] {
        let _ = writeln!(out, "int {prefix}MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status);");
        let _ = writeln!(out, "int {prefix}MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status);");
    }
    out.push_str(REMOVED);
    for f in tables.removed.iter().flat_map(|section| &section.rows) {
        let parameters: Vec<&str> = f.parameters.iter().map(|p| p.text.as_str()).collect();
        for prefix in ["", "P"] {
            let (parameters, name, successor) = (parameters.join(", "), &f.name, &f.remark);
            let _ = writeln!(
                out,
                "{} {prefix}{name}({parameters}) OXMPI_REMOVED(\"{name} was removed in MPI 3.0; use {successor}\");",
                f.result
            );
        }
    }
    out.push_str("#undef OXMPI_REMOVED\n");
    out.push_str(TAIL);
    out
}

fn types(out: &mut String, section: &Section<Type>) {
    let _ = write!(out, "\n/* {} */\n", section.title);
    for t in &section.rows {
        let (name, definition) = (&t.name, &t.definition);
        let _ = match t.kind.as_str() {
            "handle" => writeln!(out, "typedef struct {name}_object *{name};"),
            "struct" => writeln!(out, "typedef struct {{ {definition} }} {name};"),
            "enum" => writeln!(out, "typedef enum {name} {{ {definition} }} {name};"),
            "callback" => writeln!(out, "typedef {definition} ({name})({});", t.parameters),
            _ => writeln!(out, "typedef {definition} {name};"),
        };
    }
}

fn constants(out: &mut String, section: &Section<crate::generate::table::Constant>) {
    // Enumerators that a typedef above has made already.
    let made = |name: &str| name.starts_with("MPI_T_CB_REQUIRE_") || name.starts_with("MPI_T_SOURCE_");
    let _ = write!(out, "\n/* {} */\n", section.title);
    let plain: Vec<_> = section.rows.iter().filter(|c| c.kind == "enum" && !made(&c.name)).collect();
    for c in section.rows.iter().filter(|c| c.kind != "enum") {
        let _ = match c.kind.as_str() {
            "define" => writeln!(out, "#define {} {}", c.name, c.value),
            kind => writeln!(out, "#define {} (({kind}){})", c.name, c.value),
        };
    }
    if plain.is_empty() {
        return;
    }
    out.push_str("enum {\n");
    for (i, c) in plain.iter().enumerate() {
        let comma = if i + 1 < plain.len() { "," } else { "" };
        let _ = writeln!(out, "    {} = {}{comma}", c.name, c.value);
    }
    out.push_str("};\n");
}
