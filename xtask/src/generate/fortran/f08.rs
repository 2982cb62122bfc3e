//! Sources of module `mpi_f08`: handles and statuses are types, `ierror` is optional, and each procedure is a generic name for its forms without and with large counts
//! (MPI 5.0 §19.1).
//!
//! There are two sources of the module, of which `mpifort` compiles one for each compiler. With **descriptors** a procedure that has choice buffers is `MPI_Send_f08ts` of Table 19.1, and its interface has
//! `bind(C)`: that is what makes a compiler pass a C descriptor. Then MPI_SUBARRAYS_SUPPORTED is true. By **addresses** it is `MPI_Send_f08`, and a directive has the compiler take
//! arguments of whatever type and rank. Operators and comparisons are functions of the library: no object file of a module has to be linked.

use super::buffers::has_buffers;
use super::constants::{self, CALLBACKS};
use super::modules::{asynchronous, protection, sizes, statement, variables};
use super::table::{Direction, Dummy, Procedure};
use crate::generate::table::{Section, Tables};
use std::fmt::Write;

/// Kinds of handles: as the table has them, and as types.
const HANDLES: [(&str, &str); 11] = [
    ("comm", "MPI_Comm"),
    ("type", "MPI_Datatype"),
    ("errhandler", "MPI_Errhandler"),
    ("file", "MPI_File"),
    ("group", "MPI_Group"),
    ("info", "MPI_Info"),
    ("message", "MPI_Message"),
    ("op", "MPI_Op"),
    ("request", "MPI_Request"),
    ("session", "MPI_Session"),
    ("win", "MPI_Win"),
];

/// Procedures whose form for large counts has a name of its own, since the two differ in a procedure that is passed (MPI 5.0 §19.1.5).
const APART: [&str; 2] = ["MPI_Op_create", "MPI_Register_datarep"];

/// Procedures that this module has not: they were for the others.
const WITHOUT: [&str; 5] =
    ["MPI_Attr_delete", "MPI_Attr_get", "MPI_Attr_put", "MPI_Keyval_create", "MPI_Keyval_free"];

/// Makes the module of types that both modules have, with their comparisons (MPI 5.0 §19.1.3).
pub fn handle_types() -> String {
    let mut out = String::from(
        "! Types of handles and of a status, which modules mpi and mpi_f08 have.\n!\n! Made from mpi/abi by `cargo xtask generate`.\n\
         module mpi_handle_types\n   implicit none\n   public\n",
    );
    for (_, name) in HANDLES {
        writeln!(out, "   type, bind(C) :: {name}\n      integer :: MPI_VAL\n   end type {name}")
            .expect("a string");
    }
    out += "   type, bind(C) :: MPI_Status\n      integer :: MPI_SOURCE\n      integer :: MPI_TAG\n      integer :: MPI_ERROR\n      \
            integer :: mpi_internal(5)\n   end type MPI_Status\n";
    for (operator, word) in [("==", "eq"), ("/=", "ne")] {
        writeln!(out, "   interface operator({operator})").expect("a string");
        for (_, name) in HANDLES {
            let function = format!("mpifort_{}_{word}", name[4..].to_lowercase());
            out += &format!(
                "      function {function}(a, b)\n         import :: {name}\n         logical :: {function}\n         \
                 type({name}), intent(in) :: a, b\n      end function {function}\n"
            );
        }
        out += "   end interface\n";
    }
    out + "end module mpi_handle_types\n"
}

/// Makes the module of constants that have a type.
pub fn types(tables: &Tables) -> String {
    let mut out = String::from(
        "! Constants of module mpi_f08 that have a type.\n!\n! Made from mpi/abi by `cargo xtask generate`.\n\
         module mpi_f08_types\n   use mpi_constants\n   use mpi_handle_types\n   implicit none\n   public\n",
    );
    for handle in constants::handles(tables) {
        writeln!(out, "   type({0}), parameter :: {1} = {0}({2})", handle.of, handle.name, handle.value)
            .expect("a string");
    }
    // Those of integers.
    out += "   integer, private :: mpifort_before(32)\n   common /MPIFORT_STATUSES/ mpifort_before\n";
    variables(&mut out, &constants::STATUSES_OF_F08);
    out + "end module mpi_f08_types\n"
}

/// A procedure that a program passes: its name, and arguments with their declarations.
type Callback = (&'static str, &'static [(&'static str, &'static str)]);

const ADDRESS: &str = "integer(kind=MPI_ADDRESS_KIND)";
const POINTER: &str = "type(c_ptr), value";

/// Abstract interfaces (MPI 5.0 §19.1.2, A.1.3).
const PASSED: [Callback; 18] = [
    (
        "MPI_User_function",
        &[("invec", POINTER), ("inoutvec", POINTER), ("len", "integer"), ("datatype", "type(MPI_Datatype)")],
    ),
    (
        "MPI_User_function_c",
        &[
            ("invec", POINTER),
            ("inoutvec", POINTER),
            ("len", "integer(kind=MPI_COUNT_KIND)"),
            ("datatype", "type(MPI_Datatype)"),
        ],
    ),
    ("MPI_Comm_errhandler_function", &[("comm", "type(MPI_Comm)"), ("error_code", "integer")]),
    ("MPI_Win_errhandler_function", &[("win", "type(MPI_Win)"), ("error_code", "integer")]),
    ("MPI_File_errhandler_function", &[("file", "type(MPI_File)"), ("error_code", "integer")]),
    ("MPI_Session_errhandler_function", &[("session", "type(MPI_Session)"), ("error_code", "integer")]),
    ("MPI_Comm_copy_attr_function", &copy("oldcomm", "type(MPI_Comm)", "comm_keyval")),
    ("MPI_Comm_delete_attr_function", &delete("comm", "type(MPI_Comm)", "comm_keyval")),
    ("MPI_Type_copy_attr_function", &copy("oldtype", "type(MPI_Datatype)", "type_keyval")),
    ("MPI_Type_delete_attr_function", &delete("datatype", "type(MPI_Datatype)", "type_keyval")),
    ("MPI_Win_copy_attr_function", &copy("oldwin", "type(MPI_Win)", "win_keyval")),
    ("MPI_Win_delete_attr_function", &delete("win", "type(MPI_Win)", "win_keyval")),
    (
        "MPI_Grequest_query_function",
        &[("extra_state", ADDRESS), ("status", "type(MPI_Status)"), ("ierror", "integer")],
    ),
    ("MPI_Grequest_free_function", &[("extra_state", ADDRESS), ("ierror", "integer")]),
    (
        "MPI_Grequest_cancel_function",
        &[("extra_state", ADDRESS), ("complete", "logical"), ("ierror", "integer")],
    ),
    (
        "MPI_Datarep_extent_function",
        &[
            ("datatype", "type(MPI_Datatype)"),
            ("extent", ADDRESS),
            ("extra_state", ADDRESS),
            ("ierror", "integer"),
        ],
    ),
    ("MPI_Datarep_conversion_function", &conversion("integer")),
    ("MPI_Datarep_conversion_function_c", &conversion("integer(kind=MPI_COUNT_KIND)")),
];

const fn copy(
    old: &'static str,
    of: &'static str,
    keyval: &'static str,
) -> [(&'static str, &'static str); 7] {
    [
        (old, of),
        (keyval, "integer"),
        ("extra_state", ADDRESS),
        ("attribute_val_in", ADDRESS),
        ("attribute_val_out", ADDRESS),
        ("flag", "logical"),
        ("ierror", "integer"),
    ]
}

const fn delete(
    old: &'static str,
    of: &'static str,
    keyval: &'static str,
) -> [(&'static str, &'static str); 5] {
    [
        (old, of),
        (keyval, "integer"),
        ("attribute_val", ADDRESS),
        ("extra_state", ADDRESS),
        ("ierror", "integer"),
    ]
}

const fn conversion(count: &'static str) -> [(&'static str, &'static str); 7] {
    [
        ("userbuf", POINTER),
        ("datatype", "type(MPI_Datatype)"),
        ("count", count),
        ("filebuf", POINTER),
        ("position", "integer(kind=MPI_OFFSET_KIND)"),
        ("extra_state", ADDRESS),
        ("ierror", "integer"),
    ]
}

/// Makes the module of procedures that a program passes: their interfaces, and those that the standard names.
pub fn callbacks() -> String {
    let mut out = String::from(
        "! Procedures that a program passes to those of module mpi_f08.\n!\n! Made from mpi/abi by `cargo xtask generate`.\n\
         module mpi_f08_callbacks\n   use mpi_f08_types\n   implicit none\n   public\n   abstract interface\n",
    );
    for (name, arguments) in PASSED {
        passed(&mut out, name, arguments);
    }
    out += "   end interface\n   interface\n";
    for name in CALLBACKS
        .iter()
        .filter(|name| !["MPI_NULL_COPY_FN", "MPI_NULL_DELETE_FN", "MPI_DUP_FN"].contains(name))
    {
        let of = match name {
            name if name.ends_with("DELETE_FN") => "delete_attr_function",
            name if name.ends_with("NULL_C") => "conversion_function_c",
            name if name.starts_with("MPI_CONVERSION") => "conversion_function",
            _ => "copy_attr_function",
        };
        let kind = if name.contains("COMM") {
            "MPI_Comm"
        } else if name.contains("TYPE") {
            "MPI_Type"
        } else if name.contains("WIN") {
            "MPI_Win"
        } else {
            "MPI_Datarep"
        };
        let wanted = format!("{kind}_{of}");
        let (_, arguments) =
            PASSED.iter().find(|(name, _)| *name == wanted).expect("a procedure of the list");
        passed(&mut out, name, arguments);
    }
    out + "   end interface\nend module mpi_f08_callbacks\n"
}

fn passed(out: &mut String, name: &str, arguments: &[(&str, &str)]) {
    let names: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    statement(out, &format!("      subroutine {name}({})", names.join(", ")));
    *out +=
        "         use, intrinsic :: iso_c_binding, only: c_ptr\n         import\n         implicit none\n";
    for (name, of) in arguments {
        writeln!(out, "         {of} :: {name}").expect("a string");
    }
    writeln!(out, "      end subroutine {name}").expect("a string");
}

/// The way in which choice buffers are passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    Addresses,
    Descriptors,
}

impl Buffers {
    /// The end of a procedure's name.
    fn suffix(self) -> &'static str {
        match self {
            Buffers::Addresses => "f08",
            Buffers::Descriptors => "f08ts",
        }
    }

    /// The attribute of a procedure with that specific name.
    fn binding(self, name: &str) -> String {
        match self {
            Buffers::Addresses => String::new(),
            Buffers::Descriptors => format!(" &\n         bind(C, name=\"{}_\")", name.to_lowercase()),
        }
    }

    /// The declaration of a choice buffer with such attributes.
    fn declare(self, name: &str, attributes: &str) -> String {
        match self {
            Buffers::Addresses => format!(
                "         !dir$ ignore_tkr {name}\n         !gcc$ attributes no_arg_check :: {name}\n         \
                 type(*), dimension(*){attributes} :: {name}\n"
            ),
            Buffers::Descriptors => format!("         type(*), dimension(..){attributes} :: {name}\n"),
        }
    }
}

/// Makes the module of the procedures.
pub fn procedures(sections: &[Section<Procedure>], buffers: Buffers) -> String {
    let mut out = String::from(
        "! Module mpi_f08 of MPI 5.0: types, constants, and an interface for each procedure.\n!\n\
         ! Made from mpi/abi by `cargo xtask generate`.\nmodule mpi_f08\n   use mpi_f08_types\n   use mpi_f08_callbacks\n   \
         implicit none\n   public\n",
    );
    protection(&mut out, buffers == Buffers::Descriptors);
    for prefix in ["", "P"] {
        functions(&mut out, prefix, buffers);
        sizes(&mut out, prefix, true);
        let all = sections.iter().flat_map(|s| &s.rows);
        for procedure in all.filter(|p| !is_left_out(&p.name)) {
            writeln!(out, "   interface {prefix}{}", procedure.name).expect("a string");
            interface(&mut out, procedure, prefix, false, buffers);
            if procedure.has_large && APART.contains(&procedure.name.as_str()) {
                writeln!(out, "   end interface\n   interface {prefix}{}_c", procedure.name)
                    .expect("a string");
            }
            if procedure.has_large && differs(procedure) {
                interface(&mut out, procedure, prefix, true, buffers);
            }
            writeln!(out, "   end interface").expect("a string");
        }
    }
    out + "end module mpi_f08\n"
}

/// Whether the compiler can tell the form with large counts from the other: INTEGER there is of a longer kind, and counts and addresses are of one.
fn differs(procedure: &Procedure) -> bool {
    let is_longer = |d: &Dummy| d.large_only || d.kind_in(false) == "int" && d.kind_in(true) != "int";
    procedure
        .dummies
        .iter()
        .any(|d| is_longer(d) || d.kind.starts_with("datarep-conversion") || d.kind.starts_with("user"))
}

fn is_left_out(name: &str) -> bool {
    WITHOUT.contains(&name) || ["MPI_Wtime", "MPI_Wtick", "MPI_Aint_add", "MPI_Aint_diff"].contains(&name)
}

fn functions(out: &mut String, prefix: &str, buffers: Buffers) {
    for name in ["Wtime", "Wtick"] {
        *out += &format!(
            "   interface {prefix}MPI_{name}\n      function {prefix}MPI_{name}_f08()\n         double precision :: {prefix}MPI_{name}_f08\n      \
             end function {prefix}MPI_{name}_f08\n   end interface\n"
        );
    }
    for (name, (a, b)) in [("Aint_add", ("base", "disp")), ("Aint_diff", ("addr1", "addr2"))] {
        let function = format!("{prefix}MPI_{name}_f08");
        *out += &format!(
            "   interface {prefix}MPI_{name}\n      function {function}({a}, {b})\n         import :: MPI_ADDRESS_KIND\n         \
             {ADDRESS} :: {function}\n         {ADDRESS}, intent(in) :: {a}, {b}\n      end function {function}\n   end interface\n"
        );
    }
    let sync_reg = format!("{prefix}MPI_F_sync_reg_{}", buffers.suffix());
    *out += &format!(
        "   interface {prefix}MPI_F_sync_reg\n      subroutine {sync_reg}(buf){}\n{}      end subroutine {sync_reg}\n   end interface\n",
        buffers.binding(&sync_reg),
        buffers.declare("buf", ", asynchronous"),
    );
    for (name, from, to) in [
        (
            "Status_f2f08",
            "integer, intent(in) :: f_status(MPI_STATUS_SIZE)",
            "type(MPI_Status), intent(out) :: f08_status",
        ),
        (
            "Status_f082f",
            "type(MPI_Status), intent(in) :: f08_status",
            "integer, intent(out) :: f_status(MPI_STATUS_SIZE)",
        ),
    ] {
        let (a, b) =
            if name == "Status_f2f08" { ("f_status", "f08_status") } else { ("f08_status", "f_status") };
        *out += &format!(
            "   interface {prefix}MPI_{name}\n      subroutine {prefix}MPI_{name}_f08({a}, {b}, ierror)\n         import\n         {from}\n         \
             {to}\n         integer, optional, intent(out) :: ierror\n      end subroutine {prefix}MPI_{name}_f08\n   end interface\n"
        );
    }
}

fn interface(out: &mut String, procedure: &Procedure, prefix: &str, large: bool, buffers: Buffers) {
    let buffers = if has_buffers(procedure) { buffers } else { Buffers::Addresses };
    let name = format!("{prefix}{}{}_{}", procedure.name, if large { "_c" } else { "" }, buffers.suffix());
    let dummies: Vec<&Dummy> = procedure.dummies.iter().filter(|d| large || !d.large_only).collect();
    let has_error = procedure.name != "MPI_Pcontrol";
    let mut names: Vec<&str> = dummies.iter().map(|d| d.name.as_str()).collect();
    if has_error {
        names.push("ierror");
    }
    statement(out, &format!("      subroutine {name}({}){}", names.join(", "), buffers.binding(&name)));
    if dummies.iter().any(|d| matches!(d.kind.as_str(), "address" | "detached")) {
        *out += "         use, intrinsic :: iso_c_binding, only: c_ptr\n";
    }
    *out += "         import\n         implicit none\n";
    for dummy in dummies {
        declare(out, dummy, large, buffers);
    }
    if has_error {
        *out += "         integer, optional, intent(out) :: ierror\n";
    }
    writeln!(out, "      end subroutine {name}").expect("a string");
}

fn declare(out: &mut String, dummy: &Dummy, large: bool, buffers: Buffers) {
    let name = &dummy.name;
    let waits = asynchronous(dummy);
    // A text comes by descriptor, too; compilers that pass buffers so do not all do that for CHARACTER of a length that is not known.
    if dummy.kind == "choice" || dummy.kind == "text" && buffers == Buffers::Descriptors {
        let intent = if dummy.direction == Direction::In { ", intent(in)" } else { "" };
        *out += &buffers.declare(name, &format!("{intent}{waits}"));
        return;
    }
    if let Some(kind) = dummy.kind.strip_suffix("-function") {
        writeln!(out, "         procedure({}) :: {name}", abstract_of(kind, large)).expect("a string");
        return;
    }
    let handle =
        HANDLES.iter().find(|(kind, _)| *kind == dummy.kind).map(|(_, name)| format!("type({name})"));
    let of = handle.unwrap_or_else(|| {
        match dummy.kind_in(large) {
            "aint" => ADDRESS,
            "address" | "detached" => "type(c_ptr)",
            "count" => "integer(kind=MPI_COUNT_KIND)",
            "offset" => "integer(kind=MPI_OFFSET_KIND)",
            "logical" => "logical",
            "status" => "type(MPI_Status)",
            "text" | "texts" => "character(len=*)",
            _ => "integer",
        }
        .to_owned()
    });
    // Where a constant of an address may be passed there is no intent to write.
    let ignorable = dummy.kind == "status" || dummy.kind == "weights" || name == "array_of_errcodes";
    let intent = match dummy.direction {
        Direction::In => ", intent(in)",
        _ if ignorable => "",
        Direction::Out => ", intent(out)",
        Direction::InOut => ", intent(inout)",
    };
    let shape = match (dummy.kind.as_str(), dummy.shape.as_deref()) {
        ("texts", _) if name.ends_with("argv") && name != "argv" => "(count, *)",
        ("texts", _) => "(*)",
        ("text", _) | (_, None) => "",
        (_, Some(shape)) if shape.contains(',') => "(3, *)",
        (_, Some(_)) => "(*)",
    };
    writeln!(out, "         {of}{intent}{waits} :: {name}{shape}").expect("a string");
}

/// The abstract interface of a procedure that is passed, by its kind in the table (`comm-copy-attr`).
fn abstract_of(kind: &str, large: bool) -> String {
    let words = kind.replace('-', "_");
    let suffix = if large && ["user", "datarep_conversion"].contains(&words.as_str()) { "_c" } else { "" };
    let mut name = words;
    name[..1].make_ascii_uppercase();
    format!("MPI_{name}_function{suffix}")
}
