//! Buffers that come as C descriptors: sections of arrays, which need not be contiguous (MPI 5.0 §19.1.12, Fortran 2018 §18.5).
//!
//! **The rule.** A section stands for a contiguous array of its elements in array element order, and a count and a datatype are about that array. So
//! byte `b` of the array that the program speaks of lies somewhere else in memory, and `section` knows where.
//!
//! **Two ways.** Where the function takes one datatype for one piece of data, `compose` makes a datatype that leads through the section: the same
//! basic types in the same order, so that messages match and files are converted as ever. It is freed behind the call, which is what MPI allows, so blocking,
//! nonblocking and persistent operations need nothing at their end, whoever completes them. Two kinds of data have no such datatype: those
//! of a reduction, which has to have the same count and datatype in all processes and a predefined operation none that is derived; and blocks of several processes that begin at
//! different places of a row, since they have one datatype in common. For them `stage` keeps a contiguous image, which goes back into the section when the operation is
//! complete; the request of a nonblocking or persistent one then has a number that only this library knows (`pending`), so that nobody completes it without that.
//!
//! **The cost.** Whether all buffers are contiguous is asked in line, by rank and strides (`descriptor`); then the procedure is that for addresses. All else is `#[cold]`.
//!
//! | file | contents |
//! |---|---|
//! | `descriptor` | the descriptor, and whether it is contiguous |
//! | `section` | where a byte of the array lies |
//! | `mpi` | functions of C that are called here |
//! | `contents` | the call that made a datatype, taken apart |
//! | `typemap` | the basic types of a datatype, and where they lie |
//! | `compose` | a datatype that leads through a section |
//! | `blocks` | one datatype for the blocks of several processes, if there is one |
//! | `stage` | images |
//! | `pending` | requests of operations with images |
//! | `strided` | the arguments of a call, replaced |
//! | `roles` | whose data is significant, and how much of it |
//! | `refusal` | errors |
//! | `probe` | what a compiler is asked before its descriptors are believed |

mod blocks;
mod compose;
mod contents;
pub mod descriptor;
mod mpi;
pub mod pending;
mod probe;
pub mod refusal;
pub mod roles;
mod section;
mod stage;
pub mod strided;
mod typemap;
