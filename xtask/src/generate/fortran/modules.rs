//! Sources of the modules: constants, and module `mpi` with an interface for each procedure.
//!
//! A choice buffer is of assumed type, and of whatever rank by the directive that a compiler reads for that; to others the line is a comment. Interfaces are explicit for all
//! procedures, so that the compiler checks the number and the kinds of arguments. There is nothing in a module that an object file would have to be linked for.

use super::constants::{Block, CALLBACKS, CONSTANTS, STATUSES, handles, numbers};
use super::table::{Direction, Dummy, Procedure};
use crate::generate::table::{Section, Tables};
use std::fmt::Write;

/// Makes the modules of constants: those of all, and those of module `mpi` alone.
pub fn constants(tables: &Tables) -> String {
    let mut out = String::from(
        "! Constants of MPI 5.0, for the other modules.\n!\n! Made from mpi/abi by `cargo xtask generate`.\n\
         module mpi_constants\n   implicit none\n   public\n",
    );
    for number in numbers(tables) {
        let of = number.kind.map_or("integer".to_owned(), |kind| format!("integer(kind={kind})"));
        writeln!(out, "   {of}, parameter :: {} = {}", number.name, number.value).expect("a string");
    }
    variables(&mut out, &CONSTANTS);
    out += "end module mpi_constants\n\n! Handles and statuses of INTEGER, and what holds of module mpi alone.\nmodule mpi_integer_constants\n   implicit none\n   public\n";
    protection(&mut out, false);
    for handle in handles(tables) {
        writeln!(out, "   integer, parameter :: {} = {}", handle.name, handle.value).expect("a string");
    }
    variables(&mut out, &STATUSES);
    out + "end module mpi_integer_constants\n"
}

/// The variables of a COMMON block, behind those that are declared already.
pub fn variables(out: &mut String, block: &Block) {
    let Block { name, sentinels } = block;
    for (i, sentinel) in sentinels.iter().enumerate() {
        let (of, shape) = sentinel.of;
        let (of_padding, rest) = sentinel.padding;
        let own = sentinel.name;
        writeln!(out, "   {} :: {own}{shape}", modern(of)).expect("a string");
        writeln!(out, "   {}, private :: mpifort_p{i}{rest}", modern(of_padding)).expect("a string");
        writeln!(out, "   common /{name}/ {own}, mpifort_p{i}").expect("a string");
    }
    writeln!(out, "   save /{name}/").expect("a string");
}

/// The constants that say what of a buffer may be passed to a nonblocking procedure (MPI 5.0 §19.1.10, §19.1.12).
pub fn protection(out: &mut String, is_there: bool) {
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        writeln!(out, "   logical, parameter :: {name} = .{is_there}.").expect("a string");
    }
}

/// A type as the free form has it.
fn modern(of: &str) -> &str {
    match of {
        "INTEGER" => "integer",
        "CHARACTER*1" => "character(len=1)",
        of => of,
    }
}

/// Procedures of which there is a second one for a C pointer (MPI 5.0 §9.2, §12.2).
const WITH_POINTER: [&str; 4] =
    ["MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"];

/// Types of which MPI_Sizeof gives the size, with the bytes of an element.
const SIZES: [(&str, &str); 13] = [
    ("integer(kind=1)", "i1"),
    ("integer(kind=2)", "i2"),
    ("integer(kind=4)", "i4"),
    ("integer(kind=8)", "i8"),
    ("real(kind=4)", "r4"),
    ("real(kind=8)", "r8"),
    ("real(kind=16)", "r16"),
    ("complex(kind=4)", "c4"),
    ("complex(kind=8)", "c8"),
    ("complex(kind=16)", "c16"),
    ("logical(kind=1)", "l1"),
    ("logical(kind=4)", "l4"),
    ("character(len=1)", "ch"),
];

/// Makes module `mpi`.
pub fn procedures(sections: &[Section<Procedure>]) -> String {
    let mut out = String::from(
        "! Module mpi of MPI 5.0: constants, and an interface for each procedure.\n!\n\
         ! Made from mpi/abi by `cargo xtask generate`.\nmodule mpi\n   use mpi_constants\n   use mpi_integer_constants\n   use mpi_handle_types\n   implicit none\n   public\n",
    );
    for name in CALLBACKS {
        writeln!(out, "   external :: {name}").expect("a string");
    }
    for prefix in ["", "P"] {
        functions(&mut out, prefix);
        others(&mut out, prefix);
        let mut names = Vec::new();
        for procedure in sections.iter().flat_map(|s| &s.rows).filter(|p| !is_function(&p.name)) {
            if WITH_POINTER.contains(&procedure.name.as_str()) {
                names.push(procedure.name.clone());
                writeln!(out, "   interface {prefix}{}", procedure.name).expect("a string");
                interface(&mut out, procedure, prefix, false);
                interface(&mut out, procedure, prefix, true);
            } else {
                writeln!(out, "   interface").expect("a string");
                interface(&mut out, procedure, prefix, false);
            }
            writeln!(out, "   end interface").expect("a string");
        }
        sizes(&mut out, prefix, false);
    }
    out + "end module mpi\n"
}

fn is_function(name: &str) -> bool {
    ["MPI_Wtime", "MPI_Wtick", "MPI_Aint_add", "MPI_Aint_diff"].contains(&name)
}

fn functions(out: &mut String, prefix: &str) {
    for name in ["Wtime", "Wtick"] {
        let name = format!("{prefix}MPI_{name}");
        *out += &format!(
            "   interface\n      function {name}()\n         double precision :: {name}\n      end function {name}\n   end interface\n"
        );
    }
    for (name, other) in [("Aint_add", ("base", "disp")), ("Aint_diff", ("addr1", "addr2"))] {
        let (name, (a, b)) = (format!("{prefix}MPI_{name}"), other);
        *out += &format!(
            "   interface\n      function {name}({a}, {b})\n         import :: MPI_ADDRESS_KIND\n         \
             integer(kind=MPI_ADDRESS_KIND) :: {name}\n         integer(kind=MPI_ADDRESS_KIND), intent(in) :: {a}, {b}\n      \
             end function {name}\n   end interface\n"
        );
    }
}

/// Procedures for the compiler alone, and conversions of statuses.
fn others(out: &mut String, prefix: &str) {
    *out += &format!(
        "   interface\n      subroutine {prefix}MPI_F_sync_reg(buf)\n         !dir$ ignore_tkr buf\n         \
         !gcc$ attributes no_arg_check :: buf\n         type(*), dimension(*), asynchronous :: buf\n      \
         end subroutine {prefix}MPI_F_sync_reg\n   end interface\n"
    );
    let (numbers, own) = ("integer", "type(MPI_Status)");
    for (name, (from, of), (to, becomes)) in [
        ("Status_f2f08", ("f_status", numbers), ("f08_status", own)),
        ("Status_f082f", ("f08_status", own), ("f_status", numbers)),
    ] {
        let shape = |of: &str| if of == numbers { "(MPI_STATUS_SIZE)" } else { "" };
        *out += &format!(
            "   interface\n      subroutine {prefix}MPI_{name}({from}, {to}, ierror)\n         import\n         \
             {of}, intent(in) :: {from}{}\n         {becomes}, intent(out) :: {to}{}\n         \
             integer, intent(out) :: ierror\n      end subroutine {prefix}MPI_{name}\n   end interface\n",
            shape(of),
            shape(becomes)
        );
    }
}

/// MPI_Sizeof of each type; `of_f08`: of module `mpi_f08`, where `ierror` is optional.
pub fn sizes(out: &mut String, prefix: &str, of_f08: bool) {
    let (end, optional) = if of_f08 { ("_f08", ", optional") } else { ("", "") };
    *out += &format!("   interface {prefix}MPI_Sizeof\n");
    for (of, name) in SIZES {
        let name = format!("{prefix}mpi_sizeof_{name}{end}");
        *out += &format!(
            "      subroutine {name}(x, size, ierror)\n         {of}, intent(in) :: x(..)\n         \
             integer, intent(out) :: size\n         integer{optional}, intent(out) :: ierror\n      end subroutine {name}\n"
        );
    }
    *out += "   end interface\n";
}

/// The interface of a procedure; `pointer`: of the one for a C pointer.
fn interface(out: &mut String, procedure: &Procedure, prefix: &str, pointer: bool) {
    let name = format!("{prefix}{}{}", procedure.name, if pointer { "_cptr" } else { "" });
    let dummies: Vec<&Dummy> = procedure.dummies.iter().filter(|d| !d.large_only).collect();
    let has_error = procedure.name != "MPI_Pcontrol";
    let mut names: Vec<&str> = dummies.iter().map(|d| d.name.as_str()).collect();
    if has_error {
        names.push("ierror");
    }
    statement(out, &format!("      subroutine {name}({})", names.join(", ")));
    if pointer {
        *out += "         use, intrinsic :: iso_c_binding, only: c_ptr\n";
    }
    *out += "         import\n         implicit none\n";
    for dummy in dummies {
        declare(out, dummy, pointer);
    }
    if has_error {
        *out += "         integer, intent(out) :: ierror\n";
    }
    writeln!(out, "      end subroutine {name}").expect("a string");
}

/// A statement of names, in lines that are not too long.
pub fn statement(out: &mut String, text: &str) {
    let mut column = 0;
    for (i, word) in text.split_inclusive(", ").enumerate() {
        if i > 0 && column + word.len() > 110 {
            *out += "&\n         ";
            column = 9;
        }
        *out += word;
        column += word.len();
    }
    out.push('\n');
}

/// The attribute of a dummy that is used until a later call.
pub fn asynchronous(dummy: &Dummy) -> &'static str {
    if dummy.asynchronous { ", asynchronous" } else { "" }
}

fn declare(out: &mut String, dummy: &Dummy, pointer: bool) {
    let name = &dummy.name;
    if matches!(dummy.kind.as_str(), "choice" | "detached") {
        *out += &format!(
            "         !dir$ ignore_tkr {name}\n         !gcc$ attributes no_arg_check :: {name}\n         \
             type(*), dimension(*) :: {name}\n"
        );
        return;
    }
    if dummy.kind.ends_with("-function") {
        *out += &format!("         external :: {name}\n");
        return;
    }
    let of = match dummy.kind_in(false) {
        "aint" => "integer(kind=MPI_ADDRESS_KIND)",
        "address" if pointer => "type(c_ptr)",
        "address" => "integer(kind=MPI_ADDRESS_KIND)",
        "count" => "integer(kind=MPI_COUNT_KIND)",
        "offset" => "integer(kind=MPI_OFFSET_KIND)",
        "logical" => "logical",
        "text" | "texts" => "character(len=*)",
        _ => "integer",
    };
    let intent = match dummy.direction {
        Direction::In => ", intent(in)",
        // Constants of addresses are passed, and what is not written keeps its value.
        _ => "",
    };
    let shape = match (dummy.kind.as_str(), dummy.shape.as_deref()) {
        ("status", Some(_)) => "(MPI_STATUS_SIZE, *)".to_owned(),
        ("status", None) => "(MPI_STATUS_SIZE)".to_owned(),
        ("texts", _) if name.ends_with("argv") && name != "argv" => "(count, *)".to_owned(),
        ("texts", _) => "(*)".to_owned(),
        ("text", _) | (_, None) => String::new(),
        (_, Some(shape)) if shape.contains(',') => "(3, *)".to_owned(),
        (_, Some(_)) => "(*)".to_owned(),
    };
    writeln!(out, "         {of}{intent} :: {name}{shape}").expect("a string");
}
