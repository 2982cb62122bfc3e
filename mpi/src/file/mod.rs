//! Files as the C interface has them: handle, error handler, views by handles of types, data representations (MPI 5.0 §14).
//!
//! Map: `object` (the object behind a handle) · `open` (opened, closed, deleted, sizes, hints) · `user_view`, `view` (views and pointers) · `data` (memory of an access, converted where the file's
//! representation is another one) · `access` (data access) · `representation`, `register` (names, registered ones) · `file_types` (types as they are in the file) · `conversion` (data on its way) ·
//! `consistency` · `tell` (for `mpi-info --file`). All that a file does is the runtime's ([`oxmpi_runtime::file`]).

mod access;
mod consistency;
mod conversion;
mod data;
mod file_types;
mod object;
mod open;
mod register;
mod representation;
mod tell;
mod user_view;
mod view;

pub use object::{FileObject, TABLE, handler_of, require, set_handler_of};
