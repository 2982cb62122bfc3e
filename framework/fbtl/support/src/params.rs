//! The parameters of sieving, which Open MPI's component has: their declarations, and what is made of them.

use crate::sieve::Sieving;
use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// Number of the declarations.
pub const COUNT: usize = 5;

/// The place of `write_datasieving` among them.
pub const WRITES: usize = 1;

/// `write_datasieving` is set, and does nothing.
pub const NO_SIEVED_WRITES: &str = "write_datasieving is set, and writes are not sieved: reading a hole and writing it back undoes what other processes write there";

/// The declarations, to be put into a component's list.
pub const DECLARATIONS: [ParamDecl; COUNT] = [
    ParamDecl::new(
        "read_datasieving",
        ParamKind::BOOL,
        9,
        "true",
        "Whether reads of many short pieces also read the holes between them, where the file's hints allow that. Set it to false where memory is scarce",
    ),
    ParamDecl::new(
        "write_datasieving",
        ParamKind::BOOL,
        9,
        "false",
        "Accepted for scripts of Open MPI and without effect: components never sieve writes; the hint romio_ds_write has the library do it, under locks. Leave it as it is",
    ),
    ParamDecl::new(
        "max_block_size",
        ParamKind::SIZE,
        9,
        "1m",
        "Longest piece in bytes that is read together with the hole beside it. Raise it where starting a read takes long",
    )
    .range(1, 1 << 40),
    ParamDecl::new(
        "max_gap_size",
        ParamKind::SIZE,
        9,
        "4k",
        "Longest hole in bytes that is read along. Raise it where starting a read takes long",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "max_tmpbuf_size",
        ParamKind::SIZE,
        9,
        "64m",
        "Largest temporary buffer in bytes for reading holes along; up to 4m of it are used unless the hint ind_rd_buffer_size asks for more. Lower it where memory is scarce",
    )
    .range(1, 1 << 40),
];

/// The values, of which the first is at that place in the component's list.
pub fn sieving(params: Params<'_>, first: usize) -> Sieving {
    Sieving {
        reads: params.flag(first),
        max_block: params.size(first + 2) as u64,
        max_gap: params.size(first + 3) as u64,
        max_window: params.size(first + 4) as u64,
    }
}
