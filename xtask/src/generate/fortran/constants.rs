//! Numbers and names that `mpif.h` and the modules declare.

use crate::generate::table::{Constant, Tables};

/// Sections of the table of constants that Fortran has not, or not as numbers.
const WITHOUT: [&str; 5] = ["tool-errors", "tools", "addresses", "callbacks", "fortran-status"];

/// Kinds, places in a status, and what the library does (MPI 5.0 §20.4, §19.1).
const OF_FORTRAN: [(&str, &str); 8] = [
    ("MPI_ADDRESS_KIND", "8"),
    ("MPI_COUNT_KIND", "8"),
    ("MPI_OFFSET_KIND", "8"),
    ("MPI_INTEGER_KIND", "4"),
    ("MPI_STATUS_SIZE", "8"),
    ("MPI_SOURCE", "1"),
    ("MPI_TAG", "2"),
    ("MPI_ERROR", "3"),
];

/// A constant of INTEGER.
pub struct Number {
    pub name: String,
    pub value: String,
    /// Its kind, where that is not the default.
    pub kind: Option<&'static str>,
}

/// A predefined handle.
pub struct Handle {
    pub name: String,
    pub value: String,
    /// Its type in C and in module `mpi_f08`.
    pub of: String,
}

/// All constants that are numbers in all of Fortran.
pub fn numbers(tables: &Tables) -> Vec<Number> {
    let own = OF_FORTRAN.iter().map(|(name, value)| Number {
        name: name.to_string(),
        value: value.to_string(),
        kind: None,
    });
    let sections = tables.constants.iter().filter(|s| !WITHOUT.contains(&s.name.as_str()));
    let of_c = sections.flat_map(|section| {
        section.rows.iter().filter(|row| !is_handle(&row.kind)).filter_map(move |row| {
            let value = number(&row.value)?;
            // The zero byte behind a text of C is none of Fortran's.
            let value = if section.name == "limits" { value - 1 } else { value };
            let kind = (row.kind == "MPI_Offset").then_some("MPI_OFFSET_KIND");
            Some(Number { name: row.name.clone(), value: value.to_string(), kind })
        })
    });
    own.chain(of_c).collect()
}

/// All predefined handles.
pub fn handles(tables: &Tables) -> Vec<Handle> {
    let sections = tables.constants.iter().filter(|s| !WITHOUT.contains(&s.name.as_str()));
    let all: Vec<&Constant> = sections.flat_map(|section| &section.rows).collect();
    // Another name for a handle has the handle's for its value.
    let named =
        |row: &&Constant| all.iter().find(|other| other.name == row.value && is_handle(&other.kind)).copied();
    let rows = all.iter().filter_map(|row| {
        let of = if is_handle(&row.kind) { Some(*row) } else { named(row) };
        of.map(|of| (row, of))
    });
    rows.filter_map(|(row, of)| {
        let value = number(&of.value)?.to_string();
        Some(Handle { name: row.name.clone(), value, of: of.kind.clone() })
    })
    .collect()
}

/// Whether constants of that kind are handles, and not numbers.
fn is_handle(kind: &str) -> bool {
    kind.starts_with("MPI_") && kind != "MPI_Offset" && !kind.ends_with('*')
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A variable that is known by its address, in a cell of 64 bytes.
pub struct Sentinel {
    pub name: &'static str,
    /// The type, and the shape behind the name.
    pub of: (&'static str, &'static str),
    /// Of a variable behind it, which fills the cell.
    pub padding: (&'static str, &'static str),
}

/// A COMMON block of such variables.
pub struct Block {
    pub name: &'static str,
    pub sentinels: &'static [Sentinel],
}

/// All of them but the statuses; `fortran/src/sentinels.rs` has the order of the cells.
pub const CONSTANTS: Block = Block {
    name: "MPIFORT_CONSTANTS",
    sentinels: &[
        number_like("MPI_BOTTOM", "", "(15)"),
        number_like("MPI_IN_PLACE", "", "(15)"),
        number_like("MPI_BUFFER_AUTOMATIC", "", "(15)"),
        number_like("MPI_UNWEIGHTED", "(1)", "(15)"),
        number_like("MPI_WEIGHTS_EMPTY", "(1)", "(15)"),
        number_like("MPI_ERRCODES_IGNORE", "(1)", "(15)"),
        text_like("MPI_ARGV_NULL", "(1)"),
        text_like("MPI_ARGVS_NULL", "(1,1)"),
    ],
};

/// The statuses: those of integers, and behind them those of module `mpi_f08`.
pub const STATUSES: Block = Block {
    name: "MPIFORT_STATUSES",
    sentinels: &[
        number_like("MPI_STATUS_IGNORE", "(8)", "(8)"),
        // With the cells of the others.
        number_like("MPI_STATUSES_IGNORE", "(8,1)", "(40)"),
    ],
};

/// The block of statuses as module `mpi_f08` sees it; the cells of the others stand before.
pub const STATUSES_OF_F08: Block = Block {
    name: "MPIFORT_STATUSES",
    sentinels: &[status_like("MPI_STATUS_IGNORE", ""), status_like("MPI_STATUSES_IGNORE", "(1)")],
};

const fn number_like(name: &'static str, shape: &'static str, rest: &'static str) -> Sentinel {
    Sentinel { name, of: ("INTEGER", shape), padding: ("INTEGER", rest) }
}

const fn text_like(name: &'static str, shape: &'static str) -> Sentinel {
    Sentinel { name, of: ("CHARACTER*1", shape), padding: ("CHARACTER*1", "(63)") }
}

const fn status_like(name: &'static str, shape: &'static str) -> Sentinel {
    Sentinel { name, of: ("TYPE(MPI_Status)", shape), padding: ("INTEGER", "(8)") }
}

/// Procedures that a program passes to others.
pub const CALLBACKS: [&str; 14] = [
    "MPI_NULL_COPY_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_DUP_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_COMM_DUP_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_NULL_DELETE_FN",
    "MPI_WIN_DUP_FN",
    "MPI_CONVERSION_FN_NULL",
    "MPI_CONVERSION_FN_NULL_C",
];
