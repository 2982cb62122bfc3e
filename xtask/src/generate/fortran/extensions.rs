//! Module `mpi_ext_f08` and its procedures, from `mpi/abi/fortran-extensions.tsv`: functions of `mpi-ext.h`, which the library looks for when they are called.

use super::modules::{asynchronous, statement};
use super::table::{Direction, Dummy, Procedure};
use crate::generate::table::Section;
use std::fmt::Write;

/// Constants of `mpi-ext.h` that are numbers.
const NUMBERS: [(&str, &str); 2] = [("MPIX_ERR_ENDPOINTS", "16001"), ("MPIX_COMM_TYPE_PROCESS", "16001")];

/// Kinds of handles: in the table, in Rust, and as types.
const HANDLES: [(&str, &str, &str); 5] = [
    ("comm", "Comm", "MPI_Comm"),
    ("info", "Info", "MPI_Info"),
    ("request", "Request", "MPI_Request"),
    ("type", "Datatype", "MPI_Datatype"),
    ("win", "Win", "MPI_Win"),
];

/// Handles that are pointers.
const POINTERS: [(&str, &str); 2] = [("stream", "MPIX_Stream"), ("sync", "MPIX_Sync")];

/// Makes the procedures of the library.
pub fn procedures(sections: &[Section<Procedure>]) -> Result<String, String> {
    let mut out = String::from(
        "//! Extensions of oxmpi (`mpi-ext.h`), where the library below has them.\n//!\n\
         //! Made from `mpi/abi/fortran-extensions.tsv` by `cargo xtask generate`.\n\nuse super::prelude::*;\n\n",
    );
    for procedure in sections.iter().flat_map(|s| &s.rows).filter(|p| !p.by_hand) {
        for large in forms(procedure) {
            let name = name(procedure, large);
            let arguments: Vec<String> =
                procedure.dummies.iter().map(|d| argument(&name, d, large)).collect::<Result<_, _>>()?;
            let (own, arguments) = (name.to_lowercase(), arguments.join(", "));
            writeln!(out, "extension! {{\n    \"{name}\" {own}_f08_ ({arguments})\n}}").expect("a string");
        }
    }
    Ok(out)
}

fn forms(procedure: &Procedure) -> Vec<bool> {
    if procedure.has_large { vec![false, true] } else { vec![false] }
}

fn name(procedure: &Procedure, large: bool) -> String {
    if large { format!("{}_c", procedure.name) } else { procedure.name.clone() }
}

/// A dummy with the Rust type that stands for it (`fortran/src/dummies`).
fn argument(procedure: &str, dummy: &Dummy, large: bool) -> Result<String, String> {
    let is_in = dummy.direction == Direction::In;
    let kind = dummy.kind_in(large);
    let number = [("int", "c_int"), ("aint", "isize"), ("count", "i64")];
    let handle = HANDLES.iter().find(|(known, ..)| *known == kind).map(|(_, rust, _)| *rust);
    let of = match (kind, handle) {
        (_, Some(handle)) => match (dummy.direction, dummy.shape.is_some()) {
            (Direction::In, false) => format!("handles::In<{handle}>"),
            (Direction::Out, false) => format!("handles::Out<{handle}>"),
            (Direction::InOut, false) => format!("handles::InOut<{handle}>"),
            (Direction::Out, true) => format!("handles::ArrayOut<{handle}>"),
            (_, true) => format!("handles::Array<{handle}>"),
        },
        ("choice", _) => "Choice".to_owned(),
        ("logical", _) => "logical::Out".to_owned(),
        ("status", _) => "Statuses".to_owned(),
        (kind, _) => {
            let pointer = POINTERS.iter().find(|(known, _)| *known == kind).map(|_| "*mut c_void");
            let number = number.iter().find(|(known, _)| *known == kind).map(|(_, rust)| *rust);
            let of = pointer.or(number).ok_or_else(|| {
                format!("fortran-extensions.tsv: {procedure}: nothing is known of {kind} {}", dummy.name)
            })?;
            if is_in { format!("Value<{of}>") } else { format!("Place<{of}>") }
        }
    };
    let length = dummy.shape.as_ref().map_or(String::new(), |shape| format!("[len({shape})]"));
    Ok(format!("{}: {of}{length}", dummy.name.to_lowercase()))
}

/// Makes the module.
pub fn module(sections: &[Section<Procedure>]) -> String {
    let mut out = String::from(
        "! Module mpi_ext_f08: what oxmpi offers beyond MPI 5.0, for programs that use module mpi_f08. Over another library each procedure answers\n\
         ! MPI_ERR_UNSUPPORTED_OPERATION.\n!\n! Made from mpi/abi/fortran-extensions.tsv by `cargo xtask generate`.\nmodule mpi_ext_f08\n   \
         use mpi_f08_types\n   use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr\n   implicit none\n   private :: c_ptr, c_null_ptr\n",
    );
    for (name, value) in NUMBERS {
        writeln!(out, "   integer, parameter :: {name} = {value}").expect("a string");
    }
    for (_, name) in POINTERS {
        out += &format!(
            "   type, bind(C) :: {name}\n      type(c_ptr) :: MPIX_VAL\n   end type {name}\n   \
             type({name}), parameter :: {}_NULL = {name}(c_null_ptr)\n",
            name.to_uppercase()
        );
    }
    for procedure in sections.iter().flat_map(|s| &s.rows) {
        // The second is for tools.
        for prefix in ["", "P"] {
            writeln!(out, "   interface {prefix}{}", procedure.name).expect("a string");
            for large in forms(procedure) {
                interface(&mut out, prefix, procedure, large);
            }
            writeln!(out, "   end interface").expect("a string");
        }
    }
    out + "end module mpi_ext_f08\n"
}

fn interface(out: &mut String, prefix: &str, procedure: &Procedure, large: bool) {
    let name = format!("{prefix}{}_f08", name(procedure, large));
    let names = procedure.dummies.iter().map(|d| d.name.as_str());
    let names: Vec<&str> = names.chain((!is_silent(procedure)).then_some("ierror")).collect();
    statement(out, &format!("      subroutine {name}({})", names.join(", ")));
    *out += "         import\n         implicit none\n";
    for dummy in &procedure.dummies {
        declare(out, dummy, large);
    }
    if !is_silent(procedure) {
        *out += "         integer, optional, intent(out) :: ierror\n";
    }
    writeln!(out, "      end subroutine {name}").expect("a string");
}

/// Whether a procedure has no error to answer with.
fn is_silent(procedure: &Procedure) -> bool {
    ["MPIX_Progress", "MPIX_Sync_free"].contains(&procedure.name.as_str())
}

fn declare(out: &mut String, dummy: &Dummy, large: bool) {
    let (name, kind) = (&dummy.name, dummy.kind_in(large));
    let waits = asynchronous(dummy);
    let intent = match dummy.direction {
        _ if kind == "status" => "",
        Direction::In => ", intent(in)",
        Direction::Out => ", intent(out)",
        Direction::InOut => ", intent(inout)",
    };
    if kind == "choice" {
        let intent = if dummy.direction == Direction::In { intent } else { "" };
        *out += &format!(
            "         !dir$ ignore_tkr {name}\n         !gcc$ attributes no_arg_check :: {name}\n         \
             type(*), dimension(*){intent}{waits} :: {name}\n"
        );
        return;
    }
    let handle = HANDLES.iter().map(|(kind, _, of)| (kind, of)).chain(POINTERS.iter().map(|(k, of)| (k, of)));
    let handle = handle.into_iter().find(|(known, _)| **known == kind).map(|(_, of)| format!("type({of})"));
    let of = handle.unwrap_or_else(|| {
        match kind {
            "aint" => "integer(kind=MPI_ADDRESS_KIND)",
            "count" => "integer(kind=MPI_COUNT_KIND)",
            "logical" => "logical",
            "status" => "type(MPI_Status)",
            _ => "integer",
        }
        .to_owned()
    });
    // Without it a completion makes no event.
    let may_be_absent =
        if name == "completion_data" && dummy.direction == Direction::In { ", optional" } else { "" };
    let shape = if dummy.shape.is_some() { "(*)" } else { "" };
    writeln!(out, "         {of}{intent}{may_be_absent} :: {name}{shape}").expect("a string");
}
