//! C types of the standard ABI as Rust sees them: handles one machine word, all alike in layout and
//! different for the compiler.

use core::ffi::c_int;

/// MPI_Count; MPI_Aint and MPI_Offset are the same on the targets we build for.
pub type Count = i64;
pub type Aint = i64;

const _: () = assert!(size_of::<usize>() == size_of::<Aint>());

macro_rules! handles {
    ($($name:ident),*) => { $(
        #[doc = concat!("`MPI_", stringify!($name), "`.")]
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub struct $name(pub usize);
    )* };
}

handles!(Comm, Group, Datatype, Op, Request, Message, Info, Errhandler, Win, File, Session);

/// `MPI_Status`. Of the library's five words the first two are the bytes received, the third says
/// whether the operation was cancelled.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
    pub internal: [c_int; 5],
}

const _: () = assert!(size_of::<Status>() == 32);
