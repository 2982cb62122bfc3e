//! The constants of Fortran that are recognised by their address (MPI 5.0 §2.5.4, §20.4): variables that `mpif.h` and the modules declare in two COMMON blocks, and
//! this library, too. Each has a cell of 64 bytes.
//!
//! **A block is a definition in every object** (executable or shared library) that was linked from Fortran. Where the objects of a process see each other the dynamic linker takes one
//! definition for all: that of the executable, else ours. So the address is asked of the linker's table, by a load that the compiler does not replace by the address of
//! this library's own variable, and an argument is compared with one range of addresses.
//!
//! **Objects that do not see each other** (`dlopen` with `RTLD_LOCAL`, as Python opens modules) have blocks of their own. `libmpifort_abi.so`, which programs are linked with, adds
//! a small object file to each of them (`fortran/object/object.c`), which says the addresses of its blocks when it is loaded, and takes them back when it is
//! unloaded. Those that were linked without it are looked for when MPI begins (`objects`). They stand in a list that is replaced as a whole; while it is empty, which it is in all other programs, a look at it is a load and a branch.

use crate::abi::Fint;
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a cell.
const CELL: usize = 64;

/// Cells of the first block, in the order of `xtask/src/generate/fortran/constants.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    Bottom,
    InPlace,
    BufferAutomatic,
    Unweighted,
    WeightsEmpty,
    ErrcodesIgnore,
    ArgvNull,
    ArgvsNull,
}

const CONSTANTS: [Constant; 8] = [
    Constant::Bottom,
    Constant::InPlace,
    Constant::BufferAutomatic,
    Constant::Unweighted,
    Constant::WeightsEmpty,
    Constant::ErrcodesIgnore,
    Constant::ArgvNull,
    Constant::ArgvsNull,
];

/// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, of integers and of module `mpi_f08`.
const STATUSES: usize = 4;

/// Words that nobody reads or writes, as large and as aligned as a COMMON block may be.
#[repr(C, align(64))]
pub struct Block<const WORDS: usize>([Fint; WORDS]);

/// The variables, where no other object has them.
// SAFETY: the name is of this library's own, and a variable of the same name elsewhere stands for it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the name of a COMMON block, as compilers write it")]
pub static mpifort_constants_: Block<{ CONSTANTS.len() * CELL / 4 }> = Block([0; CONSTANTS.len() * CELL / 4]);

/// As above.
// SAFETY: as above.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the name of a COMMON block, as compilers write it")]
pub static mpifort_statuses_: Block<{ STATUSES * CELL / 4 }> = Block([0; STATUSES * CELL / 4]);

/// The address of a variable that another object may define, from the linker's table.
macro_rules! address {
    ($symbol:ident) => {{
        let at: *const c_void;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads the word of the table that has the address, which nobody writes once this library is loaded, so that one read does for several uses.
        unsafe {
            core::arch::asm!(
                concat!("mov {}, qword ptr [rip + ", stringify!($symbol), "@GOTPCREL]"),
                out(reg) at,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                concat!("adrp {0}, :got:", stringify!($symbol)),
                concat!("ldr {0}, [{0}, :got_lo12:", stringify!($symbol), "]"),
                out(reg) at,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        at
    }};
}

/// The blocks of an object, by their addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Blocks {
    constants: usize,
    statuses: usize,
}

impl Blocks {
    /// Those that the dynamic linker has for this library.
    fn own() -> Blocks {
        Blocks {
            constants: address!(mpifort_constants_).addr(),
            statuses: address!(mpifort_statuses_).addr(),
        }
    }
}

/// The blocks of objects that have others than this library. A list that was replaced stays: another thread may be reading it.
static OTHERS: AtomicPtr<Vec<Blocks>> = AtomicPtr::new(core::ptr::null_mut());
/// Held by who replaces the list.
static CHANGE: Mutex<()> = Mutex::new(());

#[inline(always)]
fn others() -> Option<&'static Vec<Blocks>> {
    // SAFETY: null, or a list that is never freed.
    unsafe { OTHERS.load(Ordering::Acquire).as_ref() }
}

fn replace(change: impl FnOnce(&mut Vec<Blocks>)) {
    let _alone = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut new = others().cloned().unwrap_or_default();
    change(&mut new);
    let new = if new.is_empty() { core::ptr::null_mut() } else { Box::into_raw(Box::new(new)) };
    OTHERS.store(new, Ordering::Release);
}

/// Called by the object file in each executable and shared library when it is loaded, with the addresses of its blocks.
// SAFETY: a name of this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn mpifort_object_begins(constants: *const c_void, statuses: *const c_void) {
    let blocks = Blocks { constants: constants.addr(), statuses: statuses.addr() };
    if blocks != Blocks::own() {
        replace(|all| all.push(blocks));
    }
}

/// Has the list contain these blocks; whether they were new to it.
pub fn add_unless_known(constants: *const c_void, statuses: *const c_void) -> bool {
    let blocks = Blocks { constants: constants.addr(), statuses: statuses.addr() };
    if blocks == Blocks::own() || others().is_some_and(|all| all.contains(&blocks)) {
        return false;
    }
    replace(|all| all.push(blocks));
    true
}

/// The same when it is unloaded: other memory may come to lie there.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn mpifort_object_ends(constants: *const c_void, statuses: *const c_void) {
    let blocks = Blocks { constants: constants.addr(), statuses: statuses.addr() };
    if others().is_some() {
        replace(|all| {
            if let Some(at) = all.iter().position(|known| *known == blocks) {
                all.swap_remove(at);
            }
        });
    }
}

/// The cell of a block that begins at an address.
#[inline(always)]
fn cell(at: usize, block: usize, cells: usize) -> Option<usize> {
    let offset = at.wrapping_sub(block);
    (offset < cells * CELL && offset.is_multiple_of(CELL)).then_some(offset / CELL)
}

/// The constant whose address this is.
#[inline(always)]
pub fn constant<T>(at: *const T) -> Option<Constant> {
    let at = at.addr();
    if let Some(cell) = cell(at, address!(mpifort_constants_).addr(), CONSTANTS.len()) {
        return Some(CONSTANTS[cell]);
    }
    match others() {
        None => None,
        Some(list) => constant_of(list, at),
    }
}

#[cold]
fn constant_of(list: &[Blocks], at: usize) -> Option<Constant> {
    list.iter().find_map(|blocks| cell(at, blocks.constants, CONSTANTS.len())).map(|cell| CONSTANTS[cell])
}

/// Whether a status, or an array of them, is one of those that nobody wants.
#[inline(always)]
pub fn is_status_ignore<T>(at: *const T) -> bool {
    let at = at.addr();
    if cell(at, address!(mpifort_statuses_).addr(), STATUSES).is_some() {
        return true;
    }
    match others() {
        None => false,
        Some(list) => is_status_of(list, at),
    }
}

#[cold]
fn is_status_of(list: &[Blocks], at: usize) -> bool {
    list.iter().any(|blocks| cell(at, blocks.statuses, STATUSES).is_some())
}

/// Whether this is MPI_IN_PLACE.
pub fn is_in_place<T>(at: *const T) -> bool {
    constant(at) == Some(Constant::InPlace)
}

/// Whether this is MPI_ERRCODES_IGNORE.
pub fn is_errcodes_ignore<T>(at: *const T) -> bool {
    constant(at) == Some(Constant::ErrcodesIgnore)
}

/// Whether this is MPI_ARGV_NULL.
pub fn is_argv_null<T>(at: *const T) -> bool {
    constant(at) == Some(Constant::ArgvNull)
}

/// Whether this is MPI_ARGVS_NULL.
pub fn is_argvs_null<T>(at: *const T) -> bool {
    constant(at) == Some(Constant::ArgvsNull)
}

/// MPI_BUFFER_AUTOMATIC of the object that attached it last.
static ATTACHED: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Notes that this address of MPI_BUFFER_AUTOMATIC was given.
#[cold]
pub fn attach_automatic(at: *mut c_void) {
    ATTACHED.store(at, Ordering::Relaxed);
}

/// The address of MPI_BUFFER_AUTOMATIC for who detaches it.
pub fn buffer_automatic() -> *mut c_void {
    match ATTACHED.load(Ordering::Relaxed) {
        // C attached it.
        at if at.is_null() => {
            let own = address!(mpifort_constants_).cast_mut();
            own.wrapping_byte_add(Constant::BufferAutomatic as usize * CELL)
        }
        at => at,
    }
}
